package wait

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stopgate/pkg/fate"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/transcript"
)

// clock moves by sleeping; what is planned happens when it is due.
type clock struct {
	now   time.Time
	plans map[time.Duration]func()
	begun time.Time
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) bool {
	c.now = c.now.Add(d)
	for at, do := range c.plans {
		if !c.now.Before(c.begun.Add(at)) {
			delete(c.plans, at)
			do()
		}
	}
	return ctx.Err() == nil
}

// place is a folder with a coordinator's transcript and output files; away is
// another one.
type place struct {
	t     *testing.T
	dir   string
	away  string
	clock *clock
}

func newPlace(t *testing.T) *place {
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := &place{t: t, dir: filepath.ToSlash(t.TempDir()), away: t.TempDir(), clock: &clock{now: begun, begun: begun, plans: map[time.Duration]func(){}}}
	p.write("main.jsonl", "")
	p.write("b1", "x\n")
	p.write("b2", "x\n")
	return p
}

// path has slashes everywhere: it stands in JSON as it is.
func (p *place) path(name string) string { return p.dir + "/" + name }

func (p *place) write(name, text string) {
	p.t.Helper()
	hosttest.Write(p.t, p.clock.now, p.path(name), text)
}

func (p *place) tell(line string) {
	p.t.Helper()
	hosttest.Append(p.t, p.clock.now, p.path("main.jsonl"), line+"\n")
}

