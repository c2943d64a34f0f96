package transcript

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
)

// What the last lines of a transcript say about what its owner waits for.
func TestWhatAnAgentWaitsFor(t *testing.T) {
	t.Parallel()
	call := func(message, id, name string) string {
		return `{"type":"assistant","agentId":"a1","timestamp":"2026-11-30T12:00:00.000Z","message":{"id":"` + message + `","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{}}]}}` + "\n"
	}
	result := func(id string) string {
		return `{"type":"user","agentId":"a1","timestamp":"2026-11-30T12:00:05.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"x"}]}}` + "\n"
	}
	says := `{"type":"assistant","agentId":"a1","message":{"id":"m9","content":[{"type":"text","text":"done"}]}}` + "\n"
	interrupt := `{"type":"user","agentId":"a1","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n"
	aside := `{"type":"attachment","agentId":"a1","timestamp":"2026-11-30T12:00:09.000Z","attachment":{"type":"queued_command","prompt":"hello"}}` + "\n"
	rows := []struct {
		name, lines, want string
		forAgent          bool
	}{
		{"nothing at all", "", "", false},
		{"a call and no answer", call("m1", "t1", "Bash"), "Bash", false},
		{"a call and its answer", call("m1", "t1", "Bash") + result("t1"), "", false},
		{"two calls of one message, one answered", call("m1", "t1", "Bash") + call("m1", "t2", "Read") + result("t1"), "Read", false},
		{"an unanswered call, then it spoke again", call("m1", "t1", "Bash") + says, "", false},
		{"an unanswered call, then an interrupt", call("m1", "t1", "Bash") + interrupt, "", false},
		{"an answer of another call", call("m1", "t1", "Bash") + result("t7"), "Bash", false},
		{"messages that came meanwhile", call("m1", "t1", "Bash") + aside, "Bash", false},
		{"lines without message ids", call("", "t1", "Bash") + call("", "t2", "Read"), "Read", false},
		{"a child in the foreground", call("m1", "t1", "Agent"), "Agent", true},
		{"its last word", call("m1", "t1", "Bash") + result("t1") + says, "", false},
		{"a partial line behind the call", call("m1", "t1", "Bash") + `{"type":"user","agen`, "Bash", false},
		{"a last line without its end", call("m1", "t1", "Bash") + strings.TrimSuffix(result("t1"), "\n"), "", false},
		{"lines that are another agent's", call("m1", "t1", "Bash") + strings.ReplaceAll(says, `"a1"`, `"a2"`), "Bash", false},
		{"a hole of NULs", call("m1", "t1", "Bash") + strings.Repeat("\x00", 50) + result("t1"), "", false},
		{"an answer of 200 kB before the call", strings.Replace(result("t0"), `"x"`, `"`+strings.Repeat("x", 200<<10)+`"`, 1) + call("m1", "t1", "Bash"), "Bash", false},
		{"an answer of 200 kB behind the call", call("m1", "t1", "Bash") + call("m1", "t2", "Read") + strings.Replace(result("t1"), `"x"`, `"`+strings.Repeat("x", 200<<10)+`"`, 1), "Read", false},
	}
	for _, r := range rows {
		path := filepath.Join(t.TempDir(), "agent-a1.jsonl")
		at := time.Date(2026, 11, 30, 12, 1, 0, 0, time.UTC)
		hosttest.Write(t, at, path, r.lines)
		rest := AtRest(host.Files{}, Source{Path: path, Owner: "a1"})
		var got []string
		for _, c := range rest.Waits {
			got = append(got, c.Name)
		}
		if text := strings.Join(got, " "); text != r.want || rest.ForAgent() != r.forAgent {
			t.Errorf("%s: waits for %q (an agent: %v), want %q", r.name, text, rest.ForAgent(), r.want)
		}
		if !rest.Written.Equal(at) {
			t.Errorf("%s: written at %s", r.name, rest.Written)
		}
		if want := time.Date(2026, 11, 30, 12, 0, 9, 0, time.UTC); strings.Contains(r.lines, "12:00:09") && !rest.Told.Equal(want) {
			t.Errorf("%s: the latest line is of %s", r.name, rest.Told)
		}
	}
	if r := AtRest(host.Files{}, Source{Path: filepath.Join(t.TempDir(), "missing"), Owner: "a1"}); len(r.Waits) > 0 || !r.Written.IsZero() {
		t.Errorf("a missing file gave %+v", r)
	}
}

// Every agent of the recordings that came to its end waits for nothing.
func TestRecordedAgentsWaitForNothingAtTheirEnd(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../replay/testdata/captures/*/*/claude/projects/*/*/subagents/*.jsonl")
	if err != nil || len(paths) < 27 {
		t.Fatalf("found %d transcripts, %v", len(paths), err)
	}
	for _, path := range paths {
		if r := AtRest(host.Files{}, Source{Path: path, Owner: AgentOf(path)}); len(r.Waits) > 0 || r.Told.IsZero() {
			t.Errorf("%s: %+v", path, r)
		}
	}
}
