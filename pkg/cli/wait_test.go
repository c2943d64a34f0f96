package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

// steady is a clock that moves only by sleeping; at its time, do happens once.
type steady struct {
	now time.Time
	at  time.Time
	do  func()
}

func (c *steady) Now() time.Time { return c.now }

func (c *steady) Sleep(ctx context.Context, d time.Duration) bool {
	c.now = c.now.Add(d)
	if c.do != nil && !c.now.Before(c.at) {
		do := c.do
		c.do = nil
		do()
	}
	return ctx.Err() == nil
}

const waitSession = "22222222-3333-4444-5555-666666666666"

// waiting is a session whose ledger knows two shells, b1 and b2, of an agent.
type waiting struct {
	t     *testing.T
	dir   string
	clock *steady
	// held tells that a process has the output files open; nil cannot tell.
	held func(path string) (held, known bool)
}

func newWaiting(t *testing.T) *waiting {
	t.Helper()
	w := &waiting{t: t, dir: t.TempDir(), clock: &steady{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	w.write(w.main(), "{}\n")
	w.write(w.output("b1"), "x\n")
	w.write(w.output("b2"), "x\n")
	w.update(func(tx *ledger.Tx) {
		tx.Session.Transcript, tx.Session.Cwd = w.main(), w.dir
		tx.Session.LastEvent, tx.Session.LastEventAt = "PostToolUse", w.clock.now
		for _, id := range []string{"b1", "b2"} {
			tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: id, Owner: "a1", Kind: "shell", Output: w.output(id), At: w.clock.now, Evidence: transcript.PostToolUse}}})
		}
	})
	return w
}

func (w *waiting) main() string            { return filepath.Join(w.dir, "main.jsonl") }
func (w *waiting) output(id string) string { return filepath.Join(w.dir, id+".output") }
func (w *waiting) state() state.Dir        { return state.At(filepath.Join(w.dir, "state")) }

func (w *waiting) write(path, text string) {
	w.t.Helper()
	hosttest.Write(w.t, w.clock.now, path, text)
}

func (w *waiting) update(change func(*ledger.Tx)) {
	w.t.Helper()
	err := ledger.Update(w.t.Context(), w.state(), waitSession, w.clock.now, func(tx *ledger.Tx) error { change(tx); return nil })
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *waiting) later(d time.Duration, do func()) { w.clock.at, w.clock.do = w.clock.now.Add(d), do }

func (w *waiting) run(args ...string) (code int, stdout, stderr string) {
	var o, e bytes.Buffer
	code = Main(Names[0], host.Host{
		Stdin: strings.NewReader(""), Stdout: &o, Stderr: &e, Args: args, Clock: w.clock,
		Env: func(name string) string {
			if name == state.EnvDir {
				return w.state().Path()
			}
			return ""
		},
		Self:   func() string { return "" },
		Parent: func() int { return 1 },
		Alive:  func(int) bool { return true },
		Held:   w.held,
	})
	return code, o.String(), e.String()
}

func TestWaitForATaskThatEnds(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	w.later(3*time.Second, func() { w.write(w.output("b1"), "RESULT\n\n[exited with code 4]\n") })
	code, stdout, stderr := w.run("wait", "b1")
	want := "b1 exited with code 4 after 3s; output (29 B): " + w.output("b1") + "\n"
	if code != 0 || stdout != want || stderr != "" {
		t.Errorf("exit code %d, printed %q (%q), want %q", code, stdout, stderr, want)
	}
}

func TestWaitForATaskThatDoesNotEndInTime(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	code, stdout, _ := w.run("wait", "--timeout", "30s", "b1")
	if code != exitTimeout || !strings.HasPrefix(stdout, "b1 still runs") {
		t.Errorf("exit code %d, printed %q", code, stdout)
	}
	if waited := w.clock.now.Sub(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)); waited < 30*time.Second || waited > 31*time.Second {
		t.Errorf("waited for %s", waited)
	}
}

