//go:build live

package live

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// withoutGo is the PATH of somebody who has npm and no Go.
const withoutGo = "/usr/bin:/bin"

// inAMinute is how long it may take from the first command to the first block, on a
// machine that has the client and npm and nothing of ours.
const inAMinute = time.Minute

// TestNPM: the packages that .ci/release made, installed by npm alone into an empty home
// without Go: install, demo and doctor; a session of the client, whose agent is held;
// then everything out again, and nothing is left. How long it took to the first block
// is measured and bounded.
func TestNPM(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	onlyScaled(t)
	if *npmFlag == "" {
		t.Skip("-npm names no folder with packages")
	}
	packages := npmPackages(t, *npmFlag)
	for _, c := range under.Clients {
		t.Run(c.Version, func(t *testing.T) {
			var began time.Time
			var w *world
			steps := ""
			took := func(what string, since time.Time) {
				steps += fmt.Sprintf("%s %.1f s, ", what, time.Since(since).Seconds())
			}
			held(t, c, scenario{}, func(made *world) {
				w = made
				if found, err := w.withNPM("sh", "-c", "command -v go"); err == nil {
					t.Skipf("a Go is on %s: %s", withoutGo, found)
				}
				began = time.Now()
				w.npmDoes("npm", append([]string{"install", "-g", "--no-fund", "--no-audit"}, packages...)...)
				took("npm install", began)
				at := time.Now()
				if said := w.npmDoes("stopgate", "install"); !strings.Contains(said, "proved") {
					t.Errorf("install: %s", said)
				}
				took("stopgate install", at)
			})
			first := w.firstBlock("leaver")
			if first.IsZero() || first.Sub(began) > inAMinute {
				t.Errorf("the first block came %s after the first command", first.Sub(began))
			}
			t.Logf("%sin all to the first block %.1f s", steps, first.Sub(began).Seconds())

			if said := w.npmDoes("stopgate", "demo"); !strings.Contains(said, "block") {
				t.Errorf("demo: %s", said)
			}
			w.npmDoes("stopgate", "doctor")
			_ = w.session.Kill()
			w.session.Gone()
			w.npmDoes("stopgate", "uninstall", "--purge")
			w.npmDoes("npm", "uninstall", "-g", "stopgate", "stopgate-"+npmPlatform())
			w.nothingOfOurs()
			shows(t, c, wayNPM, "own: held, finished, in the report; uninstalled: nothing left")
		})
	}
}

// npmPackages are what a person on this machine installs.
func npmPackages(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"stopgate-[0-9]*.tgz", "stopgate-" + npmPlatform() + "-*.tgz"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s in %s: %q, %v; make them with .ci/release", pattern, dir, found, err)
		}
		path, err := filepath.Abs(found[0])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, path)
	}
	return all
}

func npmPlatform() string {
	processor := runtime.GOARCH
	if processor == "amd64" {
		processor = "x64"
	}
	return runtime.GOOS + "-" + processor
}

// withNPM runs a command as the person whose home it is, for whom npm puts programs
// into the home folder. The registry is out of reach.
func (w *world) withNPM(program string, args ...string) (string, error) {
	w.t.Helper()
	prefix := filepath.Join(w.home, "npm")
	cmd := exec.Command("/usr/bin/env", append([]string{program}, args...)...)
	cmd.Dir = w.home
	cmd.Env = []string{
		"HOME=" + w.home, "PATH=" + filepath.Join(prefix, "bin") + ":" + withoutGo, stateEnv + "=" + w.state(),
		"npm_config_prefix=" + prefix, "npm_config_offline=true", "npm_config_update_notifier=false",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) npmDoes(program string, args ...string) string {
	w.t.Helper()
	said, err := w.withNPM(program, args...)
	if err != nil {
		w.t.Fatalf("%s %v: %v\n%s", program, args, err, said)
	}
	return said
}

// firstBlock is when an agent's model was first asked because of a block.
func (w *world) firstBlock(script string) time.Time {
	for _, a := range w.server.Of(script) {
		if !a.Ephemeral() && a.Request.Feedback() != "" {
			return a.At
		}
	}
	return time.Time{}
}

// nothingOfOurs checks that neither a file of ours nor an entry in the settings is left
// in a home in which the client was at work and keeps files of its own.
func (w *world) nothingOfOurs() {
	w.t.Helper()
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.ToLower(d.Name())
		if strings.Contains(name, "stopgate") || name == "hookctl" || path == w.state() {
			w.t.Errorf("%s is left over", path)
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
	data, err := os.ReadFile(filepath.Join(w.home, ".claude", "settings.json"))
	if err == nil && strings.Contains(string(data), "stopgate") {
		w.t.Errorf("the settings still name it: %s", data)
	}
}
