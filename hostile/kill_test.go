//go:build hostile && linux

package hostile

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stopgate/pkg/ledger"
)

// free fails the test where somebody holds the lock of a session.
func (w *world) free() {
	w.t.Helper()
	for _, path := range []string{w.dirOf().LockPath(w.session), w.dirOf().Store(w.session)} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if out, err := exec.Command("flock", "-n", path, "true").CombinedOutput(); err != nil {
			w.t.Errorf("%s is locked: %v %s", path, err, out)
		}
	}
}

// The loop of kills: several hooks at once on one session, killed at random
// moments, some of them holding. Afterwards every store opens, nothing is locked,
// and no answer was charged twice.
func TestKilledAtRandomMoments(t *testing.T) {
	const atOnce, perSession = 6, 10
	random := rand.New(rand.NewPCG(5, 6))
	var w *world
	kills, answers, runs := 0, map[string]int{}, map[string]int{}
	check := func() {
		if w == nil {
			return
		}
		w.free()
		snap := w.snapshot()
		for task, n := range runs {
			charged := snap.Charged[task]
			if answers[task] > charged || charged > n {
				t.Errorf("%s: %d runs, %d answers, %d charges", task, n, answers[task], charged)
			}
		}
		blocked := map[string]int{}
		for _, s := range snap.Stops {
			if s.Verdict == ledger.Block {
				blocked[s.Own[0]]++
			}
		}
		for task := range runs {
			if blocked[task] != snap.Charged[task] {
				t.Errorf("%s: %d blocks recorded, %d charged", task, blocked[task], snap.Charged[task])
			}
		}
		w.works()
	}
	for round := range *rounds {
		if round%perSession == 0 {
			check()
			w = newWorld(t)
			clear(answers)
			clear(runs)
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		for i := range atOnce {
			agent := fmt.Sprintf("a%d", i)
			if round%perSession == 0 {
				w.agent(agent)
			}
			s := setup{args: []string{"gate", "--blocks", "100"}, payload: w.payload(agent, set("prompt_id", fmt.Sprint(round)))}
			if i%3 == 2 {
				s.args = append(s.args, "--hold", "20ms")
			}
			after := time.Duration(random.Int64N(int64(45 * time.Millisecond)))
			world := w
			all.Add(1)
			go func() {
				defer all.Done()
				killed, out := world.killed(s, after, syscall.SIGKILL)
				mu.Lock()
				defer mu.Unlock()
				runs[taskOf(agent)]++
				if killed {
					kills++
				}
				if out != "" {
					answers[taskOf(agent)]++
				}
			}()
		}
		all.Wait()
	}
	check()
	t.Logf("%d rounds, %d hooks, %d of them killed in time", *rounds, *rounds*atOnce, kills)
	nothingLeft(t, time.Second)
}

// killed runs the hook and sends it a signal after a while; it tells whether the
// signal ended it, and what it answered.
func (w *world) killed(s setup, after time.Duration, sig syscall.Signal) (bool, string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c := w.command(ctx, s)
	var out strings.Builder
	c.Stdout = &out
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		w.t.Error(err)
		return false, ""
	}
	go func() {
		_, _ = in.Write(s.payload) // it may be killed before
		_ = in.Close()
	}()
	time.Sleep(after)
	_ = c.Process.Signal(sig) // it may have ended
	_ = c.Wait()
	status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() && status.ExitStatus() != 0 {
		w.t.Errorf("exit code %d", status.ExitStatus())
	}
	return status.Signaled(), out.String()
}

// traced runs the hook under strace, with something done to one of its system
// calls; what strace wrote is returned too.
func (w *world) traced(s setup, args ...string) (result, string) {
	log := w.dir + "/trace"
	s.args = append(append([]string{"-f", "-qq", "-o", log}, append(args, hook)...), s.args...)
	s.program = "strace"
	r := w.run(s)
	text, err := os.ReadFile(log)
	if err != nil {
		w.t.Error(err)
	}
	return r, string(text)
}

