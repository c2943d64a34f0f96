package export

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// DefaultEvery is how often what is new is sent, at the most.
	DefaultEvery = 30 * time.Second
	// pulse is how often the sums are sent though nothing is new: a series that falls
	// silent counts as gone.
	pulse = time.Minute
	// settle is how often sessions are looked for that count as over by now, and for
	// a state folder that comes to be.
	settle = 10 * time.Minute
)

// Follow sends what is new, and goes on with what comes, at most once in every, until
// ctx is done. The kernel tells when a store changes. What cannot be sent waits.
func (e *Exporter) Follow(ctx context.Context, every time.Duration) error {
	w, err := e.watch(ctx)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // the process ends
	l, err := lock(ctx, e.Dir, e.Target)
	if err != nil {
		return err
	}
	defer l.Release()
	if e.c, err = readCursor(e.Dir.Cursor(e.Target), e.Host.Clock.Now()); err != nil {
		return err
	}
	if e.Host.Calm != nil {
		e.Host.Calm()
	}
	for {
		var r Report
		began := time.Now()
		if err := e.pass(ctx, &r); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			e.say("%v", err)
		}
		if err := e.rest(ctx, w, began, every); err != nil {
			return err
		}
	}
}

// rest waits until something has changed and enough time has passed. Meanwhile it
// sends the sums now and then.
func (e *Exporter) rest(ctx context.Context, w *changes, began time.Time, every time.Duration) error {
	beat, over := time.NewTicker(pulse), time.NewTimer(settle)
	defer beat.Stop()
	defer over.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.news:
			if !e.Host.Clock.Sleep(ctx, max(0, every-time.Since(began))) {
				return ctx.Err()
			}
			w.forget()
			return nil
		case <-over.C:
			return nil
		case <-beat.C:
			e.beat(ctx)
		}
	}
}

// beat sends the sums as they are. A failure is no matter: the next one tells as much.
func (e *Exporter) beat(ctx context.Context) {
	if e.Off["metrics"] || e.Target == "file" {
		return // who reads a file has read them
	}
	if m := e.metrics(e.Host.Clock.Now()); m != nil {
		_, _ = e.To.Send(ctx, "metrics", m)
	}
}

// changes tells that something changed in a folder.
type changes struct {
	w    *fsnotify.Watcher
	news chan struct{}
}

// watch begins to watch the sessions' folder, and waits for it where there is none
// yet: it is the hook that makes it.
func (e *Exporter) watch(ctx context.Context) (*changes, error) {
	for {
		if _, err := os.Stat(e.Dir.Sessions()); err == nil {
			break
		}
		if !e.Host.Clock.Sleep(ctx, pulse) {
			return nil, ctx.Err()
		}
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := w.Add(e.Dir.Sessions()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	c := &changes{w: w, news: make(chan struct{}, 1)}
	go c.pump()
	return c, nil
}

// pumpRest is how long no events are taken in after one was: meanwhile the kernel
// joins those of one file.
const pumpRest = 500 * time.Millisecond

func (c *changes) pump() {
	for {
		select {
		case event, ok := <-c.w.Events:
			if !ok {
				return
			}
			if filepath.Ext(event.Name) != ".db" {
				continue
			}
		case _, ok := <-c.w.Errors: // an event that was lost counts as one
			if !ok {
				return
			}
		}
		select {
		case c.news <- struct{}{}:
		default: // it is known already
		}
		time.Sleep(pumpRest)
	}
}

// forget takes back what was told of changes so far: they are read now.
func (c *changes) forget() {
	select {
	case <-c.news:
	default:
	}
}

// Close ends the watching.
func (c *changes) Close() error { return c.w.Close() }
