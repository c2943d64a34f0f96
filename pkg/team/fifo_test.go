//go:build unix

package team

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestPipesAndLinks(t *testing.T) {
	dir := t.TempDir()
	team := filepath.Join(dir, "teams", "t")
	layout(t, team, map[string]string{"real.json": `[{"text": "x"}]`, "inboxes/": ""})
	for _, name := range []string{"config.json", filepath.Join("inboxes", "pipe.json")} {
		if err := syscall.Mkfifo(filepath.Join(team, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"a.json": "../real.json", "gone.json": "nowhere", "null.json": "/dev/null", "round.json": "round.json"} {
		if err := os.Symlink(to, filepath.Join(team, "inboxes", name)); err != nil {
			t.Fatal(err)
		}
	}
	teams, problems := Read(dir)
	if len(teams) != 1 || len(teams[0].Mail) != 1 || len(teams[0].Mail["a"]) != 1 || len(problems) != 4 {
		t.Errorf("%+v %v", teams, problems)
	}
}
