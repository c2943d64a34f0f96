//go:build !windows

package state

import (
	"os"
	"path/filepath"
	"testing"
)

// sudo with the person's HOME kept: root makes and writes nothing in there, but for a
// folder that was named.
func TestRootInTheHomeOfSomebodyElse(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be in another's home like this")
	}
	const person = 54321
	home, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	variables := map[string]string{"HOME": home}
	env := func(name string) string { return variables[name] }
	own := filepath.Join(home, ".local", "state", "stopgate")
	if err := os.Chown(home, person, person); err != nil {
		t.Fatal(err)
	}

	if d := Existing(env); d.Path() != own {
		t.Errorf("looks at %s where root has recorded nothing", d.Path())
	}
	if err := Place(env).CountEphemeral("s1"); err != nil {
		t.Errorf("an ephemeral event: %v", err)
	}
	d, err := Find(env)
	if err != nil || d.Path() != Fallback() || filepath.Dir(d.Path()) != temp {
		t.Errorf("writes to %s, %v", d.Path(), err)
	}
	if err := Place(env).Make(); err == nil {
		t.Error("the folder is made all the same")
	}
	if err := Place(env).CountEphemeral("s1"); err != nil || d.Ephemeral("s1") != 1 {
		t.Errorf("counted are %d ephemeral events, %v", d.Ephemeral("s1"), err)
	}
	if d := Existing(env); d.Path() != Fallback() {
		t.Errorf("looks at %s and not where root records", d.Path())
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("left in the home: %v, %v", left, err)
	}

	// Also where the person has a folder already.
	if err := os.MkdirAll(filepath.Join(own, "sessions"), 0o755); err != nil {
		t.Fatal(err)
	}
	if d, err := Find(env); err != nil || d.Path() != Fallback() {
		t.Errorf("writes to %s, %v, beside what is the person's", d.Path(), err)
	}
	variables[EnvDir] = filepath.Join(home, "named")
	if d, err := Find(env); err != nil || d.Path() != variables[EnvDir] {
		t.Errorf("a folder that was named: %s, %v", d.Path(), err)
	}
	delete(variables, EnvDir)
	if err := os.Chown(home, 0, 0); err != nil {
		t.Fatal(err)
	}
	if d, err := Find(env); err != nil || d.Path() != own {
		t.Errorf("in root's own home: %s, %v", d.Path(), err)
	}
}
