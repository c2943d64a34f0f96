//go:build live

package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

// serverProgram is a development server of which no table of programs knows. It
// writes down its process.
const serverProgram = `import http.server, os, sys
open(sys.argv[1], "w").write(str(os.getpid()))
print("ready", flush=True)
http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler).serve_forever()
`

// buildTakes is how long the build beside the server takes, at real time.
const buildTakes = 3 * time.Minute

// TestAServerThatAnAgentLeaves: as installed and at real time, a foreground agent that
// leaves a development server running goes on within 90 s, and a build of three minutes
// beside it is waited for; the server is not waited for again, and not ended by the
// hook: what the client does with it at its agent's end is the client's.
func TestAServerThatAnAgentLeaves(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	onlyScaled(t)
	for _, c := range under.Clients {
		if !slices.Contains([]string{"2.1.220", "2.1.300", "2.1.332"}, c.Version) {
			continue
		}
		t.Run(c.Version, func(t *testing.T) {
			t.Run("alone", func(t *testing.T) {
				t.Parallel()
				w := serving(t, c, false)
				began := w.stopBegins()
				w.wait("the agent has gone on", 90*time.Second, w.leadGoesOn)
				t.Logf("held for %s", time.Since(began).Round(time.Second))
				w.quiet(2 * time.Second)
				if n, blocked := w.asks("leaver"); blocked {
					t.Errorf("the agent was blocked for its server (%d turns)", n)
				}
				w.worthIs("server", "processes", "serves")
			})
			t.Run("beside a build", func(t *testing.T) {
				t.Parallel()
				w := serving(t, c, true)
				began := w.stopBegins()
				lived := false
				w.wait("the build's result is in the report", buildTakes+time.Minute, func() bool {
					lived = time.Since(began) > buildTakes-20*time.Second && w.serves() || lived
					return w.reported()
				})
				if took := time.Since(began); took < buildTakes-10*time.Second {
					t.Errorf("the build was waited for for %s only", took)
				}
				if !lived {
					t.Error("the server did not live while its agent was held")
				}
				w.quiet(2 * time.Second)
				if stops := w.verdicts(); len(stops) != 2 || stops[0] != "block task-ended" || !strings.HasPrefix(stops[1], "allow ") {
					t.Errorf("stops %q, want one block with the build's outcome, and then one that is let through", stops)
				}
				w.worthIs("server", "processes", "serves")
			})
		})
	}
}

// serving is an installed session whose foreground agent ends its turn while a server
// of its own runs, and a build where that is wanted.
func serving(t *testing.T, c clientUnderTest, build bool) *world {
	t.Helper()
	s := scenario{Name: "serving", Limit: buildTakes + 3*time.Minute, Endless: []string{"server"}}
	s.Scripts = func(w *world) scripts {
		program := filepath.Join(w.home, "devel.py")
		if err := os.WriteFile(program, []byte(serverProgram), 0o600); err != nil {
			t.Fatal(err)
		}
		w.hookctl("install")
		tasks := blocks{model.Launch("server", "Bash", map[string]any{"description": "server", "run_in_background": true,
			"command": fmt.Sprintf("python3 %s %s", program, w.path("server", "pid"))})}
		if build {
			tasks = append(tasks, model.Launch("own", "Bash", map[string]any{"description": "own", "run_in_background": true,
				"command": fmt.Sprintf("for i in $(seq %d); do echo $i; sleep 1; done; echo RESULT-$((6*7))-own", int(buildTakes.Seconds()))}))
		}
		return scripts{
			lead:     steps(lead, blocks{agent("leaver", false)}),
			"leaver": w.patient("leaver", tasks),
		}
	}
	w := newWorld(t, c, s, client.SDK, mode{Name: "off"})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("\n" + w.story() + "\n" + w.statusJSON())
		}
	})
	w.prompt(model.Prompt(lead))
	return w
}

// stopBegins waits until the server runs and its agent's stop is held.
func (w *world) stopBegins() time.Time {
	w.t.Helper()
	w.wait("the server runs", 60*time.Second, w.serves)
	w.wait("the agent is held", 60*time.Second, w.anybodyHeld)
	return time.Now()
}

// anybodyHeld tells whether status shows a hold.
func (w *world) anybodyHeld() bool {
	var status struct {
		Sessions []struct {
			Agents []struct{ Held *struct{ Since time.Time } }
		}
	}
	if json.Unmarshal([]byte(w.statusJSON()), &status) != nil || len(status.Sessions) == 0 {
		return false // not yet
	}
	for _, a := range status.Sessions[0].Agents {
		if a.Held != nil {
			return true
		}
	}
	return false
}

// serves tells whether the server's process lives.
func (w *world) serves() bool {
	pid, err := os.ReadFile(w.path("server", "pid"))
	if err != nil || len(pid) == 0 {
		return false
	}
	_, err = os.Stat("/proc/" + string(pid))
	return err == nil
}

// leadGoesOn tells whether the coordinator got its agent's report.
func (w *world) leadGoesOn() bool {
	n := 0
	for _, a := range w.server.Asked() {
		if !a.Ephemeral() && a.Request.Script == lead {
			n++
		}
	}
	return n > 1
}

// verdicts are the recorded stops in order.
func (w *world) verdicts() []string {
	var status struct {
		Sessions []struct {
			Stops []struct{ Verdict, Code string }
		}
	}
	if err := json.Unmarshal([]byte(w.statusJSON()), &status); err != nil || len(status.Sessions) != 1 {
		w.t.Fatalf("status: %v: %s", err, w.statusJSON())
	}
	var stops []string
	for _, st := range status.Sessions[0].Stops {
		stops = append(stops, st.Verdict+" "+st.Code)
	}
	return stops
}

// worthIs checks who decided of a task, and how its words begin.
func (w *world) worthIs(label, by, words string) {
	w.t.Helper()
	k, _ := w.server.Task(label)
	var status struct {
		Sessions []struct {
			Tasks []struct {
				ID    string
				Worth struct{ By, Words string }
			}
		}
	}
	if err := json.Unmarshal([]byte(w.statusJSON()), &status); err != nil || len(status.Sessions) != 1 {
		w.t.Fatalf("status: %v: %s", err, w.statusJSON())
	}
	for _, task := range status.Sessions[0].Tasks {
		if task.ID == k.ID && task.Worth.By == by && strings.HasPrefix(task.Worth.Words, words) {
			return
		}
	}
	w.t.Errorf("status does not say that %s %s: %s", k.ID, words, w.statusJSON())
}
