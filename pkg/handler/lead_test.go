package handler

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/policy"
	"stopgate/pkg/transcript"
)

// newRun is a print run whose coordinator launched agent "a1" in the background.
func newRun(t testing.TB) *session {
	s := newSession(t)
	s.line, s.entrypoint, s.background = "claude -p hello", "sdk-cli", true
	// Its entry gives it all the time that it wants.
	s.self, s.env = filepath.Join(s.dir, "hook"), map[string]string{"HOME": s.dir}
	s.write(s.self, "")
	s.write(filepath.Join(s.dir, ".claude", "settings.json"), fmt.Sprintf(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":%q,"args":["lead"],"timeout":90000}]}]}}`, s.self))
	s.appendTo(s.main(), s.call("toolu_a", "Agent", `{"prompt":"x","run_in_background":true}`))
	s.appendTo(s.main(), fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"toolu_a","content":"Async agent launched successfully.\nagentId: a1 (x"}]}}`, s.stamp()))
	s.appendTo(s.main(), s.says("I wait."))
	return s
}

// leadPayload is the coordinator's stop with these entries listed, as id:type.
func (s *session) leadPayload(active bool, listed ...string) string {
	list := []map[string]string{}
	for _, l := range listed {
		id, kind, _ := strings.Cut(l, ":")
		list = append(list, map[string]string{"id": id, "type": kind, "status": "running", "command": "make"})
	}
	payload, err := json.Marshal(map[string]any{
		"session_id": testSession, "transcript_path": s.main(), "cwd": s.dir, "hook_event_name": "Stop", "prompt_id": "p1",
		"stop_hook_active": active, "background_tasks": list, "last_assistant_message": "I wait.",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(payload)
}

func (s *session) agentEnds(after time.Duration) {
	s.after(after, func() {
		s.appendTo(s.agentFile(testAgent), s.says("My report."))
		s.clock.now = s.clock.now.Add(10 * time.Millisecond)
		s.appendTo(s.main(), s.ended(testAgent, "completed", `Agent "x" finished`))
		s.write(s.output("b1"), "RESULT\n\n[exited with code 0]\n")
		s.appendTo(s.main(), s.ended("b1", "completed", "done (exit code 0)"))
	})
}

func TestTheCoordinatorsStopInAPrintRun(t *testing.T) {
	const agent = "a1:subagent"
	tests := []struct {
		name      string
		listed    []string
		meanwhile func(*session)
		args      []string
		code      gate.Code
		block     bool
		says      []string
		after     time.Duration
	}{
		{"is held until its agent has ended, and blocked once", []string{agent}, func(s *session) { s.agentEnds(5 * time.Minute) }, nil,
			gate.TaskEnded, true, []string{"a1 (subagent) ended", "Call one tool before you write anything", "complete final answer"}, 5 * time.Minute},
		{"passes where nothing is at work", nil, nil, nil, gate.NoTasks, false, nil, 0},
		{"passes where only an agent's own shell is", []string{"b1:shell"}, nil, nil, gate.NoTasks, false, nil, 0},
		{"waits for a task of its own", []string{"b2:shell"}, func(s *session) {
			s.appendTo(s.main(), s.call("toolu_c", "Bash", `{"command":"make","run_in_background":true}`))
			s.appendTo(s.main(), s.launched("toolu_c", "b2"))
			s.after(time.Minute, func() {
				s.write(s.output("b2"), "[exited with code 2]\n")
				s.appendTo(s.main(), s.ended("b2", "failed", "exit code 2"))
			})
		}, nil, gate.TaskEnded, true, []string{"b2 (shell) exited with code 2"}, time.Minute},
		{"does not wait for a server of its own", []string{"b2:shell"}, func(s *session) {
			s.appendTo(s.main(), s.call("toolu_c", "Bash", `{"command":"make","run_in_background":true}`))
			s.appendTo(s.main(), s.launched("toolu_c", "b2"))
		}, []string{"--ignore=^make$"}, gate.BudgetSpent, false, nil, 0},
		{"is answered when the patience is over", []string{agent}, nil, []string{"--patience=5m"},
			gate.PatienceOver, true, []string{"a1 (subagent", "not waited for any longer"}, 5 * time.Minute},
		{"is answered when an agent writes to it", []string{agent}, func(s *session) {
			s.after(time.Minute, func() {
				s.appendTo(s.agentFile(testAgent), s.call("toolu_m", "SendMessage", `{"to":"main","message":"which?"}`))
			})
		}, nil, gate.MessageWaits, true, []string{"a message waits"}, time.Minute},
		{"is answered when its agent has fallen silent", []string{agent}, nil, nil, gate.StuckWork, true, []string{"silent for long"}, 11 * time.Minute},
		{"waits for a silent agent that is held itself", []string{agent}, func(s *session) {
			s.update(func(tx *ledger.Tx) {
				tx.PutHold(ledger.Hold{AgentID: testAgent, Since: s.clock.Now(), Process: ledger.Process{PID: 99}})
			})
			s.agentEnds(20 * time.Minute)
		}, nil, gate.TaskEnded, true, nil, 20 * time.Minute},
		{"passes when the client is gone", []string{agent}, func(s *session) { s.after(time.Minute, func() { s.parent = 1 }) }, nil, gate.SessionOver, false, nil, time.Minute},
		{"passes with --lead never", []string{agent}, nil, []string{"--lead=never"}, "", false, nil, 0},
		{"passes where the job says never", []string{agent}, func(s *session) { s.env[policy.EnvLead] = "never" }, []string{"--lead=always"}, "", false, nil, 0},
		{"passes when switched off", []string{agent}, func(s *session) {
			if err := s.state().SwitchOff("", time.Time{}); err != nil {
				s.t.Error(err)
			}
		}, nil, gate.Disabled, false, nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newRun(t)
			if test.meanwhile != nil {
				test.meanwhile(s)
			}
			began := s.clock.Now()
			code, out, stdout, _ := s.run(s.leadPayload(false, test.listed...), append([]string{"lead"}, test.args...)...)
			took := s.clock.Now().Sub(began)
			if code != 0 || out.Err != nil || out.Decision.Code != test.code || (stdout != "") != test.block {
				t.Fatalf("exit code %d, %v, %s (%s), want %s", code, out.Err, out.Decision.Code, stdout, test.code)
			}
			for _, want := range test.says {
				if !strings.Contains(out.Reason, want) {
					t.Errorf("the reason does not say %q:\n%s", want, out.Reason)
				}
			}
			if late := took - test.after; late < 0 || late > 31*time.Second {
				t.Errorf("answered after %s, want %s", took, test.after)
			}
		})
	}
}

// Who attends decides: a person at a terminal or behind a program is woken as ever.
func TestWhoseCoordinatorIsHeld(t *testing.T) {
	t.Parallel()
	const stream = "claude -p --input-format stream-json"
	for _, test := range []struct {
		name, line, entrypoint, ci string
		args                       []string
		held                       bool
	}{
		{"a terminal", "claude", "cli", "", nil, false},
		{"a terminal in which CI is set", "claude", "cli", "true", nil, false},
		{"a terminal, always", "claude", "cli", "", []string{"--lead=always"}, true},
		{"a print run", "claude -p x", "sdk-cli", "", nil, true},
		{"a print run that a terminal's command started", "claude -p x", "cli", "", nil, true},
		{"a program's stream", stream, "sdk-ts", "", nil, false},
		{"a program's stream under CI", stream, "sdk-ts", "1", nil, true},
		{"a program's stream, always", stream, "sdk-ts", "", []string{"--lead=always"}, true},
		{"a host that nothing is known of", "other", "", "true", nil, false},
	} {
		s := newRun(t)
		s.line, s.entrypoint, s.env["CI"] = test.line, test.entrypoint, test.ci
		if test.line == "other" {
			s.strangers = true
		}
		s.agentEnds(10 * time.Second)
		_, out, stdout, _ := s.run(s.leadPayload(false, "a1:subagent"), append([]string{"lead"}, test.args...)...)
		if held := out.Decision.Code == gate.TaskEnded && stdout != ""; held != test.held {
			t.Errorf("%s: %s", test.name, out.Decision.Code)
		}
	}
}

// New work after a block is waited for again, within one patience for a turn; what
// was handed over is not; and the coordinator's answer comes when nothing is left.
func TestACoordinatorThatGoesOn(t *testing.T) {
	t.Parallel()
	s := newRun(t)
	s.agentEnds(20 * time.Minute)
	s.update(func(tx *ledger.Tx) {
		tx.PutHold(ledger.Hold{AgentID: testAgent, Since: s.clock.Now(), Process: ledger.Process{PID: 99}})
	})
	if _, out, _, _ := s.run(s.leadPayload(false, "a1:subagent"), "lead", "--patience=30m"); out.Decision.Code != gate.TaskEnded {
		t.Fatalf("answered %s", out.Decision.Code)
	}
	s.clock.Sleep(t.Context(), 10*time.Second)
	s.appendTo(s.main(), s.notified(testAgent))
	s.appendTo(s.main(), s.call("toolu_c", "Bash", `{"command":"make","run_in_background":true}`))
	s.appendTo(s.main(), s.launched("toolu_c", "b2"))
	_, out, _, _ := s.run(s.leadPayload(true, "b2:shell"), "lead", "--patience=30m")
	if out.Decision.Code != gate.PatienceOver || out.Held < 9*time.Minute || out.Held > 11*time.Minute {
		t.Errorf("new work: %s after %s", out.Decision.Code, out.Held)
	}
	s.clock.Sleep(t.Context(), 10*time.Second)
	if _, out, stdout, _ := s.run(s.leadPayload(true, "b2:shell"), "lead", "--patience=30m"); out.Decision.Code != gate.BudgetSpent || stdout != "" {
		t.Errorf("after the patience: %s", out.Decision.Code)
	}
	s.clock.Sleep(t.Context(), 10*time.Second)
	if _, out, stdout, _ := s.run(s.leadPayload(true), "lead", "--patience=30m"); out.Decision.Code != gate.NoTasks || stdout != "" {
		t.Errorf("nothing left: %s", out.Decision.Code)
	}
	if snap := s.snapshot(); snap.Charged["b1"] != 0 || snap.Charged[testAgent] != 0 {
		t.Errorf("an agent was charged for the coordinator: %v", snap.Charged)
	}
}

// A team's lead is held for a mate that works, also in the mate's first turn, when no
// event has named its team yet, and not for one that is idle.
func TestTheLeadOfATeam(t *testing.T) {
	t.Parallel()
	s := newRun(t)
	const mate = "aping-1"
	s.write(transcript.MetaPath(s.agentFile(mate)), `{"agentType":"ping","name":"ping","teamName":"crew","taskKind":"in_process_teammate"}`)
	s.run(s.event("SubagentStart", fields{"agent_id": mate, "agent_type": "ping"}))
	s.clock.Sleep(t.Context(), 5*time.Second)
	began := s.clock.Now()
	s.after(2*time.Minute, func() {
		s.run(s.event("SubagentStop", fields{"agent_id": mate, "agent_type": "ping", "background_tasks": []any{}}))
	})
	_, out, stdout, _ := s.run(s.leadPayload(false, "t1:teammate"), "lead", "--lead=always")
	if took := s.clock.Now().Sub(began); out.Decision.Code != gate.TaskEnded || stdout == "" || took < 2*time.Minute || took > 3*time.Minute {
		t.Errorf("a mate that works: %s after %s", out.Decision.Code, took)
	}
	s.clock.Sleep(t.Context(), 10*time.Second)
	if _, out, stdout, _ := s.run(s.leadPayload(true, "t1:teammate"), "lead", "--lead=always"); out.Decision.Code != gate.NoTasks || stdout != "" {
		t.Errorf("a mate that is idle: %s", out.Decision.Code)
	}
}

// The one tool call that the coordinator was asked for can be a message that wakes an
// agent of whose end it was told: its new life is waited for as well, and its new end
// is news.
func TestAnAgentThatTheCoordinatorWakesAgain(t *testing.T) {
	t.Parallel()
	s := newRun(t)
	s.run(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "x"}))
	s.clock.Sleep(t.Context(), 5*time.Second)
	s.agentEnds(time.Minute)
	s.after(time.Minute, func() {
		s.run(s.event("SubagentStop", fields{"agent_id": testAgent, "agent_type": "x", "background_tasks": []any{}}))
	})
	if _, out, _, _ := s.run(s.leadPayload(false, "a1:subagent"), "lead"); out.Decision.Code != gate.TaskEnded {
		t.Fatalf("answered %s", out.Decision.Code)
	}
	s.clock.Sleep(t.Context(), 10*time.Second)
	s.run(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "x"}))
	s.clock.Sleep(t.Context(), 5*time.Second)
	began := s.clock.Now()
	s.agentEnds(2 * time.Minute)
	_, out, _, _ := s.run(s.leadPayload(true, "a1:subagent"), "lead")
	if took := s.clock.Now().Sub(began); out.Decision.Code != gate.TaskEnded || took < 2*time.Minute {
		t.Errorf("its next life: %s after %s", out.Decision.Code, took)
	}
	s.clock.Sleep(t.Context(), 10*time.Second)
	if _, out, stdout, _ := s.run(s.leadPayload(true), "lead"); out.Decision.Code != gate.NoTasks || stdout != "" {
		t.Errorf("nothing left: %s", out.Decision.Code)
	}
	s.clock.Sleep(t.Context(), 10*time.Second)
	s.appendTo(s.main(), s.ended(testAgent, "completed", `Agent "x" finished`))
	if _, out, stdout, _ := s.run(s.leadPayload(true), "lead"); out.Decision.Code != gate.NewsWaits || stdout == "" {
		t.Errorf("its third end: %s", out.Decision.Code)
	}
}

// Agents that end at nearly the same time: the news of one comes while the
// coordinator writes its answer. It is asked once more, and not again.
func TestNewsThatComesWhileTheCoordinatorAnswers(t *testing.T) {
	t.Parallel()
	s := newRun(t)
	s.appendTo(s.main(), s.ended(testAgent, "completed", `Agent "x" finished`))
	_, out, stdout, _ := s.run(s.leadPayload(false), "lead")
	if out.Decision.Code != gate.NewsWaits || !strings.Contains(stdout, "its news waits for you") {
		t.Errorf("answered %s", out.Decision.Code)
	}
	if stops := s.snapshot().Stops; len(stops) != 1 || !slices.Equal(stops[0].Ended, []string{testAgent}) {
		t.Errorf("recorded as told: %+v", stops)
	}
	s.clock.Sleep(t.Context(), 10*time.Second)
	if _, out, stdout, _ := s.run(s.leadPayload(true), "lead"); out.Decision.Code != gate.NoTasks || stdout != "" {
		t.Errorf("then answered %s", out.Decision.Code)
	}
	told := newRun(t)
	told.appendTo(told.main(), told.ended(testAgent, "completed", `Agent "x" finished`))
	told.appendTo(told.main(), told.notified(testAgent))
	if _, out, stdout, _ := told.run(told.leadPayload(false), "lead"); stdout != "" {
		t.Errorf("news that was told: %s", out.Decision.Code)
	}
}

// A held agent of a held coordinator: the print ceiling has not begun, so the agent
// has its whole patience; each is told once.
func TestAHeldAgentOfAHeldCoordinator(t *testing.T) {
	t.Parallel()
	s := newRun(t)
	s.update(func(tx *ledger.Tx) {
		tx.PutHold(ledger.Hold{AgentID: transcript.Main, Since: s.clock.Now(), Process: ledger.Process{PID: 99}})
	})
	s.taskExits(25 * time.Minute)
	if codes, _ := s.endsItsTurn([]string{"b1"}, "--hold=9m30s"); runs(codes) != "hold-over x2, task-ended" {
		t.Errorf("answered by %v", codes)
	}
}

// A hold of the coordinator's whose process has died, or whose id a later one bears, binds
// nobody: the print ceiling has begun for the agent.
func TestAHeldAgentOfACoordinatorWhoseHoldIsDead(t *testing.T) {
	t.Parallel()
	gone := func(s *session) { s.gone[99] = true }
	again := func(s *session) { s.started = map[int]string{99: "later"} }
	for name, c := range map[string]struct {
		meanwhile func(*session)
		quiet     time.Duration
		want      string
	}{
		"it was gone before":                 {gone, 20 * time.Minute, "ceiling-over"},
		"another one bore its id before":     {again, 20 * time.Minute, "ceiling-over"},
		"it goes meanwhile":                  {func(s *session) { s.after(3*time.Minute, func() { gone(s) }) }, 0, "ceiling-near, ceiling-over"},
		"another one bears its id meanwhile": {func(s *session) { s.after(3*time.Minute, func() { again(s) }) }, 0, "ceiling-near, ceiling-over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRun(t)
			s.background = true
			s.appendTo(s.main(), s.says("I wait for my agent."))
			s.clock.Sleep(t.Context(), c.quiet)
			c.meanwhile(s)
			s.update(func(tx *ledger.Tx) {
				tx.PutHold(ledger.Hold{AgentID: transcript.Main, Since: s.clock.Now(), Process: ledger.Process{PID: 99, Started: "before"}})
			})
			s.taskExits(25 * time.Minute)
			if codes, _ := s.endsItsTurn([]string{"b1"}, "--hold=9m30s"); runs(codes) != c.want {
				t.Errorf("answered by %v", codes)
			}
		})
	}
}

// What the coordinator was held for is in the record like an agent's.
func TestTheCoordinatorsHoldIsRecorded(t *testing.T) {
	t.Parallel()
	s := newRun(t)
	s.after(time.Minute, func() {
		h := s.snapshot().Holds
		if len(h) != 1 || h[0].AgentID != transcript.Main || h[0].Tasks[0] != "a1" || h[0].Host != "print" {
			t.Errorf("holds %+v", h)
		}
	})
	s.agentEnds(2 * time.Minute)
	s.run(s.leadPayload(false, "a1:subagent"), "lead")
	stop := s.lastStop()
	if stop.AgentID != transcript.Main || stop.Code != string(gate.TaskEnded) || stop.Verdict != ledger.Block || stop.Held < 2*time.Minute || len(stop.Ended) != 1 {
		t.Errorf("recorded %+v", stop)
	}
	if snap := s.snapshot(); len(snap.Holds) != 0 || snap.Session.Lead.Waited < 2*time.Minute || snap.Session.Lead.Prompt != "p1" {
		t.Errorf("session %+v, holds %v", snap.Session, snap.Holds)
	}
}

// A coordinator's stop of which nothing is to be said leaves no trace and reads no
// file.
func TestACoordinatorsStopThatIsNone(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]func(*session) string{
		"a terminal with nothing at work": func(s *session) string { s.line, s.entrypoint = "claude", "cli"; return s.leadPayload(false) },
		"an agent's stop": func(s *session) string {
			return strings.Replace(s.leadPayload(false, "a1:subagent"), "{", `{"agent_id":"a1",`, 1)
		},
		"another event": func(s *session) string { return s.stopPayload(false, "b1") },
		"no list": func(s *session) string {
			return strings.Replace(s.leadPayload(false), `"background_tasks":[]`, `"x":1`, 1)
		},
	} {
		s := newRun(t)
		text := payload(s)
		s.onPath = func(name string) { t.Errorf("%s is looked at", name) }
		code, _, stdout, stderr := s.run(text, "lead")
		if code != 0 || stdout+stderr != "" || len(s.state().Stores()) != 0 {
			t.Errorf("%s: exit code %d, %q", name, code, stdout+stderr)
		}
	}
}

// A person's file says when a lead holds, and the entry's flag counts more.
func TestAFileSaysWhenALeadHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file string
		args []string
		code gate.Code
	}{
		{"", []string{"lead"}, gate.AtWork},
		{"[lead]\nwhen = \"never\"\n", []string{"lead"}, gate.Attended},
		{"[lead]\nwhen = \"never\"\n", []string{"lead", "--lead=headless"}, gate.AtWork},
	} {
		s := newRun(t)
		s.write(filepath.Join(s.dir, ".config", "stopgate", "config.toml"), c.file)
		if s.env == nil {
			s.env = map[string]string{}
		}
		s.env["APPDATA"] = filepath.Join(s.dir, ".config") // of Windows
		_, out, _, _ := s.run(s.leadPayload(false, "a1:subagent"), append(c.args, "--patience=1m")...)
		if held := out.Held > 0; held != (c.code == gate.AtWork) {
			t.Errorf("%q %q: %+v after %s", c.file, c.args, out.Decision, out.Held)
		}
	}
}
