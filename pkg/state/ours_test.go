package state

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
)

const someID = "62dfedaf-72b8-418a-a11c-30c406412c34"

// storeBytes are as much of a store as its form is: bbolt's mark in one of the two
// first pages, and the row of a session.
func storeBytes() string {
	data := make([]byte, 4*4096)
	for _, page := range []int{0, 4096} {
		binary.LittleEndian.PutUint32(data[page+16:], 0xED0CDAED)
	}
	return string(data) + `schema........session{"session_id":"x"}`
}

// somebodys are a folder of somebody else: names and forms that come close to ours.
// A name that ends in "/" is a folder, one with " -> " a link.
func somebodys() map[string]string {
	other := strings.Replace(storeBytes(), `session{"session_id":`, `session{"another_key":`, 1)
	sqlite := "SQLite format 3\x00" + strings.Repeat("\x00", 8192)
	in := func(name string) string { return "sessions/" + someID + name }
	return map[string]string{
		"sessions/2024-01-01/a.txt":                          "kept since 2024",
		"sessions/an-empty-folder/":                          "",
		"sessions/notes.md":                                  "notes",
		"sessions/.lock":                                     "",
		"sessions/.db":                                       storeBytes(),
		"sessions/short.db":                                  storeBytes(), // no id is kept as short a name
		"sessions/Upper-case-name.db":                        storeBytes(),
		"sessions/x-0123.lock":                               "",
		in(".json"):                                          `{"messages":[]}`,
		in(".db.bak"):                                        storeBytes(),
		in(".db"):                                            sqlite,
		in(".db.corrupt-20261101T000000.000Z"):               sqlite,
		in(".db.corrupt-never"):                              storeBytes(),
		in(".db.corrupt-20261101T000000.000Z.gz"):            storeBytes(),
		in(".lock"):                                          "4711\n",
		in(".ephemeral"):                                     "..x..",
		"sessions/another-program-1.db":                      other,
		"sessions/a-folder-of-that-name.db/a.txt":            "x",
		"sessions/a-folder-of-that-name-2.lock/":             "",
		"sessions/a-folder-of-that-name-3.ephemeral/":        "",
		"sessions/folders.db.corrupt-20261101T000000.000Z/x": "x",
		"sessions/a-link-of-that-name.db -> ../real.db":      "",
		"sessions/a-link-of-that-name.lock -> ../empty":      "",
		"sessions/a-link-to-a-folder.db -> ../real":          "",
		"sessions/.stopgate-1.tmp/x":                         "x",
		"sessions/.stopgate-draft.tmp":                       "x",
		"real.db":                                            storeBytes(),
		"real/sessions/session-one.db":                       storeBytes(),
		"empty":                                              "",
		"off":                                                "the list of those who are off this week",
		"off-notes.txt":                                      "2020-01-01T00:00:00Z\n",
		"off-" + someID:                                      "gone fishing",
		"off-a-folder-of-that-name/":                         "",
		"hook.log":                                           "what I caught today\n",
		"export-otlp.json":                                   `{"rows":[1,2,3]}`,
		"export-2026.json":                                   CursorBegin + "}",
		"export-.json":                                       CursorBegin + "}",
		"export.json":                                        CursorBegin + "}",
		"export-otlp.json.bak":                               CursorBegin + "}",
		"export-otlp.lock":                                   "4711",
		"hook.log.1":                                         "what I caught yesterday\n",
	}
}

// lay makes such a folder, all of it a year old.
func lay(t *testing.T, root string, files map[string]string) {
	t.Helper()
	long := noon.Add(-365 * 24 * time.Hour)
	for name, text := range files {
		path, to, link := strings.Cut(filepath.Join(root, name), " -> ")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		switch {
		case link:
			if err := os.Symlink(to, path); err != nil {
				t.Fatal(err)
			}
		case strings.HasSuffix(name, "/"):
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		default:
			hosttest.Write(t, long, path, text)
		}
	}
	if err := hosttest.Age(long, root); err != nil {
		t.Fatal(err)
	}
}

// contents are all files, links and folders below a folder.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			all[rel] = string(data)
			return err
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			all[rel] = "-> " + to
			return err
		}
		all[rel] = d.Type().String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What removes something in the folder, and what a person may ask for.
var removers = map[string]func(Dir){
	"the sweep at a session's first event": func(d Dir) { d.Sweep(noon, DefaultKeep) },
	"prune --all":                          func(d Dir) { d.Sweep(noon, 0) },
	"a log line":                           func(d Dir) { logLine(d) },
	"a switch whose time is over":          func(d Dir) { d.sweepSwitches(noon) },
	"hookctl off and on":                   switches,
	"uninstall --purge": func(d Dir) {
		for _, path := range d.Files() {
			_ = d.Remove(path)
		}
	},
	"whatever is named": func(d Dir) {
		for _, dir := range []string{d.path, d.sessions(), filepath.Join(d.sessions(), "2024-01-01")} {
			for _, path := range pathsIn(dir, "") {
				_ = d.Remove(path)
			}
		}
	},
}

func switches(d Dir) {
	for _, session := range []string{"", someID, "a-folder-of-that-name"} {
		_ = d.SwitchOff(session, noon)
		_, _ = d.SwitchOn(session)
	}
}

func logLine(d Dir) {
	log, done := OpenLog(func(string) string { return "" }, d)
	defer done()
	log.Info(strings.Repeat("x", maxLog))
}

// The folder that a person names can hold somebody's own sessions.
func TestAFolderThatHoldsSomebodysSessions(t *testing.T) {
	t.Parallel()
	for name, remove := range removers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			lay(t, root, somebodys())
			before := contents(t, root)
			remove(At(root))
			remove(At(root))
			after := contents(t, root)
			for name, text := range before {
				if got, there := after[name]; !there {
					t.Errorf("%s is gone", name)
				} else if got != text {
					t.Errorf("%s was changed", name)
				}
			}
			for name := range after {
				if _, was := before[name]; !was {
					t.Errorf("%s was left behind", name)
				}
			}
		})
	}
}

// What lies in a switch's place switches off, and is neither replaced nor removed.
func TestASwitchThatSomebodyMade(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path string) error{
		"a file with words":    func(path string) error { return os.WriteFile(path, []byte("for the demo"), 0o600) }, //realtime: no time of it matters
		"a folder":             func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":               func(path string) error { return os.Symlink(os.DevNull, path) },
		"a file of ten kB":     func(path string) error { return os.WriteFile(path, []byte(strings.Repeat(" ", 10_000)), 0o600) }, //realtime: no time of it matters
		"a file without bytes": func(path string) error { return os.WriteFile(path, nil, 0o600) },                                 //realtime: no time of it matters
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, ours := At(t.TempDir()), name == "a file without bytes"
			path := filepath.Join(dir.Path(), offFile)
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			if until, off := dir.OffUntil("", noon); !off || !until.IsZero() {
				t.Errorf("off %v until %v", off, until)
			}
			if err := dir.SwitchOff("", noon.Add(time.Hour)); errors.Is(err, ErrNotOurs) == ours {
				t.Errorf("switching off gave %v", err)
			}
			if had, err := dir.SwitchOn(""); had != ours || errors.Is(err, ErrNotOurs) == ours {
				t.Errorf("switching on gave %v, %v", had, err)
			}
			if nothingAt(path) != ours {
				t.Errorf("gone: %v", nothingAt(path))
			}
		})
	}
}
