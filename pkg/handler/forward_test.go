package handler

import (
	"context"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"stopgate/pkg/gate"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
)

// late lets the agent's stop wait for its transcript, and something else happen while it
// does.
func (s *session) late(meanwhile func()) {
	s.t.Helper()
	s.write(s.agentFile(testAgent), "")
	s.after(100*time.Millisecond, meanwhile)
	s.check(s.stopPayload(false, "b1"), unowned)
	if s.clock.slept == 0 {
		s.t.Error("the stop waited for nothing")
	}
}

// What an event brings that waited meanwhile is older than what a later one has
// recorded, and takes nothing of it back.
func TestWhatWaitedTakesNothingBack(t *testing.T) {
	t.Parallel()
	t.Run("the list of unfinished tasks", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		at := s.clock.Now().Add(100 * time.Millisecond)
		s.late(func() { s.mustRun(s.event("Stop", fields{"background_tasks": []any{}})) })
		if have := s.snapshot().Session; len(have.Listed) != 0 || have.ListedAt.Before(at) || have.LastEventAt.Before(at) || have.LastEvent != "Stop" {
			t.Errorf("listed %v at %s, last event %s at %s", have.Listed, have.ListedAt, have.LastEvent, have.LastEventAt)
		}
	})
	t.Run("the end of the session", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		s.mustRun(s.event("Stop", nil))
		s.late(func() { s.mustRun(s.event("SessionEnd", nil)) })
		if s.snapshot().Session.Ended.IsZero() {
			t.Error("the session goes on")
		}
	})
	t.Run("a later stop of the agent", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		at := s.clock.Now().Add(100 * time.Millisecond)
		s.late(func() {
			s.check(s.payload(fields{"background_tasks": []any{}, "last_assistant_message": "x"}), noTasks)
		})
		if have := s.snapshot().Agents[testAgent]; have.Stopped.Before(at) || have.LastSumAt.Before(at) {
			t.Errorf("stopped at %s, sum of %s", have.Stopped, have.LastSumAt)
		}
	})
}

// A clock that is set back makes no record of before the newer one.
func TestARecordGoesOnWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-time.Hour, -2 * time.Second} {
		s := newSession(t)
		s.check(s.payload(nil), blocked)
		s.mustRun(s.event("SessionEnd", nil))
		s.clock.set(by)
		s.mustRun(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "general-purpose"}))
		s.check(s.payload(fields{"background_tasks": []any{}}), noTasks)
		have := s.snapshot()
		if a := have.Agents[testAgent]; !a.Started.Equal(s.clock.Now()) || !a.Stopped.Equal(s.clock.Now()) || len(have.Session.Listed) != 0 || !have.Session.ListedAt.Equal(s.clock.Now()) || !have.Session.Ended.IsZero() {
			t.Errorf("set by %s: %+v, %+v", by, have.Session, a)
		}
	}
}

// A hold that another process has taken over takes nothing back of what that one
// recorded.
func TestAHoldThatWasTakenOverTakesNothingBack(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{0, -time.Hour} {
		s := newSession(t)
		var at time.Time
		s.after(time.Minute, func() {
			s.clock.set(by)
			s.mustRun(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "general-purpose"}))
			at = s.clock.Now()
			s.check(s.payload(fields{"background_tasks": []any{}, "last_assistant_message": "x"}), noTasks)
			s.clock.set(-by)
		})
		_, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold=9m")
		if out.Decision.Code != gate.SessionOver {
			t.Errorf("answered by %s", out.Decision.Code)
		}
		if have := s.snapshot().Agents[testAgent]; at.IsZero() || !have.Stopped.Equal(at) || !have.LastSumAt.Equal(at) {
			t.Errorf("clock set by %s: stopped at %s, sum of %s", by, have.Stopped, have.LastSumAt)
		}
	}
}

