// Package watch is the live view of sessions in a terminal: agents as a tree with
// their tasks, how long holds may last, what tasks printed last, and the log below.
// It shows what pkg/status knows, by the means of pkg/view, and changes nothing but
// by what it was given to do so.
package watch

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"stopgate/pkg/host"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// World is what the view is made from and acts on. All fields but Watch are needed.
type World struct {
	// Load reads what is known now.
	Load func(context.Context) (status.Status, error)
	// Output gives the last lines that a task printed, at most so many bytes.
	Output func(status.Task) []string
	// Explain prints why an agent's last stop was answered as it was, or what it is
	// held for; "" is the last stop of the session.
	Explain func(scr view.Screen, session, agent string)
	// Release excuses a task, Switch switches everything off or on.
	Release func(session, task string) error
	Switch  func(off bool) error
	// Stores tells the state of the state folder: it differs when a store has changed.
	Stores func() string
	// Watch begins to watch files; nil, or an error, means to look now and then.
	Watch func() (host.Watcher, error)
	Now   func() time.Time
	// Colour allows colours.
	Colour bool
	// Zone is the zone times are shown in; nil is the machine's.
	Zone *time.Location
}

const (
	// slowTick is how long nothing is looked at where no watched file changes, and
	// staleAfter how old what is shown may become.
	slowTick   = 2 * time.Second
	staleAfter = 15 * time.Second
	// redraw is how often ages are drawn anew.
	redraw = time.Second
	// share is how much of the time reading may take: one part in so many.
	share = 10
	// leastPause is the pause between two readings.
	leastPause = 250 * time.Millisecond
	// frames is how often the terminal is written to in a second, at the most.
	frames = 10
)

// Run shows the view until somebody quits or ctx is done. The terminal is left as it
// was found.
func Run(ctx context.Context, w World, in io.Reader, out io.Writer, env []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first, err := w.Load(ctx)
	if err != nil {
		return err
	}
	// A context or a signal of the library's own would kill its program: it would then
	// close the terminal's reader while that still reads. So ctx asks it to quit.
	p := tea.NewProgram(newModel(w, first), tea.WithoutSignalHandler(), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(env), tea.WithFPS(frames))
	defer context.AfterFunc(ctx, p.Quit)()
	go w.follow(ctx, first, p.Send)
	_, err = p.Run()
	return err
}

// loaded is what was read anew.
type loaded struct {
	st  status.Status
	err error
}

// follow reads anew whenever something changed, until ctx is done.
func (w World) follow(ctx context.Context, st status.Status, send func(tea.Msg)) {
	var watcher host.Watcher
	if w.Watch != nil {
		if made, err := w.Watch(); err == nil {
			watcher = made
			defer watcher.Close() //nolint:errcheck // its end is the program's
		}
	}
	seen, last := w.Stores(), time.Now()
	pause := leastPause
	for {
		if watcher != nil {
			for _, path := range paths(st) {
				_ = watcher.Add(path) // what cannot be watched is looked at now and then
			}
		}
		changed := wait(ctx, watcher, slowTick)
		if ctx.Err() != nil {
			return
		}
		now := w.Stores()
		if !changed && now == seen && time.Since(last) < staleAfter {
			continue
		}
		if !sleep(ctx, pause-time.Since(last)) {
			return
		}
		began := time.Now()
		next, err := w.Load(ctx)
		if err == nil {
			st, seen = next, now
		}
		last = time.Now()
		pause = max(leastPause, share*last.Sub(began))
		send(loaded{next, err})
	}
}

func wait(ctx context.Context, w host.Watcher, d time.Duration) bool {
	if w != nil {
		return w.Wait(ctx, d) != 0
	}
	sleep(ctx, d)
	return false
}

func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// paths are the files that change when something happens: transcripts, and the
// outputs of what runs.
func paths(st status.Status) []string {
	var out []string
	for _, s := range st.Sessions {
		if s.Brief || !s.Ended.IsZero() {
			continue
		}
		if s.Transcript != "" {
			out = append(out, s.Transcript)
		}
		for _, t := range s.Tasks {
			if t.State == status.TaskRunning && t.Output != "" {
				out = append(out, t.Output)
			}
		}
	}
	return out
}
