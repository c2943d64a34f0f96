package wait

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stopgate/pkg/fate"
	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/transcript"
)

// bell is a watcher on the fake clock: whenever a plan was carried out, it looks what
// has become of the files that are watched and of what is awaited.
type bell struct {
	clock *clock
	// added are the files that are watched and awaited what is awaited, as they
	// looked.
	added, awaited map[string]string
	// broken is what Add gives, but for files that are missing, and deaf what Await
	// gives.
	broken, deaf error
	rung         host.Change
	closed       int
	// waits is called at each Wait; nil is not.
	waits func()
}

func newBell(c *clock) *bell {
	return &bell{clock: c, added: map[string]string{}, awaited: map[string]string{}}
}

// face is how a file looks, and a folder with what lies in it.
func face(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	text := fmt.Sprint(info.Size(), info.ModTime())
	if entries, err := os.ReadDir(path); err == nil {
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				text += fmt.Sprint(e.Name(), info.Size(), info.ModTime())
			}
		}
	}
	return text
}

func (b *bell) Add(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		delete(b.added, path)
		return err
	case b.broken != nil:
		return b.broken
	case !info.Mode().IsRegular():
		return host.ErrNotRegular
	}
	if _, known := b.added[path]; !known {
		b.added[path] = face(path)
	}
	return nil
}

func (b *bell) Await(path string) error {
	if _, err := os.Stat(path); err != nil || b.deaf != nil {
		return cmp.Or(b.deaf, err)
	}
	if _, known := b.awaited[path]; !known {
		b.awaited[path] = face(path)
	}
	return nil
}

func (b *bell) Wait(ctx context.Context, d time.Duration) host.Change {
	if b.waits != nil {
		b.waits()
	}
	for end := b.clock.now.Add(d); b.rung == 0 && b.clock.now.Before(end) && ctx.Err() == nil; {
		b.sleep(ctx, min(5*time.Millisecond, end.Sub(b.clock.now)))
	}
	rung := b.rung
	b.rung = 0
	return rung
}

func (b *bell) sleep(ctx context.Context, d time.Duration) bool {
	planned := len(b.clock.plans)
	whole := b.clock.Sleep(ctx, d)
	if len(b.clock.plans) < planned {
		b.look()
	}
	return whole
}

func (b *bell) look() {
	for path, before := range b.added {
		if now := face(path); now != before {
			b.added[path], b.rung = now, b.rung|host.Changed
		}
	}
	for path, before := range b.awaited {
		if face(path) != before {
			delete(b.awaited, path)
			b.rung |= host.Stirred
		}
	}
}

func (b *bell) Close() error { b.closed++; return nil }

// belled is the clock of a wait with a bell: what happens while it sleeps is
// told afterwards.
type belled struct{ *bell }

func (c belled) Now() time.Time { return c.clock.now }

func (c belled) Sleep(ctx context.Context, d time.Duration) bool { return c.sleep(ctx, d) }

func TestHowOftenAWaitLooks(t *testing.T) {
	t.Parallel()
	noRoom := &fs.PathError{Op: "inotify_add_watch", Path: "x", Err: syscall.ENOSPC}
	for name, test := range map[string]struct {
		watch  error // the watch cannot begin
		broken error // nor a file be watched
		near   bool  // it is told of what else may end it
		deaf   error // but that cannot be awaited
		change func(*place) map[time.Duration]func()
		quiet  time.Duration
		why    Why
		// at is when it ends, and late how much later at the most.
		at, late time.Duration
		looks    int // at the most
	}{
		"hardly ever while nothing changes":               {why: Deadline, at: time.Minute, looks: 42},
		"next to never where all that may change is told": {near: true, why: Deadline, at: time.Minute, looks: 10},
		"as before where it cannot be awaited":            {near: true, deaf: noRoom, why: Deadline, at: time.Minute, looks: 42},
		"soon enough where it cannot be awaited": {near: true, deaf: noRoom, change: func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){23 * time.Second: func() { p.write("cancel", "") }}
		}, why: Cancelled, at: 23 * time.Second, late: tick, looks: 42},
		"now and then at what stirs all the time": {near: true, change: func(p *place) map[time.Duration]func() {
			plans := map[time.Duration]func(){}
			for at := time.Second; at < 31*time.Second; at += 20 * time.Millisecond {
				plans[at] = func() { p.add("another", "more\n") }
			}
			return plans
		}, why: Deadline, at: time.Minute, looks: 20 + 10},
		"at what stirs also while a task prints": {near: true, change: func(p *place) map[time.Duration]func() {
			plans := map[time.Duration]func(){}
			for at := time.Second; at < 31*time.Second; at += 20 * time.Millisecond {
				plans[at] = func() { p.add("b1", "more\n") }
			}
			plans[20*time.Second] = func() { p.write("b1", "more\n"); p.write("cancel", "") }
			return plans
		}, why: Cancelled, at: 20 * time.Second, late: 150 * time.Millisecond, looks: 230},
		"at once when a task has ended": {change: func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){40 * time.Second: func() { p.finish("b1"); p.finish("b2") }}
		}, why: AllEnded, at: 40 * time.Second, late: 10 * time.Millisecond, looks: 30},
		"soon, if not at once, behind another change": {change: func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){
				40 * time.Second:                       func() { p.finish("b1") },
				40*time.Second + 20*time.Millisecond:   func() { p.finish("b2") },
				40*time.Second + 1000*time.Millisecond: func() { p.t.Error("too late") },
			}
		}, why: AllEnded, at: 40 * time.Second, late: 150 * time.Millisecond, looks: 31},
		"ten times a second at the most": {change: func(p *place) map[time.Duration]func() {
			plans := map[time.Duration]func(){}
			for at := time.Second; at < 11*time.Second; at += 10 * time.Millisecond {
				plans[at] = func() { p.add("b1", "more\n") }
			}
			return plans
		}, why: Deadline, at: time.Minute, looks: 100 + 1 + 34 + 3},
		"at the deadline, to the moment":  {quiet: 20*time.Second + 7*time.Millisecond, why: Quieted, at: 20*time.Second + 7*time.Millisecond, late: time.Millisecond, looks: 16},
		"ever more rarely without watch":  {watch: errors.New("too many open files"), why: Deadline, at: time.Minute, looks: 115},
		"ever more rarely without room":   {broken: noRoom, why: Deadline, at: time.Minute, looks: 115},
		"soon all the same without watch": {watch: errors.New("none"), change: ends(time.Second), why: AllEnded, at: time.Second, late: 150 * time.Millisecond, looks: 12},
		"within a second without watch":   {watch: errors.New("none"), change: ends(50 * time.Second), why: AllEnded, at: 50 * time.Second, late: time.Second, looks: 110},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if test.change != nil {
				maps.Copy(p.clock.plans, test.change(p))
			}
			bell := newBell(p.clock)
			bell.broken, bell.deaf = test.broken, test.deaf
			w := p.wait("b1", "b2")
			w.Clock, w.Quiet = belled{bell}, test.quiet
			w.Watch = func() (host.Watcher, error) {
				if test.watch != nil {
					return nil, test.watch
				}
				return bell, nil
			}
			looks := 0
			w.Cancelled = func() string {
				if looks++; p.exists("cancel") {
					return "enough"
				}
				return ""
			}
			if test.near {
				w.Near = []string{p.dir}
			}
			r := w.Run(t.Context())
			if r.Why != test.why || p.took() < test.at || p.took() > test.at+test.late+5*time.Millisecond {
				t.Errorf("ended by %q after %s, want %q after %s", r.Why, p.took(), test.why, test.at)
			}
			if looks > test.looks {
				t.Errorf("looked %d times, want %d", looks, test.looks)
			}
		})
	}
}

