package host

import (
	"context"
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
	// Wait waits until a watched file changed, d has passed or ctx is done, and
	// tells whether something changed. It may wake without a change. However
	// much changes, it wakes at most some ten times a second.
	Wait(ctx context.Context, d time.Duration) bool
	// Close ends the watching.
	Close() error
}

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
	mu    sync.Mutex
	// changed holds a token when something changed since the last Wait.
	changed chan struct{}
}

func newWatcher() (Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	watch := &watcher{w: w, files: map[string]fs.FileInfo{}, changed: make(chan struct{}, 1)}
	// Somebody must take the events in, also while a file is added: on Windows
	// that waits for the same goroutine of the library that sends them.
	go watch.pump()
	return watch, nil
}

// Add implements [Watcher].
func (w *watcher) Add(path string) error {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "watch", Path: path, Err: ErrNotRegular}
	}
	known := w.known(path)
	if known != nil && err == nil && os.SameFile(known, info) {
		return nil
	}
	if known != nil {
		_ = w.w.Remove(path) // gone with its file, mostly
	}
	if err != nil {
		w.set(path, nil)
		return err
	}
	// First, for the file may be gone again as soon as it is watched.
	w.set(path, info)
	if err := w.w.Add(path); err != nil {
		w.set(path, nil)
		return err
	}
	return nil
}

func (w *watcher) known(path string) fs.FileInfo {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[path]
}

// set notes that a file is watched; nil that it is not.
func (w *watcher) set(path string, info fs.FileInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if info == nil {
		delete(w.files, path)
	} else {
		w.files[path] = info
	}
}

// Wait implements [Watcher].
func (w *watcher) Wait(ctx context.Context, d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-w.changed:
		return true
	case <-limit.C:
	case <-ctx.Done():
	}
	return false
}

// Close implements [Watcher].
func (w *watcher) Close() error { return w.w.Close() }

// pump takes the events in until the watcher is closed. An event that was lost
// counts as one.
func (w *watcher) pump() {
	for w.take(nil) {
		w.tell()
		more, most := false, time.Now().Add(pumpMost)
		for quiet := time.NewTimer(pumpQuiet); w.take(quiet.C); quiet.Reset(pumpQuiet) {
			if more = true; time.Now().After(most) {
				break
			}
		}
		if more {
			w.tell()
		}
		time.Sleep(pumpRest)
	}
}

// take waits for one event; false when quiet says so, or the watcher is closed.
func (w *watcher) take(quiet <-chan time.Time) (ok bool) {
	var e fsnotify.Event
	select {
	case e, ok = <-w.w.Events:
	case _, ok = <-w.w.Errors:
	case <-quiet:
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		w.set(e.Name, nil)
	}
	return ok
}

// tell leaves a token for Wait.
func (w *watcher) tell() {
	select {
	case w.changed <- struct{}{}:
	default: // there is one
	}
}
