//go:build live

package live

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

func TestClient(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	onlyScaled(t)
	for _, c := range under.Clients {
		t.Run(c.Version, func(t *testing.T) {
			for _, s := range scenarios {
				if *smokeFlag && s.Smoke == nil || older(c.Version, s.Since) {
					continue
				}
				for i, host := range s.Hosts {
					if *smokeFlag && i > 0 {
						continue
					}
					for _, m := range modes {
						if *onlyFlag != "" && !slices.Contains(strings.Split(*onlyFlag, ","), m.Name) || !s.has(m) ||
							*smokeFlag && !slices.Contains(s.Smoke, m.Name) {
							continue
						}
						t.Run(s.Name+"/"+string(host)+"/"+m.Name, func(t *testing.T) {
							t.Parallel()
							play(t, c, s, host, m)
						})
					}
				}
			}
		})
	}
}

// onlyScaled skips what is not asked for beside -realtime.
func onlyScaled(t *testing.T) {
	t.Helper()
	if *realtimeFlag > 0 {
		t.Skip("-realtime asks for TestRealTime alone")
	}
}

// older compares versions of the client.
func older(a, b string) bool {
	if b == "" {
		return false
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x < y
		}
	}
	return len(as) < len(bs)
}

func play(t *testing.T, c clientUnderTest, s scenario, host client.Host, m mode) {
	if m.ours() && under.NoHook != "" {
		t.Fatal(under.NoHook)
	}
	w := newWorld(t, c, s, host, m)
	defer func() {
		if t.Failed() || testing.Verbose() {
			t.Log("\n" + w.story())
		}
	}()
	if s.Play != nil {
		s.Play(w)
	} else {
		w.course()
	}
	w.fates, w.cutShort = w.observe(), w.over()
	w.cell = w.describe()
	w.ended = w.session.End()
	w.goodbye()
	w.left = w.session.Gone()
	w.check()
}

// course is how a session usually goes: the coordinator is told to begin, every
// agent ends its turn while its tasks run, the tasks are let go, and whatever
// then happens is waited for.
func (w *world) course() {
	w.t.Helper()
	w.aloof = w.scenario.Then != nil
	w.prompt(model.Prompt(lead))
	w.wait("every agent ends its turn", 40*time.Second, func() bool {
		if w.over() {
			return true
		}
		for name := range w.scripts {
			if name != lead && len(w.stops(name)) == 0 && !w.server.Lacks(name) {
				return false
			}
		}
		for _, label := range w.scenario.Needs {
			if _, ok := w.server.Task(label); !ok {
				return false
			}
		}
		return true
	})
	w.quiet(parked)
	if w.scenario.Then != nil {
		w.scenario.Then(w)
		w.aloof = false
		w.quiet(parked)
	}
	// A stop that is held tells of its own when its tasks are let go.
	w.wait("no stop is held", 40*time.Second, func() bool { return w.over() || len(w.heldNow()) == 0 })
	for _, k := range w.shells() {
		if !slices.Contains(w.scenario.Endless, k.Label) && !slices.Contains(w.scenario.Stopped, k.Label) {
			w.release(k.Label)
		}
	}
	w.noticed()
	w.arrived()
	w.quiet(settled)
	if w.mode.Courier {
		w.carried()
		w.quiet(settled)
	}
	// A coordinator that is held looks quiet where no recorder tells of its hold: what it
	// was told is known once the run is over.
	if w.host == client.Print && len(w.scenario.Endless) == 0 {
		w.wait("the print run is over", 40*time.Second, w.over)
	}
}