// Whoever waits sees what came after its stop also where the clock was set back since.
func TestAWaitWhileTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	start := fields{"agent_id": testAgent, "agent_type": "general-purpose"}
	for name, c := range map[string]struct {
		meanwhile func(s *session)
		note      string
	}{
		"the session ends":  {func(s *session) { s.mustRun(s.event("SessionEnd", nil)) }, becauseEnded},
		"the agent goes on": {func(s *session) { s.mustRun(s.event("SubagentStart", start)) }, becauseSuperseded},
		"another process holds it": {func(s *session) {
			s.change(func(tx *ledger.Tx) {
				tx.PutHold(ledger.Hold{AgentID: testAgent, Tasks: []string{"b1"}, Since: s.clock.Now(), Process: ledger.Process{PID: 7}})
			})
		}, becauseSuperseded},
		"another courier has taken over": {func(s *session) {
			s.change(func(tx *ledger.Tx) {
				tx.PutWatch(ledger.Watch{AgentID: testAgent, At: s.clock.Now(), Process: ledger.Process{PID: 7}})
			})
		}, becauseSuperseded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.exists()
			s.after(10*time.Second, func() {
				s.clock.set(-time.Hour) // the hook's own clock never goes back
				c.meanwhile(s)
				s.clock.set(time.Hour)
			})
			began := s.clock.Now()
			if name == "another courier has taken over" {
				s.run(s.stopPayload(false, "b1"), "courier")
			} else if s.run(s.stopPayload(false, "b1"), "--hold=9m"); s.lastStop().Note != c.note {
				t.Errorf("recorded %+v", s.lastStop())
			}
			if took := s.clock.Now().Sub(began); took > 13*time.Second {
				t.Errorf("waited for %s", took)
			}
		})
	}
}

// A courier takes the place of an earlier one also where the clock was set back since.
func TestACourierAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.exists()
	s.change(func(tx *ledger.Tx) {
		at := s.clock.Now().Add(time.Hour)
		tx.PutWatch(ledger.Watch{AgentID: testAgent, At: at, Until: at.Add(time.Hour), Process: ledger.Process{PID: 7}})
	})
	began := s.clock.Now()
	s.after(10*time.Second, func() {
		if w := s.snapshot().Watches[testAgent]; w.PID != 4242 || !w.At.Equal(began) {
			t.Errorf("on watch: %+v", w)
		}
	})
	s.taskExits(time.Minute)
	if code, _, _, _ := s.run(s.stopPayload(false, "b1"), "courier"); code != wakeCode {
		t.Errorf("exit code %d", code)
	}
}

// telling is a watcher that tells of whatever happens, once each time, and of nothing else.
type telling struct{ s *session }

func (telling) Add(string) error   { return nil }
func (telling) Await(string) error { return nil }
func (telling) Close() error       { return nil }

func (w telling) Wait(ctx context.Context, d time.Duration) host.Change {
	for slept := time.Duration(0); slept < d; slept += 100 * time.Millisecond {
		before := len(w.s.clock.plans)
		w.s.clock.Sleep(ctx, min(d-slept, 100*time.Millisecond))
		if len(w.s.clock.plans) != before {
			return host.Stirred
		}
	}
	return 0
}

// Where the kernel tells of all that matters, a hold looks but rarely by itself: what is
// told once is seen at the look that follows, not at the next one.
func TestWhatIsToldOnceIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happens func(s *session)
		code    gate.Code
	}{
		"its task is released":   {func(s *session) { s.change(func(tx *ledger.Tx) { tx.Release("b1") }) }, gate.Excused},
		"its task is off a list": {func(s *session) { s.mustRun(s.event("Stop", fields{"background_tasks": []any{}})) }, gate.TaskEnded},
		"it is switched off": {func(s *session) {
			if err := s.state().SwitchOff("", time.Time{}); err != nil {
				s.t.Error(err)
			}
		}, gate.Disabled},
		"its task is released, and the record is busy just then": {func(s *session) {
			s.change(func(tx *ledger.Tx) { tx.Release("b1") })
			busy, err := bbolt.Open(s.state().Store(testSession), 0o600, nil)
			if err != nil {
				s.t.Error(err)
				return
			}
			time.AfterFunc(300*time.Millisecond, func() { _ = busy.Close() })
		}, gate.Excused},
		"its session ends": {func(s *session) { s.mustRun(s.event("SessionEnd", nil)) }, gate.SessionOver},
		"its agent starts again": {func(s *session) {
			s.mustRun(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "x"}))
		}, gate.SessionOver},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.tells, s.watch = true, func() (host.Watcher, error) { return telling{s}, nil }
			s.after(25*time.Second, func() { c.happens(s) })
			_, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold=9m")
			if out.Decision.Code != c.code || out.Held < 25*time.Second || out.Held > 29*time.Second {
				t.Errorf("answered by %s after %s", out.Decision.Code, out.Held)
			}
		})
	}
}
