package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// patience is how long a change may take to be told on a machine that is busy
// with other things.
const patience = 20 * time.Second

type watched struct {
	*testing.T
	Watcher
	dir string
}

func newWatched(t *testing.T, names ...string) watched {
	t.Helper()
	w, err := System().Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	watch := watched{t, w, t.TempDir()}
	for _, name := range names {
		watch.write(name)
		watch.add(name)
	}
	return watch
}

func (w watched) path(name string) string { return filepath.Join(w.dir, name) }

func (w watched) add(name string) {
	w.Helper()
	if err := w.Add(w.path(name)); err != nil {
		w.Fatal(err)
	}
}

func (w watched) write(name string) {
	w.Helper()
	file, err := os.OpenFile(w.path(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	_, err = file.WriteString("x\n")
	if err := errors.Join(err, file.Close()); err != nil {
		w.Fatal(err)
	}
}

// wakes looks whether the change just made is told.
func (w watched) wakes(what string) {
	w.Helper()
	if got := w.Wait(w.Context(), patience); got != Changed {
		w.Fatalf("%s is told as %d", what, got)
	}
	for w.Wait(w.Context(), 2*(pumpRest+pumpMost)) != 0 { // the rest of it
	}
}

func TestAWatchedFile(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "a", "b")
	w.write("a")
	w.wakes("a line")
	w.write("b")
	w.wakes("a line in another file")
	w.write("other")
	if w.Wait(t.Context(), 2*pumpRest) != 0 {
		t.Error("a file is told that was not asked for")
	}
	w.write("new")
	if err := os.Rename(w.path("new"), w.path("a")); err != nil {
		t.Fatal(err)
	}
	w.wakes("another file in its place")
	w.add("a")
	w.write("a")
	w.wakes("a line in that one")
	if err := os.Remove(w.path("a")); err != nil {
		t.Fatal(err)
	}
	w.wakes("that it is gone")
	if err := w.Add(w.path("a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gave %v", err)
	}
	w.write("a") // on many file systems with the number of the old one
	w.add("a")
	w.write("a")
	w.wakes("a line in a third one")
	if err := w.Add(w.dir); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder gave %v", err)
	}
}

func TestAWatchThatIsInterrupted(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if began := time.Now(); w.Wait(ctx, time.Hour) != 0 || time.Since(began) > patience {
		t.Error("it waited")
	}
}

// Whoever prints without pause wakes nobody without pause, is never forgotten,
// and does not stop files from being added.
func TestAFloodOfChanges(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "a", "b")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5_000 {
			w.write("a")
			w.write("b")
		}
	}()
	began := time.Now()
	wakes := 0
	for flooded := true; flooded; {
		select {
		case <-done:
			flooded = false
		default:
			if w.Wait(t.Context(), patience) != 0 {
				wakes++
			}
			w.write("c")
			w.add("c")
		}
	}
	if most := int(time.Since(began)/pumpRest) + 2; wakes == 0 || wakes > 2*most {
		t.Errorf("%d wakes in %s", wakes, time.Since(began))
	}
	w.write("a")
	w.wakes("the last line")
}

// What is awaited is told once, until it is awaited anew.
func TestWhatIsAwaited(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "watched")
	await := func(name string) {
		t.Helper()
		if err := w.Await(w.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	told := func(what string, want Change) {
		t.Helper()
		limit := patience
		if want == 0 {
			limit = 2 * pumpRest
		}
		if got := w.Wait(t.Context(), limit); got != want {
			t.Errorf("%s is told as %d, want %d", what, got, want)
		}
		w.Wait(t.Context(), 2*(pumpRest+pumpMost)) // the rest of it
	}
	if err := w.Await(w.dir); errors.Is(err, errors.ErrUnsupported) {
		return // everything is looked at again and again there
	}
	await(".")
	w.write("new")
	told("a file that came to be in a folder", Stirred)
	w.write("new")
	told("what follows", 0)
	await(".")
	w.write("new")
	told("a line in it", Stirred)
	await(".")
	w.write("watched")
	told("a line in one that is watched", Changed)
	w.write("new")
	told("a line in the other", Stirred)
	await("new")
	w.write("new")
	told("a line in an awaited file", Stirred)
	w.write("new")
	told("one more", 0)
	await("new")
	if err := os.Remove(w.path("new")); err != nil {
		t.Fatal(err)
	}
	told("that it is gone", Stirred)
	if err := w.Await(w.path("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gave %v", err)
	}
	await("watched")
	w.write("watched")
	told("a line in one that is watched and awaited", Changed)
}