func (p *place) exists(name string) bool { _, err := os.Stat(p.path(name)); return err == nil }

// finish tells a task's end as the client does.
func (p *place) finish(task string) { p.tell(p.ended(task, "completed", "done (exit code 0)")) }

func ends(at time.Duration) func(*place) map[time.Duration]func() {
	return func(p *place) map[time.Duration]func() {
		return map[time.Duration]func(){at: func() { p.finish("b1"); p.finish("b2") }}
	}
}

// Every file that may tell something is watched, also one that comes to be, or
// comes to be known, while the wait lasts; and it is looked at after that.
func TestWhatAWaitWatches(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	main := p.path("main.jsonl")
	child := transcript.AgentPath(transcript.AgentsDir(main), "c1")
	p.write("store", "")
	bell := newBell(p.clock)
	w := p.wait("b1")
	w.Tasks = append(w.Tasks, Task{ID: "c1", Kind: "subagent"}, Task{ID: "m1", Kind: "monitor"})
	w.Clock, w.Watch = belled{bell}, func() (host.Watcher, error) { return bell, nil }
	bell.waits = func() {
		for path := range w.files {
			if _, err := os.Stat(path); err == nil && bell.added[path] == "" {
				t.Errorf("it rests, and %s is not watched", path)
			}
		}
	}
	w.Inboxes, w.Paths = []string{p.path("inbox.json")}, []string{p.path("store"), p.path("off")}
	p.clock.plans[5*time.Second] = func() { p.write("inbox.json", "[]"); p.write("off", "") }
	p.clock.plans[10*time.Second] = func() {
		p.write("tasks/own.output", "")
		text := `{"type":"assistant","agentId":"c1","timestamp":"2026-03-01T12:00:00Z","message":{"content":[{"type":"tool_use","id":"u1","name":"Bash","input":{"command":"x","run_in_background":true}}]}}
{"type":"user","agentId":"c1","timestamp":"2026-03-01T12:00:01Z","message":{"content":[{"type":"tool_result","tool_use_id":"u1","content":"Command running in background with ID: own. Output is being written to: ` + p.path("tasks/own.output") + `."}]}}` + "\n"
		hosttest.Write(t, p.clock.now, child, text)
	}
	p.clock.plans[20*time.Second] = func() {
		p.write("tasks/m1.output", "")
		p.tell(strings.Replace(p.ended("m1", "completed", "x"), p.path("m1"), p.path("tasks/m1.output"), 1))
		p.tell(p.ended("c1", "completed", "x"))
	}
	if r := w.Run(t.Context()); r.Why != Deadline || bell.closed != 1 {
		t.Errorf("ended by %s, closed %d times", r.Why, bell.closed)
	}
	want := []string{main, p.path("b1"), p.path("inbox.json"), p.path("store"), p.path("off"), child, p.path("tasks/own.output"), p.path("tasks/m1.output")}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(bell.added)); !slices.Equal(got, want) {
		t.Errorf("watched %q, want %q", got, want)
	}
}

// A last line that a younger list refutes is looked at when something changes,
// not again and again.
func TestAPrintedEndCostsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("b1", "[exited with code 0]\n")
	p.clock.now = p.clock.now.Add(time.Hour)
	p.clock.begun = p.clock.now
	bell := newBell(p.clock)
	w := p.wait("b1")
	w.Clock, w.Watch = belled{bell}, func() (host.Watcher, error) { return bell, nil }
	w.List = func() fate.List { return fate.List{At: p.clock.begun, Tasks: map[string]bool{"b1": true}} }
	looks := 0
	w.Cancelled = func() string { looks++; return "" }
	if r := w.Run(t.Context()); r.Why != Deadline || looks > 45 {
		t.Errorf("ended by %s after %d looks", r.Why, looks)
	}
}
