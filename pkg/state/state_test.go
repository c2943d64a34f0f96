package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// env is an environment.
type env map[string]string

func (e env) get(name string) string { return e[name] }

func write(t testing.TB, path, text string) {
	t.Helper()
	hosttest.Write(t, noon, path, text)
}

func exists(t testing.TB, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestWhereTheFolderBelongs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		for _, c := range []struct {
			env  env
			want string
		}{{env{EnvDir: `D:\s`, "LOCALAPPDATA": `C:\l`}, `D:\s`}, {env{"LOCALAPPDATA": `C:\l`}, `C:\l\stopgate`}, {env{}, ""}} {
			if got := Locate(c.env.get); got != c.want {
				t.Errorf("%v: %q", c.env, got)
			}
		}
		return
	}
	cases := []struct {
		name string
		env  env
		want string
	}{
		{"told a path that leads elsewhere from each folder", env{EnvDir: "s", "HOME": "/h"}, "/h/.local/state/stopgate"},
		{"told", env{EnvDir: "/s", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/s"},
		{"by the desktop's rule", env{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/stopgate"},
		{"by a relative desktop's rule, which counts as none", env{"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/stopgate"},
		{"in the home", env{"HOME": "/h"}, "/h/.local/state/stopgate"},
		{"in a relative home, which counts as none", env{"HOME": "h"}, ""},
		{"nowhere", env{}, ""},
	}
	for _, c := range cases {
		if got := Locate(c.env.get); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The temporary folder serves where the right one cannot, but only if it is
// ours and nobody else can reach it.
func TestTheFolderThatServes(t *testing.T) {
	type place struct{ home, fallback string }
	cases := []struct {
		name    string
		prepare func(t *testing.T, p place)
		home    bool // the home is named at all
		want    string
	}{
		{"the home", nil, true, "home"},
		{"a home that is there already", func(t *testing.T, p place) { t.Helper(); write(t, filepath.Join(p.home, "sessions", "x"), "") }, true, "home"},
		{"no home", nil, false, "fallback"},
		{"a file in place of the home", func(t *testing.T, p place) { t.Helper(); write(t, p.home, "") }, true, "fallback"},
		{"a file in place of the sessions", func(t *testing.T, p place) { t.Helper(); write(t, filepath.Join(p.home, "sessions"), "") }, true, "fallback"},
		{"a fallback that is there already", func(t *testing.T, p place) {
			t.Helper()
			if err := os.Mkdir(p.fallback, 0o700); err != nil {
				t.Fatal(err)
			}
		}, false, "fallback"},
		{"a link in place of the fallback", func(t *testing.T, p place) {
			t.Helper()
			trap := filepath.Join(filepath.Dir(p.fallback), "trap")
			if err := errors.Join(os.Mkdir(trap, 0o700), os.Symlink(trap, p.fallback)); err != nil {
				t.Fatal(err)
			}
		}, false, ""},
		{"a file in place of the fallback", func(t *testing.T, p place) { t.Helper(); write(t, p.fallback, "") }, false, ""},
		{"no folder for temporary files", func(t *testing.T, p place) {
			t.Helper()
			if err := os.Remove(filepath.Dir(p.fallback)); err != nil {
				t.Fatal(err)
			}
		}, false, ""},
	}
	if runtime.GOOS != "windows" {
		cases = append(cases, struct {
			name    string
			prepare func(t *testing.T, p place)
			home    bool
			want    string
		}{"a fallback that others can reach", func(t *testing.T, p place) {
			t.Helper()
			if err := errors.Join(os.Mkdir(p.fallback, 0o700), os.Chmod(p.fallback, 0o755)); err != nil {
				t.Fatal(err)
			}
		}, false, ""})
	}
	if runtime.GOOS != "windows" && os.Getuid() == 0 {
		cases = append(cases, struct {
			name    string
			prepare func(t *testing.T, p place)
			home    bool
			want    string
		}{"a fallback of another user", func(t *testing.T, p place) {
			t.Helper()
			if err := errors.Join(os.Mkdir(p.fallback, 0o700), os.Chown(p.fallback, 65534, 65534)); err != nil {
				t.Fatal(err)
			}
		}, false, ""})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tmp := filepath.Join(t.TempDir(), "tmp")
			if err := os.Mkdir(tmp, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
				t.Setenv(name, tmp)
			}
			p := place{filepath.Join(tmp, "home"), Fallback()}
			if c.prepare != nil {
				c.prepare(t, p)
			}
			e := env{}
			if c.home {
				e[EnvDir] = p.home
			}
			dir, err := Find(e.get)
			want := map[string]string{"home": p.home, "fallback": p.fallback}[c.want]
			if dir.Path() != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrNoFolder) {
				t.Errorf("got %q, %v, want %q", dir.Path(), err, want)
			}
			if want == "" {
				return
			}
			if info, err := os.Stat(filepath.Join(want, "sessions")); err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("sessions: %v, %v", info, err)
			}
			if got := Existing(e.get); got.Path() != want {
				t.Errorf("for a reader it is %q, want %q", got.Path(), want)
			}
		})
	}
}

// Whoever deletes a home folder, or the state folder, does not find it again: not by
// an event, an ephemeral one, a hold that ends, or a switch.
func TestADeletedHomeIsNotMadeAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the folder is not in HOME there")
	}
	places := map[string]func(home string) env{
		"by default":       func(home string) env { return env{"HOME": home} },
		"desktop's rule":   func(home string) env { return env{"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "s")} },
		"told":             func(home string) env { return env{"HOME": home, EnvDir: filepath.Join(home, "a", "b")} },
		"told, the same":   func(home string) env { return env{"HOME": home, EnvDir: home} },
		"told, with slash": func(home string) env { return env{"HOME": home + "/", EnvDir: filepath.Join(home, "a")} },
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			home := filepath.Join(t.TempDir(), "home")
			e := place(home)
			try := func(when string, want string) {
				t.Helper()
				if dir, err := Find(e.get); err != nil || dir.Path() != want {
					t.Errorf("%s: found %q, %v, want %q", when, dir.Path(), err, want)
				}
				_ = Place(e.get).CountEphemeral("session-1")
				_ = Place(e.get).SwitchOff("", time.Time{})
				if got := Existing(e.get); got.Path() != want {
					t.Errorf("%s: for a reader it is %q, want %q", when, got.Path(), want)
				}
			}
			if try("without a home", Fallback()); exists(t, home) {
				t.Error("the home was made")
			}
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
			try("with it", Locate(e.get))
			found, err := Find(e.get)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(home); err != nil {
				t.Fatal(err)
			}
			if err := found.Make(); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("found and gone: %v", err)
			}
			_ = found.CountEphemeral("session-1")
			if try("deleted", Fallback()); exists(t, home) {
				t.Error("the home was made again")
			}
		})
	}
}

