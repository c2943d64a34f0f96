package handler

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/history"
	"stopgate/pkg/process"
)

// envListen makes this program a server instead of running the tests.
const envListen = "HANDLER_TEST_LISTEN"

func TestMain(m *testing.M) {
	if os.Getenv(envListen) != "" {
		if _, err := net.Listen("tcp", "127.0.0.1:0"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// real starts the processes of a task as the client does, and waits until they have
// written to its output. $ME serves.
func (s *session) real(task, script string) *exec.Cmd {
	s.t.Helper()
	path := s.output(task)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	out, err := os.Create(path) //realtime: real processes write to it
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), envListen+"=1", "ME="+os.Args[0])
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if data, _ := os.ReadFile(path); strings.Contains(string(data), "ready") {
			s.settles(path)
			return cmd
		}
		if time.Now().After(deadline) {
			s.t.Fatal("the task never began")
		}
	}
}

// settles waits until the task rests: the clock of the test runs a thousand times
// faster than what has just begun.
func (s *session) settles(path string) {
	s.t.Helper()
	last, same := uint64(0), 0
	for deadline := time.Now().Add(30 * time.Second); same < 5; time.Sleep(10 * time.Millisecond) {
		tree, _ := process.Look(path)
		same++
		if n := tree.Ticks(); n != last || slices.ContainsFunc(tree.Processes, func(p process.Process) bool { return p.Runs }) {
			last, same = n, 0
		}
		if time.Now().After(deadline) {
			s.t.Fatal("the task never rests")
		}
	}
}

// stops is a stop of the agent on this machine, with the tasks' commands.
func (s *session) stops(commands map[string]string, args ...string) Outcome {
	s.t.Helper()
	var ids []string
	for id := range commands {
		ids = append(ids, id)
	}
	payload := s.stopPayload(false, ids...)
	for id, c := range commands {
		payload = strings.Replace(payload, `"command":"make","id":"`+id+`"`, `"command":`+quote(c)+`,"id":"`+id+`"`, 1)
	}
	h := s.host(payload, args)
	h.Processes, h.Held = true, process.Held
	_, out := Run(h)
	return out
}

func (s *session) begins(task string) {
	s.appendTo(s.agentFile(testAgent), s.call("toolu_"+task, "Bash", `{"command":"x","run_in_background":true}`))
	s.appendTo(s.agentFile(testAgent), s.launched("toolu_"+task, task))
}

const server = `"$ME" & wait`

func TestWhatServesIsNoLongerWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	cmd := s.real("b1", server)
	out := s.stops(map[string]string{"b1": "./tool"}, "--hold=9m30s")
	if out.Decision.Block || out.Decision.Code != gate.Excused || out.Held < time.Minute || out.Held > 90*time.Second {
		t.Errorf("%+v after %s", out.Decision, out.Held)
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the server: %v", err)
	}
	w := s.snapshot().Worth["b1"]
	if w.Wait || w.By != "processes" || !strings.HasPrefix(w.Words, "serves: listens on ") || !strings.Contains(w.Words, ", idle ") {
		t.Errorf("recorded %+v", w)
	}
	if got := s.lastStop().Worth; len(got) != 1 || got[0].Words != w.Words || got[0].Key != "" {
		t.Errorf("the stop says %+v", got)
	}
	// It is not waited for again.
	if out := s.stops(map[string]string{"b1": "./tool"}, "--hold=9m30s"); out.Decision.Code != gate.Excused || out.Held != 0 {
		t.Errorf("again: %+v after %s", out.Decision, out.Held)
	}
	entries, err := history.All(t.Context(), s.state(), s.clock.Now())
	if err != nil || len(entries) != 1 || entries[0].Served != 1 {
		t.Errorf("the history has %+v, %v", entries, err)
	}
}

