package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
)

const long, short = 8 * 24 * time.Hour, time.Hour

// age is a file in the sessions' folder and how long ago it was last written.
type age struct {
	name string
	ago  time.Duration
}

// sessionsOf makes such files, each of its name's form.
func sessionsOf(t *testing.T, files ...age) Dir {
	t.Helper()
	dir := At(t.TempDir())
	for _, f := range files {
		text := storeBytes()
		switch filepath.Ext(f.name) {
		case lockExt:
			text = ""
		case ephemeralExt:
			text = "..."
		}
		hosttest.Write(t, noon.Add(-f.ago), filepath.Join(dir.sessions(), f.name), text)
	}
	return dir
}

// left are the names in the sessions' folder.
func left(t *testing.T, dir Dir) string {
	t.Helper()
	var names []string
	for _, path := range pathsIn(dir.sessions(), "") {
		names = append(names, filepath.Base(path))
	}
	return strings.Join(names, " ")
}

func TestSweeping(t *testing.T) {
	t.Parallel()
	const aside, freshAside = "session-1.db.corrupt-20261101T000000.000Z", "session-1.db.corrupt-20261130T110000.000Z"
	cases := []struct {
		name  string
		files []age
		keep  time.Duration
		left  string
	}{
		{"a session that nobody used", []age{{"session-1.db", long}, {"session-1.lock", long}, {"session-1.ephemeral", long}}, DefaultKeep, ""},
		{"a session whose id is no file name", []age{{Safe("A session") + ".db", long}}, DefaultKeep, ""},
		{"a session in use", []age{{"session-1.db", short}, {"session-1.lock", long}, {"session-1.ephemeral", long}}, DefaultKeep, "session-1.db session-1.ephemeral session-1.lock"},
		{"a session that only counts", []age{{"session-1.db", long}, {"session-1.ephemeral", short}}, DefaultKeep, "session-1.db session-1.ephemeral"},
		{"an old store set aside beside a session in use", []age{{"session-1.db", short}, {aside, long}}, DefaultKeep, "session-1.db"},
		{"a new store set aside beside an old session", []age{{"session-1.db", long}, {freshAside, short}}, DefaultKeep, freshAside},
		{"a store set aside of which nothing else is left", []age{{aside, long}}, DefaultKeep, ""},
		{"a lock alone", []age{{"session-1.lock", long}}, DefaultKeep, ""},
		{"a store that was never begun", []age{{"session-1.db.new", long}}, DefaultKeep, ""},
		{"two sessions of like names", []age{{"session-1.db", long}, {"session-10.db", short}}, DefaultKeep, "session-10.db"},
		{"files of the future", []age{{"session-1.db", -100 * long}}, DefaultKeep, "session-1.db"},
		{"all of them", []age{{"session-1.db", short}, {"session-2.db", -100 * long}, {freshAside, 0}}, 0, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := sessionsOf(t, c.files...)
			before := len(c.files)
			removed := dir.Sweep(noon, c.keep)
			if got := left(t, dir); got != c.left {
				t.Errorf("left %q, want %q", got, c.left)
			}
			if now := len(strings.Fields(left(t, dir))); removed < before-now {
				t.Errorf("%d files went, it says %d", before-now, removed)
			}
		})
	}
	t.Run("no folder", func(t *testing.T) {
		t.Parallel()
		if n := At(filepath.Join(t.TempDir(), "missing")).Sweep(noon, DefaultKeep); n != 0 {
			t.Errorf("%d files went", n)
		}
	})
}

// Whoever has a session's lock is at work on its store, however old that is.
func TestASessionWhoseLockIsHeldStays(t *testing.T) {
	t.Parallel()
	for _, keep := range []time.Duration{DefaultKeep, 0} {
		dir := sessionsOf(t, age{"session-1.db", long}, age{"session-1.lock", long}, age{"session-1.ephemeral", long})
		lock, err := Acquire(t.Context(), dir.LockPath("session-1"), true)
		if err != nil {
			t.Fatal(err)
		}
		if n := dir.Sweep(noon, keep); n != 0 || left(t, dir) != "session-1.db session-1.ephemeral session-1.lock" {
			t.Errorf("%d files went; left %q", n, left(t, dir))
		}
		lock.Release()
		if dir.Sweep(noon, keep); left(t, dir) != "" {
			t.Errorf("left %q when nobody had it any more", left(t, dir))
		}
	}
}

// Between the look and the lock somebody can come back to a session.
func TestASessionThatIsUsedAgainMeanwhileStays(t *testing.T) {
	t.Parallel()
	dir := sessionsOf(t, age{"session-1.db", long}, age{"session-1.lock", long}, age{"session-1.ephemeral", long})
	found := dir.unused(noon, DefaultKeep)
	if err := os.Chtimes(dir.Store("session-1"), noon, noon); err != nil {
		t.Fatal(err)
	}
	if n := dir.clear("session-1", found["session-1"], noon, DefaultKeep); n != 0 || left(t, dir) != "session-1.db session-1.ephemeral session-1.lock" {
		t.Errorf("%d files went; left %q", n, left(t, dir))
	}
}

func TestSwitchesWhoseTimeIsOver(t *testing.T) {
	t.Parallel()
	dir := At(t.TempDir())
	switches := map[string]time.Time{"": {}, "session-over": noon.Add(-time.Hour), "session-on": noon.Add(time.Hour), "session-ever": {}}
	for session, until := range switches {
		if err := dir.SwitchOff(session, until); err != nil {
			t.Fatal(err)
		}
	}
	dir.Sweep(noon, DefaultKeep)
	for session := range switches {
		path := filepath.Join(dir.Path(), offName(session))
		if want := session != "session-over"; nothingAt(path) == want {
			t.Errorf("%s: want it there %v", path, want)
		}
	}
}
