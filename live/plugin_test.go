//go:build live

package live

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

// The ways in which people get stopgate into a session: the README's first
// command, the plugin, or both. The client takes its hooks from there; beside
// them are only hooks that record.

// TestPlugin: the built plugin folder, in a path with spaces, is accepted by the
// client's own check, and its hooks hold a stop; with an installation beside it
// each event is still answered once.
func TestPlugin(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	onlyScaled(t)
	if under.NoHook != "" {
		t.Fatal(under.NoHook)
	}
	dir := filepath.Join(t.TempDir(), "My Plugins é", "stopgate")
	if out, err := exec.Command(under.Hookctl, "plugin", "build", dir).CombinedOutput(); err != nil {
		t.Fatalf("plugin build: %v\n%s", err, out)
	}
	for _, c := range under.Clients {
		t.Run(c.Version, func(t *testing.T) {
			t.Run("validate", func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(c.Bin, "plugin", "validate", dir)
				home := t.TempDir()
				cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "IS_SANDBOX=1",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "passed") {
					t.Errorf("%v\n%s", err, out)
				}
			})
			t.Run("loaded", func(t *testing.T) {
				t.Parallel()
				held(t, c, scenario{Args: []string{"--plugin-dir", dir}}, nil)
			})
			t.Run("loaded and installed", func(t *testing.T) {
				t.Parallel()
				held(t, c, scenario{Args: []string{"--plugin-dir", dir}}, func(w *world) { w.hookctl("install") })
			})
		})
	}
}

// TestInstalled: the README's first command in an empty home guards the next
// session; after uninstall the session is as without it.
func TestInstalled(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	onlyScaled(t)
	for _, c := range under.Clients {
		t.Run(c.Version, func(t *testing.T) {
			t.Run("install", func(t *testing.T) {
				t.Parallel()
				held(t, c, scenario{}, func(w *world) { w.goRun("install") })
			})
			t.Run("uninstall", func(t *testing.T) {
				t.Parallel()
				letThrough(t, c, func(w *world) {
					w.goRun("install")
					w.hookctl("uninstall", "--purge")
					w.traceless()
				})
			})
		})
	}
}

// goRun is `go run ./cmd/hookctl` with the session's home as the user's.
func (w *world) goRun(args ...string) {
	w.t.Helper()
	cmd := exec.Command("go", append([]string{"run", "./cmd/hookctl"}, args...)...)
	cmd.Dir = ".."
	cmd.Env = w.asUser()
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			cmd.Env = append(cmd.Env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	cmd.Env = append(cmd.Env, "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("go run ./cmd/hookctl %v: %v\n%s", args, err, out)
	}
}

// hookctl runs the built hookctl with the session's home as the user's.
func (w *world) hookctl(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(under.Hookctl, args...)
	cmd.Dir = w.home
	cmd.Env = w.asUser()
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("hookctl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (w *world) asUser() []string {
	env := []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH")}
	if w.mode.Installed {
		return env
	}
	return append(env, stateEnv+"="+w.state())
}

// leaving is a coordinator whose foreground agent ends its turn while a shell of
// its own runs.
func leaving(t *testing.T, c clientUnderTest, s scenario, before func(*world)) *world {
	s.Name = "leaving"
	s.Scripts = func(w *world) scripts {
		if before != nil {
			before(w)
		}
		return scripts{
			lead:     steps(lead, blocks{agent("leaver", false)}),
			"leaver": w.obeying("leaver", blocks{w.shell("own")}),
		}
	}
	w := newWorld(t, c, s, client.SDK, mode{Name: "off"})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("\n" + w.story())
		}
	})
	w.prompt(model.Prompt(lead))
	w.wait("the agent ends its turn", 40*time.Second, func() bool { return len(w.stops("leaver")) > 0 })
	return w
}

// asks counts how often an agent's model was asked, and whether because of a
// block.
func (w *world) asks(script string) (n int, blocked bool) {
	for _, a := range w.server.Asked() {
		if !a.Ephemeral() && a.Request.Script == script {
			n++
			blocked = blocked || a.Request.Feedback() != ""
		}
	}
	return n, blocked
}

// reported tells whether the coordinator got the task's output.
func (w *world) reported() bool {
	for _, a := range w.server.Asked() {
		if !a.Ephemeral() && a.Request.Script == lead && strings.Contains(a.Request.AllText(), result("own")) {
			return true
		}
	}
	return false
}

// held plays a session whose agent must be held until its task has ended, then
// be blocked once with the result, then be let go.
func held(t *testing.T, c clientUnderTest, s scenario, before func(*world)) *world {
	t.Helper()
	w := leaving(t, c, s, before)
	w.wait("the hold is recorded", 10*time.Second, func() bool { return strings.Contains(w.statusJSON(), `"session_id"`) })
	asked, _ := w.asks("leaver")
	time.Sleep(time.Second) // nothing may happen now, however long it takes
	if n, blocked := w.asks("leaver"); n != asked || blocked {
		t.Errorf("the stop was not held: asked %d times, blocked %v", n, blocked)
	}
	if !w.alive("own") {
		t.Error("the task does not run while its agent is held")
	}
	w.release("own")
	w.wait("the coordinator gets the result", 30*time.Second, w.reported)
	w.quiet(time.Second)

	var status struct {
		Sessions []struct {
			Agents []struct{ Stops, Blocks int }
			Stops  []struct{ Verdict, Code string }
		}
	}
	if err := json.Unmarshal([]byte(w.statusJSON()), &status); err != nil || len(status.Sessions) != 1 {
		t.Fatalf("status: %v: %s", err, w.statusJSON())
	}
	var stops []string
	for _, st := range status.Sessions[0].Stops {
		stops = append(stops, st.Verdict+" "+st.Code)
	}
	if len(stops) != 2 || stops[0] != "block task-ended" || !strings.HasPrefix(stops[1], "allow ") {
		t.Errorf("stops %q, want one block and then one that is let through", stops)
	}
	return w
}

// letThrough plays a session that must be as without stopgate.
func letThrough(t *testing.T, c clientUnderTest, before func(*world)) {
	t.Helper()
	w := leaving(t, c, scenario{}, before)
	w.quiet(2 * time.Second)
	if _, blocked := w.asks("leaver"); blocked {
		t.Error("the stop was blocked")
	}
	if _, err := os.Stat(w.state()); err == nil {
		t.Error("a state folder is there: a hook ran")
	}
}

// traceless checks that nothing of an installation is left in the home.
func (w *world) traceless() {
	w.t.Helper()
	for _, path := range []string{".claude", ".local"} {
		if _, err := os.Lstat(filepath.Join(w.home, path)); err == nil {
			w.t.Errorf("%s is left over", path)
		}
	}
}

// statusJSON is what hookctl tells of the session.
func (w *world) statusJSON() string {
	cmd := exec.Command(under.Hookctl, "status", "--all", "--json")
	cmd.Env = w.asUser()
	out, _ := cmd.Output() // an empty answer fails the test that reads it
	return string(out)
}
