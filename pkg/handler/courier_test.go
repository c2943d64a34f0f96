package handler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
)

// exists makes the session's store exist, as the gate's own run does.
func (s *session) exists() {
	s.t.Helper()
	s.run(fmt.Sprintf(`{"hook_event_name":"SubagentStart","session_id":%q,"agent_id":%q,"agent_type":"general-purpose"}`, testSession, testAgent))
	s.clock.now = s.clock.now.Add(time.Second)
}

func (s *session) taskExits(after time.Duration) {
	s.after(after, func() {
		s.write(s.output("b1"), "RESULT\n\n[exited with code 0]\n")
		s.appendTo(s.main(), s.ended("b1", "completed", "done (exit code 0)"))
	})
}

func TestACourier(t *testing.T) {
	tests := []struct {
		name      string
		meanwhile func(*session)
		args      []string
		wakes     bool
	}{
		{"wakes the coordinator when a task ended and nobody heard", func(s *session) { s.taskExits(9 * time.Second) }, nil, true},
		{"wakes it for a stop that the gate let through", func(s *session) {
			s.run(s.stopPayload(false, "b1"), "--blocks=0")
			s.taskExits(9 * time.Second)
		}, nil, true},
		{"wakes it where the agent has read of an earlier end only", func(s *session) {
			s.appendTo(s.agentFile(testAgent), s.notified("b1")+"\n"+s.says("I wait."))
			s.clock.now = s.clock.now.Add(time.Minute)
			s.taskExits(9 * time.Second)
		}, nil, true},
		{"is silent when the agent was given the news", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(10*time.Second, func() { s.appendTo(s.agentFile(testAgent), s.notified("b1")) })
		}, nil, false},
		{"is silent when the coordinator was given the news", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(10*time.Second, func() { s.appendTo(s.main(), s.notified("b1")) })
		}, nil, false},
		{"is silent when the client says that it was delivered", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(10*time.Second, func() {
				s.appendTo(s.main(), strings.ReplaceAll(strings.Replace(s.ended("b1", "completed", "x"), `"enqueue"`, `"remove","reason":"delivered_to_agent"`, 1), "\n", ""))
			})
		}, nil, false},
		{"is silent when the agent went on", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(4*time.Second, func() { s.appendTo(s.agentFile(testAgent), s.says("more")) })
		}, nil, false},
		{"is silent when the agent was blocked at once", func(s *session) {
			s.taskExits(9 * time.Second)
			s.appendTo(s.agentFile(testAgent), fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":"Stop hook feedback:\nx"}}`, s.stamp()))
		}, nil, false},
		{"is silent when the agent was started again", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(5*time.Second, func() { s.exists() })
		}, nil, false},
		{"is silent while the gate holds the agent", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(5*time.Second, func() {
				s.update(func(tx *ledger.Tx) {
					tx.PutHold(ledger.Hold{AgentID: testAgent, Since: s.clock.Now(), Until: s.clock.Now().Add(time.Hour), Process: ledger.Process{PID: 99}})
				})
			})
		}, nil, false},
		{"does not mind a hold whose process died", func(s *session) {
			s.taskExits(9 * time.Second)
			s.gone[99] = true
			s.after(5*time.Second, func() {
				s.update(func(tx *ledger.Tx) {
					tx.PutHold(ledger.Hold{AgentID: testAgent, Since: s.clock.Now(), Until: s.clock.Now().Add(time.Hour), Process: ledger.Process{PID: 99}})
				})
			})
		}, nil, true},
		{"is silent for a task that was killed", func(s *session) {
			s.after(9*time.Second, func() { s.write(s.output("b1"), "[killed]\n") })
		}, nil, false},
		{"is silent for a task that never ends", func(*session) {}, []string{"--for=30s"}, false},
		{"is silent when the session ended", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(3*time.Second, func() {
				s.run(fmt.Sprintf(`{"hook_event_name":"SessionEnd","session_id":%q}`, testSession))
			})
		}, nil, false},
		{"is silent when the client is gone", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(3*time.Second, func() { s.parent = 1 })
		}, nil, false},
		{"is silent when stopgate is switched off", func(s *session) {
			s.taskExits(9 * time.Second)
			if err := s.state().SwitchOff("", time.Time{}); err != nil {
				s.t.Fatal(err)
			}
		}, nil, false},
		{"is silent when another courier told of the task", func(s *session) {
			s.taskExits(9 * time.Second)
			s.update(func(tx *ledger.Tx) { tx.PutCourier(ledger.Courier{Task: "b1", AgentID: testAgent, At: s.clock.Now()}) })
		}, nil, false},
		{"is silent for a released task", func(s *session) {
			s.taskExits(9 * time.Second)
			s.update(func(tx *ledger.Tx) { tx.Release("b1") })
		}, nil, false},
		{"is silent for a task that is released while it waits", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(3*time.Second, func() { s.update(func(tx *ledger.Tx) { tx.Release("b1") }) })
		}, nil, false},
		{"is silent for a task that is released after its end", func(s *session) {
			s.taskExits(9 * time.Second)
			s.after(12*time.Second, func() { s.update(func(tx *ledger.Tx) { tx.Release("b1") }) })
		}, nil, false},
		{"is silent for an ignored command", func(s *session) { s.taskExits(9 * time.Second) }, []string{"--ignore=^make$"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.exists()
			test.meanwhile(s)
			code, out, stdout, stderr := s.run(s.stopPayload(false, "b1"), append([]string{"courier"}, test.args...)...)
			if stdout != "" || out.Err != nil {
				t.Errorf("printed %q, error %v", stdout, out.Err)
			}
			if want := 2 * btoi(test.wakes); code != want || (stderr != "") != test.wakes {
				t.Fatalf("exit code %d with %q, want %d", code, stderr, want)
			}
			if !test.wakes {
				return
			}
			for _, want := range []string{"builder (a1)", "b1 (shell) exited with code 0", s.output("b1"), "SendMessage with to: a1"} {
				if !strings.Contains(stderr, want) {
					t.Errorf("the message does not say %q:\n%s", want, stderr)
				}
			}
			if c := s.snapshot().Couriers["b1"]; c.AgentID != testAgent || len(s.snapshot().Charged) != 0 {
				t.Errorf("recorded %+v, charged %v", c, s.snapshot().Charged)
			}
		})
	}
}

