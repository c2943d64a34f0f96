//go:build release

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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
func older(t *testing.T, number string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X stopgate/pkg/version.number="+number, "-o", dir, "stopgate/cmd/hook", "stopgate/cmd/hookctl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
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
