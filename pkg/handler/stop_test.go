package handler

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/gate"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// fields are a payload; a nil value is JSON's null and gone takes the key away.
type fields map[string]any

type absent struct{}

var gone absent

// payload is the agent's stop with the usual shell running, changed by more.
func (s *session) payload(more fields) string {
	s.t.Helper()
	all := fields{}
	if err := json.Unmarshal([]byte(s.stopPayload(false, "b1")), &all); err != nil {
		s.t.Fatal(err)
	}
	for k, v := range more {
		if v == gone {
			delete(all, k)
		} else {
			all[k] = v
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// event is an event of another name.
func (s *session) event(name string, more fields) string {
	s.t.Helper()
	all := fields{"session_id": testSession, "transcript_path": s.main(), "cwd": s.dir, "hook_event_name": name}
	for k, v := range more {
		all[k] = v
	}
	data, err := json.Marshal(all)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func task(id, kind, status string) fields { return fields{"id": id, "type": kind, "status": status} }

// bare is a session whose agent has launched nothing: only its files are there.
func bare(t testing.TB) *session {
	t.Helper()
	s := newSession(t)
	s.write(s.agentFile(testAgent), s.says("I wait.")+"\n")
	return s
}

// toolUse is the PostToolUse event of a launch by agent ("" is the coordinator).
func (s *session) toolUse(agent, tool string, response fields) string {
	more := fields{"tool_name": tool, "tool_use_id": "toolu_p", "tool_input": fields{}, "tool_response": response}
	if agent != "" {
		more["agent_id"], more["agent_type"] = agent, "general-purpose"
	}
	return s.event("PostToolUse", more)
}

// verdict is what a stop got.
type verdict struct {
	code gate.Code
	own  string // the own tasks, joined
}

var (
	blocked     = verdict{gate.OwnTask, "b1"}
	nothingOwn  = verdict{gate.NotOwn, ""}
	unowned     = verdict{gate.Unattrib, ""}
	noTasks     = verdict{gate.NoTasks, ""}
	isEphemeral = verdict{gate.Ephemeral, ""}
)

// check runs one stop and looks at everything that can be seen of it.
func (s *session) check(payload string, want verdict, args ...string) Outcome {
	s.t.Helper()
	before := 0
	if snap, err := ledger.Read(s.t.Context(), s.state(), testSession, nil); err == nil {
		before = len(snap.Stops)
	}
	code, out, stdout, stderr := s.run(payload, args...)
	if code != 0 || stderr != "" {
		s.t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	var own []string
	for _, t := range out.Facts.Own {
		own = append(own, t.ID)
	}
	slices.Sort(own)
	if out.Decision.Code != want.code || want.code != gate.Disabled && strings.Join(own, " ") != want.own {
		s.t.Errorf("got %s with own tasks %q, want %s with %q (%v)", out.Decision.Code, own, want.code, want.own, out.Err)
	}
	observe := slices.Contains(args, "--observe")
	if want.code == gate.OwnTask && !observe {
		answer := gjson.Parse(stdout)
		if !gjson.Valid(stdout) || answer.Get("decision").Str != "block" || answer.Get("reason").Str != out.Reason || len(answer.Map()) != 2 {
			s.t.Errorf("answered %q", stdout)
		}
	} else if stdout != "" {
		s.t.Errorf("an allowed stop was answered with %q", stdout)
	}
	s.checkRecord(before, want, observe)
	return out
}

// checkRecord looks at the record of the last stop.
func (s *session) checkRecord(before int, want verdict, observe bool) {
	s.t.Helper()
	snap, err := ledger.Read(s.t.Context(), s.state(), testSession, nil)
	if err != nil {
		return // a broken store has no record
	}
	switch want.code {
	case gate.Ephemeral, gate.NoSession, gate.NoStore, gate.Duplicate:
		if len(snap.Stops) != before {
			s.t.Errorf("a stop with code %s was recorded", want.code)
		}
		return
	}
	if len(snap.Stops) == 0 {
		s.t.Error("the stop was not recorded")
		return
	}
	last := snap.Stops[len(snap.Stops)-1]
	verdict := ledger.Allow
	if want.code == gate.OwnTask && !observe {
		verdict = ledger.Block
	}
	if last.Code != string(want.code) || last.Verdict != verdict || strings.Join(last.Own, " ") != want.own && want.code != gate.Disabled {
		s.t.Errorf("recorded %+v", last)
	}
}

// Each situation: what is there, the stop, and what becomes of it.
func TestAStop(t *testing.T) {
	t.Parallel()
	shell := func(id string) fields { return task(id, "shell", "running") }
	cases := []struct {
		name    string
		begin   func(testing.TB) *session
		before  func(s *session)
		payload fields
		want    verdict
	}{
		// the core
		{"an own shell that runs", newSession, nil, nil, blocked},
		{"no task left", newSession, nil, fields{"background_tasks": []any{}}, noTasks},
		{"an own shell that has ended, though nothing tells so in the transcript", newSession, nil, fields{"background_tasks": []any{shell("b9")}}, unowned},
		{"an agent that says it waits for tasks which do not exist", bare, nil, fields{"background_tasks": []any{}, "last_assistant_message": "I wait for my background agents."}, noTasks},
		{"only itself is listed", newSession, nil, fields{"background_tasks": []any{task(testAgent, "subagent", "running")}}, noTasks},
		{"itself and its own shell", newSession, nil, fields{"background_tasks": []any{task(testAgent, "subagent", "running"), shell("b1")}}, blocked},
		{"a pending task", newSession, nil, fields{"background_tasks": []any{task("b1", "shell", "pending")}}, blocked},
		{"a task without a status", newSession, nil, fields{"background_tasks": []any{fields{"id": "b1", "type": "shell"}}}, blocked},
		{"a task with a null status", newSession, nil, fields{"background_tasks": []any{fields{"id": "b1", "type": "shell", "status": nil}}}, blocked},
		{"a completed task that is listed", newSession, nil, fields{"background_tasks": []any{task("b1", "shell", "completed")}}, noTasks},
		{"a task that stands in the list twice", newSession, nil, fields{"background_tasks": []any{shell("b1"), shell("b1")}}, blocked},
		{"its shell was queued and taken from the queue", newSession, func(s *session) {
			line := s.ended("b1", "completed", "x")
			s.appendTo(s.main(), line)
			s.appendTo(s.main(), strings.Replace(line, "enqueue", "remove", 1))
		}, nil, blocked},
		// somebody else's
		{"a sibling's shell", bare, func(s *session) {
			s.appendTo(s.agentFile("a2"), s.call("toolu_s", "Bash", `{"run_in_background":true}`))
			s.appendTo(s.agentFile("a2"), s.launched("toolu_s", "b1"))
		}, nil, nothingOwn},
		{"the coordinator's shell", bare, func(s *session) {
			s.appendTo(s.main(), s.call("toolu_m", "Bash", `{"run_in_background":true}`))
			s.appendTo(s.main(), s.launched("toolu_m", "b1"))
		}, nil, nothingOwn},
		{"a shell that nobody is known to have launched", bare, nil, nil, unowned},
		{"a shell whose id a prompt merely quotes", bare, func(s *session) {
			s.appendTo(s.agentFile(testAgent), `{"type":"user","message":{"role":"user","content":"Task b1 is building. Command running in background with ID: b1."}}`)
		}, nil, unowned},
		{"a shell whose launch the agent prints from a log", bare, func(s *session) {
			s.appendTo(s.agentFile(testAgent), s.call("toolu_c", "Bash", `{"command":"cat log"}`))
			s.appendTo(s.agentFile(testAgent), s.launched("toolu_c", "b1"))
			s.appendTo(s.agentFile(testAgent), s.says("I wait."))
		}, nil, unowned},
		{"a shell whose launch an older agent prints, and the coordinator's own", bare, func(s *session) {
			old := strings.NewReplacer("2.1.332", "2.1.198")
			s.appendTo(s.agentFile(testAgent), old.Replace(s.call("toolu_c", "Bash", `{"command":"cat log"}`)))
			s.appendTo(s.agentFile(testAgent), old.Replace(s.launched("toolu_c", "b1")))
			s.appendTo(s.main(), s.call("toolu_m", "Bash", `{"run_in_background":true}`))
			s.appendTo(s.main(), s.launched("toolu_m", "b1"))
		}, nil, nothingOwn},
		{"a shell that timed out under an older client", bare, func(s *session) {
			old := strings.NewReplacer("2.1.332", "2.1.198")
			s.appendTo(s.agentFile(testAgent), old.Replace(s.call("toolu_c", "Bash", `{"command":"make"}`)))
			s.appendTo(s.agentFile(testAgent), old.Replace(s.launched("toolu_c", "b1")))
		}, nil, blocked},
		{"a launch that stands only in the coordinator's transcript, given as the agent's", bare, func(s *session) {
			s.write(s.main(), strings.ReplaceAll(s.call("toolu_m", "Bash", `{"run_in_background":true}`)+"\n"+s.launched("toolu_m", "b1")+"\n", `{"type"`, `{"isSidechain":false,"type"`))
			s.write(strings.TrimSuffix(s.main(), ".jsonl")+".meta.json", "{}")
		}, fields{"agent_transcript_path": "MAIN"}, nothingOwn},
		{"a fork with its parent's history", bare, func(s *session) {
			parent := strings.NewReplacer(`{"type"`, `{"isSidechain":false,"type"`)
			s.write(s.agentFile(testAgent), `{"type":"fork-context-ref","agentId":"a1"}`+"\n"+parent.Replace(s.call("toolu_m", "Bash", `{"run_in_background":true}`))+"\n"+parent.Replace(s.launched("toolu_m", "b1"))+"\n"+s.says("I wait.")+"\n")
		}, fields{"agent_type": "fork"}, unowned},
		{"a fork with lines of another agent", bare, func(s *session) {
			parent := strings.NewReplacer(`{"type"`, `{"agentId":"a9","type"`)
			s.write(s.agentFile(testAgent), parent.Replace(s.call("toolu_m", "Bash", `{"run_in_background":true}`))+"\n"+parent.Replace(s.launched("toolu_m", "b1"))+"\n"+s.says("I wait.")+"\n")
		}, fields{"agent_type": "fork"}, unowned},
		// kinds of tasks
		{"an own monitor", bare, func(s *session) {
			s.mustRun(s.toolUse(testAgent, "Monitor", fields{"taskId": "b1"}))
		}, fields{"background_tasks": []any{task("b1", "monitor", "running")}}, blocked},
		{"an own persistent monitor", bare, func(s *session) {
			s.mustRun(s.toolUse(testAgent, "Monitor", fields{"taskId": "b1", "persistent": true}))
		}, fields{"background_tasks": []any{task("b1", "monitor", "running")}}, verdict{gate.Excused, "b1"}},
		{"an own child agent", bare, func(s *session) {
			s.mustRun(s.toolUse(testAgent, "Agent", fields{"status": "async_launched", "agentId": "b1"}))
		}, fields{"background_tasks": []any{task("b1", "subagent", "running")}}, blocked},
		{"a child that names it as its parent", bare, func(s *session) {
			s.write(strings.TrimSuffix(s.agentFile("c1"), ".jsonl")+".meta.json", `{"parentAgentId":"a1"}`)
		}, fields{"background_tasks": []any{task("c1", "subagent", "running")}}, verdict{gate.OwnTask, "c1"}},
		{"a child that names another parent", bare, func(s *session) {
			s.write(strings.TrimSuffix(s.agentFile("c1"), ".jsonl")+".meta.json", `{"parentAgentId":"a2"}`)
		}, fields{"background_tasks": []any{task("c1", "subagent", "running")}}, nothingOwn},
		{"an own workflow", bare, func(s *session) {
			s.mustRun(s.toolUse(testAgent, "Workflow", fields{"taskId": "b1"}))
		}, fields{"background_tasks": []any{task("b1", "workflow", "running")}}, blocked},
		{"an own tool of a server", bare, func(s *session) {
			s.appendTo(s.agentFile(testAgent), s.call("toolu_x", "mcp__a__b", `{}`))
			s.appendTo(s.agentFile(testAgent), strings.Replace(s.launched("toolu_x", "b1"), "Command running in background with ID: b1.", `MCP tool \"b\" is still running after 30s. It was moved to the background as task b1.`, 1))
		}, fields{"background_tasks": []any{task("b1", "MCP task", "running")}}, blocked},
		{"an own task of an unknown type", newSession, nil, fields{"background_tasks": []any{task("b1", "local_bash", "running")}}, noTasks},
		{"maintenance of the client", newSession, nil, fields{"background_tasks": []any{task("d1", "dream", "running"), task("d2", "auto-mode scan", "running"), task("d3", "memory import", "running"), task("d4", "cloud session", "running")}}, noTasks},
		{"a teammate's entry", newSession, nil, fields{"background_tasks": []any{task("t1", "teammate", "running")}}, noTasks},
		{"a shell put into the background by the user", bare, func(s *session) {
			s.appendTo(s.agentFile(testAgent), s.call("toolu_x", "Bash", `{"command":"make"}`))
			s.appendTo(s.agentFile(testAgent), strings.Replace(s.launched("toolu_x", "b1"), "Command running in background with", "Command was manually backgrounded by user with", 1))
		}, nil, blocked},
		{"a command of five kilobytes", newSession, nil, fields{"background_tasks": []any{fields{"id": "b1", "type": "shell", "status": "running", "command": strings.Repeat("x", 5000)}}}, blocked},
		// what the event lacks
		{"without a list of tasks", newSession, nil, fields{"background_tasks": gone}, verdict{gate.NoRegistry, ""}},
		{"with a null list of tasks", newSession, nil, fields{"background_tasks": nil}, verdict{gate.NoRegistry, ""}},
		{"with a list of another type", newSession, nil, fields{"background_tasks": fields{"id": "b1"}}, verdict{gate.NoRegistry, ""}},
		{"with entries of other types", newSession, nil, fields{"background_tasks": []any{7, nil, "b1", []any{}, fields{"id": 7, "type": "shell"}}}, noTasks},
		{"without a session", newSession, nil, fields{"session_id": gone}, verdict{gate.NoSession, ""}},
		{"with an empty session id", newSession, nil, fields{"session_id": ""}, verdict{gate.NoSession, ""}},
		{"with the session id null", newSession, nil, fields{"session_id": nil}, verdict{gate.NoSession, ""}},
		{"with the session id \"null\"", newSession, nil, fields{"session_id": "null"}, verdict{gate.NoSession, ""}},
		{"with a number for a session id", newSession, nil, fields{"session_id": 7}, verdict{gate.NoSession, ""}},
		{"without an agent id", newSession, nil, fields{"agent_id": gone}, blocked},
		{"without an agent type, as old clients say it", newSession, nil, fields{"agent_type": gone}, blocked},
		{"with a null agent type", newSession, nil, fields{"agent_type": nil}, blocked},
		{"of an agent of type fork", newSession, nil, fields{"agent_type": "fork"}, blocked},
		{"without the path of its transcript", newSession, nil, fields{"agent_transcript_path": gone}, blocked},
		{"without a coordinator's transcript", newSession, nil, fields{"transcript_path": gone}, blocked},
		{"without a last message", newSession, nil, fields{"last_assistant_message": gone}, blocked},
		{"without a last message, and of an unknown task", bare, nil, fields{"last_assistant_message": nil}, unowned},
		{"with a null stop_hook_active", newSession, nil, fields{"stop_hook_active": nil}, blocked},
		{"after a block of another hook", newSession, nil, fields{"stop_hook_active": true}, blocked},
		{"with fields nobody knows", newSession, nil, fields{"crons": []any{1}, "continuation_count": 0, "x": fields{"y": []any{nil}}}, blocked},
		{"with scheduled prompts", newSession, nil, fields{"session_crons": []any{fields{"id": "b7"}}, "background_tasks": []any{}}, noTasks},
		{"in a worktree of its own, whose folder is gone", newSession, nil, fields{"cwd": "/p/.claude/worktrees/agent-a1"}, blocked},
		{"of ten kilobytes of last message", newSession, nil, fields{"last_assistant_message": strings.Repeat("x", 10<<10)}, blocked},
		// strange ids
		{"with an agent id that climbs", bare, nil, fields{"agent_id": "../../x"}, unowned},
		{"with the agent id of a teammate", bare, nil, fields{"agent_id": "a@b"}, unowned},
		{"with an agent id of 10 kB", bare, nil, fields{"agent_id": strings.Repeat("a", 10<<10)}, unowned},
		{"with a number for an agent id", newSession, nil, fields{"agent_id": 7}, blocked},
		{"with tasks of strange ids", newSession, nil, fields{"background_tasks": []any{shell("../../x"), shell(strings.Repeat("b", 10<<10)), shell("b\x00\n"), shell("b1")}}, blocked},
		// which agents are real
		{"an internal fork", newSession, nil, fields{"agent_id": "a77", "agent_type": "", "agent_transcript_path": "/nowhere/agent-a77.jsonl"}, isEphemeral},
		{"an internal fork under the agent's own files", newSession, nil, fields{"agent_type": ""}, isEphemeral},
		{"an internal fork under the session's agent name", newSession, nil, fields{"agent_id": "a77", "agent_type": "reviewer", "agent_transcript_path": "/nowhere/agent-a77.jsonl"}, isEphemeral},
		{"the very first event of a session, of nobody", newSession, nil, fields{"agent_id": gone, "agent_type": gone, "agent_transcript_path": gone, "background_tasks": gone}, isEphemeral},
		{"an agent that is listed, without any file", newSession, nil, fields{"agent_id": "a77", "agent_transcript_path": "/nowhere/agent-a77.jsonl", "background_tasks": []any{task("a77", "subagent", "running")}}, noTasks},
		{"an agent with a meta file and no transcript yet", newSession, func(s *session) {
			s.write(strings.TrimSuffix(s.agentFile("a77"), ".jsonl")+".meta.json", `{}`)
		}, fields{"agent_id": "a77", "agent_transcript_path": "A77", "background_tasks": []any{shell("b9")}}, unowned},
		{"an agent with a transcript and no meta file", newSession, func(s *session) {
			s.write(s.agentFile("a77"), "")
		}, fields{"agent_id": "a77", "agent_transcript_path": "A77", "background_tasks": []any{shell("b9")}}, unowned},
		{"an agent whose start was seen", newSession, func(s *session) {
			s.mustRun(s.event("SubagentStart", fields{"agent_id": "a77", "agent_type": "x"}))
		}, fields{"agent_id": "a77", "agent_transcript_path": "/nowhere/agent-a77.jsonl", "background_tasks": []any{shell("b9")}}, unowned},
		{"an agent whose launch was seen", newSession, func(s *session) {
			s.mustRun(s.toolUse("", "Agent", fields{"status": "async_launched", "agentId": "a77"}))
		}, fields{"agent_id": "a77", "agent_transcript_path": "/nowhere/agent-a77.jsonl", "background_tasks": []any{shell("b9")}}, unowned},
		// transcripts
		{"launches far from the end of the transcript", newSession, func(s *session) {
			for range 30 {
				s.appendTo(s.agentFile(testAgent), `{"type":"system"}`)
			}
		}, nil, blocked},
		{"a line of 20 MB before the launch", bare, func(s *session) {
			s.write(s.agentFile(testAgent), `{"type":"user","x":"`+strings.Repeat("y", 20<<20)+`"}`+"\n"+s.call("toolu_b", "Bash", `{"run_in_background":true}`)+"\n"+s.launched("toolu_b", "b1")+"\n")
		}, nil, blocked},
		{"a torn line before the launch", bare, func(s *session) {
			s.write(s.agentFile(testAgent), s.call("toolu_b", "Bash", `{"run_in_background":true}`)+"\n"+`{"type":"assistant","mess`+s.launched("toolu_b", "b1")+"\n"+s.says("I wait.")+"\n")
		}, nil, blocked},
		{"no assistant line yet", bare, func(s *session) {
			s.write(s.agentFile(testAgent), `{"type":"user","message":{"content":"go"}}`+"\n")
		}, nil, unowned},
		{"a folder in place of the transcript", bare, func(s *session) {
			if err := errors.Join(os.Remove(s.agentFile(testAgent)), os.Mkdir(s.agentFile(testAgent), 0o700)); err != nil {
				s.t.Fatal(err)
			}
		}, nil, unowned},
		{"a device for a transcript", bare, nil, fields{"agent_transcript_path": "/dev/zero", "background_tasks": []any{task(testAgent, "subagent", "running"), shell("b1")}}, unowned},
		// the off switch
		{"switched off by a file", newSession, func(s *session) { s.write(filepath.Join(s.state().Path(), "off"), "") }, nil, verdict{gate.Disabled, ""}},
		{"switched off until later", newSession, func(s *session) {
			s.write(filepath.Join(s.state().Path(), "off"), s.clock.now.Add(time.Hour).Format(time.RFC3339))
		}, nil, verdict{gate.Disabled, ""}},
		{"switched off until a while ago", newSession, func(s *session) {
			s.write(filepath.Join(s.state().Path(), "off"), s.clock.now.Add(-time.Hour).Format(time.RFC3339))
		}, nil, blocked},
		{"switched off for this session", newSession, func(s *session) {
			if err := s.state().SwitchOff(testSession, time.Time{}); err != nil {
				s.t.Fatal(err)
			}
		}, nil, verdict{gate.Disabled, ""}},
		{"switched off for another session", newSession, func(s *session) {
			if err := s.state().SwitchOff("another-session", time.Time{}); err != nil {
				s.t.Fatal(err)
			}
		}, nil, blocked},
		// excuses
		{"a task that a person released", newSession, func(s *session) {
			s.change(func(tx *ledger.Tx) { tx.Release("b1") })
		}, nil, verdict{gate.Excused, "b1"}},
		// evidence
		{"the event says it is the sibling's, the own transcript says own", newSession, func(s *session) {
			s.mustRun(s.toolUse("a2", "Bash", fields{"backgroundTaskId": "b1"}))
		}, nil, nothingOwn},
		{"the event says it is own, the sibling's transcript says sibling's", bare, func(s *session) {
			s.mustRun(s.toolUse(testAgent, "Bash", fields{"backgroundTaskId": "b1"}))
			s.appendTo(s.agentFile("a2"), s.call("toolu_s", "Bash", `{"run_in_background":true}`))
			s.appendTo(s.agentFile("a2"), s.launched("toolu_s", "b1"))
		}, nil, blocked},
		{"a resumed agent stays the one's who launched it", bare, func(s *session) {
			s.mustRun(s.toolUse(testAgent, "SendMessage", fields{"resumedAgentId": "c1"}))
			s.mustRun(s.toolUse("", "Agent", fields{"status": "async_launched", "agentId": "c1"}))
		}, fields{"background_tasks": []any{task("c1", "subagent", "running")}}, nothingOwn},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.begin(t)
			if c.before != nil {
				c.before(s)
			}
			switch c.payload["agent_transcript_path"] {
			case "MAIN":
				c.payload["agent_transcript_path"] = s.main()
			case "A77":
				c.payload["agent_transcript_path"] = s.agentFile("a77")
			}
			s.check(s.payload(c.payload), c.want)
		})
	}
}

// mustRun runs an event that is recorded in silence.
func (s *session) mustRun(payload string) {
	s.t.Helper()
	code, out, stdout, stderr := s.run(payload)
	if code != 0 || stdout != "" || stderr != "" || out.Err != nil || !out.Handled {
		s.t.Errorf("%.200s: code %d, %q, %q, handled %v, %v", payload, code, stdout, stderr, out.Handled, out.Err)
	}
}

func (s *session) change(f func(*ledger.Tx)) {
	s.t.Helper()
	err := ledger.Update(s.t.Context(), s.state(), testSession, s.clock.now, func(tx *ledger.Tx) error {
		f(tx)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// tick lets some time pass, so that the next stop is no duplicate.
func (s *session) tick() {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	s.clock.now = s.clock.now.Add(time.Minute)
}

// launch makes the agent launch another shell.
func (s *session) launch(id string) {
	s.appendTo(s.agentFile(testAgent), s.call("toolu_"+id, "Bash", `{"run_in_background":true}`))
	s.appendTo(s.agentFile(testAgent), s.launched("toolu_"+id, id))
	s.appendTo(s.agentFile(testAgent), s.says("I wait."))
}

func shells(ids ...string) fields {
	var list []any
	for _, id := range ids {
		list = append(list, task(id, "shell", "running"))
	}
	return fields{"background_tasks": list}
}

// One after another: what was spent counts.
func TestTheBudget(t *testing.T) {
	t.Parallel()
	spent := func(own string) verdict { return verdict{gate.BudgetSpent, own} }
	block := func(own string) verdict { return verdict{gate.OwnTask, own} }
	type step struct {
		launch string
		tasks  string
		want   verdict
	}
	cases := []struct {
		name  string
		args  []string
		steps []step
	}{
		{"a task blocks once", nil, []step{{"", "b1", block("b1")}, {"", "b1", spent("b1")}, {"", "b1", spent("b1")}}},
		{"a task blocks twice if so told", []string{"--blocks", "2"}, []step{{"", "b1", block("b1")}, {"", "b1", block("b1")}, {"", "b1", spent("b1")}}},
		{"no block at all if so told", []string{"--blocks=0"}, []step{{"", "b1", spent("b1")}}},
		{"a block names and charges all own tasks", nil, []step{{"b2", "b1 b2", block("b1 b2")}, {"", "b1 b2", spent("b1 b2")}, {"", "b2", spent("b2")}}},
		{"one task that was not charged is enough", nil, []step{{"", "b1", block("b1")}, {"b2", "b1 b2", block("b1 b2")}, {"", "b1 b2", spent("b1 b2")}}},
		{"observing charges and never blocks", []string{"--observe"}, []step{{"", "b1", block("b1")}, {"", "b1", spent("b1")}}},
		{"a resumed agent's new task blocks anew", nil, []step{{"", "b1", block("b1")}, {"", "b1", spent("b1")}, {"b2", "b2", block("b2")}}},
		{"seven blocks in a row are the most", nil, []step{
			{"", "b1", block("b1")}, {"b2", "b2", block("b2")}, {"b3", "b3", block("b3")}, {"b4", "b4", block("b4")},
			{"b5", "b5", block("b5")}, {"b6", "b6", block("b6")}, {"b7", "b7", block("b7")}, {"b8", "b8", spent("b8")}, {"", "b8", block("b8")},
		}},
		{"ten stops over a task that never ends, with more blocks than the most", []string{"--blocks", "100"}, []step{
			{"", "b1", block("b1")}, {"", "b1", block("b1")}, {"", "b1", block("b1")}, {"", "b1", block("b1")}, {"", "b1", block("b1")},
			{"", "b1", block("b1")}, {"", "b1", block("b1")}, {"", "b1", spent("b1")}, {"", "b1", block("b1")}, {"", "b1", block("b1")},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			for i, st := range c.steps {
				if st.launch != "" {
					s.launch(st.launch)
				}
				payload := shells(strings.Fields(st.tasks)...)
				payload["stop_hook_active"] = i > 0 && i%3 != 0 // it is seen false again
				s.check(s.payload(payload), st.want, c.args...)
				s.tick()
			}
		})
	}
}

// The same event twice within two seconds is answered once.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	duplicate := verdict{gate.Duplicate, "b1"}
	spent := verdict{gate.BudgetSpent, "b1"}
	cases := []struct {
		name    string
		between func(s *session)
		want    verdict
	}{
		{"at once", nil, duplicate},
		{"a second later", func(s *session) { s.clock.now = s.clock.now.Add(time.Second) }, duplicate},
		{"two seconds later", func(s *session) { s.clock.now = s.clock.now.Add(2 * time.Second) }, spent},
		{"by a clock that jumped back an hour", func(s *session) { s.clock.now = s.clock.now.Add(-time.Hour) }, spent},
		{"with a tool call between", func(s *session) {
			s.mustRun(s.toolUse(testAgent, "Bash", fields{"backgroundTaskId": "b7"}))
		}, spent},
		{"with a start between", func(s *session) {
			s.mustRun(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "general-purpose"}))
		}, spent},
		{"with an idle notice between", func(s *session) {
			s.mustRun(s.event("TeammateIdle", fields{"agent_id": testAgent, "teammate_name": "ping", "team_name": "crew"}))
		}, spent},
		{"with another agent's event between", func(s *session) {
			s.mustRun(s.event("SubagentStart", fields{"agent_id": "a2", "agent_type": "x"}))
		}, duplicate},
		{"with an ephemeral event between", func(s *session) {
			s.run(s.payload(fields{"agent_id": "a77", "agent_type": ""}))
		}, duplicate},
		{"with another stop of it between", func(s *session) {
			s.check(s.payload(fields{"stop_hook_active": true}), spent)
		}, spent},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			payload := s.payload(nil)
			s.check(payload, blocked)
			if c.between != nil {
				c.between(s)
			}
			s.check(payload, c.want)
			if n := s.snapshot().Charged["b1"]; n != 1 {
				t.Errorf("charged %d", n)
			}
		})
	}
}

// A lagging transcript is waited for, but only where that can help.
func TestSettling(t *testing.T) {
	t.Parallel()
	late := func(s *session, after time.Duration) {
		s.after(after, func() { s.launch("b1") })
	}
	cases := []struct {
		name    string
		before  func(s *session)
		payload fields
		want    verdict
		waited  bool
	}{
		{"the launch comes 80 ms late", func(s *session) {
			s.write(s.agentFile(testAgent), "")
			late(s, 80*time.Millisecond)
		}, nil, blocked, true},
		{"the whole file comes 280 ms late", func(s *session) {
			if err := os.Remove(s.agentFile(testAgent)); err != nil {
				s.t.Fatal(err)
			}
			late(s, 280*time.Millisecond)
		}, nil, blocked, true},
		{"the launch comes a second late", func(s *session) {
			s.write(s.agentFile(testAgent), "")
			late(s, time.Second)
		}, nil, unowned, true},
		{"the file is caught up", nil, nil, unowned, false},
		{"the file is caught up and another text is the last message", nil, fields{"last_assistant_message": "more"}, unowned, true},
		{"all tasks have owners", func(s *session) {
			s.write(s.agentFile(testAgent), "")
			s.mustRun(s.toolUse("a2", "Bash", fields{"backgroundTaskId": "b1"}))
		}, nil, nothingOwn, false},
		{"only a task that cannot block has no owner", func(s *session) {
			s.write(s.agentFile(testAgent), "")
			s.mustRun(s.toolUse("a2", "Bash", fields{"backgroundTaskId": "b1"}))
		}, fields{"background_tasks": []any{task("b1", "shell", "running"), task("d1", "dream", "running")}}, nothingOwn, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := bare(t)
			if c.before != nil {
				c.before(s)
			}
			s.check(s.payload(c.payload), c.want)
			if slept := s.clock.slept; slept > 0 != c.waited || slept > 320*time.Millisecond {
				t.Errorf("waited %v", slept)
			}
		})
	}
}