func TestWaitForAnyOfSeveralTasks(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	w.later(2*time.Second, func() { w.write(w.output("b2"), "[killed]\n") })
	code, stdout, _ := w.run("wait", "--any", "--json", "b1", "b2")
	var got struct {
		Why      string
		Outcomes []struct {
			Task, State string
			ExitCode    *int `json:"exit_code"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if code != 0 || len(got.Outcomes) != 2 || got.Outcomes[0].State != "running" || got.Outcomes[1].State != "killed" || got.Outcomes[1].ExitCode != nil {
		t.Errorf("exit code %d, printed %s", code, stdout)
	}
}

func TestWaitForATaskThatNobodyKnows(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	if code, _, stderr := w.run("wait", "b1", "b99"); code != exitUnknown || !strings.Contains(stderr, "no recorded session knows b1 and b99") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestWaitEndsWithItsSession(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	w.later(2*time.Second, func() {
		w.update(func(tx *ledger.Tx) { tx.Session.Ended = w.clock.now })
	})
	if code, _, stderr := w.run("wait", "b1"); code != exitFailed || !strings.Contains(stderr, "the session has ended") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestWaitKnowsAnEndThatWasReadBefore(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	code := 7
	w.update(func(tx *ledger.Tx) {
		tx.Merge(ledger.Learned{Ends: []transcript.End{{Task: "b1", Status: "failed", ExitCode: &code, At: w.clock.now.Add(time.Second)}}})
	})
	if got, stdout, _ := w.run("wait", "b1"); got != 0 || !strings.HasPrefix(stdout, "b1 exited with code 7 after 1s") {
		t.Errorf("exit code %d, printed %q", got, stdout)
	}
}

func TestReleaseExcusesATask(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	if code, stdout, stderr := w.run("release", "b1"); code != 0 || stdout != "released b1: no stop waits for it any more\n" {
		t.Fatalf("exit code %d, printed %q (%q)", code, stdout, stderr)
	}
	snap, err := ledger.Read(t.Context(), w.state(), waitSession, nil)
	if err != nil || !snap.Released["b1"] || snap.Released["b2"] {
		t.Errorf("released: %v (%v)", snap.Released, err)
	}
	if a := snap.Acts; len(a) != 1 || a[0].Deed != ledger.Released || len(a[0].Tasks) != 1 || a[0].Tasks[0] != "b1" || !a[0].Time.Equal(w.clock.now) {
		t.Errorf("recorded %+v", a)
	}
	if code, _, stderr := w.run("release", "b99"); code != exitUnknown {
		t.Errorf("exit code %d for an unknown task: %s", code, stderr)
	}
}

func TestWaitHelpNamesItsExitCodes(t *testing.T) {
	t.Parallel()
	_, stdout, _ := newWaiting(t).run("wait", "--help")
	for _, code := range []int{exitTimeout, exitUnknown} {
		if !strings.Contains(stdout, fmt.Sprint(code)) {
			t.Errorf("the help does not name exit code %d", code)
		}
	}
}

// What the gate does not wait for is not waited for here either, and said.
func TestWhatTheGateLetsGoIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	w.update(func(tx *ledger.Tx) {
		tx.PutWorth(ledger.Worth{Task: "b1", By: "processes", Words: "serves: listens on 5173, idle 60 s", Does: "serves"})
	})
	code, out, _ := w.run("wait", "b1")
	if code != exitLetGo || !strings.Contains(out, "b1 still runs, not waited for (processes): serves: listens on 5173, idle 60 s") {
		t.Errorf("exit code %d, %q", code, out)
	}
	w.clock.at, w.clock.do = w.clock.now.Add(2*time.Second), func() { w.write(w.output("b2"), "x\n[exited with code 0]\n") }
	code, out, _ = w.run("wait", "b1", "b2")
	if code != 0 || !strings.Contains(out, "b2 exited with code 0") || !strings.Contains(out, "b1 still runs, not waited for") {
		t.Errorf("exit code %d, %q", code, out)
	}
}
