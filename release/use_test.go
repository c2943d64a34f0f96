//go:build release

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"stopgate/pkg/version"
)

// guarded goes the whole way with an installed stopgate: it proves itself, holds a
// stop, hands over the outcome, and leaves nothing behind.
func guarded(p *person, stopgate string) {
	p.t.Helper()
	p.sees("proved", stopgate, "install")
	if line := p.gate(); line[0] != p.installed("hook") {
		p.t.Errorf("registered is %s", line[0])
	}
	if data, err := os.ReadFile(p.installed("hook")); err != nil || !bytes.HasPrefix(data, []byte("\x7fELF")) {
		p.t.Errorf("the registered hook is no native program: %v", err)
	}
	p.sees("block", stopgate, "demo")
	p.does(stopgate, "doctor")
	p.stops(p.session("11111111-2222-3333-4444-555555555555")).answers()
	p.sees("task-ended", stopgate, "log", "--all")
	p.does(stopgate, "uninstall", "--purge")
	p.traceless()
}

func TestOutOfTheArchive(t *testing.T) {
	dir := unpacked(t)
	guarded(newPerson(t), filepath.Join(dir, "stopgate"))
}

// npm install in an empty home, without Go, from the packed files alone; then all
// of it, and the package is not needed for what is installed.
func TestOutOfNPM(t *testing.T) {
	p := newPerson(t)
	p.env = []string{"npm_config_offline=true", "npm_config_update_notifier=false", "npm_config_prefix=" + filepath.Join(p.home, "npm")}
	platform := "stopgate-linux-" + npmName(runtime.GOARCH)
	p.does("npm", "install", "-g", "--no-fund", "--no-audit", made(t, "npm/stopgate-$V.tgz"), made(t, "npm/"+platform+"-$V.tgz"))
	stopgate := filepath.Join(p.home, "npm", "bin", "stopgate")
	hookctl := filepath.Join(p.home, "npm", "bin", "hookctl")
	p.sees("stopgate "+version.Number(), stopgate, "version")
	p.sees("hookctl "+version.Number(), hookctl, "version")
	p.sees("\n  stopgate install", stopgate, "install", "--help")
	if out, err := p.command(stopgate, "nonsense").CombinedOutput(); exitCode(err) != 2 {
		t.Errorf("the exit code is lost: %v: %s", err, out)
	}
	guarded(p, stopgate)

	p.does(stopgate, "install")
	p.does("npm", "uninstall", "-g", "stopgate", platform)
	p.stops(p.session("22222222-2222-3333-4444-555555555555")).answers()
	p.does(p.installed("hookctl"), "uninstall", "--purge")
	p.traceless()
	if left, err := filepath.Glob(filepath.Join(p.home, "npm", "lib", "node_modules", "stopgate*")); err != nil || len(left) > 0 {
		t.Errorf("npm left %q, %v", left, err)
	}
}

// Without the package for its platform the launcher says so, and what to do.
func TestNPMWithoutThePlatform(t *testing.T) {
	p := newPerson(t)
	p.env = []string{"npm_config_offline=true", "npm_config_update_notifier=false", "npm_config_prefix=" + filepath.Join(p.home, "npm")}
	p.does("npm", "install", "-g", "--no-fund", "--no-audit", "--omit=optional", made(t, "npm/stopgate-$V.tgz"))
	out, err := p.command(filepath.Join(p.home, "npm", "bin", "stopgate"), "version").CombinedOutput()
	if exitCode(err) != 1 || !strings.Contains(string(out), "--omit=optional") {
		t.Errorf("%v: %s", err, out)
	}
}

func exitCode(err error) int {
	exit, ok := err.(*exec.ExitError) //nolint:errorlint // as it comes from exec
	if !ok {
		return -1
	}
	return exit.ExitCode()
}

