package handler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
)

// acts are the recorded acts in a line: what, with whose tasks and why.
func (s *session) acts() string {
	s.t.Helper()
	var out []string
	for _, a := range s.snapshot().Acts {
		text := string(a.Deed) + " " + a.AgentID
		if len(a.Tasks) > 0 {
			text += " " + strings.Join(a.Tasks, "+")
		}
		if a.Note != "" {
			text += " (" + a.Note + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// A hold is recorded while it lasts, before it is answered.
func TestAHoldIsRecordedWhileItLasts(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.after(5*time.Second, func() {
		snap := s.snapshot()
		if got := s.acts(); got != "hold a1 b1 (limited by --hold)" || len(snap.Stops) != 0 || snap.Holds[0].Seq != snap.Acts[0].Seq {
			t.Errorf("recorded %q, %d stops", got, len(snap.Stops))
		}
	})
	s.taskExits(9 * time.Second)
	s.run(s.stopPayload(false, "b1"), "--hold=60s", "--patience=0")
	snap := s.snapshot()
	if len(snap.Stops) != 1 || snap.Stops[0].Seq <= snap.Acts[0].Seq || snap.Acts[0].Until.Sub(snap.Acts[0].Time) != time.Minute {
		t.Errorf("recorded %+v and %+v", snap.Acts, snap.Stops)
	}
}

// What a courier does is recorded as it does it.
func TestWhatACourierDoesIsRecorded(t *testing.T) {
	for name, r := range map[string]struct {
		meanwhile func(*session)
		want      string
	}{
		"it wakes the coordinator": {func(s *session) { s.taskExits(9 * time.Second) }, "courier a1 b1; courier-woke a1 b1"},
		"the agent went on": {func(s *session) {
			s.after(4*time.Second, func() { s.appendTo(s.agentFile(testAgent), s.says("more")) })
			s.taskExits(9 * time.Second)
		}, "courier a1 b1; courier-left a1 (agent went on)"},
		"the agent's start is recorded beside its stop": {func(s *session) {
			s.after(500*time.Millisecond, func() {
				s.mustRun(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "x"}))
			})
			s.taskExits(9 * time.Second)
		}, "courier a1 b1; courier-woke a1 b1"},
		"the agent starts again": {func(s *session) {
			s.after(2500*time.Millisecond, func() {
				s.mustRun(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "x"}))
			})
			s.taskExits(9 * time.Second)
		}, "courier a1 b1; courier-left a1 (agent went on)"},
		"the client tells the news": {func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(10*time.Second, func() { s.appendTo(s.main(), s.notified("b1")) })
		}, "courier a1 b1; courier-left a1 (nothing to tell)"},
		"its client is gone": {func(s *session) { s.after(3*time.Second, func() { s.parent = 1 }) }, "courier a1 b1; courier-left a1 (client gone)"},
		"the kernel tells that its client is gone": {func(s *session) {
			s.tells = true
			s.after(3*time.Second, func() { s.leave() })
		}, "courier a1 b1; courier-left a1 (client gone)"},
		"its task does not end in time": {func(*session) {}, "courier a1 b1; courier-left a1 (its time is over)"},
		"another one told it": {func(s *session) {
			s.taskExits(9 * time.Second)
			s.update(func(tx *ledger.Tx) { tx.PutCourier(ledger.Courier{Task: "b1", AgentID: testAgent, At: s.clock.Now()}) })
		}, "courier a1 b1; courier-left a1 (another courier told it)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.exists()
			r.meanwhile(s)
			waits := false
			s.after(2*time.Second, func() { waits = s.acts() == "courier a1 b1" })
			s.run(s.stopPayload(false, "b1"), "courier", "--for=30s")
			if got := s.acts(); got != r.want || !waits {
				t.Errorf("recorded %q, while it waited %v", got, waits)
			}
		})
	}
}

// A courier that a signal ended says nothing itself: the next event of the session
// finds its record, once, and takes it away.
func TestACourierThatWasEndedFromOutside(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.exists()
	s.gone[99] = true
	s.update(func(tx *ledger.Tx) {
		tx.PutWatch(ledger.Watch{AgentID: testAgent, Tasks: []string{"b1"}, At: s.clock.Now(), Until: s.clock.Now().Add(time.Hour), Process: ledger.Process{PID: 99}})
		tx.PutWatch(ledger.Watch{AgentID: "a2", Tasks: []string{"b2"}, At: s.clock.Now(), Until: s.clock.Now().Add(time.Hour), Process: ledger.Process{PID: 98}})
	})
	for range 2 {
		s.run(fmt.Sprintf(`{"hook_event_name":"SubagentStart","session_id":%q,"agent_id":"a3","agent_type":"x"}`, testSession))
	}
	if got := s.acts(); got != "courier-lost a1 b1 (ended from outside)" || len(s.snapshot().Watches) != 1 {
		t.Errorf("recorded %q, left %v", got, s.snapshot().Watches)
	}
}