func (p *place) ended(task, status, summary string) string {
	return fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"content":"<task-notification>\n<task-id>%s</task-id>\n<output-file>%s</output-file>\n<status>%s</status>\n<summary>%s</summary>\n</task-notification>"}`,
		p.clock.now.Format(time.RFC3339Nano), task, p.path(task), status, summary)
}

func (p *place) wait(tasks ...string) *Wait {
	w := &Wait{Clock: p.clock, Main: p.path("main.jsonl"), Until: p.clock.now.Add(time.Minute), Since: p.clock.now}
	for _, id := range tasks {
		w.Tasks = append(w.Tasks, Task{ID: id, Kind: "shell", Output: p.path(id)})
	}
	return w
}

// took is how long a wait lasted.
func (p *place) took() time.Duration { return p.clock.now.Sub(p.clock.begun) }

func TestHowAWaitEnds(t *testing.T) {
	tests := []struct {
		name  string
		plans func(*place) map[time.Duration]func()
		setup func(*place, *Wait)
		why   Why
		how   map[string]fate.How
		at    time.Duration
	}{
		{"when all tasks have ended", func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){
				2 * time.Second: func() { p.write("b1", "[exited with code 3]\n") },
				5 * time.Second: func() { p.tell(p.ended("b2", "completed", "done (exit code 0)")) },
			}
		}, nil, AllEnded, map[string]fate.How{"b1": fate.Exited, "b2": fate.Exited}, 7 * time.Second},
		{"when one has ended, if one is enough", func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){2 * time.Second: func() { p.write("b2", "[killed]\n") }}
		}, func(_ *place, w *Wait) { w.Any = true }, AnyEnded, map[string]fate.How{"b1": "", "b2": fate.Killed}, 7 * time.Second},
		{"at the deadline, with a task that leaves no signal", func(*place) map[time.Duration]func() { return nil },
			nil, Deadline, map[string]fate.How{"b1": "", "b2": ""}, time.Minute},
		{"when it is cancelled", func(*place) map[time.Duration]func() { return nil }, func(p *place, w *Wait) {
			w.Cancelled = func() string {
				if p.took() >= 3*time.Second {
					return "enough"
				}
				return ""
			}
		}, Cancelled, map[string]fate.How{"b1": "", "b2": ""}, 3 * time.Second},
		{"when nothing is left to wait for", func(*place) map[time.Duration]func() { return nil }, func(p *place, w *Wait) {
			w.Excused = func(string) bool { return p.took() >= time.Second }
		}, AllEnded, map[string]fate.How{}, time.Second},
		{"with a message for which it is", func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){time.Second: func() {
				p.tell(fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"content":[{"type":"tool_use","id":"t","name":"SendMessage","input":{"to":"ping"}}]}}`, p.clock.now.Format(time.RFC3339Nano)))
			}}
		}, func(_ *place, w *Wait) { w.Message = func(m transcript.Message) bool { return m.To == "ping" } },
			Messaged, map[string]fate.How{"b1": "", "b2": ""}, time.Second},
		{"also where an output file is replaced by another", func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){time.Second: func() {
				for _, id := range []string{"b1", "b2"} {
					p.write("new", "[exited with code 0]\n")
					if err := os.Rename(p.path("new"), p.path(id)); err != nil {
						p.t.Error(err)
					}
				}
			}}
		}, nil, AllEnded, map[string]fate.How{"b1": fate.Exited, "b2": fate.Exited}, 6 * time.Second},
		{"also where the coordinator's transcript is replaced by another", func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){time.Second: func() {
				p.write("new", p.ended("b1", "completed", "x")+"\n"+p.ended("b2", "failed", "exit code 9")+"\n")
				if err := os.Rename(p.path("new"), p.path("main.jsonl")); err != nil {
					p.t.Error(err)
				}
			}}
		}, nil, AllEnded, map[string]fate.How{"b1": fate.Ended, "b2": fate.Exited}, time.Second},
		{"also without a coordinator's transcript", func(p *place) map[time.Duration]func() {
			if err := os.Remove(p.path("main.jsonl")); err != nil {
				p.t.Fatal(err)
			}
			return map[time.Duration]func(){time.Second: func() { p.write("b1", "[killed]\n"); p.write("b2", "[killed]\n") }}
		}, nil, AllEnded, map[string]fate.How{"b1": fate.Killed, "b2": fate.Killed}, 6 * time.Second},
		{"not with an event of a monitor", func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){time.Second: func() {
				p.tell(`{"type":"queue-operation","operation":"enqueue","content":"<task-notification>\n<task-id>b1</task-id>\n<event>x</event>\n</task-notification>"}`)
			}}
		}, nil, Deadline, map[string]fate.How{"b1": "", "b2": ""}, time.Minute},
		{"not with a mark that is not the last line", func(p *place) map[time.Duration]func() {
			return map[time.Duration]func(){time.Second: func() { p.write("b1", "[exited with code 0]\nmore\n") }}
		}, nil, Deadline, map[string]fate.How{"b1": "", "b2": ""}, time.Minute},
		{"at once with ends that were told before", func(*place) map[time.Duration]func() { return nil }, func(p *place, w *Wait) {
			w.Known = []transcript.End{{Task: "b1", Status: "completed"}, {Task: "b2", Status: transcript.StatusKilled}}
		}, AllEnded, map[string]fate.How{"b1": fate.Ended, "b2": fate.Killed}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			for at, do := range test.plans(p) {
				p.clock.plans[at] = do
			}
			w := p.wait("b1", "b2")
			if test.setup != nil {
				test.setup(p, w)
			}
			r := w.Run(t.Context())
			if r.Why != test.why || p.took() < test.at || p.took() > test.at+150*time.Millisecond {
				t.Errorf("ended by %q after %s, want %q after %s", r.Why, p.took(), test.why, test.at)
			}
			if len(r.Outcomes) != len(test.how) {
				t.Errorf("%d outcomes, want %d", len(r.Outcomes), len(test.how))
			}
			for _, o := range r.Outcomes {
				if o.How != test.how[o.Task] {
					t.Errorf("%s: %q, want %q", o.Task, o.How, test.how[o.Task])
				}
			}
		})
	}
}

func TestAWaitThatIsInterrupted(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithCancel(t.Context())
	p.clock.plans[time.Second] = cancel
	if r := p.wait("b1").Run(ctx); r.Why != Cancelled || p.took() > 1200*time.Millisecond {
		t.Errorf("ended by %q after %s", r.Why, p.took())
	}
}