func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace")
	}
}

// A hold, killed at each of its system calls in turn: whatever it had begun, the
// next event finds everything in order, and no answer was charged twice.
func TestKilledAtEverySystemCallOfAHold(t *testing.T) {
	needStrace(t)
	calls := strings.Fields("openat flock pwrite64 write close fstat newfstatat mmap munmap madvise read pread64 futex nanosleep epoll_pwait fcntl mkdirat faccessat faccessat2 getppid kill poll clone clone3 rt_sigprocmask fdatasync ftruncate exit_group")
	for _, sig := range []string{"KILL", "TERM"} {
		t.Run(sig, func(t *testing.T) {
			w := newWorld(t)
			n, whole := 0, 0
			for c, call := range calls {
				for when := 1 + c%*stride; when < 400; when += *stride {
					agent := fmt.Sprintf("a%d", n)
					n++
					w.agent(agent)
					if n%2 == 0 {
						w.append(w.output(taskOf(agent)), "[exited with code 0]\n")
					}
					s := setup{args: []string{"gate", "--hold", "150ms"}, payload: w.payload(agent)}
					r, text := w.traced(s, "-e", fmt.Sprintf("inject=?%s:signal=%s:when=%d", call, sig, when))
					if r.signal == 0 && r.code != 0 || r.signal != 0 && r.stderr != "" {
						t.Errorf("at %s %d: exit code %d, signal %v, %s", call, when, r.code, r.signal, r.stderr)
					}
					snap := w.snapshot()
					if charged := snap.Charged[taskOf(agent)]; charged > 1 || r.stdout != "" && charged != 1 {
						t.Errorf("at %s %d: answered %q, charged %d", call, when, r.stdout, charged)
					}
					if n%10 == 0 {
						w.free()
						w.works()
					}
					if !strings.Contains(text, "killed by") {
						whole++ // it has fewer of these calls
						break
					}
				}
			}
			w.works()
			t.Logf("killed at %d places", n-whole)
			nothingLeft(t, time.Second)
		})
	}
}