// The store is no condition for being let through, and a fresh one in place of a
// broken one does not know what was spent.
func TestStopsOverBrokenStores(t *testing.T) {
	t.Parallel()
	garbage := func(s *session) { s.write(s.state().Store(testSession), "x") }
	t.Run("a broken store is set aside and the stop blocked", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		garbage(s)
		s.check(s.payload(nil), blocked)
		if s.state().LastAside(s.state().Store(testSession)).IsZero() {
			t.Error("nothing was set aside")
		}
	})
	t.Run("after a block the fresh store lets it through", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		s.check(s.payload(nil), blocked)
		garbage(s)
		s.tick()
		s.check(s.payload(fields{"stop_hook_active": true}), verdict{gate.Renewed, "b1"})
	})
	t.Run("broken again within the hour there is no store", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		garbage(s)
		s.check(s.payload(nil), blocked)
		garbage(s)
		s.tick()
		s.check(s.payload(nil), verdict{gate.NoStore, ""})
		s.clock.now = s.clock.now.Add(time.Hour)
		s.check(s.payload(nil), blocked)
	})
	t.Run("the store is a folder", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		s.write(filepath.Join(s.state().Store(testSession), "x"), "")
		s.check(s.payload(nil), blocked)
	})
	t.Run("the lock is a folder", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		s.write(filepath.Join(s.state().LockPath(testSession), "x"), "")
		s.check(s.payload(nil), verdict{gate.NoStore, ""})
	})
}

