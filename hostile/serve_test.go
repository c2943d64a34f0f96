//go:build hostile && linux

package hostile

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/process"
)

// holding is a world whose agent's task is a real program.
func holding(t *testing.T, command string) (*world, *started) {
	t.Helper()
	w := newWorld(t)
	s := begin(t, w.dir, "", program{name: command, command: command})
	if err := os.Link(s.output, w.output(taskOf("a1"))); err != nil { // under the task's own name
		t.Fatal(err)
	}
	w.write(w.transcript("a1"), strings.ReplaceAll(w.launch("a1"), `"isSidechain":true`, `"isSidechain":true,"version":"2.1.332"`))
	w.write(strings.TrimSuffix(w.transcript("a1"), ".jsonl")+".meta.json", `{"agentType":"general-purpose"}`)
	return w, s
}

// stop is a stop of the agent, held for so long at the most.
func (w *world) stop(hold string) result {
	w.t.Helper()
	r := w.run(setup{args: []string{"gate", "--hold", hold}, payload: w.payload("a1"), limit: 5 * time.Minute})
	if r.code != 0 || r.signal != 0 || r.stderr != "" {
		w.t.Errorf("exit code %d, signal %v, stderr %q", r.code, r.signal, r.stderr)
	}
	return r
}

// A server is let go within a minute and a half, neither ended nor waited for again.
func TestTheHookLetsAServerGo(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		missing(t, "python3")
		return
	}
	w, s := holding(t, "python3 -m http.server --bind 127.0.0.1 0")
	if r := w.stop("4m"); r.stdout != "" || r.took < 55*time.Second || r.took > 90*time.Second {
		t.Errorf("answered %q after %v", r.stdout, r.took)
	} else {
		t.Logf("let go after %v: %+v", r.took, w.snapshot().Worth[taskOf("a1")])
	}
	if tree, ok := process.Look(s.output); !ok || len(tree.PIDs()) == 0 {
		t.Error("the server is gone")
	}
	if r := w.stop("4m"); r.stdout != "" || r.took > 5*time.Second {
		t.Errorf("again: %q after %v", r.stdout, r.took)
	}
}

// A quiet sleep is waited for until it ends.
func TestTheHookWaitsForASleep(t *testing.T) {
	t.Parallel()
	w, s := holding(t, "sleep 90; echo RESULT")
	go func() { // as the client tells it
		for {
			if data, err := os.ReadFile(s.output); err != nil || strings.Contains(string(data), "RESULT") {
				time.Sleep(200 * time.Millisecond)
				w.append(w.main(), w.ends(taskOf("a1")))
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	if r := w.stop("4m"); !strings.Contains(r.stdout, "exited with code 0") || r.took < 85*time.Second || r.took > 100*time.Second {
		t.Errorf("answered %q after %v", r.stdout, r.took)
	}
}

// A line that a command prints is no end while a process has its output open.
func TestTheHookBelievesNoPrintedEnd(t *testing.T) {
	t.Parallel()
	w, _ := holding(t, "echo '[exited with code 0]'; sleep 300")
	if r := w.stop("20s"); !strings.Contains(r.stdout, "running for") || r.took < 19*time.Second {
		t.Errorf("answered %q after %v", r.stdout, r.took)
	}
}