// older builds the programs as another version.
func older(t *testing.T, number string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w -X stopgate/pkg/version.number=" + number, "-o", dir}, flags...)
	cmd := exec.Command("go", append(args, "stopgate/cmd/hook", "stopgate/cmd/hookctl")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
}

// later builds the programs as a version to come, whose ledgers have another layout.
func later(t *testing.T, number string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", "pkg", "ledger", "store.go"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(data, []byte("\nconst schema = "), []byte("\nconst schema = 90"), 1)
	if bytes.Equal(changed, data) {
		t.Fatalf("no schema in %s", file)
	}
	to, overlay := filepath.Join(t.TempDir(), "store.go"), filepath.Join(t.TempDir(), "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: to}})
	if err := errors.Join(err, os.WriteFile(to, changed, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	return older(t, number, "-overlay", overlay)
}

// Another version takes the place of the one installed, up and down, while a stop is
// held: the hold ends as it would have, and the entries stay as they are.
func TestAnotherVersionWhileAStopIsHeld(t *testing.T) {
	old, now := older(t, "0.0.9"), unpacked(t)
	p := newPerson(t)
	p.does(filepath.Join(old, "hookctl"), "install", "--hold", "9m")
	line := p.gate()
	for i, step := range []struct{ from, number string }{
		{now, version.Number()}, {old, "0.0.9"}, {now, version.Number()},
	} {
		held := p.stops(p.session([]string{"1", "2", "3"}[i] + "1111111-2222-3333-4444-555555555555"))
		before := "0.0.9"
		if step.number == before {
			before = version.Number()
		}
		p.sees(before+" -> "+step.number, filepath.Join(step.from, "hookctl"), "install")
		p.sees("hookctl "+step.number, p.installed("hookctl"), "version")
		p.sees("hook "+step.number, p.installed("hook"), "--version")
		held.answers()
		if got := p.gate(); strings.Join(got, " ") != strings.Join(line, " ") {
			t.Errorf("registered is %q, was %q", got, line)
		}
		p.does(p.installed("hookctl"), "doctor")
	}
	p.does(p.installed("hookctl"), "uninstall", "--purge")
	p.traceless()
}

// Back from a version whose ledgers this one does not know: they are left as they are,
// everything says so, and other sessions are guarded.
func TestBackFromALedgerThatIsNewer(t *testing.T) {
	p := newPerson(t)
	p.does(filepath.Join(later(t, "9.9.9"), "hookctl"), "install")
	theirs := p.session("11111111-2222-3333-4444-555555555555")
	p.stops(theirs).answers()
	ledger := filepath.Join(p.home, ".local", "state", "stopgate", "sessions", theirs.id+".db")
	before := sumOf(t, ledger)

	p.sees("9.9.9 -> "+version.Number(), filepath.Join(unpacked(t), "hookctl"), "install")
	hookctl := p.installed("hookctl")
	line := p.gate()
	stop := p.command(line[0], line[1:]...)
	stop.Stdin = strings.NewReader(p.stop(theirs))
	if out, err := stop.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("a stop of that session: %v: %s", err, out)
	}
	p.stops(p.session("22222222-2222-3333-4444-555555555555")).answers()
	for _, args := range [][]string{{"status", "--all"}, {"log", "--all"}} {
		if out, _ := p.command(hookctl, args...).CombinedOutput(); !strings.Contains(string(out), "newer version of stopgate") {
			t.Errorf("%v does not say it: %s", args, out)
		}
	}
	p.sees("1 of 2 sessions cannot be read", hookctl, "doctor")
	if sumOf(t, ledger) != before {
		t.Error("the newer ledger was touched")
	}
	p.does(hookctl, "uninstall", "--purge")
	p.traceless()
}

// npm puts another version in place while a stop is held, up and down.
func TestAnotherVersionOfNPM(t *testing.T) {
	p := newPerson(t)
	p.env = []string{"npm_config_offline=true", "npm_config_update_notifier=false", "npm_config_prefix=" + filepath.Join(p.home, "npm")}
	platform := "stopgate-linux-" + npmName(runtime.GOARCH)
	now := []string{made(t, "npm/stopgate-$V.tgz"), made(t, "npm/"+platform+"-$V.tgz")}
	programs := older(t, "0.0.9")
	var old []string
	for i, name := range []string{"stopgate", platform} {
		dir := t.TempDir()
		sh(t, "tar", "-xzf", now[i], "-C", dir)
		sh(t, "sed", "-i", `s/"`+regexp.QuoteMeta(version.Number())+`"/"0.0.9"/`, filepath.Join(dir, "package", "package.json"))
		if name == platform {
			for _, program := range []string{"hook", "hookctl"} {
				sh(t, "cp", filepath.Join(programs, program), filepath.Join(dir, "package", "bin", program))
			}
		}
		old = append(old, filepath.Join(dir, name+".tgz"))
		sh(t, "tar", "-czf", old[i], "-C", dir, "package")
	}
	stopgate := filepath.Join(p.home, "npm", "bin", "stopgate")
	put := func(packages []string) {
		t.Helper()
		p.does("npm", append([]string{"install", "-g", "--no-fund", "--no-audit"}, packages...)...)
	}
	put(old)
	p.sees("stopgate 0.0.9", stopgate, "version")
	p.does(stopgate, "install")
	line := strings.Join(p.gate(), " ")
	for i, step := range []struct {
		packages []string
		says     string
	}{{now, "0.0.9 -> " + version.Number()}, {old, version.Number() + " -> 0.0.9"}, {now, "0.0.9 -> " + version.Number()}} {
		held := p.stops(p.session([]string{"1", "2", "3"}[i] + "1111111-2222-3333-4444-555555555555"))
		put(step.packages)
		p.sees(step.says, stopgate, "install")
		held.answers()
		if got := strings.Join(p.gate(), " "); got != line {
			t.Errorf("registered is %q, was %q", got, line)
		}
		p.does(stopgate, "doctor")
	}
	p.does(stopgate, "uninstall", "--purge")
	p.traceless()
}
