package wait

import (
	"fmt"
	"testing"
	"time"

	"stopgate/pkg/fate"
	"stopgate/pkg/transcript"
)

// The ends of tasks that something may forge, or tell in an unusual way.
func TestAnEndThatCannotBePrinted(t *testing.T) {
	t.Parallel()
	const second = time.Second
	printed := func(line string) func(*place) { return func(p *place) { p.add("b1", line+"\n") } }
	exit3 := func(p *place) { p.tell(p.ended("b1", "failed", "failed with exit code 3")) }
	type plans map[time.Duration]func(*place)
	for _, test := range []struct {
		name string
		// version is the client's, held tells whether a process has the output open,
		// after its own start; nil cannot tell.
		version string
		held    func(at time.Duration) bool
		// list is the client's last list after so long; nil is none.
		list  func(at time.Duration) (age time.Duration, named bool)
		plans plans
		how   fate.How
		code  int
		at    time.Duration
	}{
		{"a task that prints a last line, sleeps and fails, where processes can be seen", "2.1.332",
			func(at time.Duration) bool { return at < 6*second }, nil,
			plans{second: printed("[exited with code 0]"), 6 * second: exit3}, fate.Exited, 3, 6 * second},
		{"the same where they cannot be seen", "2.1.332", nil, nil,
			plans{second: printed("[exited with code 0]"), 6 * second: exit3}, fate.Exited, 3, 6 * second},
		{"a task that prints that it was killed, and goes on for long", "2.1.332",
			func(time.Duration) bool { return true }, nil, plans{second: printed("[killed]")}, fate.Runs, 0, time.Minute},
		{"a task that prints what an old client never writes", "2.1.220", nil, nil,
			plans{second: printed("[killed]"), 10 * second: printed("[exited with code 0]")}, fate.Runs, 0, time.Minute},
		{"one that ended, of an old client", "2.1.220", nil, nil,
			plans{second: exit3}, fate.Exited, 3, second},
		{"one that was killed: the last line, and no process", "2.1.332",
			func(at time.Duration) bool { return at < 2*second }, nil,
			plans{2 * second: printed("[killed]")}, fate.Killed, 0, 2500 * time.Millisecond},
		{"one that was killed, where processes cannot be seen", "2.1.332", nil, nil,
			plans{2 * second: printed("[killed]")}, fate.Killed, 0, 7 * second},
		{"one that was killed, and a later list without it", "2.1.332", nil,
			func(at time.Duration) (time.Duration, bool) {
				if at < 3*second {
					return at, true // the stop's own
				}
				return at - 3*second, false
			},
			plans{2 * second: printed("[killed]")}, fate.Killed, 0, 3 * second},
		{"one that a later list leaves out, without a word", "2.1.220", nil,
			func(at time.Duration) (time.Duration, bool) {
				if at < 3*second {
					return at, true
				}
				return at - 3*second, false
			}, nil, fate.Unknown, 0, 5 * second},
		{"one that a later list leaves out before the news of its end comes", "2.1.332", nil,
			func(at time.Duration) (time.Duration, bool) {
				if at < 3*second {
					return at, true
				}
				return at - 3*second, false
			}, plans{3200 * time.Millisecond: exit3}, fate.Exited, 3, 3200 * time.Millisecond},
		{"one that prints a last line, which a later list names", "2.1.332", nil,
			func(at time.Duration) (time.Duration, bool) {
				if at < 4*second {
					return at, true
				}
				return at - 4*second, true
			}, plans{second: printed("[exited with code 0]")}, fate.Runs, 0, time.Minute},
		{"a list from before is no list", "2.1.332", nil,
			func(at time.Duration) (time.Duration, bool) {
				if at < 4*second {
					return at, true
				}
				return at + time.Minute, false // a hook that ends late writes an old one
			}, nil, fate.Runs, 0, time.Minute},
		{"one that a later list leaves out, by a clock that was set back", "2.1.332", nil,
			func(at time.Duration) (time.Duration, bool) {
				if at < 3*second {
					return at - time.Hour, true
				}
				return at - 3*second, false
			}, nil, fate.Unknown, 0, 5 * second},
		{"one that is named again by a clock that was set back", "2.1.332", nil,
			func(at time.Duration) (time.Duration, bool) {
				if at < 4*second {
					return at - time.Hour, true
				}
				return at - 4*second, true
			}, plans{second: printed("[exited with code 0]")}, fate.Runs, 0, time.Minute},
		{"one that was stopped, as some clients tell", "2.1.332", nil, nil,
			plans{2 * second: func(p *place) { p.tell(p.ended("b1", "stopped", "was stopped")) }}, fate.Killed, 0, 2 * second},
		{"one that was cancelled", "2.1.332", nil, nil,
			plans{2 * second: func(p *place) { p.tell(p.ended("b1", "cancelled", "was cancelled")) }}, fate.Killed, 0, 2 * second},
		{"one whose end has a time from before the stop, since the clock was set back", "2.1.332", nil,
			func(at time.Duration) (time.Duration, bool) { return at, true },
			plans{2 * second: func(p *place) {
				now := p.clock.now
				p.clock.now = now.Add(-time.Hour)
				line := p.ended("b1", "completed", "exit code 0")
				p.clock.now = now
				p.tell(line)
			}}, fate.Exited, 0, 2 * second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.tell(fmt.Sprintf(`{"type":"user","version":%q,"timestamp":%q,"message":{"content":"go"}}`, test.version, p.stamp(time.Minute)))
			w := p.wait("b1")
			if test.held != nil {
				w.Held = func(string) (bool, bool) { return test.held(p.took()), true }
			}
			if test.list != nil {
				w.List = func() fate.List {
					age, named := test.list(p.took())
					return fate.List{At: p.clock.now.Add(-age), Tasks: map[string]bool{"b1": named}}
				}
			}
			for at, do := range test.plans {
				p.clock.plans[at] = func() { do(p) }
			}
			r := w.Run(t.Context())
			o := r.Outcomes[0]
			if o.How != test.how || p.took() < test.at || p.took() > test.at+150*time.Millisecond {
				t.Errorf("%q after %s, want %q after %s", o.How, p.took(), test.how, test.at)
			}
			if got := o.ExitCode; (got != nil) != (test.how == fate.Exited) || got != nil && *got != test.code {
				t.Errorf("exit code %v, want %d", got, test.code)
			}
		})
	}
}