// Where the state folder cannot be, the temporary folder serves; without that
// there is no store.
func TestNoStateFolder(t *testing.T) {
	tmp := t.TempDir()
	for _, c := range []struct {
		tmp  string
		want gate.Code
	}{{tmp, gate.OwnTask}, {filepath.Join(tmp, "missing"), gate.NoStore}} {
		t.Setenv("TMPDIR", c.tmp)
		t.Setenv("TMP", c.tmp) // of Windows
		s := newSession(t)
		s.write(s.state().Path(), "a file")
		code, out, stdout, stderr := s.run(s.payload(nil))
		if code != 0 || stderr != "" || out.Decision.Code != c.want || (stdout != "") != out.Decision.Block {
			t.Errorf("code %d, %s, %q, %q, %v", code, out.Decision.Code, stdout, stderr, out.Err)
		}
	}
}

// A command line that this program does not know belongs to another version:
// nothing is touched.
func TestUnknownCommandLines(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"guard"}, {"--bogus"}, {"--blocks"}, {"--blocks", "many"}, {"--blocks", "-1"}, {"gate", "extra"}, {"--hold", "soon"}, {"courier", "--blocks", "1"}, {"--observe=perhaps"}, {""}} {
		s := newSession(t)
		code, out, stdout, stderr := s.run(s.payload(nil), args...)
		if code != 0 || stdout != "" || stderr != "" || out.Err == nil {
			t.Errorf("%q: code %d, %q, %q, %v", args, code, stdout, stderr, out.Err)
		}
		if _, err := os.Stat(s.state().Store(testSession)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q made a store", args)
		}
		if log, err := os.ReadFile(s.state().LogPath()); err != nil || !strings.Contains(string(log), "command line") {
			t.Errorf("%q: log %q, %v", args, log, err)
		}
	}
}

func TestWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{"", " ", "{}", "null", "[]", "7", `"x"`, "{", "}", "\x00", "{}{}", "not json", "\xff\xfe", `{"hook_event_name":7}`, `{"hook_event_name":"Notification","session_id":"x"}`, strings.Repeat("[", 1<<20)} {
		s := newSession(t)
		code, out, stdout, stderr := s.run(payload)
		if code != 0 || stdout != "" || stderr != "" || out.Decision.Block {
			t.Errorf("%.20q: code %d, %q, %q", payload, code, stdout, stderr)
		}
		if stores := s.state().Stores(); len(stores) != 0 {
			t.Errorf("%.20q made %q", payload, stores)
		}
	}
}

func TestEventsInOtherClothes(t *testing.T) {
	t.Parallel()
	for name, dress := range map[string]func(string) string{
		"with a mark of byte order":    func(p string) string { return "\ufeff" + p },
		"with space around":            func(p string) string { return "\r\n  " + p + "\r\n" },
		"with Windows line ends":       func(p string) string { return strings.ReplaceAll(p, ",", ",\r\n") },
		"followed by another document": func(p string) string { return p + `{"x":1}` },
		"with invalid UTF-8 in a text": func(p string) string { return strings.Replace(p, `"cwd":"`, "\"y\":\"\xff\xfe\",\"cwd\":\"", 1) },
		"with keys that come twice":    func(p string) string { return strings.Replace(p, "{", `{"agent_id":"zz","session_id":7,`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.check(dress(s.payload(nil)), blocked)
		})
	}
}