// What remains answers the stop.
func TestABuildBesideAServerIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begins("b2")
	s.real("b1", server)
	s.real("b2", "echo ready; sleep 600")
	s.after(3*time.Minute, func() { s.appendTo(s.main(), s.ended("b2", "completed", "done (exit code 0)")) })
	out := s.stops(map[string]string{"b1": "./tool", "b2": "make"}, "--hold=9m30s")
	if !out.Decision.Block || out.Decision.Code != gate.TaskEnded || len(out.Decision.Tasks) != 1 || out.Decision.Tasks[0].ID != "b2" || out.Held < 3*time.Minute || out.Held > 181*time.Second {
		t.Errorf("%+v after %s", out.Decision, out.Held)
	}
}

func TestWhatIsQuietIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.real("b1", "echo ready; sleep 600")
	if out := s.stops(map[string]string{"b1": "sleep 600"}, "--hold=9m30s"); out.Decision.Code != gate.HoldOver || out.Held < 9*time.Minute {
		t.Errorf("%+v after %s", out.Decision, out.Held)
	}
}

// A hold is shorter than what tells an idle task: the next one goes on from there. It
// is named once, and let go.
func TestAPollLoopIsNamedOnceAndLetGo(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.real("b1", "echo ready; until [ -e /nowhere ]; do sleep 600; done")
	command := map[string]string{"b1": "./poll"}
	if out := s.stops(command, "--hold=9m30s"); out.Decision.Code != gate.HoldOver {
		t.Fatalf("first: %+v", out.Decision)
	}
	s.clock.Sleep(t.Context(), 5*time.Second)
	out := s.stops(command, "--hold=9m30s")
	if !out.Decision.Block || out.Decision.Code != gate.TaskIdle || out.Held > time.Minute || !strings.Contains(out.Reason, "has been idle for long and is not waited for any longer") || !strings.Contains(out.Reason, "End it with TaskStop") {
		t.Errorf("then: %+v after %s: %s", out.Decision, out.Held, out.Reason)
	}
	s.clock.Sleep(t.Context(), 5*time.Second)
	if out := s.stops(command, "--hold=9m30s"); out.Decision.Block || out.Decision.Code != gate.Excused || out.Held != 0 {
		t.Errorf("and again: %+v after %s", out.Decision, out.Held)
	}
}

func TestAnIdleTaskThatEndedBeforeIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.remembers(t, "./poll", history.Ended, 12*time.Minute, 3)
	s.real("b1", "echo ready; until [ -e /nowhere ]; do sleep 600; done")
	command := map[string]string{"b1": "./poll"}
	for i := range 3 {
		out := s.stops(command, "--hold=9m30s")
		if out.Decision.Code != gate.HoldOver || !strings.Contains(out.Reason, ", usually 12 min, 3 so far)") {
			t.Errorf("hold %d: %+v: %s", i, out.Decision, out.Reason)
		}
		s.clock.Sleep(t.Context(), 5*time.Second)
	}
}