func TestACourierTouchesNothingForOtherEvents(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	for name, payload := range map[string]string{
		"an ephemeral event by its type":        strings.Replace(s.stopPayload(false, "b1"), `"agent_type":"general-purpose"`, `"agent_type":""`, 1),
		"an ephemeral event without a trace":    strings.ReplaceAll(strings.Replace(s.stopPayload(false, "b1"), `"agent_type":"general-purpose"`, `"agent_type":"reviewer"`, 1), "a1", "a7"),
		"an event of another name":              fmt.Sprintf(`{"hook_event_name":"Stop","session_id":%q}`, testSession),
		"a stop without anything to wait for":   s.stopPayload(false),
		"a payload without a session":           `{"hook_event_name":"SubagentStop","agent_id":"a1","background_tasks":[{"id":"b1","type":"shell"}]}`,
		"an event that does not list the tasks": fmt.Sprintf(`{"hook_event_name":"SubagentStop","session_id":%q,"agent_id":"a1"}`, testSession),
	} {
		code, _, stdout, stderr := s.run(payload, "courier")
		if code != 0 || stdout != "" || stderr != "" {
			t.Errorf("%s: exit code %d, %q, %q", name, code, stdout, stderr)
		}
	}
	if s.snapshot().Exists || s.state().Ephemeral(testSession) != 0 {
		t.Error("a courier made a store or counted an event")
	}
}

// A courier that is the only entry, or whose gate has not answered yet, finds no
// ledger and works all the same.
func TestACourierWithoutAGate(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.taskExits(9 * time.Second)
	if code, out, _, stderr := s.run(s.stopPayload(false, "b1"), "courier"); code != wakeCode || !strings.Contains(stderr, "b1 (shell) exited with code 0") {
		t.Errorf("exit code %d, %q, %v", code, stderr, out.Err)
	}
	if snap := s.snapshot(); len(snap.Watches) != 0 || snap.Couriers["b1"].AgentID != testAgent {
		t.Errorf("recorded %+v, %+v", snap.Watches, snap.Couriers)
	}
}

// Six stops over one long task leave one courier: each new one takes the place of
// the one before.
func TestAnAgentHasOneCourier(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.exists()
	s.taskExits(time.Minute)
	s.after(10*time.Second, func() {
		if w := s.snapshot().Watches[testAgent]; len(w.Tasks) != 1 || w.PID != 4242 || !w.Until.Equal(w.At.Add(2*time.Hour)) {
			t.Errorf("on watch: %+v", w)
		}
		s.update(func(tx *ledger.Tx) {
			tx.PutWatch(ledger.Watch{AgentID: testAgent, At: s.clock.Now(), Until: s.clock.Now().Add(time.Hour), Process: ledger.Process{PID: 99}})
		})
	})
	began := s.clock.Now()
	code, _, _, stderr := s.run(s.stopPayload(false, "b1"), "courier")
	if took := s.clock.Now().Sub(began); code != 0 || stderr != "" || took > 10*time.Second+courierPace {
		t.Errorf("exit code %d after %s, %q", code, took, stderr)
	}
	if w := s.snapshot().Watches[testAgent]; w.PID != 99 {
		t.Errorf("on watch: %+v", w)
	}
}

