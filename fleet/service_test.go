//go:build fleet

package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// systemd itself finds nothing wrong with the unit that is printed, and the program that
// it names, wherever that lies. It looks for the program, so a name that is written
// wrong is found. The Debian package systemd has what asks it.
func TestTheUnitOfSystemd(t *testing.T) {
	program, err := hookctl()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	run := t.TempDir()
	for _, folder := range []string{"plain", "a b", "p%n", "d$HOME", `q"x%h`, `b\x41`, "s'q", "semi;x", "ü", "#c", "e=f", "n\nl"} {
		dir := filepath.Join(t.TempDir(), folder)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		self := filepath.Join(dir, "hookctl")
		if err := os.WriteFile(self, data, 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		unit, err := exec.Command(self, "export", "service", "--systemd").Output()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "stopgate-export.service")
		if err := os.WriteFile(path, unit, 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("systemd-analyze", "verify", "--user", path)
		c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+run)
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%q: %v: %s", folder, err, out)
		}
	}
}
