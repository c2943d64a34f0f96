//go:build live

package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	settingsfile "stopgate/pkg/settings"
)

// TestRefused: which settings the client reads nothing of, so that no hook runs, is what
// the doctor says of them (docs/client.md: settings that are refused).
func TestRefused(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	onlyScaled(t)
	if *smokeFlag {
		t.Skip("a fact of the client alone")
	}
	const stop, root = `"SubagentStop": [`, `"hooks": {`
	for _, c := range under.Clients {
		t.Run(c.Version, func(t *testing.T) {
			for _, k := range []struct{ situation, in, text string }{
				{"as installed", stop, stop},
				{"a key that nobody knows", root, `"later": 5, ` + root},
				{"an event that nobody knows", root, root + `"Later": [],`},
				{"an event that is null", root, root + `"PreToolUse": null,`},
				{"an event that forbids and is an object", root, root + `"PreToolUse": {"hooks": []},`},
				{"a group without hooks", stop, stop + `{},`},
				{"a group whose hooks are null", stop, stop + `{"hooks": null},`},
				{"an entry without a command", stop, stop + `{"hooks": [{"type": "command"}]},`},
				{"a timeout that is a string", stop, stop + `{"hooks": [{"type": "command", "command": "true", "timeout": "5"}]},`},
				{"another event that is an object", root, root + `"Notification": {"hooks": []},`},
				{"another event's group without hooks", root, root + `"Notification": [{}],`},
				{"a group without hooks of an event that forbids", root, root + `"PreToolUse": [{}],`},
				{"an entry without a command of an event that forbids", root, root + `"PermissionRequest": [{"hooks": [{"type": "command"}]}],`},
				{"env is null", root, `"env": null, ` + root},
				{"a value of env that is a number", root, `"env": {"A": 1}, ` + root},
				{"model is a number", root, `"model": 5, ` + root},
				{"permissions are a number", root, `"permissions": 5, ` + root},
				{"a switch that is a string", root, `"disableAllHooks": "false", ` + root},
			} {
				t.Run(k.situation, func(t *testing.T) {
					t.Parallel()
					var changed string
					w := leaving(t, c, scenario{}, func(w *world) {
						w.hookctl("install")
						file := filepath.Join(w.home, ".claude", "settings.json")
						data, err := os.ReadFile(file)
						if err != nil {
							t.Fatal(err)
						}
						changed = strings.Replace(string(data), k.in, k.text, 1)
						if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
							t.Fatal(err)
						}
					})
					refused := false
					for _, o := range settingsfile.Offences([]byte(changed)) {
						refused = refused || o.Minds(c.Version, older)
					}
					ran := func() bool { return strings.Contains(w.statusJSON(), `"session_id"`) }
					if !refused {
						w.wait("a hook runs", 10*time.Second, ran)
						return
					}
					w.quiet(2 * time.Second)
					if ran() {
						t.Error("its hooks run all the same")
					}
				})
			}
		})
	}
}