// The row of a courier that came later and has died keeps nobody from waiting.
func TestACourierBesideADeadOne(t *testing.T) {
	t.Parallel()
	for name, dies := range map[string]func(*session){
		"its process is gone":      func(s *session) { s.gone[99] = true },
		"another one bears its id": func(s *session) { s.started = map[int]string{99: "later"} },
	} {
		s := newSession(t)
		s.exists()
		dies(s)
		s.after(500*time.Millisecond, func() {
			s.update(func(tx *ledger.Tx) {
				tx.PutWatch(ledger.Watch{AgentID: testAgent, At: s.clock.Now(), Until: s.clock.Now().Add(time.Hour), Process: ledger.Process{PID: 99, Started: "before"}})
			})
		})
		s.after(10*time.Second, func() {
			if w := s.snapshot().Watches[testAgent]; w.PID != 4242 {
				t.Errorf("%s: on watch: %+v", name, w)
			}
		})
		s.taskExits(time.Minute)
		if code, _, _, _ := s.run(s.stopPayload(false, "b1"), "courier"); code != wakeCode {
			t.Errorf("%s: exit code %d, recorded %s", name, code, s.acts())
		}
	}
}

// A coordinator that is busy gets the news with its next turn: it is not woken for
// what reaches it by itself.
func TestACourierOfABusyCoordinator(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]bool{"that gets the news": true, "that does not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.exists()
			s.appendTo(s.main(), s.call("toolu_z", "Bash", `{"command":"long"}`))
			s.taskExits(9 * time.Second)
			s.after(5*time.Minute, func() {
				s.appendTo(s.main(), fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"toolu_z","content":"done"}]}}`, s.stamp()))
				if told {
					s.appendTo(s.main(), s.notified("b1"))
				}
			})
			s.after(5*time.Minute+2*time.Second, func() { s.appendTo(s.main(), s.says("Done.")) })
			began := s.clock.Now()
			code, _, _, _ := s.run(s.stopPayload(false, "b1"), "courier")
			if took := s.clock.Now().Sub(began); (code == 0) != told || took < 5*time.Minute+7*time.Second || took > 5*time.Minute+9*time.Second {
				t.Errorf("exit code %d after %s", code, took)
			}
		})
	}
}

// However a courier rests, the end of its client ends it, at its next look.
func TestACourierWhoseClientIsGoneLeaves(t *testing.T) {
	for name, test := range map[string]struct {
		unsaid     bool
		gone, look time.Duration
	}{
		"while it waits for the agent's last message": {true, 1500 * time.Millisecond, 300 * time.Millisecond},
		"while it waits for the task":                 {false, 4500 * time.Millisecond, courierPace},
		"while the client could wake the agent":       {false, 13 * time.Second, courierStep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.exists()
			s.taskExits(9 * time.Second)
			began := s.clock.Now()
			s.after(test.gone, func() { s.parent = 1 })
			payload := s.stopPayload(false, "b1")
			if test.unsaid {
				payload = strings.Replace(payload, `"last_assistant_message":"`, `"last_assistant_message":"not yet: `, 1)
			}
			code, _, _, _ := s.run(payload, "courier")
			if took := s.clock.Now().Sub(began); code != 0 || took > test.gone+test.look {
				t.Errorf("exit code %d after %s, the client was gone after %s", code, took, test.gone)
			}
		})
	}
}

func TestTwoCouriersTellOfATaskOnce(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.exists()
	s.taskExits(3 * time.Second)
	codes := make(chan int, 2)
	for range 2 {
		go func() {
			code, _, _, _ := s.run(s.stopPayload(false, "b1"), "courier")
			codes <- code
		}()
	}
	if sum := <-codes + <-codes; sum != 2 {
		t.Errorf("the exit codes sum up to %d, want 2 from exactly one", sum)
	}
}

func (s *session) update(change func(*ledger.Tx)) {
	s.t.Helper()
	err := ledger.Update(s.t.Context(), s.state(), testSession, s.clock.Now(), func(tx *ledger.Tx) error { change(tx); return nil })
	if err != nil {
		s.t.Error(err)
	}
}
