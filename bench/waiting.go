//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// What waiting may cost: of one processor, in per cent, and until an end is told.
const (
	limitCrowd  = 2.0
	limitOne    = 0.05
	limitNotice = 150 * time.Millisecond
)

// waiter is a hook that waits: a gate that holds, or a courier.
type waiter struct {
	cmd *exec.Cmd
	// said tells when it has printed something, or ended.
	said chan time.Time
	task string
}

func (w *waiter) end() {
	_ = w.cmd.Process.Kill() // may have ended
	_ = w.cmd.Wait()
}

// waiting measures hooks that wait while nothing happens, for span, and how soon
// they notice an end.
func (b *bench) waiting(n int, couriers bool, span time.Duration) (err error) {
	if span == 0 {
		return nil
	}
	w, err := b.world(fmt.Sprintf("waiting-%d-%v", n, couriers))
	if err != nil {
		return err
	}
	var holds, all []*waiter
	defer func() {
		for _, w := range all {
			w.end()
		}
	}()
	var agents, tasks []string
	for i := range n {
		agent := fmt.Sprintf("a%016d", i)
		agents, tasks = append(agents, agent), append(tasks, taskOf(agent))
	}
	for i, agent := range agents {
		if err := w.leaves(agent, tasks); err != nil {
			return err
		}
		shell, err := w.shell(tasks[i])
		if err != nil {
			return err
		}
		defer func() {
			_ = shell.Process.Kill() // may have ended
			_ = shell.Wait()
		}()
	}
	for _, agent := range agents {
		time.Sleep(20 * time.Millisecond)
		hold, err := b.wait(w, agent, "gate", "--hold", "1h")
		if err != nil {
			return err
		}
		holds, all = append(holds, hold), append(all, hold)
		if couriers {
			courier, err := b.wait(w, agent, "courier", "--for", "1h")
			if err != nil {
				return err
			}
			all = append(all, courier)
		}
	}
	if err := w.allHold(n); err != nil {
		return err
	}
	time.Sleep(8 * time.Second) // couriers look for the last message for so long
	before, began := usageOf(all), time.Now()
	time.Sleep(span)
	used, took := usageOf(all), time.Since(began)
	if used.processes != len(all) {
		return fmt.Errorf("%d of %d hooks wait", used.processes, len(all))
	}
	percent := 100 * float64(used.cpu-before.cpu) / float64(took)
	name, limit := "one hold", limitOne
	if couriers {
		name, limit = fmt.Sprintf("%d holds and %d couriers", n, n), limitCrowd
	}
	b.line(name+", idle: of a processor", percent, "%", limit)
	b.line("  switches a minute", float64(used.switches-before.switches)*float64(time.Minute)/float64(took), "", 0)
	b.line("  memory together, shared pages counted once", float64(used.memory)/1024, "MB", 0)
	var notices []time.Duration
	for _, hold := range holds[:min(n, 10)] {
		took, err := w.notice(hold)
		if err != nil {
			return err
		}
		notices = append(notices, took)
		time.Sleep(300 * time.Millisecond)
	}
	b.line("  an end is told after, at the most", ms(quantile(notices, 1)), "ms", ms(limitNotice))
	return nil
}

// line prints a measurement without a counterpart; a limit of 0 is none.
func (b *bench) line(what string, value float64, unit string, limit float64) {
	most, mark := "", ""
	if limit > 0 {
		most = fmt.Sprintf("%5.4g%s", limit, unit)
		if value > limit {
			mark, b.failed = "  missed", true
		}
	}
	fmt.Printf("%-58s %9s %9s %7s %7s%s\n", what, fmt.Sprintf("%.*f%s", digits(value), value, unit), "", "", most, mark)
}

// digits keeps three of them, mostly.
func digits(value float64) int {
	switch {
	case value < 1:
		return 4
	case value < 100:
		return 1
	}
	return 0
}

// taskOf is the shell of an agent that is waited for.
func taskOf(agent string) string { return "b" + agent[9:] }

// leaves writes what is on disk when an agent wants to stop while its own shell runs,
// and its stop, which lists the tasks of all agents as the client does: one that is
// not listed has ended.
func (w world) leaves(agent string, tasks []string) error {
	task := taskOf(agent)
	path := filepath.Join(filepath.Dir(w.agent), "agent-"+agent+".jsonl")
	text := strings.ReplaceAll(launch(task, filepath.Join(w.dir, "tasks"))+lastWords(), "a0123456789abcdef", agent)
	text = strings.ReplaceAll(text, "2026-11-30T12:54:0", time.Now().UTC().Format("2006-01-02T15:04:0"))
	payload, err := os.ReadFile(first(w.payload(0, "general-purpose", tasks...)))
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(path, []byte(text), 0o600),
		os.WriteFile(strings.TrimSuffix(path, ".jsonl")+".meta.json", []byte(`{"agentType":"general-purpose"}`), 0o600),
		os.MkdirAll(filepath.Dir(w.output(task)), 0o700),
		os.WriteFile(w.output(task), []byte("working\n"), 0o600),
		os.WriteFile(w.stop(agent), []byte(strings.ReplaceAll(string(payload), "a0123456789abcdef", agent)), 0o600))
}

