package cli

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestSetupScripts are the scripts of install, uninstall, doctor and plugin.
// They run the built programs, which lie in $PROGRAMS, with a fresh HOME: what
// install recognises as its own, it recognises by how it was built.
func TestSetupScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts lay out a home folder with links")
	}
	programs := t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-o", programs, "stopgate/cmd/hook", "stopgate/cmd/hookctl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	gotool := map[string]string{}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		gotool[name] = strings.TrimSpace(string(out))
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/setup",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			for _, name := range []string{
				"STOPGATE_STATE_DIR", "STOPGATE_DISABLE", "XDG_STATE_HOME", "XDG_DATA_HOME", "NO_COLOR", "COLUMNS",
				"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
				"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "CLAUDE_CODE_FORK_SUBAGENT",
			} {
				env.Setenv(name, "")
			}
			for name, value := range gotool {
				env.Setenv(name, value)
			}
			env.Setenv("GOPROXY", "off")
			env.Setenv("HOME", home)
			env.Setenv("TZ", "UTC")
			env.Setenv("PROGRAMS", programs)
			env.Setenv("MODULE", module)
			env.Setenv("DATA", filepath.Join(home, ".local", "share", "stopgate"))
			env.Setenv("PATH", programs+string(filepath.ListSeparator)+env.Getenv("PATH"))
			return os.MkdirAll(filepath.Join(home, "proj"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// listing FOLDER FILE lists a folder with sums and times.
			"listing": func(ts *testscript.TestScript, _ bool, args []string) {
				var b strings.Builder
				ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
					if err != nil {
						return err
					}
					info, err := d.Info()
					if err != nil {
						return err
					}
					data, _ := os.ReadFile(path) // nothing for a folder
					fmt.Fprintf(&b, "%s %s %d %x\n", path, info.Mode(), info.ModTime().UnixNano(), sha256.Sum256(data))
					return nil
				}))
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
			},
			// empty FOLDER: nothing is in it but the project folder.
			"empty": func(ts *testscript.TestScript, _ bool, args []string) {
				entries, err := os.ReadDir(ts.MkAbs(args[0]))
				ts.Check(err)
				for _, e := range entries {
					if e.Name() != "proj" {
						ts.Fatalf("%s is left over in %s", e.Name(), args[0])
					}
				}
			},
		},
	})
}
