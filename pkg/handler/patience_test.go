package handler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// endsItsTurn is an agent that does nothing but end its turn, until it is let go or
// has the outcome. It returns the codes of its stops and when the last was answered.
func (s *session) endsItsTurn(tasks []string, args ...string) (codes []gate.Code, took time.Duration) {
	s.t.Helper()
	began := s.clock.Now()
	for active := false; len(codes) < 50; active = true {
		_, out, stdout, _ := s.run(s.stopPayload(active, tasks...), args...)
		codes = append(codes, out.Decision.Code)
		if stdout == "" || out.Decision.Code == gate.TaskEnded {
			return codes, s.clock.Now().Sub(began)
		}
		s.clock.Sleep(s.t.Context(), 10*time.Second)
		s.appendTo(s.agentFile(testAgent), s.says("I wait."))
	}
	s.t.Fatalf("it never ends: %v", codes)
	return nil, 0
}

// An agent that does nothing but end its turn gets the result of a task that takes
// longer than any hold may.
func TestATaskThatTakesLongerThanAHold(t *testing.T) {
	t.Parallel()
	for _, minutes := range []int{5, 25, 55} {
		t.Run(fmt.Sprintf("%d minutes", minutes), func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.taskExits(time.Duration(minutes) * time.Minute)
			codes, took := s.endsItsTurn([]string{"b1"}, "--hold=9m30s")
			if last := codes[len(codes)-1]; last != gate.TaskEnded || len(codes) != minutes*60/580+1 {
				t.Errorf("answered by %v", codes)
			}
			if late := took - time.Duration(minutes)*time.Minute; late < 0 || late > 11*time.Second {
				t.Errorf("answered %s after the end", late)
			}
		})
	}
}

func TestPatienceThatIsSpent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want string
		took time.Duration
	}{
		{"the default", []string{"--hold=9m30s"}, nil, "hold-over x6, patience-over, budget-spent", time.Hour},
		{"a hold above the entry's timeout is cut", []string{"--hold=11m", "--patience=1h"}, map[string]string{clocks.EnvStall: "3600000"}, "hold-over x6, patience-over, budget-spent", time.Hour},
		{"less than one hold", []string{"--hold=9m", "--patience=2m"}, nil, "patience-over, budget-spent", 2 * time.Minute},
		{"none: one hold, one block", []string{"--hold=9m", "--patience=0"}, nil, "hold-over, budget-spent", 9 * time.Minute},
		{"more than seven holds: a chain has an end", []string{"--hold=1m", "--patience=2h"}, nil, "hold-over x6, patience-over, budget-spent", 7 * time.Minute},
		{"the client takes three blocks in a row", []string{"--hold=1m"}, map[string]string{clocks.EnvCap: "3"}, "hold-over, patience-over, budget-spent", 2 * time.Minute},
		{"a hold above the stall limit is cut", []string{"--hold=30m", "--patience=20m"}, nil, "hold-over x2, patience-over, budget-spent", 20 * time.Minute},
		{"a short stall limit", []string{"--hold=9m", "--patience=12s"}, map[string]string{clocks.EnvStall: "15000"}, "hold-over x2, patience-over, budget-spent", 12 * time.Second},
		{"a stall limit too short for any hold", []string{"--hold=9m"}, map[string]string{clocks.EnvStall: "5000"}, "own-task, budget-spent", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.env = test.env
			codes, took := s.endsItsTurn([]string{"b1"}, test.args...)
			if got := runs(codes); got != test.want {
				t.Errorf("answered by %s, want %s", got, test.want)
			}
			between := time.Duration(len(codes)-1) * 10 * time.Second
			if waited := took - between; waited < test.took || waited > test.took+2*time.Second {
				t.Errorf("held for %s in all, want %s", waited, test.took)
			}
		})
	}
}

// runs writes equal codes in a row once.
func runs(codes []gate.Code) string {
	var parts []string
	for i := 0; i < len(codes); {
		n := i
		for n < len(codes) && codes[n] == codes[i] {
			n++
		}
		text := string(codes[i])
		if n-i > 1 {
			text += fmt.Sprintf(" x%d", n-i)
		}
		parts, i = append(parts, text), n
	}
	return strings.Join(parts, ", ")
}