// The other events are recorded and never answered.
func TestOtherEvents(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, payload string
		see           func(ledger.Snapshot) bool
	}{
		{"an agent starts", "SubagentStart", func(s ledger.Snapshot) bool {
			return !s.Agents["a2"].Started.IsZero() && s.Agents["a2"].Type == "x"
		}},
		{"a teammate is idle", "TeammateIdle", func(s ledger.Snapshot) bool {
			return !s.Agents["a2"].Idle.IsZero() && s.Agents["a2"].Team == "crew"
		}},
		{"the coordinator stops", "Stop", func(s ledger.Snapshot) bool { return s.Session.LastEvent == "Stop" }},
		{"the session begins", "SessionStart", func(s ledger.Snapshot) bool { return s.Session.AgentType == "x" }},
		{"the session ends", "SessionEnd", func(s ledger.Snapshot) bool { return !s.Session.Ended.IsZero() }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.mustRun(s.event("SubagentStart", fields{"agent_id": "a2", "agent_type": "ping"}))
			with := fields{"agent_id": "a2", "agent_type": "x", "teammate_name": "ping", "team_name": "crew"}
			if c.payload == "SessionEnd" {
				with = nil // one that names an agent is none of the session
			}
			s.mustRun(s.event(c.payload, with))
			snap := s.snapshot()
			if !c.see(snap) || snap.Session.LastEvent != c.payload || snap.Session.Cwd != s.dir || len(snap.Stops) != 0 {
				t.Errorf("recorded %+v, %+v", snap.Session, snap.Agents)
			}
			off := newSession(t)
			off.write(filepath.Join(off.state().Path(), "off"), "")
			if code, _, stdout, _ := off.run(off.event(c.payload, fields{"agent_id": "a2"})); code != 0 || stdout != "" || len(off.state().Stores()) != 0 {
				t.Error("recorded though switched off")
			}
		})
	}
}