// What somebody else sees of a task counts where the wait itself sees nothing.
func TestAnotherOpinion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.wait("b1", "b2")
	code := 7
	w.Opinion = func(task string) fate.Fate {
		switch {
		case task == "b1" && p.took() >= 3*time.Second:
			return fate.Fate{Task: task, How: fate.Exited, ExitCode: &code}
		case task == "b2":
			return fate.Fate{Task: task, How: fate.Killed} // the wait knows better
		}
		return fate.Fate{}
	}
	w.Known = []transcript.End{{Task: "b2", Status: "completed"}}
	r := w.Run(t.Context())
	if r.Why != AllEnded || p.took() < 3*time.Second || p.took() > 3200*time.Millisecond || r.Outcomes[0].How != fate.Exited || r.Outcomes[1].How != fate.Ended {
		t.Errorf("ended by %q after %s: %+v", r.Why, p.took(), r.Outcomes)
	}
}

// A child agent that a later list leaves out is over, though no end was told.
func TestAnAgentThatIsNoLongerListed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.wait()
	w.Tasks = []Task{{ID: "c1", Kind: "subagent", Since: p.clock.now}}
	w.List = func() fate.List {
		if p.took() < 4*time.Second {
			return fate.List{At: p.clock.now.Add(-p.took()), Tasks: map[string]bool{"c1": true}}
		}
		return fate.List{At: p.clock.begun.Add(4 * time.Second)}
	}
	r := w.Run(t.Context())
	if r.Why != AllEnded || r.Outcomes[0].How != fate.Unknown || p.took() < 6*time.Second || p.took() > 6200*time.Millisecond {
		t.Errorf("ended by %q after %s: %+v", r.Why, p.took(), r.Outcomes)
	}
}