// What was found and is gone was taken away, by an uninstallation for example.
func TestAFolderThatWasTakenAwayIsNotMadeAgain(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	e := env{EnvDir: filepath.Join(t.TempDir(), "state")}
	dir, err := Find(e.get)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir.Path()); err != nil {
		t.Fatal(err)
	}
	_ = dir.CountEphemeral("session-1")
	if err := dir.Make(); !errors.Is(err, fs.ErrNotExist) || exists(t, dir.Path()) {
		t.Errorf("got %v, there %v", err, exists(t, dir.Path()))
	}
	if _, err := Find(e.get); err != nil || !exists(t, dir.Path()) {
		t.Errorf("the next event does not begin anew: %v", err)
	}
}

// The folder in the temp folder serves every home of a person that cannot be written.
// Records of one are no news of another that can.
func TestRecordsOfAnotherHome(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if dir, err := Find(env{}.get); err != nil || dir.Path() != Fallback() {
		t.Fatalf("%q, %v", dir.Path(), err)
	}
	home := t.TempDir()
	e := env{EnvDir: filepath.Join(home, "new", "state")}
	if got := Existing(e.get); got.Path() != e[EnvDir] || exists(t, filepath.Join(home, "new")) {
		t.Errorf("a home that can be written shows %q", got.Path())
	}
	write(t, filepath.Join(home, "new"), "a file in its place")
	if got := Existing(e.get); got.Path() != Fallback() {
		t.Errorf("a home that cannot shows %q", got.Path())
	}
}

func TestWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	root := t.TempDir()
	write(t, filepath.Join(root, "file"), "")
	write(t, filepath.Join(root, "a", "sessions"), "")
	write(t, filepath.Join(root, "b", "sessions", "x"), "")
	if err := os.Symlink("nowhere", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"b": "", "missing": "", "missing/further": "",
		"file": "file is not a folder", "file/below": "not a directory", "a": "sessions is not a folder",
		"link": "link is a link to nowhere, which cannot be entered", strings.Repeat("x", 300): "file name too long",
	} {
		err := At(filepath.Join(root, path)).Obstacle()
		if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.20s: %v, want %q", path, err, want)
		}
	}
}

func TestLookingForTheFolderMakesNone(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if got := Existing(env{EnvDir: home}.get); got.Path() != home || exists(t, home) || exists(t, Fallback()) {
		t.Errorf("got %q", got.Path())
	}
}

func TestTheOffSwitch(t *testing.T) {
	t.Parallel()
	const session = "11111111-2222-3333-4444-555555555555"
	later, earlier := noon.Add(time.Hour).Format(time.RFC3339), noon.Add(-time.Hour).Format(time.RFC3339)
	cases := []struct {
		name    string
		env     env
		files   map[string]string
		session string
		want    bool
	}{
		{"nothing", nil, nil, session, false},
		{"the environment", env{EnvDisable: "1"}, nil, session, true},
		{"the environment says 0", env{EnvDisable: "0"}, nil, session, false},
		{"the environment says true", env{EnvDisable: "true"}, nil, session, true},
		{"an empty file", nil, map[string]string{"off": ""}, session, true},
		{"a file with words", nil, map[string]string{"off": "for the demo"}, session, true},
		{"until later", nil, map[string]string{"off": later + "\n"}, session, true},
		{"until a while ago", nil, map[string]string{"off": earlier + "\n"}, session, false},
		{"until now", nil, map[string]string{"off": noon.Format(time.RFC3339)}, session, false},
		{"a folder of that name", nil, map[string]string{"off/x": ""}, session, true},
		{"this session", nil, map[string]string{"off-" + session: ""}, session, true},
		{"another session", nil, map[string]string{"off-" + session: ""}, "another-session", false},
		{"a session, and the event names none", nil, map[string]string{"off-": ""}, "", false},
		{"this session until a while ago, and all until later", nil, map[string]string{"off-" + session: earlier, "off": later}, session, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := At(t.TempDir())
			for name, text := range c.files {
				write(t, filepath.Join(dir.Path(), name), text)
			}
			if got := Off(c.env.get, dir, c.session, noon); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
	if !Off(env{EnvDisable: "1"}.get, Dir{}, session, noon) || Off(env{}.get, Dir{}, session, noon) {
		t.Error("without a folder only the environment counts")
	}
}

func TestSwitching(t *testing.T) {
	t.Parallel()
	dir := At(filepath.Join(t.TempDir(), "state"))
	for _, session := range []string{"", "session-1", "../../x"} {
		if had, err := dir.SwitchOn(session); had || err != nil {
			t.Errorf("%q was off: %v", session, err)
		}
		for _, until := range []time.Time{{}, noon.Add(time.Hour)} {
			if err := dir.SwitchOff(session, until); err != nil {
				t.Fatal(err)
			}
			got, off := dir.OffUntil(session, noon)
			if !off || !got.Equal(until) {
				t.Errorf("%q is off %v until %v, want %v", session, off, got, until)
			}
			if session == "" {
				session = "another"
			}
			if !Off(env{}.get, dir, session, noon) {
				t.Errorf("%q is not off", session)
			}
			if session == "another" {
				session = ""
			}
		}
		if had, err := dir.SwitchOn(session); !had || err != nil {
			t.Errorf("%q: %v, %v", session, had, err)
		}
	}
}

// checkSafe is what holds of every id as a file name.
func checkSafe(t *testing.T, id string) string {
	t.Helper()
	name := Safe(id)
	if name == "" || len(name) > 80 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || name[0] == '-' || name[0] == '_' || len(name) < 8 {
		t.Errorf("%.80q became %q", id, name)
	}
	if name != id && Safe(name) == name {
		t.Errorf("%.80q shares a name with %q", id, name)
	}
	return name
}

func TestIdsAsFileNames(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"62dfedaf-72b8-418a-a11c-30c406412c34", "session-1", "a_b_c_d_e"} {
		if checkSafe(t, id) != id {
			t.Errorf("%q is not kept as it is", id)
		}
	}
	names := map[string]string{}
	ids := []string{"", ".", "..", "../../x", "/etc/passwd", `..\x`, "a", "con", "nul", "com1", "aux.txt", "A-B-C-D-E-F", "a-b-c-d-e-f", "ABCDEFGH", "abcdefgh", "session 1", "é-é-é-é-é", "a\x00bcdefgh", "a\nbcdefgh", "-rf-rf-rf", "_abcdefgh", "x-abcdefgh", "a.b.c.d.e.f", "\xff\xfe\xfd", strings.Repeat("a", 81), strings.Repeat("a", 80), strings.Repeat("b", 10_000)}
	for i := range 2000 {
		ids = append(ids, fmt.Sprintf("Session %d", i), fmt.Sprintf("session-%d", i))
	}
	for _, id := range ids {
		name := checkSafe(t, id)
		if other, taken := names[name]; taken && other != id {
			t.Errorf("%q and %q share %q", id, other, name)
		}
		names[name] = id
	}
	// What was made from an id is no id that keeps its name.
	for name, id := range names {
		if name != id && Safe(name) == name {
			t.Errorf("%q is the name of %q and of itself", name, id)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, id := range []string{"", "../../x", "a@b", "62dfedaf-72b8-418a-a11c-30c406412c34", "x-0123456789abcdef0123456789abcdef", "\x00", "NUL"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		checkSafe(t, id)
		dir := At(filepath.Join("s", "tate"))
		if got := filepath.Dir(dir.Store(id)); got != filepath.Join("s", "tate", "sessions") {
			t.Errorf("%q is stored in %q", id, got)
		}
	})
}

func TestCountingEphemeralEvents(t *testing.T) {
	t.Parallel()
	dir := At(filepath.Join(t.TempDir(), "state"))
	if dir.Ephemeral("s1") != 0 {
		t.Error("counted before any came")
	}
	for range 3 {
		if err := dir.CountEphemeral("session-1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.CountEphemeral("../x"); err != nil {
		t.Fatal(err)
	}
	if n := dir.Ephemeral("session-1"); n != 3 {
		t.Errorf("%d", n)
	}
	if n, sessions := dir.EphemeralTotal(); n != 4 || sessions != 2 {
		t.Errorf("%d over %d", n, sessions)
	}
	if len(dir.Stores()) != 0 {
		t.Error("counting made a store")
	}
	if err := Place(env{}.get).CountEphemeral("session-1"); !errors.Is(err, ErrNoFolder) {
		t.Errorf("without a folder: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	if err := At(file).CountEphemeral("session-1"); err == nil {
		t.Error("counted in a file for a folder")
	}
}

func TestKeeping(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"": DefaultKeep, "30d": 30 * day, "0.5d": 12 * time.Hour, "36h": 36 * time.Hour, "90m": 90 * time.Minute,
		"0": DefaultKeep, "0d": DefaultKeep, "-1d": DefaultKeep, "-200000d": DefaultKeep, "-5h": DefaultKeep, "week": DefaultKeep, "d": DefaultKeep, "7": DefaultKeep, "1e999d": DefaultKeep,
	} {
		if got := Keep(env{EnvKeep: text}.get); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"200000d", "2500000h", "99999999999d", "106751d"} {
		if got := Keep(env{EnvKeep: text}.get); got <= 0 || got < DefaultKeep {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// A folder may be called anything; on Windows some of this cannot be in a name.
func TestAFolderWhoseNameIsAPattern(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such names there")
	}
	dir := At(filepath.Join(t.TempDir(), `st[a]te\*?`))
	aside := AsideName(dir.Store("s1"), noon)
	for _, path := range []string{dir.Store("s1"), aside} {
		write(t, path, "x")
	}
	if err := dir.CountEphemeral("s1"); err != nil {
		t.Fatal(err)
	}
	if got := dir.Stores(); len(got) != 1 || got[0] != dir.Store("s1") {
		t.Errorf("stores %q", got)
	}
	if events, sessions := dir.EphemeralTotal(); events != 1 || sessions != 1 {
		t.Errorf("%d ephemeral events of %d sessions", events, sessions)
	}
	if at := dir.LastAside(dir.Store("s1")); !at.Equal(noon) {
		t.Errorf("set aside %v, want %v", at, noon)
	}
}

func TestStoresSetAside(t *testing.T) {
	t.Parallel()
	// The folder's own name must not be taken for a pattern.
	name := "a[b]*?"
	if runtime.GOOS == "windows" {
		name = "a[b]" // the others are in no name there
	}
	dir := At(filepath.Join(t.TempDir(), name))
	store := dir.Store("s")
	if !dir.LastAside(dir.Store("s")).IsZero() {
		t.Error("set aside before it was")
	}
	for _, at := range []time.Time{noon, noon.Add(-time.Hour)} {
		write(t, AsideName(store, at), "")
	}
	write(t, store+".corrupt-never", "")
	if got := dir.LastAside(dir.Store("s")); !got.Equal(noon) {
		t.Errorf("last set aside %v", got)
	}
}

func TestTheLog(t *testing.T) {
	t.Parallel()
	t.Run("one line per message", func(t *testing.T) {
		t.Parallel()
		dir := At(t.TempDir())
		for range 2 {
			log, done := OpenLog(env{}.get, dir)
			log.Info("stop", "code", "own-task")
			log.Debug("nothing")
			done()
		}
		data, err := os.ReadFile(dir.LogPath())
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		var line map[string]any
		if len(lines) != 2 || json.Unmarshal([]byte(lines[1]), &line) != nil || line["code"] != "own-task" || line["time"] == nil || line["level"] != "info" {
			t.Errorf("%q", data)
		}
		if info, err := os.Stat(dir.LogPath()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	})
	t.Run("the level is the environment's", func(t *testing.T) {
		t.Parallel()
		for level, want := range map[string]string{"debug": "diw", "info": "iw", "warn": "w", "disabled": "", "nonsense": "iw", "": "iw"} {
			dir := At(t.TempDir())
			log, done := OpenLog(env{EnvLog: level}.get, dir)
			log.Debug("d")
			log.Info("i")
			log.Warn("w")
			done()
			data, _ := os.ReadFile(dir.LogPath())
			got := ""
			for _, m := range []string{"d", "i", "w"} {
				if strings.Contains(string(data), `"message":"`+m+`"`) {
					got += m
				}
			}
			if got != want {
				t.Errorf("%q logs %q, want %q", level, got, want)
			}
		}
	})
	t.Run("it is bounded", func(t *testing.T) {
		t.Parallel()
		dir := At(t.TempDir())
		text := strings.Repeat("x", 100<<10)
		for range 40 {
			log, done := OpenLog(env{}.get, dir)
			log.Info(text)
			done()
		}
		var size int64
		entries, err := os.ReadDir(dir.Path())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if len(entries) != 2 || size > 2*maxLog+400<<10 {
			t.Errorf("%d files of %d bytes", len(entries), size)
		}
	})
	t.Run("where it cannot be written nothing is said", func(t *testing.T) {
		t.Parallel()
		dir := At(t.TempDir())
		write(t, filepath.Join(dir.LogPath(), "x"), "")
		for _, d := range []Dir{dir, {}, At(filepath.Join(dir.Path(), "missing"))} {
			log, done := OpenLog(env{}.get, d)
			log.Error("x")
			done()
		}
	})
}