// A teammate in a pane is a session of its own: its stop names the type it runs
// as, and no agent.
func TestTheStopOfATeammateInAPane(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.mustRun(s.event("Stop", fields{"agent_type": "ping"}))
	if snap := s.snapshot(); snap.Session.AgentType != "ping" || len(snap.Agents) != 0 {
		t.Errorf("recorded %+v, %+v", snap.Session, snap.Agents)
	}
}

// An older client's idle notice names no agent: it counts only where the name is
// one agent's.
func TestIdleNoticesByName(t *testing.T) {
	t.Parallel()
	for _, twins := range []bool{false, true} {
		s := newSession(t)
		s.mustRun(s.event("SubagentStart", fields{"agent_id": "a2", "agent_type": "ping"}))
		if twins {
			s.mustRun(s.event("SubagentStart", fields{"agent_id": "a3", "agent_type": "ping"}))
		}
		s.mustRun(s.event("TeammateIdle", fields{"teammate_name": "ping", "team_name": "crew"}))
		if idle := !s.snapshot().Agents["a2"].Idle.IsZero(); idle == twins {
			t.Errorf("twins %v, idle %v", twins, idle)
		}
	}
}

func TestAnEventWithNothingToRecordMakesNoStore(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	for _, payload := range []string{
		s.toolUse(testAgent, "Bash", fields{"stdout": "Command running in background with ID: b7. "}),
		s.toolUse(testAgent, "Read", fields{"backgroundTaskId": "b7"}),
		s.toolUse("", "Agent", fields{"status": "completed", "agentId": "a5"}),
		s.toolUse("", "Agent", fields{"status": "teammate_spawned"}),
		s.toolUse("", "SendMessage", fields{"success": true}),
		s.event("PostToolUse", nil),
		s.event("PreToolUse", fields{"tool_name": "Bash"}),
		s.event("SessionEnd", nil),
		s.event("SubagentStart", fields{"session_id": ""}),
		s.event("", nil),
		s.payload(fields{"agent_id": "a77", "agent_type": ""}),
	} {
		if code, _, stdout, stderr := s.run(payload); code != 0 || stdout != "" || stderr != "" {
			t.Errorf("%.200s: %d, %q, %q", payload, code, stdout, stderr)
		}
	}
	if stores := s.state().Stores(); len(stores) != 0 {
		t.Errorf("stores %q", stores)
	}
	if n := s.state().Ephemeral(testSession); n != 1 {
		t.Errorf("%d ephemeral events counted", n)
	}
}