// What limited a hold, on which kind of host, and what patience is left stands in
// its record, while it lasts and afterwards.
func TestWhatLimitsAHoldIsRecorded(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.env = map[string]string{clocks.EnvStall: "120000"}
	s.after(10*time.Second, func() {
		h := s.snapshot().Holds
		if len(h) != 1 || h[0].Limit != clocks.ByStall || h[0].Left != time.Hour || h[0].Host != string(clocks.Terminal) || h[0].Until.Sub(h[0].Since) != 90*time.Second {
			s.t.Errorf("holds %+v", h)
		}
	})
	s.run(s.stopPayload(false, "b1"), "--hold=9m")
	if stop := s.lastStop(); stop.Limit != clocks.ByStall || stop.Host != "terminal" || stop.Left != time.Hour-stop.Held || stop.Held < 90*time.Second || stop.Held > 91*time.Second {
		t.Errorf("recorded %+v", stop)
	}
}

func TestAMessageCostsNothing(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	for i := range 5 {
		s.after(time.Minute, func() {
			s.appendTo(s.main(), s.call(fmt.Sprint("toolu_m", i), "SendMessage", `{"to":"a1","message":"well?"}`))
		})
		_, out, _, _ := s.run(s.stopPayload(i > 0, "b1"), "--hold=9m", "--patience=10m")
		if out.Decision.Code != gate.MessageWaits || out.Decision.Left < 9*time.Minute {
			t.Fatalf("answered by %s with %s left", out.Decision.Code, out.Decision.Left)
		}
		s.clock.Sleep(t.Context(), 10*time.Second)
	}
	s.taskExits(5 * time.Minute)
	if _, out, _, _ := s.run(s.stopPayload(true, "b1"), "--hold=9m", "--patience=10m"); out.Decision.Code != gate.TaskEnded {
		t.Errorf("then answered by %s", out.Decision.Code)
	}
}

// A task whose end was handed over and that is listed again is not waited for again.
func TestATaskWhoseEndWasHandedOver(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.taskExits(time.Minute)
	codes, _ := s.endsItsTurn([]string{"b1"}, "--hold=9m")
	s.clock.Sleep(t.Context(), 10*time.Second)
	_, out, stdout, _ := s.run(s.stopPayload(true, "b1"), "--hold=9m")
	if fmt.Sprint(codes) != "[task-ended]" || out.Decision.Code != gate.BudgetSpent || stdout != "" {
		t.Errorf("%v, then %s", codes, out.Decision.Code)
	}
}

// In a print run the client waits for couriers and takes their message for a block
// of the agent (docs/client.md: asyncRewake).
func TestNoCourierInAPrintRun(t *testing.T) {
	t.Parallel()
	for line, stays := range map[string]bool{
		"claude -p hello":                          false,
		"claude --print --output-format json x":    false,
		"claude -p --input-format stream-json":     true,
		"claude":                                   true,
		"/opt/claude --settings /x --agent tester": true,
	} {
		s := newSession(t)
		if s.line = line; strings.Contains(line, "-p") {
			s.entrypoint = "sdk-cli"
		}
		s.exists()
		s.taskExits(9 * time.Second)
		code, _, stdout, stderr := s.run(s.stopPayload(false, "b1"), "courier")
		if woke := code == wakeCode && stderr != ""; woke != stays || stdout != "" {
			t.Errorf("%s: exit code %d, %q", line, code, stderr)
		}
		if !stays && s.clock.slept > 0 {
			t.Errorf("%s: it stayed for %s", line, s.clock.slept)
		}
	}
}

// A print run is over some time after the coordinator's last turn: an agent in the
// background is let go before, so that its report still counts.
func TestAnAgentInTheBackgroundOfAPrintRun(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.line, s.entrypoint, s.background = "claude -p hello", "sdk-cli", true
	s.appendTo(s.main(), s.says("I wait for my agent."))
	s.clock.Sleep(t.Context(), 30*time.Second)
	codes, took := s.endsItsTurn([]string{"b1"}, "--hold=9m30s")
	if got := runs(codes); got != "ceiling-near, ceiling-over" {
		t.Errorf("answered by %s", got)
	}
	if held := took - 10*time.Second; held < 7*time.Minute+58*time.Second || held > 8*time.Minute+2*time.Second {
		t.Errorf("let go %s after the coordinator's turn", held+30*time.Second)
	}
	s.clock.Sleep(t.Context(), time.Minute)
	s.appendTo(s.main(), s.says("Another turn."))
	s.taskExits(3 * time.Minute)
	if codes, _ := s.endsItsTurn([]string{"b1"}, "--hold=9m30s"); runs(codes) != "task-ended" {
		t.Errorf("after another turn of the coordinator: %v", codes)
	}
}