// stop is the file with an agent's stop.
func (w world) stop(agent string) string { return filepath.Join(w.dir, agent+".json") }

// wait starts a hook for the stop of an agent.
func (b *bench) wait(w world, agent string, args ...string) (*waiter, error) {
	stdin, err := os.Open(w.stop(agent))
	if err != nil {
		return nil, err
	}
	defer stdin.Close() //nolint:errcheck // only read
	hook := &waiter{cmd: exec.Command(b.hook, args...), said: make(chan time.Time, 1), task: taskOf(agent)}
	hook.cmd.Stdin, hook.cmd.Env = stdin, append(os.Environ(), state.EnvDir+"="+w.state, "CLAUDE_PID="+strconv.Itoa(os.Getpid()))
	out, err := hook.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := hook.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_, _ = out.Read(make([]byte, 1)) // an end tells as well
		hook.said <- time.Now()
	}()
	return hook, nil
}

func first(path string, _ error) string { return path } // a missing file is told by its reader

func (w world) output(task string) string { return filepath.Join(w.dir, "tasks", task+".output") }

// shell is the process of a task, started as the client starts them, whose processes a
// hold looks at (docs/client.md: the processes of a background shell).
func (w world) shell(task string) (*exec.Cmd, error) {
	out, err := os.OpenFile(w.output(task), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // the shell has it
	c := exec.Command("sleep", "1h")
	c.Stdout, c.Stderr, c.SysProcAttr = out, out, &syscall.SysProcAttr{Setsid: true}
	return c, c.Start()
}

// allHold waits until so many stops are held.
func (w world) allHold(n int) error {
	held := 0
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(100 * time.Millisecond) {
		snap, err := ledger.Read(context.Background(), state.At(w.state), session, nil)
		if held = len(snap.Holds); err == nil && held == n {
			return nil
		}
	}
	return fmt.Errorf("%d of %d stops are held", held, n)
}

// notice ends a hold's task as the client does, and measures until it is told.
func (w world) notice(hold *waiter) (time.Duration, error) {
	began := time.Now()
	told := fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"content":"<task-notification>\n<task-id>%s</task-id>\n<output-file>%s</output-file>\n<status>completed</status>\n<summary>Background command \"x\" completed (exit code 0)</summary>\n</task-notification>"}`+"\n",
		began.UTC().Format("2006-01-02T15:04:05.000Z"), hold.task, w.output(hold.task))
	for path, text := range map[string]string{w.output(hold.task): "[exited with code 0]\n", w.main: told} {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return 0, err
		}
		_, err = f.WriteString(text)
		if err := errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
	}
	select {
	case at := <-hold.said:
		return at.Sub(began), nil
	case <-time.After(10 * time.Second):
		return 0, fmt.Errorf("the end of %s is not told", hold.task)
	}
}

// usage is what processes have used.
type usage struct {
	processes int
	cpu       time.Duration
	switches  int64
	memory    int64 // kB
}

func usageOf(all []*waiter) usage {
	var u usage
	for _, w := range all {
		dir := filepath.Join("/proc", strconv.Itoa(w.cmd.Process.Pid))
		threads, _ := filepath.Glob(filepath.Join(dir, "task", "*"))
		// One that has ended is there until it is waited for, but has no memory.
		if field(filepath.Join(dir, "status"), "VmRSS:") > 0 {
			u.processes++
		}
		for _, thread := range threads {
			// The clock of the scheduler is exact; that of /proc/PID/stat counts
			// hundredths of a second.
			data, _ := os.ReadFile(filepath.Join(thread, "schedstat"))
			if fields := strings.Fields(string(data)); len(fields) > 0 {
				ns, _ := strconv.ParseInt(fields[0], 10, 64)
				u.cpu += time.Duration(ns)
			}
			u.switches += field(filepath.Join(thread, "status"), "voluntary_ctxt_switches:")
			u.switches += field(filepath.Join(thread, "status"), "nonvoluntary_ctxt_switches:")
		}
		u.memory += field(filepath.Join(dir, "smaps_rollup"), "Pss:")
	}
	return u
}

// field is a number in one of the kernel's lists.
func field(path, name string) int64 {
	data, _ := os.ReadFile(path) // gone: 0
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			n, _ := strconv.ParseInt(fields[1], 10, 64)
			return n
		}
	}
	return 0
}
