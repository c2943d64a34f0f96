package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

// filled makes a store of several pages with a block charged to "b1".
func filled(t testing.TB, dir state.Dir) string {
	t.Helper()
	update(t, dir, noon, func(tx *Tx) {
		tx.Charge("b1", 0, false)
		for i := range 300 {
			tx.Merge(Learned{Launches: []transcript.Launch{{Task: fmt.Sprintf("b%08d", i), Owner: "a1", Output: strings.Repeat("o", 100)}}})
			tx.AddStop(Stop{AgentID: "a1", Verdict: Allow, Own: []string{strings.Repeat("x", 50)}})
		}
	})
	update(t, dir, noon, func(tx *Tx) { tx.AddStop(Stop{AgentID: "a1", Verdict: Allow}) })
	return dir.Store(session)
}

// sound runs bbolt's own check.
func sound(t testing.TB, path string) {
	t.Helper()
	err := func() (err error) {
		db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		return db.View(func(tx *bolt.Tx) error {
			var found error
			for e := range tx.Check() {
				found = errors.Join(found, e)
			}
			return found
		})
	}()
	if err != nil {
		t.Errorf("%s: %v", filepath.Base(path), err)
	}
}

// asides are the stores that were set aside.
func asides(t testing.TB, dir state.Dir) []string {
	t.Helper()
	paths, err := filepath.Glob(dir.Store(session) + ".corrupt-*")
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// What can have become of a store, and what the next event makes of it: the store
// works again, at the price of what it knew if need be.
func TestBrokenStores(t *testing.T) {
	t.Parallel()
	page := os.Getpagesize()
	put := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			hosttest.Write(t, noon, path, content)
		}
	}
	overwrite := func(at int64, n int, with byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			file, err := os.OpenFile(path, os.O_RDWR, 0) //realtime: set below
			if err != nil {
				t.Fatal(err)
			}
			_, err = file.WriteAt([]byte(strings.Repeat(string([]byte{with}), n)), at)
			if err := errors.Join(err, file.Close(), os.Chtimes(path, noon, noon)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := []struct {
		name   string
		damage func(*testing.T, string)
		aside  bool
	}{
		{"of no length", put(""), true},
		{"of one byte", put("x"), true},
		{"one page of zeros", put(strings.Repeat("\x00", page)), true},
		{"garbage", put(strings.Repeat("garbage ", 10_000)), true},
		{"the first meta page flipped", overwrite(0, 80, 0xff), false},
		{"both meta pages flipped", overwrite(0, 2*page, 0xff), true},
		{"zeros behind the meta pages", overwrite(int64(2*page), 300*page, 0), true},
		{"garbage behind the meta pages", overwrite(int64(2*page), 300*page, 0xa5), true},
		{"a folder in its place", func(t *testing.T, path string) {
			t.Helper()
			if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"deleted", func(t *testing.T, path string) {
			t.Helper()
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			c.damage(t, filled(t, dir))
			checkRecovery(t, dir, c.aside)
		})
	}
}

// checkRecovery looks at a broken store as a stop does: it reads, then writes.
func checkRecovery(t *testing.T, dir state.Dir, aside bool) {
	t.Helper()
	began := time.Now()
	_, readErr := Read(context.Background(), dir, session, nil)
	if readErr != nil && !errors.Is(readErr, ErrBroken) {
		t.Errorf("reading gave %v", readErr)
	}
	renewed := false
	err := tryUpdate(dir, noon, func(tx *Tx) {
		renewed = !tx.Session.Renewed.IsZero()
		tx.Charge("b2", 0, false)
	})
	if err != nil {
		t.Fatalf("writing gave %v", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := len(asides(t, dir)) > 0; got != aside || renewed != aside {
		t.Errorf("set aside %v, renewed %v, want %v", got, renewed, aside)
	}
	sound(t, dir.Store(session))
	if s := read(t, dir); s.Charged["b2"] != 1 || s.Charged["b1"] != 0 && aside {
		t.Errorf("charged %v", s.Charged)
	}
}

// A store that was cut at any page either still serves or is begun afresh.
func TestTruncatedAtEveryPage(t *testing.T) {
	t.Parallel()
	source := folder(t)
	data := contentOf(t, filled(t, source))
	page := os.Getpagesize()
	for cut := page; cut < len(data); cut += page {
		dir := folder(t)
		hosttest.Write(t, noon, dir.Store(session), string(data[:cut]))
		if _, err := Read(context.Background(), dir, session, nil); err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("cut at %d: reading gave %v", cut, err)
		}
		if err := tryUpdate(dir, noon, func(tx *Tx) { tx.Charge("b2", 0, false) }); err != nil {
			t.Errorf("cut at %d: writing gave %v", cut, err)
			continue
		}
		sound(t, dir.Store(session))
		if n := read(t, dir).Charged["b2"]; n != 1 {
			t.Errorf("cut at %d: charged %d", cut, n)
		}
	}
}

// The same while the store is open: the fault in the memory map is an error.
func TestTruncatedWhileOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is mapped cannot be cut there")
	}
	dir := folder(t)
	path := filled(t, dir)
	first := true
	err := tryUpdate(dir, noon, func(tx *Tx) {
		if first {
			first = false
			if err := os.Truncate(path, int64(2*os.Getpagesize())); err != nil {
				t.Error(err)
			}
			for i := range 300 {
				tx.Launch(fmt.Sprintf("b%08d", i))
			}
			t.Error("reading behind the end of the file went well")
		}
		tx.Charge("b2", 0, false)
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := read(t, dir); s.Charged["b2"] != 1 || s.Session.Renewed.IsZero() || len(asides(t, dir)) != 1 {
		t.Errorf("afterwards: %+v, %v", s.Charged, asides(t, dir))
	}
}

func TestAStoreIsSetAsideOncePerHour(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	garbage := func() {
		t.Helper()
		hosttest.Write(t, noon, dir.Store(session), "x")
	}
	steps := []struct {
		after time.Duration
		again bool
	}{{0, false}, {time.Minute, true}, {59 * time.Minute, true}, {61 * time.Minute, false}, {62 * time.Minute, true}, {-100 * time.Hour, false}}
	for _, s := range steps {
		garbage()
		before := len(asides(t, dir))
		err := tryUpdate(dir, noon.Add(s.after), func(*Tx) {})
		if errors.Is(err, ErrAsideAgain) != s.again || !s.again && err != nil {
			t.Errorf("after %v: %v", s.after, err)
		}
		if n := len(asides(t, dir)) - before; n == 1 == s.again {
			t.Errorf("after %v: %d more were set aside", s.after, n)
		}
	}
}

// Several hooks find the broken store at once: one sets it aside, all work.
func TestSettingAsideAtOnce(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	hosttest.Write(t, noon, filled(t, dir), "x")
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			if err := tryUpdate(dir, noon, func(tx *Tx) { tx.Charge("b2", 0, false) }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n, c := len(asides(t, dir)), read(t, dir).Charged["b2"]; n != 1 || c != 12 {
		t.Errorf("%d set aside, %d charged", n, c)
	}
}

// Whatever cannot be told from a store that is not ours to touch leaves it alone.
func TestNoPlaceForAStore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	hosttest.Write(t, noon, file, "")
	if err := tryUpdate(state.At(file), noon, func(*Tx) {}); err == nil {
		t.Error("a file took the place of the folder")
	}
	dir := folder(t)
	if err := os.MkdirAll(dir.LockPath(session), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := tryUpdate(dir, noon, func(*Tx) {}); err == nil || errors.Is(err, ErrBroken) {
		t.Errorf("a folder in place of the lock gave %v", err)
	}
}
