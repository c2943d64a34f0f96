package wait

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"stopgate/pkg/host"
)

const (
	// tick is how often is looked without any change: for what nothing tells of,
	// such as a parent that is gone or a file that comes to be.
	tick = 1800 * time.Millisecond
	// Where files cannot be watched, the pause between looks grows with the time
	// without a change, by one in backoffPart, to backoffMost.
	backoffPart = 20
	backoffMost = time.Second
	// maxWatched bounds the files that are watched.
	maxWatched = 256
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
	// looked is when the last look began, changed when one last saw a change.
	looked, changed time.Time
	// due is when something that was seen has to be looked at again, though
	// nothing may change until then; zero for never.
	due time.Time
}

// again asks for a look at a time.
func (v *vigil) again(at time.Time) {
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

// guard watches the files that are there now, before they are looked at.
func (w *Wait) guard() {
	w.fresh, w.looked, w.due = false, w.Clock.Now(), time.Time{}
	if w.watcher == nil {
		return
	}
	w.blind = false
	for _, path := range w.order {
		err := w.watcher.Add(w.Files.Path(path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, host.ErrNotRegular) {
			w.blind = true
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
	case !w.blind:
		pause = tick
	}
	if w.watcher.Wait(ctx, min(pause, left)) {
		if early := w.looked.Add(Step).Sub(w.Clock.Now()); early > 0 {
			w.Clock.Sleep(ctx, min(early, left))
		}
	}
}
