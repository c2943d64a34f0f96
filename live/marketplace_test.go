//go:build live

package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stopgate/plugin"
)

// TestMarketplace: the built folder is a marketplace out of which the client's own
// commands install the plugin; what a person chose for it reaches the hook; beside
// entries in the settings each event is still answered once; and what was recorded
// stays when the plugin goes.
func TestMarketplace(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
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
				home := t.TempDir()
				for _, path := range []string{dir, filepath.Join(dir, ".claude-plugin", "plugin.json")} {
					if out := claude(t, c, home, "plugin", "validate", path); !strings.Contains(out, "passed") || strings.Contains(out, "warning") && !directoryOnly(out) {
						t.Errorf("%s", out)
					}
				}
			})
			t.Run("as it comes", func(t *testing.T) {
				t.Parallel()
				w := added(t, c, dir)
				if flags := w.hookctl("log", "--all", "--json"); strings.Contains(flags, "--patience=25m") {
					t.Errorf("a patience that nobody chose: %s", flags)
				}
				shows(t, c, wayPlugin, "own: held, finished, in the report")
			})
			t.Run("with patience, and out again", func(t *testing.T) {
				t.Parallel()
				w := added(t, c, dir, "--config", "patience=25m")
				if flags := w.hookctl("log", "--all", "--json"); !strings.Contains(flags, "--patience=25m") {
					t.Errorf("the patience that was chosen does not reach the hook: %s", flags)
				}
				shows(t, c, wayConfigured, "own: held, finished, in the report; the patience reaches the hook")
				_ = w.session.Kill()
				before := w.statusJSON()
				claude(t, c, w.home, "plugin", "uninstall", plugin.ID)
				claude(t, c, w.home, "plugin", "marketplace", "remove", plugin.Name)
				if after := w.statusJSON(); !strings.Contains(before, `"session_id"`) || !strings.Contains(after, `"session_id"`) {
					t.Errorf("what was recorded is gone: %s", after)
				}
				letThrough(t, c, func(w *world) {
					claude(t, c, w.home, "plugin", "marketplace", "add", dir)
					claude(t, c, w.home, "plugin", "install", plugin.ID)
					claude(t, c, w.home, "plugin", "uninstall", plugin.ID)
				})
				shows(t, c, wayOut, "nothing is blocked; what was recorded stays")
			})
			t.Run("beside the settings", func(t *testing.T) {
				t.Parallel()
				w := held(t, c, scenario{}, func(w *world) {
					w.hookctl("install")
					claude(t, c, w.home, "plugin", "marketplace", "add", dir)
					claude(t, c, w.home, "plugin", "install", plugin.ID)
				})
				said := w.hookctl("doctor")
				for _, want := range []string{"by the plugin " + plugin.ID, "hookctl uninstall, or claude plugin uninstall " + plugin.ID} {
					if !strings.Contains(said, want) {
						t.Errorf("doctor does not say %q:\n%s", want, said)
					}
				}
				shows(t, c, wayBeside, "own: held, finished, in the report; each event is answered once, and doctor says what to take out")
			})
		})
	}
}

// directoryOnly tells that the client warns of nothing but what the public directory
// of plugins would like to have.
func directoryOnly(out string) bool {
	before, _, _ := strings.Cut(out, "Plugin directory checks")
	return !strings.Contains(before, "warning")
}

// added plays a session with the plugin installed from its folder.
func added(t *testing.T, c clientUnderTest, dir string, config ...string) *world {
	t.Helper()
	return held(t, c, scenario{}, func(w *world) {
		claude(t, c, w.home, "plugin", "marketplace", "add", dir)
		claude(t, c, w.home, append([]string{"plugin", "install", plugin.ID}, config...)...)
	})
}

// shows notes what a way in showed where nothing failed.
func shows(t *testing.T, c clientUnderTest, way, cell string) {
	t.Helper()
	if !t.Failed() {
		noteWay(c.Version, way, cell)
	}
}

// claude runs a command of the client's that needs no model.
func claude(t *testing.T, c clientUnderTest, home string, args ...string) string {
	t.Helper()
	cmd := exec.Command(c.Bin, args...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "IS_SANDBOX=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("claude %v: %v\n%s", args, err, out)
	}
	return string(out)
}
