package wait

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"stopgate/pkg/host"
)

const (
	// tick is how often is looked without any change: for what nothing tells of,
	// such as a parent that is gone or a file that comes to be.
	tick = 1800 * time.Millisecond
	// Where all of that is told, too, looks are as rare as rareTick, in case
	// something was not told after all, and stirRest apart where something stirs
	// all the time.
	rareTick = 10 * time.Second
	stirRest = 1500 * time.Millisecond
	// Where files cannot be watched, the pause between looks grows with the time
	// without a change, by one in backoffPart, to backoffMost.
	backoffPart = 20
	backoffMost = time.Second
	// maxWatched bounds the files that are watched.
	maxWatched = 256
	// maxNear bounds what is awaited, and maxMissing how far up is gone for a file
	// that is not there.
	maxNear    = 64
	maxMissing = 4
)

// vigil is how a wait passes the time between its looks.
type vigil struct {
	watcher host.Watcher
	// files are what the wait looks at; fresh tells that one was added since the
	// look began, and may have changed before it was watched.
	files map[string]bool
	order []string
	fresh bool
	// blind tells that not every file could be watched.
	blind bool
	// near are files and folders whose next change is awaited, in their order, deaf
	// tells that not all of them are, and stirred that one has changed.
	near          []string
	deaf, stirred bool
	// looked is when the last look began, changed when one last saw a change.
	looked, changed time.Time
	// due is when something that was seen has to be looked at again, though
	// nothing may change until then; zero for never.
	due time.Time
}

// again asks for a look at a time; a zero one asks for none.
func (v *vigil) again(at time.Time) {
	if at.IsZero() {
		return
	}
	if v.due.IsZero() || at.Before(v.due) {
		v.due = at
	}
}

// begin opens the watch. Where there is none, the wait looks again and again.
func (w *Wait) begin() {
	w.files = map[string]bool{}
	if w.Watch != nil {
		w.watcher, _ = w.Watch() // without one: see rest
	}
	w.changed = w.Clock.Now()
	w.mention(w.Main)
	for _, t := range w.Tasks {
		w.mention(t.Output)
	}
	for _, path := range append(w.Inboxes, w.Paths...) {
		w.mention(path)
	}
	for _, path := range w.Near {
		w.beside(path)
	}
}

func (w *Wait) end() {
	if w.watcher != nil {
		_ = w.watcher.Close() // the process ends soon
	}
}

// mention adds a file to those that are watched.
func (w *Wait) mention(path string) {
	if path == "" || w.files[path] || len(w.order) >= maxWatched {
		return
	}
	w.files[path], w.fresh = true, true
	w.order = append(w.order, path)
}

// beside adds a file or folder to those whose next change is awaited.
func (w *Wait) beside(path string) {
	if w.Near == nil || slices.Contains(w.near, path) {
		return
	}
	if len(w.near) >= maxNear {
		w.deaf = true
		return
	}
	w.near, w.fresh = append(w.near, path), true
}

// await waits for the next change of a file or folder; for one that is not there yet,
// in the folder where it would come to be.
func (w *Wait) await(path string) {
	for range maxMissing {
		err := w.watcher.Await(w.Files.Path(path))
		if err == nil {
			return
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		path = filepath.Dir(path)
	}
	w.deaf = true
}

// guard watches the files that are there now, before they are looked at.
func (w *Wait) guard() {
	w.fresh, w.looked, w.due = false, w.Clock.Now(), time.Time{}
	w.blind, w.deaf = false, w.watcher == nil || w.Near == nil || len(w.near) >= maxNear
	if w.watcher == nil {
		return
	}
	for _, path := range w.order {
		err := w.watcher.Add(w.Files.Path(path))
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist):
			if !w.deaf {
				w.await(filepath.Dir(path))
			}
		case !errors.Is(err, host.ErrNotRegular):
			w.blind = true
		}
	}
	for _, path := range w.near {
		if !w.deaf {
			w.await(path)
		}
	}
}

// rest waits for the next look, at most for left.
func (w *Wait) rest(ctx context.Context, left time.Duration) {
	now := w.Clock.Now()
	if !w.due.IsZero() {
		left = min(left, max(w.due.Sub(now), Step))
	}
	left = max(left, time.Millisecond)
	pause := min(max(now.Sub(w.changed)/backoffPart, Step), backoffMost)
	switch {
	case w.Watch == nil:
		w.Clock.Sleep(ctx, min(cmp.Or(w.Pace, Step), left))
		return
	case w.watcher == nil:
		w.Clock.Sleep(ctx, min(pause, left))
		return
	case w.fresh:
		return // what this look found is watched before the next one is believed
	case !w.blind && !w.deaf:
		pause = rareTick
	case !w.blind:
		pause = tick
	}
	w.listen(ctx, now.Add(min(pause, left)))
}

// listen waits until a file has changed, or a time. What stirs may do so all the time,
// and is looked at now and then.
func (w *Wait) listen(ctx context.Context, until time.Time) {
	for now := w.Clock.Now(); ; now = w.Clock.Now() {
		change := w.watcher.Wait(ctx, max(until.Sub(now), 0))
		w.stirred = w.stirred || change&host.Stirred != 0
		switch next := w.looked.Add(stirRest); {
		case change&host.Changed != 0:
			now = w.Clock.Now()
			if early := min(w.looked.Add(Step).Sub(now), until.Sub(now)); early > 0 {
				w.Clock.Sleep(ctx, early)
			}
			return
		case change == 0:
			return
		case next.Before(until):
			until = next
		}
	}
}