func TestTheEndOfASessionSweeps(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.check(s.payload(nil), blocked)
	oldStore := strings.TrimSuffix(s.state().Store("an-old-session"), ".db") + ".ephemeral"
	s.keep = ""
	if err := hosttest.Age(s.clock.now, s.state().Path()); err != nil { // this session's own are in use
		t.Fatal(err)
	}
	hosttest.Write(t, s.clock.now.Add(-8*24*time.Hour), oldStore, "...")
	s.mustRun(s.event("SessionEnd", nil))
	if _, err := os.Stat(oldStore); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old session is still there: %v", err)
	}
	if s.snapshot().Session.Ended.IsZero() {
		t.Error("the session's end was not recorded")
	}
	s.mustRun(s.event("SessionStart", nil))
	if !s.snapshot().Session.Ended.IsZero() {
		t.Error("a session that was resumed is still ended")
	}
}

// writer does something at each write.
type writer func()

func (w writer) Write(p []byte) (int, error) { w(); return len(p), nil }

// A folder of thousands of old sessions must not cost a stop its block.
func TestTheAnswerDoesNotWaitForTheSweeping(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	oldStore := strings.TrimSuffix(s.state().Store("an-old-session"), ".db") + ".ephemeral"
	s.keep = ""
	hosttest.Write(t, s.clock.now.Add(-8*24*time.Hour), oldStore, "...")
	h := s.host(s.payload(nil), nil)
	there := errors.New("nothing was answered")
	h.Stdout = writer(func() { _, there = os.Stat(oldStore) })
	if _, out := Run(h); !out.Decision.Block || there != nil {
		t.Errorf("%s; when it was answered: %v", out.Decision.Code, there)
	}
	if _, err := os.Stat(oldStore); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old session is still there: %v", err)
	}
}

// An agent stops many times: the whole transcript counts, and what was read is
// not read again.
func TestAnAgentThatIsResumed(t *testing.T) {
	t.Parallel()
	s := bare(t)
	s.check(s.payload(fields{"background_tasks": []any{}}), noTasks)
	s.clock.now = s.clock.now.Add(10 * time.Minute)
	s.launch("b1")
	s.check(s.payload(nil), blocked)
	first := s.snapshot().Cursors[s.agentFile(testAgent)]
	s.tick()
	s.launch("b2")
	s.check(s.payload(shells("b1", "b2")), verdict{gate.OwnTask, "b1 b2"})
	if second := s.snapshot().Cursors[s.agentFile(testAgent)]; first.Offset == 0 || second.Offset <= first.Offset {
		t.Errorf("cursors %+v, %+v", first, second)
	}
	if a := s.snapshot().Agents[testAgent]; a.Stops != 3 || a.Blocks != 2 || a.Chain != 2 {
		t.Errorf("recorded %+v", a)
	}
}

// The transcript shrinks between two stops.
func TestARewrittenTranscript(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.appendTo(s.agentFile(testAgent), `{"x":"`+strings.Repeat("y", 9000)+`"}`)
	s.check(s.payload(nil), blocked)
	s.tick()
	s.write(s.agentFile(testAgent), "")
	s.launch("b2")
	s.check(s.payload(shells("b2")), verdict{gate.OwnTask, "b2"})
}

// The last message and the launch come to the disk just after the transcript was
// read: seeing the one must not hide the other.
func TestALaunchThatComesWhileOthersAreRead(t *testing.T) {
	t.Parallel()
	s := bare(t)
	s.write(s.agentFile(testAgent), "")
	opened := 0
	s.onPath = func(name string) {
		// The meta file and the coordinator's transcript are read after the own.
		if name == s.main() && opened == 0 {
			opened++
			s.launch("b1")
		}
	}
	s.check(s.payload(nil), blocked)
}

