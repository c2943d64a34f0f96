package handler

import (
	"testing"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
)

// An agent that goes on while its stop is held has been woken past the hook: the
// answer is of no use to anybody any more, so the hold ends and lets go.
func TestAHeldAgentGoesOn(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*session){
		"it starts again": func(s *session) {
			s.run(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "general-purpose"}))
		},
		"a later stop of it is held": func(s *session) {
			now := s.clock.Now()
			err := ledger.Update(t.Context(), s.state(), testSession, now, func(tx *ledger.Tx) error {
				tx.PutHold(ledger.Hold{AgentID: testAgent, Tasks: []string{"b1"}, Since: now, Until: now.Add(time.Hour), Process: ledger.Process{PID: 7}})
				return nil
			})
			if err != nil {
				s.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.after(5*time.Second, func() { meanwhile(s) })
			code, out, stdout, _ := s.run(s.stopPayload(false, "b1"), "--hold", "10m")
			if code != 0 || stdout != "" || out.Decision.Code != gate.SessionOver || out.Held < 5*time.Second || out.Held > 6*time.Second {
				t.Errorf("exit code %d, %q, %s after %v", code, stdout, out.Decision.Code, out.Held)
			}
			if stop := s.lastStop(); stop.Note != becauseSuperseded || s.snapshot().Charged["b1"] != 0 {
				t.Errorf("recorded %+v, charged %v", stop, s.snapshot().Charged)
			}
		})
	}
	// A start at the same moment belongs to the run that is stopping.
	s := newSession(t)
	s.after(300*time.Millisecond, func() {
		s.run(s.event("SubagentStart", fields{"agent_id": testAgent}))
	})
	if _, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold", "20s"); out.Decision.Code != gate.HoldOver {
		t.Errorf("a start at the same moment ended the hold: %s", out.Decision.Code)
	}
}

// Stops of one agent that are held at once for the same task: one of them answers,
// whatever the order in which they see its end.
func TestHeldAtOnceForOneTask(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*session){
		"the later one has answered": func(s *session) {
			later := s.payload(fields{"last_assistant_message": "I wait on."})
			if _, out, stdout, _ := s.run(later, "--hold", "10m"); out.Decision.Code != gate.TaskEnded || stdout == "" {
				s.t.Errorf("the later one: %s, %q", out.Decision.Code, stdout)
			}
		},
		"the later one is about to answer": func(s *session) {
			now := s.clock.Now()
			s.change(func(tx *ledger.Tx) {
				tx.PutHold(ledger.Hold{AgentID: testAgent, Tasks: []string{"b1"}, Since: now, Until: now.Add(time.Hour), Process: ledger.Process{PID: 7}})
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.after(5*time.Second, func() {
				s.appendTo(s.main(), s.ended("b1", "completed", "(exit code 0)"))
				meanwhile(s)
			})
			code, out, stdout, _ := s.run(s.payload(nil), "--hold", "10m")
			if code != 0 || stdout != "" || out.Decision.Code != gate.SessionOver {
				t.Errorf("exit code %d, %q, %s", code, stdout, out.Decision.Code)
			}
			blocks := 0
			for _, stop := range s.snapshot().Stops {
				if stop.Verdict == ledger.Block {
					blocks++
				}
			}
			if charged := s.snapshot().Charged["b1"]; charged != blocks || blocks > 1 {
				t.Errorf("%d blocks, %d charged", blocks, charged)
			}
		})
	}
}