// Each call that can fail on a bad day does so in turn: the stop is answered, or
// let through, with exit code 0.
func TestEverySystemCallFailsOnce(t *testing.T) {
	needStrace(t)
	for _, c := range []struct{ calls, with string }{
		{"write,pwrite64", "ENOSPC"}, {"write,pwrite64", "EIO"}, {"openat", "EMFILE"}, {"openat", "EACCES"}, {"openat", "EIO"},
		{"flock", "ENOLCK"}, {"flock", "EINTR"}, {"fstat,newfstatat,fstatat64", "EIO"}, {"pread64,read", "EIO"}, {"ftruncate,fallocate", "ENOSPC"},
		{"mkdirat,renameat,unlinkat,faccessat,faccessat2", "EROFS"}, {"close", "EIO"}, {"epoll_create1,epoll_ctl,eventfd2,poll,ppoll", "EPERM"},
	} {
		t.Run(c.calls+" "+c.with, func(t *testing.T) {
			w := newWorld(t)
			for when := 1; when < 60; when++ {
				agent := fmt.Sprintf("a%d", when)
				w.agent(agent)
				r, text := w.traced(setup{payload: w.payload(agent)}, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", c.calls, c.with, when))
				r.took = 0 // strace makes everything slow
				if r.signal == syscall.SIGABRT && strings.Contains(r.stderr, "fatal error: runtime: netpoll") && r.stdout == "" {
					r.signal, r.code = 0, 0 // what Go itself needs failed: a signal lets the agent stop
				}
				w.holds(r, decides)
				if t.Failed() {
					t.Fatalf("at call %d", when)
				}
				if !strings.Contains(text, "INJECTED") {
					break
				}
			}
			w.works()
		})
	}
}

// The client goes away while a stop is held: Esc and the end of the client. The
// hook notices by its parent, by the process id in its environment, or because
// nobody reads its answer any more.
func TestTheClientGoesAway(t *testing.T) {
	w := newWorld(t)
	for i, c := range []struct {
		name string
		args []string
	}{{"a hold", []string{"gate", "--hold", "10m"}}, {"a courier", []string{"courier"}}} {
		t.Run(c.name, func(t *testing.T) {
			agent := fmt.Sprintf("a%d", i)
			w.agent(agent)
			payload := w.dir + "/payload"
			w.write(payload, string(w.payload(agent)))
			// A parent of its own, which dies without a word.
			parent := exec.Command("/bin/sh", "-c", `"$@" <"$P" & wait`, "sh", hook)
			parent.Args = append(parent.Args, c.args...)
			parent.Env = append(w.env(), "P="+payload)
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1500 * time.Millisecond)
			if len(running()) != 1 {
				t.Errorf("%d processes hold", len(running()))
			}
			_ = parent.Process.Kill()
			_ = parent.Wait()
			nothingLeft(t, 2*time.Second+*slack/10)

			// A client behind a shell that lives on, known by its id alone.
			w.agent(agent + "x")
			w.write(payload, string(w.payload(agent+"x")))
			client := exec.Command("/bin/sh", "-c", `CLAUDE_PID=$$ /bin/sh -c '"$@" <"$P"; :' sh "$@" & wait`, "sh", hook)
			client.Args = append(client.Args, c.args...)
			client.Env = append(w.env(), "P="+payload)
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1500 * time.Millisecond)
			_ = client.Process.Kill()
			_ = client.Wait()
			nothingLeft(t, 2*time.Second+*slack/10)

			// A client without an id, behind a shell: it no longer reads the answer.
			w.agent(agent + "y")
			w.write(payload, string(w.payload(agent+"y")))
			shell := exec.Command("/bin/sh", "-c", `"$@" <"$P"; :`, "sh", hook)
			shell.Args = append(shell.Args, c.args...)
			shell.Env = append(w.env(), "P="+payload)
			answer, err := shell.StdoutPipe()
			if err == nil {
				err = shell.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(1500 * time.Millisecond)
			_ = answer.Close()
			nothingLeft(t, 2*time.Second+*slack/10)
			_ = shell.Wait()
		})
	}
	w.works()
}

// SIGTERM ends a hold and a courier at once and silently, at whatever moment.
func TestTermEndsAHoldAtOnce(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		agent := fmt.Sprintf("a%d", i)
		w.agent(agent)
		args := []string{"gate", "--hold", "10m"}
		if i%2 == 1 {
			args = []string{"courier"}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		c := w.command(ctx, setup{args: args})
		var out, errs strings.Builder
		c.Stdout, c.Stderr = &out, &errs
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = in.Write(w.payload(agent)) // stays open
		time.Sleep(time.Duration(i*i) * 900 * time.Microsecond)
		began := time.Now()
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
		if took := time.Since(began); took > 500*time.Millisecond+*slack/10 || c.ProcessState.ExitCode() >= 0 || out.Len()+errs.Len() > 0 {
			t.Errorf("ended after %v with %v: %s%s", took, c.ProcessState, out.String(), errs.String())
		}
		_ = in.Close()
		cancel()
	}
	snap := w.snapshot()
	if len(snap.Charged) > 0 {
		t.Errorf("what was not answered was charged: %v", snap.Charged)
	}
	w.works()
}