// Sessions share nothing: one that is locked holds up no other.
func TestSessionsDoNotContend(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if err := os.MkdirAll(filepath.Dir(s.state().LockPath("x")), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := state.Acquire(t.Context(), s.state().LockPath("another-session"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	s.check(s.payload(nil), blocked)
}

// A lock that never comes free lets the stop through in time.
func TestALockThatIsNeverFree(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.change(func(*ledger.Tx) {})
	lock, err := state.Acquire(t.Context(), s.state().LockPath(testSession), false)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	began := time.Now()
	code, out, stdout, _ := s.run(s.payload(nil))
	if took := time.Since(began); code != 0 || stdout != "" || out.Decision.Block || took > WorkLimit+time.Second {
		t.Errorf("code %d, %q, %s after %v", code, stdout, out.Decision.Code, took)
	}
	if log, err := os.ReadFile(s.state().LogPath()); err != nil || !strings.Contains(string(log), "busy") {
		t.Errorf("log %q, %v", log, err)
	}
}

// A file system that never answers lets the stop through in time.
func TestAFileSystemThatNeverAnswers(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	s.onPath = func(string) {
		<-done
		runtime.Goexit() // the test's folder is going away
	}
	began := time.Now()
	code, out, stdout, _ := s.run(s.payload(nil))
	if took := time.Since(began); code != 0 || stdout != "" || out.Err == nil || took > WorkLimit+time.Second {
		t.Errorf("code %d, %q, %v after %v", code, stdout, out.Err, took)
	}
	if log, err := os.ReadFile(s.state().LogPath()); err != nil || !strings.Contains(string(log), "out of time") {
		t.Errorf("log %q, %v", log, err)
	}
}

// Where the time to read was over before the launch was found, the record says so,
// and the next stop finds it.
func TestAStopThatCouldNotReadToTheEndSaysSo(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	slow := true
	s.onPath = func(name string) {
		if slow && name == s.agentFile(testAgent) {
			slow = false
			time.Sleep(readLimit + 50*time.Millisecond) // a slow disk
		}
	}
	s.check(s.payload(nil), unowned)
	if note := s.lastStop().Note; note != noteCut {
		t.Errorf("note %q", note)
	}
	if log, err := os.ReadFile(s.state().LogPath()); err != nil || !strings.Contains(string(log), `"cut":true`) {
		t.Errorf("log %q, %v", log, err)
	}
	s.tick()
	s.check(s.payload(nil), blocked)
	if note := s.lastStop().Note; note != "" {
		t.Errorf("note %q", note)
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	t.Run("in the work", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		s.onPath = func(string) { panic("on purpose") }
		code, out, stdout, stderr := s.run(s.payload(nil))
		if code != 0 || stdout+stderr != "" || out.Err == nil || out.Decision.Block {
			t.Errorf("code %d, %q, %v", code, stdout+stderr, out.Err)
		}
		if log, err := os.ReadFile(s.state().LogPath()); err != nil || !strings.Contains(string(log), "on purpose") {
			t.Errorf("log %q, %v", log, err)
		}
	})
	t.Run("in reading stdin", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		h := s.host("", nil)
		h.Stdin = panics{}
		if code, out := Run(h); code != 0 || out.Err == nil {
			t.Errorf("code %d, %v", code, out.Err)
		}
	})
	t.Run("everywhere", func(t *testing.T) {
		t.Parallel()
		s := newSession(t)
		h := s.host(s.payload(nil), nil)
		h.Env = func(string) string { panic("on purpose") }
		h.Clock = nil
		if code, out := Run(h); code != 0 || out.Err == nil {
			t.Errorf("code %d, %v", code, out.Err)
		}
	})
}

type panics struct{}

func (panics) Read([]byte) (int, error)  { panic("on purpose") }
func (panics) Write([]byte) (int, error) { panic("on purpose") }

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestAnAnswerThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	for _, w := range []interface{ Write([]byte) (int, error) }{closed{}, panics{}} {
		s := newSession(t)
		h := s.host(s.payload(nil), nil)
		h.Stdout, h.Stderr = w, w
		if code, out := Run(h); code != 0 || out.Err == nil {
			t.Errorf("code %d, %v", code, out.Err)
		}
	}
}

// Nothing of what people and commands said is kept: ids, types, paths and times
// are all that the state folder holds.
func TestNoTextIsKept(t *testing.T) {
	t.Parallel()
	const secret = "xyzzy-SECRET"
	s := newSession(t)
	say := "the " + secret + " is"
	lines := []string{
		`{"type":"user","message":{"role":"user","content":` + quote(say) + `},"cwd":` + quote(say) + `,"gitBranch":` + quote(say) + `}`,
		s.says(say),
		s.call("toolu_1", "Bash", `{"command":`+quote(say)+`,"description":`+quote(say)+`,"run_in_background":true}`),
		s.launched("toolu_1", "b2") + "",
		s.call("toolu_2", "SendMessage", `{"to":"ping","message":`+quote(say)+`}`),
		s.call("toolu_3", "Monitor", `{"command":`+quote(say)+`}`),
		fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_3","content":%s}]},"toolUseResult":{"taskId":"m1","command":%s}}`, quote("Monitor started (task m1, timeout 1ms) "+say), quote(say)),
		s.call("toolu_4", "Agent", `{"prompt":`+quote(say)+`,"description":`+quote(say)+`}`),
		fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_4","content":%s}]},"toolUseResult":{"status":"async_launched","agentId":"c1","prompt":%s,"description":%s}}`, quote(say), quote(say), quote(say)),
		s.says("I wait."),
	}
	for _, line := range lines {
		s.appendTo(s.agentFile(testAgent), line)
		s.appendTo(s.main(), line)
	}
	for _, content := range []string{
		"<task-notification><task-id>b7</task-id><status>completed</status><summary>Background command \"" + say + "\" completed (exit code 0)</summary><result>" + say + "</result></task-notification>",
		"<task-notification><task-id>" + say + "</task-id><status>" + say + "</status><output-file>" + say + "</output-file></task-notification>",
		"<task-notification><task-id>b8</task-id><status>" + say + "</status><output-file>" + say + "</output-file></task-notification>",
	} {
		s.appendTo(s.main(), `{"type":"queue-operation","operation":"enqueue","content":`+quote(content)+`}`)
	}
	s.write(strings.TrimSuffix(s.agentFile(testAgent), ".jsonl")+".meta.json", `{"agentType":"x","description":`+quote(say)+`,"toolUseId":`+quote(say)+`}`)
	s.write(strings.TrimSuffix(s.agentFile("c1"), ".jsonl")+".meta.json", `{"agentType":"x","description":`+quote(say)+`}`)
	for _, name := range []string{"SubagentStart", "TeammateIdle", "Stop", "SessionStart", "PostToolUse", "Notification", "SessionEnd"} {
		s.run(s.event(name, fields{
			"agent_id": testAgent, "prompt_id": say, "permission_mode": say, "last_assistant_message": say, "message": say, "title": say, "source": say, "reason": say, "custom": fields{say: say},
			"tool_name": "Bash", "tool_use_id": "toolu_9", "tool_input": fields{"command": say, "description": say}, "tool_response": fields{"backgroundTaskId": "b9", "stdout": say, "stderr": say},
		}))
	}
	list := []any{}
	for _, id := range []string{"b1", "b2", "m1", "c1", "b99"} {
		list = append(list, fields{"id": id, "type": "shell", "status": "running", "description": say, "command": say, "name": say, "server": say, "tool": say, "agent_type": say})
	}
	for _, more := range []fields{
		{"background_tasks": list},
		{"background_tasks": say},
		{"background_tasks": list, "hook_event_name": say},
		{"background_tasks": list, "stop_hook_active": say, "effort": fields{"level": say}, "session_crons": []any{say}},
	} {
		more["last_assistant_message"], more["permission_mode"], more["prompt_id"] = say, say, say
		s.run(s.payload(more))
		s.tick()
	}
	s.run(`{"hook_event_name":"SubagentStop","x":"` + secret)
	seen := 0
	err := filepath.WalkDir(s.state().Path(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		seen++
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) {
			at := strings.Index(string(data), secret)
			t.Errorf("%s holds it: %.200q", filepath.Base(path), data[max(0, at-120):])
		}
		return err
	})
	if err != nil || seen < 3 {
		t.Errorf("looked at %d files: %v", seen, err)
	}
	if len(s.snapshot().Stops) == 0 || s.snapshot().Launches["c1"].Task == "" {
		t.Error("the secret was seeded into nothing")
	}
}
