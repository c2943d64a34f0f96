package handler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
)

// Whose files an event means: what it gives as the agent's transcript can be
// anything.
func TestAnEventThatGivesAWrongPath(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]func(s *session) string{
		"the root folder": func(*session) string { return "/" },
		"the folder":      func(s *session) string { return s.dir },
		"the coordinator": func(s *session) string { return s.main() },
		"a sibling":       func(s *session) string { return s.agentFile("a2") },
		"nowhere":         func(*session) string { return "/nowhere/x.jsonl" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.write(s.agentFile("a2"), s.call("toolu_s", "Bash", `{"run_in_background":true}`)+"\n"+s.launched("toolu_s", "b2")+"\n"+s.says("I wait.")+"\n")
			s.check(s.payload(fields{"agent_transcript_path": given(s)}), blocked)
			s.tick()
			s.check(s.payload(fields{"agent_id": "a2", "agent_transcript_path": s.agentFile("a2"), "background_tasks": []any{task("b2", "shell", "running")}}), verdict{gate.OwnTask, "b2"})
			snap, err := ledger.Read(t.Context(), s.state(), testSession, nil)
			if err != nil || snap.Agents[testAgent].Transcript != s.agentFile(testAgent) {
				t.Errorf("recorded %q, %v", snap.Agents[testAgent].Transcript, err)
			}
		})
	}
}

// An agent of a workflow lies deeper, and its stop may say so or not.
func TestAnAgentOfAWorkflow(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"flat", "nested", "none"} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			nested := filepath.Join(filepath.Dir(s.agentFile("w1")), "workflows", "wf_1", "agent-w1.jsonl")
			s.write(nested, s.call("toolu_w", "Bash", `{"run_in_background":true}`)+"\n"+s.launched("toolu_w", "b3")+"\n"+s.says("I wait.")+"\n")
			s.write(strings.TrimSuffix(nested, ".jsonl")+".meta.json", "{}")
			path := map[string]any{"flat": s.agentFile("w1"), "nested": nested, "none": gone}[given]
			s.check(s.payload(fields{"agent_id": "w1", "agent_transcript_path": path, "background_tasks": []any{task("b3", "shell", "running")}}), verdict{gate.OwnTask, "b3"})
		})
	}
}

// Of an agent that has files, an event with an empty type is none of an internal
// fork: that is said in the log.
func TestAnEmptyTypeOfAnAgentWithFiles(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.write(strings.TrimSuffix(s.agentFile(testAgent), ".jsonl")+".meta.json", "{}")
	logged := func() int {
		data, err := os.ReadFile(filepath.Join(s.state().Path(), "hook.log"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Count(string(data), "empty agent_type")
	}
	s.check(s.payload(fields{"agent_id": "a77", "agent_type": "", "agent_transcript_path": s.agentFile("a77")}), isEphemeral)
	if logged() != 0 {
		t.Error("an internal fork is in the log")
	}
	s.check(s.payload(fields{"agent_type": ""}), isEphemeral)
	if logged() != 1 {
		t.Error("not in the log")
	}
}

// Two agents that woke each other by messages hold for each other never, and what
// an agent only woke is not its own where somebody else launched it.
func TestAgentsThatWokeEachOther(t *testing.T) {
	t.Parallel()
	s := bare(t)
	s.write(s.agentFile("a2"), s.says("I wait.")+"\n")
	s.mustRun(s.toolUse(testAgent, "SendMessage", fields{"resumedAgentId": "a2"}))
	s.mustRun(s.toolUse("a2", "SendMessage", fields{"resumedAgentId": testAgent}))
	both := []any{task(testAgent, "subagent", "running"), task("a2", "subagent", "running")}
	s.check(s.payload(fields{"background_tasks": both}), unowned)
	s.check(s.payload(fields{"agent_id": "a2", "agent_transcript_path": s.agentFile("a2"), "background_tasks": both}), unowned)
	s.tick()
	s.appendTo(s.main(), s.call("toolu_m", "Agent", `{}`))
	s.appendTo(s.main(), strings.Replace(s.launched("toolu_m", "x"), "Command running in background with ID: x.", `Async agent launched successfully.\nagentId: a2 (x)`, 1))
	s.check(s.payload(fields{"background_tasks": both}), nothingOwn)
}