// Twenty holds and twenty couriers of one session at once: next to no processor
// time, little memory, nothing open and nothing locked; other agents' stops go on
// as if they were not there; and all end when their tasks do.
func TestManyHoldsAndCouriers(t *testing.T) {
	const each = 20
	w := newWorld(t)
	w.agent("other")
	alone := w.latency(20)
	type one struct {
		c    *exec.Cmd
		in   io.WriteCloser
		out  *strings.Builder
		errs *strings.Builder
	}
	for i := range each { // the client lists the tasks of all agents, whoever stops
		w.listed = append(w.listed, fmt.Sprintf("a%d", i))
	}
	var all []one
	for i := range 2 * each {
		agent := fmt.Sprintf("a%d", i/2)
		w.agent(agent)
		args := []string{"gate", "--hold", "10m"}
		if i%2 == 1 {
			args = []string{"courier"}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		o := one{c: w.command(ctx, setup{args: args}), out: &strings.Builder{}, errs: &strings.Builder{}}
		o.c.Stdout, o.c.Stderr = o.out, o.errs
		var err error
		if o.in, err = o.c.StdinPipe(); err == nil {
			err = o.c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = o.in.Write(w.payload(agent))
		_ = o.in.Close()
		all = append(all, o)
	}
	time.Sleep(3 * time.Second) // they have all begun to wait
	if n := len(running()); n != 2*each {
		t.Errorf("%d processes wait", n)
	}
	before := make([]time.Duration, len(all))
	for i, o := range all {
		before[i] = processorTime(o.c.Process.Pid)
	}
	began := time.Now()
	var held atomic.Int64
	looks := 0
	for time.Since(began) < 8*time.Second {
		for _, o := range all {
			looks++
			for _, name := range openFiles(o.c.Process.Pid) {
				if strings.HasPrefix(name, w.state) && !strings.HasSuffix(name, "hook.log") {
					held.Add(1)
				}
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(began)
	var total, worst time.Duration
	memory := int64(0)
	for i, o := range all {
		used := processorTime(o.c.Process.Pid) - before[i]
		total, worst = total+used, max(worst, used)
		memory = max(memory, memoryPeak(o.c.Process.Pid))
	}
	mean := total / time.Duration(len(all))
	t.Logf("processor time in %v: %.2f %% of a core each, %.2f %% the worst; memory at most %.1f MB; store or lock open in %d of %d looks",
		took.Round(time.Second), 100*float64(mean)/float64(took), 100*float64(worst)/float64(took), float64(memory)/(1<<20), held.Load(), looks)
	if float64(mean)/float64(took) > 0.005 {
		t.Errorf("%v of processor time each in %v", mean, took)
	}
	if memory > maxMemory {
		t.Errorf("%d MB", memory>>20)
	}
	if held.Load() > int64(looks/100) {
		t.Errorf("the store or its lock were open in %d of %d looks", held.Load(), looks)
	}
	w.free()
	with := w.latency(20)
	t.Logf("another agent's stop: %v alone, %v beside them", alone, with)
	if with > 4*alone+100*time.Millisecond {
		t.Errorf("another agent's stop took %v instead of %v", with, alone)
	}
	for i := range each {
		w.append(w.main(), w.ends(taskOf(fmt.Sprintf("a%d", i))))
	}
	for i, o := range all {
		_ = o.c.Wait()
		switch i % 2 {
		case 0:
			if reason := reasonOf(t, o.out.String()); !strings.Contains(reason, "exited with code 0") {
				t.Errorf("a hold said %s", reason)
			}
		case 1: // the hold told the agent, or nobody has: either way it ends
			if code := o.c.ProcessState.ExitCode(); code != 0 && code != 2 || o.out.Len() > 0 || (code == 2) != (o.errs.Len() > 0) {
				t.Errorf("a courier ended with %d, %q, %q", code, o.out, o.errs)
			}
		}
	}
	nothingLeft(t, 2*time.Second+*slack/10)
	w.works()
}

// latency is the median of stops of another agent.
func (w *world) latency(n int) time.Duration {
	w.t.Helper()
	var all []time.Duration
	for i := range n {
		r := w.run(setup{payload: w.payload("other", set("prompt_id", fmt.Sprint(i)))})
		w.holds(r, decides)
		all = append(all, r.took)
	}
	return quantile(all, 0.5)
}