func TestAForegroundAgentOfAPrintRunHasItsWholePatience(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.line, s.entrypoint = "claude -p hello", "sdk-cli"
	s.appendTo(s.main(), s.call("toolu_a", "Agent", `{"prompt":"x"}`))
	s.taskExits(40 * time.Minute)
	if codes, _ := s.endsItsTurn([]string{"b1"}, "--hold=9m30s"); runs(codes) != "hold-over x4, task-ended" {
		t.Errorf("answered by %v", codes)
	}
}

// A hold that was ended from outside (a signal, its entry's timeout, the client's
// end) left nothing but its row. It is recorded as what it was, and the next stop is
// guarded as if it had not been.
func TestAHoldThatWasEndedFromOutside(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.gone[77] = true
	since := s.clock.Now()
	s.update(func(tx *ledger.Tx) {
		tx.PutHold(ledger.Hold{AgentID: testAgent, Type: "general-purpose", Tasks: []string{"b1"}, Since: since, Until: since.Add(time.Hour), Process: ledger.Process{PID: 77}})
	})
	s.clock.Sleep(t.Context(), 5*time.Minute)
	s.taskExits(time.Minute)
	_, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold=9m")
	if out.Decision.Code != gate.TaskEnded || out.Decision.Tasks[0].Waited > time.Minute+time.Second {
		t.Errorf("answered by %s, waited %v", out.Decision.Code, out.Decision.Tasks)
	}
	stops := s.snapshot().Stops
	if len(stops) != 2 || stops[0].Code != string(gate.HoldLost) || stops[0].Verdict != ledger.Allow || !stops[0].Time.Equal(since) || stops[0].Own[0] != "b1" {
		t.Errorf("recorded %+v", stops)
	}
	if a := s.snapshot().Agents[testAgent]; a.Stops != 2 || a.Blocks != 1 {
		t.Errorf("the agent has %d stops and %d blocks", a.Stops, a.Blocks)
	}
}

// A moment later an equal stop is no double of the one whose hold was ended: nobody
// answered that. Where the hold goes on it is one.
func TestAnEqualStopBehindAHoldThatWasEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		killed bool
		want   gate.Code
	}{"killed": {true, gate.TaskEnded}, "alive": {false, gate.Duplicate}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.gone[77] = c.killed
			payload, since := s.stopPayload(false, "b1"), s.clock.Now()
			e, err := event.Parse([]byte(payload))
			if err != nil {
				t.Fatal(err)
			}
			s.update(func(tx *ledger.Tx) {
				tx.PutHold(ledger.Hold{AgentID: testAgent, Tasks: []string{"b1"}, Since: since, Until: since.Add(time.Hour), Process: ledger.Process{PID: 77}})
				tx.PutAgent(ledger.Agent{ID: testAgent, First: since, LastSum: agentSum(e), LastSumAt: since})
			})
			s.clock.Sleep(t.Context(), time.Second)
			s.taskExits(time.Minute)
			if _, out, _, _ := s.run(payload, "--hold=9m"); out.Decision.Code != c.want {
				t.Errorf("answered by %s, want %s", out.Decision.Code, c.want)
			}
		})
	}
}

// CLAUDE_PID says nothing where it names no living process, or one that is none of
// the hook's ancestors, as from another namespace.
func TestAClientIdThatSaysNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*session){
		"no living process":       func(s *session) { s.gone[200] = true; s.strangers = true },
		"one that is no ancestor": func(s *session) { s.strangers = true; s.after(10*time.Second, func() { s.gone[200] = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			change(s)
			s.taskExits(time.Minute)
			if _, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold=9m"); out.Decision.Code != gate.TaskEnded {
				t.Errorf("answered by %s", out.Decision.Code)
			}
		})
	}
}

