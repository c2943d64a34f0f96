package view

// Parts of pkg/status/teams_test.go as they stood until 2026-12-01, when this test
// began to fail on every machine.

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func join(t *testing.T, config, version, session string) string {
	t.Helper()
	names := strings.NewReplacer(
		"b03687e1-91dd-414b-b686-09ee1becd874", session, "session-b03687e1", "session-"+session[:8],
		"0ee47418-21e9-41b7-a44f-34d11b084dad", session, "session-0ee47418", "session-"+session[:8],
		"a96dab22-3701-4e06-8d43-d720cfe83bf6", session,
		"2026-11-30T13:09:", "2026-11-30T12:47:",
	)
	from := filepath.Join("..", "team", "testdata", version)
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		put := filepath.Join(config, filepath.FromSlash(names.Replace(filepath.ToSlash(rel))))
		return write(put, names.Replace(string(data)))
	})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func write(path, content string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Teams of sessions that no hook ever saw: only those that are left over, and
// only where they are asked for.
func TestLeftoverTeams(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	config := filepath.Join(home, ".claude")
	join(t, config, "2.1.220", session220)
	join(t, config, "2.1.150", session235)
	src := Source{Dir: state.At(t.TempDir()), Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Env: func(name string) string {
		return map[string]string{"HOME": home}[name]
	}}
	names := func(f Filter) string {
		var all []string
		for _, t := range load(t, src, f).Teams {
			all = append(all, t.Name)
		}
		return strings.Join(all, " ")
	}
	for name, r := range map[string]struct {
		f    Filter
		want string
	}{
		"all":              {Filter{All: true}, "probe session-04d0a712"},
		"its folder":       {Filter{Folder: "/home/dev/proj"}, "probe session-04d0a712"},
		"another folder":   {Filter{Folder: "/srv"}, ""},
		"one session only": {Filter{Session: ""}, ""},
	} {
		if got := names(r.f); got != r.want {
			t.Errorf("%s: %q, want %q", name, got, r.want)
		}
	}
	must(t, write(filepath.Join(config, "projects", "-p", session235+".jsonl"), "{}\n"))
	if got := names(Filter{All: true}); got != "session-04d0a712" {
		t.Errorf("a lead that has left a transcript: %q", got)
	}
	put(t, src, session220, func(tx *ledger.Tx) { tx.Session.Cwd = "/elsewhere" })
	if got := names(Filter{Folder: "/home/dev/proj"}); got != "" {
		t.Errorf("a lead that was recorded: %q", got)
	}
	src.Env = func(name string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "other")}[name]
	}
	if got := names(Filter{All: true}); got != "" {
		t.Errorf("in another configuration folder: %q", got)
	}
}