func (s *session) remembers(t *testing.T, command string, what history.What, took time.Duration, times int) {
	t.Helper()
	for range times {
		if err := history.Record(t.Context(), s.state(), s.clock.Now(), history.Note{Command: command, Project: s.dir, What: what, Took: took}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatWasLeftRunningTwiceIsWaitedForHalfAMinute(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.remembers(t, "./tool", history.Left, 0, 2)
	s.real("b1", "echo ready; sleep 600")
	out := s.stops(map[string]string{"b1": "./tool"}, "--hold=9m30s")
	if out.Decision.Code != gate.Excused || out.Held < 25*time.Second || out.Held > 40*time.Second {
		t.Errorf("%+v after %s", out.Decision, out.Held)
	}
	// Whoever says so in flags is not asked, and nothing is kept.
	if out := s.stops(map[string]string{"b1": "./tool"}, "--hold=2m", "--no-history"); out.Decision.Code != gate.HoldOver {
		t.Errorf("without a history: %+v", out.Decision)
	}
}

// What ended before ends again, also against the list.
func TestTheHistoryCountsMoreThanTheText(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	command := map[string]string{"b1": "npm run dev"}
	s.real("b1", "echo ready; sleep 600")
	if out := s.stops(command, "--hold=2m"); out.Decision.Code != gate.Excused || out.Held != 0 {
		t.Errorf("by its text: %+v", out.Decision)
	}
	s.clock.Sleep(t.Context(), 5*time.Second)
	s.remembers(t, "npm run dev", history.Ended, time.Minute, 1)
	if out := s.stops(command, "--hold=2m"); out.Decision.Code != gate.HoldOver {
		t.Errorf("by its history: %+v", out.Decision)
	}
	s.clock.Sleep(t.Context(), 5*time.Second)
	if out := s.stops(command, "--hold=2m", "--ignore=dev"); out.Decision.Code != gate.Excused {
		t.Errorf("by --ignore: %+v", out.Decision)
	}
}

// What has no process left has ended, whatever the client's list says.
func TestATaskWithoutProcessesHasEnded(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.client = os.Getpid() // its shells are seen
	cmd := s.real("b1", "echo ready; sleep 600")
	s.after(20*time.Second, func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	out := s.stops(map[string]string{"b1": "make"}, "--hold=9m30s")
	if out.Decision.Code != gate.TaskEnded || out.Held > 5*time.Minute { // its death takes real time
		t.Errorf("%+v after %s", out.Decision, out.Held)
	}
}

// A line that the command printed is no end while a process has the output open.
func TestAPrintedEndWhileTheOutputIsOpen(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.real("b1", "echo ready; echo '[exited with code 0]'; exec sleep 600")
	if out := s.stops(map[string]string{"b1": "make"}, "--hold=2m"); out.Decision.Code != gate.HoldOver {
		t.Errorf("%+v after %s", out.Decision, out.Held)
	}
}

// Where stops are not held, one look must do.
func TestAServerIsKnownAtOneLook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		age          time.Duration
		block        bool
	}{
		{"a server", server, 10 * time.Minute, false},
		{"a server that began just now", server, 10 * time.Second, true},
		{"what only sleeps", "echo ready; sleep 600", 10 * time.Minute, true},
	} {
		s := newSession(t)
		s.real("b1", c.script)
		long := time.Now().Add(-c.age) //realtime: the file of a real process
		if err := os.Chtimes(s.output("b1"), long, long); err != nil {
			t.Fatal(err)
		}
		s.clock.now = time.Now() //realtime: beside the real file
		s.clock.now = s.clock.now.Add(-c.age)
		s.begins("b1")
		s.clock.now = s.clock.now.Add(c.age)
		out := s.stops(map[string]string{"b1": "./tool"}, "--hold=0s")
		if out.Decision.Block != c.block {
			t.Errorf("%s: %+v, %+v", c.name, out.Decision, out.Facts.Own)
		}
	}
}

// What still runs at the session's end was left running; what ended in a hold ended.
func TestTheHistoryIsKept(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begins("b2")
	s.after(30*time.Second, func() { s.appendTo(s.main(), s.ended("b2", "completed", "done (exit code 0)")) })
	commands := map[string]string{"b1": "./left", "b2": "./done"}
	if out := s.stops(commands, "--hold=1m"); out.Decision.Code != gate.HoldOver {
		t.Fatalf("%+v", out.Decision)
	}
	s.clock.Sleep(t.Context(), 5*time.Second)
	s.run(fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":"SessionEnd"}`, testSession, s.main(), s.dir))
	done, _, err1 := history.Find(t.Context(), s.state(), s.clock.Now(), s.dir, "./done")
	left, _, err2 := history.Find(t.Context(), s.state(), s.clock.Now(), s.dir, "./left")
	if err1 != nil || err2 != nil || done.Ended != 1 || len(done.Took) != 1 || left.Left != 1 || left.Ended != 0 {
		t.Errorf("%+v, %v; %+v, %v", done, err1, left, err2)
	}
	for _, w := range s.snapshot().Worth {
		if w.Key != "" {
			t.Errorf("%+v is not settled", w)
		}
	}
}