func TestNobodyReadsTheAnswerAnyMore(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.after(10*time.Second, func() { s.hungUp = true })
	_, out, stdout, _ := s.run(s.stopPayload(false, "b1"), "--hold=9m")
	if out.Decision.Code != gate.SessionOver || stdout != "" || s.clock.slept > 12*time.Second {
		t.Errorf("answered by %s after %s", out.Decision.Code, s.clock.slept)
	}
}

func TestTheHeldAgentIsStopped(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"gate", "courier"} {
		s := newSession(t)
		s.exists()
		s.after(10*time.Second, func() {
			s.appendTo(s.main(), s.call("toolu_s", "TaskStop", `{"task_id":"a1"}`))
			s.appendTo(s.main(), fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"toolu_s","content":"{\"message\":\"Successfully stopped task: a1 (x)\"}"}]}}`, s.stamp()))
		})
		s.taskExits(20 * time.Second)
		args := []string{"courier"}
		if mode == "gate" {
			args = []string{"--hold=9m"}
		}
		code, out, stdout, stderr := s.run(s.stopPayload(false, "b1"), args...)
		if code != 0 || stdout+stderr != "" || mode == "gate" && (out.Decision.Code != gate.AgentStopped || out.Held > 11*time.Second) {
			t.Errorf("%s: exit code %d, %s after %s, %q", mode, code, out.Decision.Code, out.Held, stdout+stderr)
		}
	}
}

// A hold's end does not bring back the list of unfinished tasks of its beginning.
func TestAListOnlyMovesForward(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.after(time.Minute, func() {
		s.write(s.agentFile("a2"), s.says("done")+"\n")
		s.run(s.payload(fields{"agent_id": "a2", "agent_transcript_path": s.agentFile("a2"), "background_tasks": []any{}}))
	})
	s.run(s.stopPayload(false, "b1"), "--hold=2m")
	if snap := s.snapshot(); len(snap.Session.Listed) != 0 || snap.Session.ListedAt.Before(s.clock.Now().Add(-90*time.Second)) {
		t.Errorf("listed %v at %s", snap.Session.Listed, snap.Session.ListedAt)
	}
}

func TestWhoseSessionEndItIs(t *testing.T) {
	t.Parallel()
	end := func(extra string) string {
		return fmt.Sprintf(`{"hook_event_name":"SessionEnd","session_id":%q%s}`, testSession, extra)
	}
	tests := []struct {
		name      string
		meanwhile func(*session)
		ended     bool
	}{
		{"the session's own", func(s *session) { s.run(end("")) }, true},
		{"an agent's", func(s *session) { s.run(end(`,"agent_id":"a9"`)) }, false},
		{"another client's", func(s *session) { s.client = 300; s.run(end("")); s.client = 200 }, false},
		{"of a session that goes on", func(s *session) {
			s.run(end(""))
			s.run(fmt.Sprintf(`{"hook_event_name":"SubagentStart","session_id":%q,"agent_id":"a9","agent_type":"x"}`, testSession))
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.after(time.Minute, func() { test.meanwhile(s) })
			s.taskExits(2 * time.Minute)
			_, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold=9m")
			if over := out.Decision.Code == gate.SessionOver; over != test.ended {
				t.Errorf("answered by %s", out.Decision.Code)
			}
		})
	}
}

// The gate is registered twice, once with a hold: where the other one has blocked
// for the task meanwhile, the hold lets go.
func TestAHoldWhoseTaskAnotherEntryBlockedFor(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.after(5*time.Second, func() {
		if _, out, _, _ := s.run(s.stopPayload(true, "b1"), "--blocks=2"); out.Decision.Code != gate.OwnTask {
			t.Errorf("the other answered by %s", out.Decision.Code)
		}
	})
	s.taskExits(20 * time.Second)
	if _, out, stdout, _ := s.run(s.stopPayload(false, "b1"), "--hold=1m"); stdout != "" || out.Decision.Code != gate.SessionOver {
		t.Errorf("answered by %s", out.Decision.Code)
	}
}

// An in-process teammate is given its messages only when its turn has ended: it is
// let through, the message wakes it, and its next stop is guarded as before.
func TestAMessageToATeammate(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.write(transcript.MetaPath(s.agentFile(testAgent)), `{"agentType":"ping","name":"ping","teamName":"crew","taskKind":"in_process_teammate"}`)
	s.after(time.Minute, func() {
		s.appendTo(s.main(), s.call("toolu_m", "SendMessage", `{"to":"ping","message":"well?"}`))
	})
	if _, out, stdout, _ := s.run(s.stopPayload(false, "b1"), "--hold=9m"); out.Decision.Code != gate.MessageWaits || stdout != "" || out.Held > 61*time.Second {
		t.Errorf("answered by %s after %s: %s", out.Decision.Code, out.Held, stdout)
	}
	s.clock.Sleep(t.Context(), 10*time.Second)
	s.taskExits(5 * time.Minute)
	if _, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold=9m"); out.Decision.Code != gate.TaskEnded {
		t.Errorf("then answered by %s", out.Decision.Code)
	}
}

// An agent that says the same words again right after a short hold stops anew: that
// is no doubled event.
func TestAnEqualStopAfterAShortHold(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	codes := []gate.Code{}
	for range 3 {
		_, out, _, _ := s.run(s.stopPayload(true, "b1"), "--hold=1s", "--patience=2s")
		codes = append(codes, out.Decision.Code)
		s.clock.Sleep(t.Context(), 100*time.Millisecond)
	}
	if runs(codes) != "hold-over, patience-over, budget-spent" {
		t.Errorf("answered by %v", codes)
	}
}

// A message that woke the agent, which stopped again at once, was read.
func TestTheMessageThatWokeTheAgent(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.appendTo(s.main(), s.call("toolu_m", "SendMessage", `{"to":"a1","message":"go on"}`))
	s.clock.Sleep(t.Context(), 50*time.Millisecond)
	s.run(fmt.Sprintf(`{"hook_event_name":"SubagentStart","session_id":%q,"agent_id":%q,"agent_type":"general-purpose"}`, testSession, testAgent))
	s.clock.Sleep(t.Context(), 150*time.Millisecond)
	s.taskExits(time.Minute)
	if _, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold=9m"); out.Decision.Code != gate.TaskEnded {
		t.Errorf("answered by %s", out.Decision.Code)
	}
}

// A teammate that has agreed to its shutdown is never asked again: it is held for
// nothing, and nobody is woken for it.
func TestATeammateThatShutsDown(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--hold=9m"}, {"courier"}} {
		s := newSession(t)
		s.exists()
		s.write(transcript.MetaPath(s.agentFile(testAgent)), `{"agentType":"ping","name":"ping","teamName":"crew","taskKind":"in_process_teammate"}`)
		s.appendTo(s.agentFile(testAgent), s.call("toolu_d", "SendMessage", `{"to":"team-lead","message":{"type":"shutdown_response","request_id":"r","approve":true}}`))
		s.taskExits(20 * time.Second)
		payload := strings.Replace(s.stopPayload(false, "b1"), `"last_assistant_message":"I wait."`, `"last_assistant_message":""`, 1)
		code, out, stdout, stderr := s.run(payload, args...)
		if code != 0 || stdout+stderr != "" || s.clock.slept > 2*time.Second || args[0] != "courier" && out.Decision.Code != gate.ShutDown {
			t.Errorf("%v: exit code %d, %s after %s", args, code, out.Decision.Code, s.clock.slept)
		}
	}
}

// Before 2.1.332 the stop behind the agreement can come before the agreement is on
// disk: the hold ends as soon as it is there.
func TestATeammateThatShutsDownBeforeItsTranscriptSaysSo(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.exists()
	s.write(transcript.MetaPath(s.agentFile(testAgent)), `{"agentType":"ping","name":"ping","teamName":"crew","taskKind":"in_process_teammate"}`)
	s.after(2*time.Second, func() {
		s.appendTo(s.agentFile(testAgent), s.call("toolu_d", "SendMessage", `{"to":"team-lead","message":{"type":"shutdown_response","request_id":"r","approve":true}}`))
	})
	s.taskExits(30 * time.Second)
	payload := strings.Replace(s.stopPayload(false, "b1"), `"last_assistant_message":"I wait."`, `"last_assistant_message":""`, 1)
	code, out, stdout, stderr := s.run(payload, "--hold=9m")
	if code != 0 || stdout+stderr != "" || out.Decision.Code != gate.AgentStopped || out.Held < 2*time.Second || out.Held > 10*time.Second {
		t.Errorf("exit code %d, %q, %s after %s", code, stdout, out.Decision.Code, out.Held)
	}
}
