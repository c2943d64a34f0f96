package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher wakes a process when one of some files changes, by the kernel's own
// means. It is not safe for use by several goroutines.
type Watcher interface {
	// Add watches a regular file. Adding one again is cheap, and watches the
	// file that now has the name where it was replaced by another. A missing
	// file is an error that is fs.ErrNotExist; any other error means that the
	// system cannot watch it, for example because its watches are used up.
	Add(path string) error
	// Await waits for the next change of a file, or of anything that lies in a
	// folder. It is told once, as [Stirred], and then has to be awaited anew: what
	// changes without pause costs as much as one looks at it. Awaiting one again
	// that has not changed is cheap. A missing one is an error that is
	// fs.ErrNotExist; any other error means that it cannot be awaited.
	Await(path string) error
	// Wait waits until a watched file changed, something awaited did, d has passed
	// or ctx is done. It may wake without a change. However much changes, it wakes
	// at most some ten times a second.
	Wait(ctx context.Context, d time.Duration) Change
	// Close ends the watching.
	Close() error
}

// Change is what woke a [Watcher]: nothing that it knows, or one of these, or both.
type Change uint8

// What can wake it.
const (
	// Changed is a change of a file that is watched.
	Changed Change = 1 << iota
	// Stirred is a change of what was awaited.
	Stirred
)

const (
	// pumpRest is how long no events are taken in after some were: meanwhile the
	// kernel joins the changes of one file, so that a task which prints without
	// pause costs little.
	pumpRest = 80 * time.Millisecond
	// pumpMost bounds how long events are taken in, and pumpQuiet is a pause by
	// which one knows that there are no more.
	pumpMost  = 20 * time.Millisecond
	pumpQuiet = time.Millisecond
)

// watcher is a [Watcher] by inotify, kqueue or ReadDirectoryChangesW.
type watcher struct {
	w *fsnotify.Watcher
	// files are those that are watched, as they were when they were added. The
	// kernel drops one that is deleted, and its number may be used again.
	files map[string]fs.FileInfo
	// awaited are what is awaited, in the same way.
	awaited map[string]fs.FileInfo
	mu      sync.Mutex
	// woken holds what has changed since the last Wait.
	woken chan Change
}

func newWatcher() (Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	watch := &watcher{w: w, files: map[string]fs.FileInfo{}, awaited: map[string]fs.FileInfo{}, woken: make(chan Change, 1)}
	// Somebody must take the events in, also while a file is added: on Windows
	// that waits for the same goroutine of the library that sends them.
	go watch.pump()
	return watch, nil
}

// Add implements [Watcher].
func (w *watcher) Add(path string) error {
	return w.add(w.files, path, func(info fs.FileInfo) bool { return info.Mode().IsRegular() })
}

// Await implements [Watcher]. Only inotify watches a folder without opening all that
// lies in it.
func (w *watcher) Await(path string) error {
	if !awaits {
		return &fs.PathError{Op: "await", Path: path, Err: errors.ErrUnsupported}
	}
	if path = filepath.Clean(path); w.known(w.files, path) != nil {
		return nil // told sooner
	}
	return w.add(w.awaited, path, func(info fs.FileInfo) bool { return info.IsDir() || info.Mode().IsRegular() })
}

// add watches a file of the right form among those of one kind.
func (w *watcher) add(among map[string]fs.FileInfo, path string, right func(fs.FileInfo) bool) error {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err == nil && !right(info) {
		err = &fs.PathError{Op: "watch", Path: path, Err: ErrNotRegular}
	}
	known := w.known(among, path)
	if known != nil && err == nil && os.SameFile(known, info) {
		return nil
	}
	if known != nil {
		_ = w.w.Remove(path) // gone with its file, mostly
	}
	if err != nil {
		w.set(among, path, nil)
		return err
	}
	// First, for the file may be gone again as soon as it is watched.
	w.set(among, path, info)
	if err := w.w.Add(path); err != nil {
		w.set(among, path, nil)
		return err
	}
	return nil
}

func (w *watcher) known(among map[string]fs.FileInfo, path string) fs.FileInfo {
	w.mu.Lock()
	defer w.mu.Unlock()
	return among[path]
}

// set notes that a file is watched; nil that it is not.
func (w *watcher) set(among map[string]fs.FileInfo, path string, info fs.FileInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if info == nil {
		delete(among, path)
	} else {
		among[path] = info
	}
}

// Wait implements [Watcher].
func (w *watcher) Wait(ctx context.Context, d time.Duration) Change {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case c := <-w.woken:
		return c
	case <-limit.C:
	case <-ctx.Done():
	}
	return 0
}

// Close implements [Watcher].
func (w *watcher) Close() error { return w.w.Close() }

// pump takes the events in until the watcher is closed: the first is told at once, the
// rest of a burst at its end.
func (w *watcher) pump() {
	for {
		first, ok := w.take(nil)
		if !ok {
			return
		}
		w.tell(first)
		rest, most := Change(0), time.Now().Add(pumpMost)
		for quiet := time.NewTimer(pumpQuiet); time.Now().Before(most); quiet.Reset(pumpQuiet) {
			next, ok := w.take(quiet.C)
			if !ok {
				break
			}
			rest |= next
		}
		w.tell(rest)
		time.Sleep(pumpRest)
	}
}

// take waits for one event; false when quiet says so, or the watcher is closed. An
// event that was lost may have been any.
func (w *watcher) take(quiet <-chan time.Time) (change Change, ok bool) {
	select {
	case e, ok := <-w.w.Events:
		return w.changeOf(e), ok
	case _, ok := <-w.w.Errors:
		return Changed | Stirred, ok
	case <-quiet:
		return 0, false
	}
}

// changeOf is what an event is a change of. That of a file may be one of its folder,
// too: its name does not tell.
func (w *watcher) changeOf(e fsnotify.Event) (change Change) {
	if w.known(w.files, e.Name) != nil {
		if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
			w.set(w.files, e.Name, nil)
		}
		return Changed
	}
	for _, path := range []string{e.Name, filepath.Dir(e.Name)} {
		if w.known(w.awaited, path) != nil {
			w.set(w.awaited, path, nil)
			_ = w.w.Remove(path) // gone, where that fails
			change = Stirred
		}
	}
	return change
}

// tell leaves word for Wait, together with what lies there.
func (w *watcher) tell(c Change) {
	select {
	case before := <-w.woken:
		c |= before
	default:
	}
	if c != 0 {
		w.woken <- c // nobody else leaves any
	}
}
