package model

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ask posts a request and returns the answer's body.
func ask(t *testing.T, s *Server, body map[string]any) string {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL+"/v1/messages?beta=true", "application/json", strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

type content struct {
	Content []struct {
		Type, Text, ID, Name string
		Input                map[string]any
	}
	StopReason string `json:"stop_reason"`
}

func plainAnswer(t *testing.T, s *Server, body map[string]any) content {
	t.Helper()
	var c content
	if err := json.Unmarshal([]byte(ask(t, s, body)), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func tools(names ...string) []map[string]any {
	var out []map[string]any
	for _, n := range names {
		out = append(out, map[string]any{"name": n})
	}
	return out
}

func user(c any) map[string]any      { return map[string]any{"role": "user", "content": c} }
func assistant(c any) map[string]any { return map[string]any{"role": "assistant", "content": c} }

func toolResult(id, text string) []map[string]any {
	return []map[string]any{{"type": "tool_result", "tool_use_id": id, "content": text}}
}

func start(t *testing.T, scripts map[string]Script) *Server {
	t.Helper()
	s, err := Start(scripts, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func launcher(turn int, r Request) []Block {
	if turn == 0 {
		return []Block{Launch("sleeper", "Bash", map[string]any{"command": "sleep 9"})}
	}
	return []Block{Text("done " + r.Results()["sleeper"])}
}

func TestLaunchIsLearnedFromTheResultOfTheLaunchOnly(t *testing.T) {
	s := start(t, map[string]Script{"a": launcher})
	first := plainAnswer(t, s, map[string]any{"tools": tools("Bash"), "messages": []any{user(Prompt("a"))}})
	if first.StopReason != "tool_use" || first.Content[0].Name != "Bash" {
		t.Fatalf("answer: %+v", first)
	}
	id := first.Content[0].ID
	use := []map[string]any{{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{}}}
	// Another tool's result names another task first: it launched nothing.
	results := append(toolResult("toolu_other", "Command running in background with ID: bothers0. Output"),
		toolResult(id, "Command running in background with ID: bmine0001. Output is being written to: /x/bmine0001.output.")...)
	last := plainAnswer(t, s, map[string]any{"tools": tools("Bash"), "messages": []any{
		user(Prompt("a")), assistant(use), user(results)}})
	if !strings.HasPrefix(last.Content[0].Text, "done Command running") || last.StopReason != "end_turn" {
		t.Errorf("answer: %+v", last)
	}
	if got := s.Tasks(); len(got) != 1 || got[0].ID != "bmine0001" || got[0].Owner != "a" || got[0].Label != "sleeper" {
		t.Errorf("tasks: %+v", got)
	}
}

func TestDeferredToolIsSearchedForFirst(t *testing.T) {
	s := start(t, map[string]Script{"a": func(turn int, r Request) []Block {
		return []Block{Use("TaskStop", map[string]any{"task_id": "b1"})}
	}})
	first := plainAnswer(t, s, map[string]any{"tools": tools("Bash", "ToolSearch"), "messages": []any{user(Prompt("a"))}})
	if first.Content[0].Name != "ToolSearch" || first.Content[0].Input["query"] != "select:TaskStop" {
		t.Fatalf("answer: %+v", first)
	}
	found := []map[string]any{{"type": "tool_result", "tool_use_id": first.Content[0].ID,
		"content": []map[string]any{{"type": "tool_reference", "tool_name": "TaskStop"}}}}
	second := plainAnswer(t, s, map[string]any{"tools": tools("Bash", "ToolSearch"), "messages": []any{user(Prompt("a")),
		assistant([]map[string]any{{"type": "tool_use", "id": first.Content[0].ID, "name": "ToolSearch", "input": map[string]any{}}}),
		user(found)}})
	if second.Content[0].Name != "TaskStop" {
		t.Errorf("answer: %+v", second)
	}
	if asked := s.Of("a"); asked[1].Request.Turn != 0 {
		t.Errorf("a search counted as turn %d", asked[1].Request.Turn)
	}
}

func TestMissingToolGivesWayOnlyIfOptional(t *testing.T) {
	agent := Launch("child", "Agent", nil)
	optional := agent
	optional.Optional = true
	s := start(t, map[string]Script{
		"needs": func(int, Request) []Block { return []Block{agent} },
		"may":   func(int, Request) []Block { return []Block{optional} },
	})
	for script, want := range map[string]string{"needs": "", "may": "Bash"} {
		got := plainAnswer(t, s, map[string]any{"tools": tools("Bash"), "messages": []any{user(Prompt(script))}})
		if got.Content[0].Name != want {
			t.Errorf("%s: %+v", script, got)
		}
	}
	if !s.Lacks("child") || len(s.Odd()) != 1 {
		t.Errorf("lacks %v, odd %q", s.Lacks("child"), s.Odd())
	}
	old := plainAnswer(t, s, map[string]any{"tools": tools("Task"), "messages": []any{user(Prompt("needs"))}})
	if old.Content[0].Name != "Task" {
		t.Errorf("an old client was offered %+v", old)
	}
}

func TestConversationIsToldByItsLastMarker(t *testing.T) {
	for _, row := range []struct {
		name     string
		messages []any
		script   string
		turn     int
	}{
		{"a prompt between reminders", []any{user([]any{
			map[string]any{"type": "text", "text": "a reminder"},
			map[string]any{"type": "text", "text": Prompt("a")}}), assistant("x"), user("more")}, "a", 1},
		{"a fork carries its parent's history", []any{user(Prompt("a")), assistant("x"), user("Your directive: " + Prompt("f"))}, "f", 0},
		{"the client talks about an agent", []any{user(Prompt("a")), assistant("x"), user(`Background agent "` + Prompt("f") + `" stopped`)}, "a", 1},
		{"a tool prints a marker", []any{user(Prompt("a")), assistant("x"), user(toolResult("t", "\n"+Prompt("f")))}, "a", 1},
		{"no marker", []any{user("hello")}, "", 0},
	} {
		body, _ := json.Marshal(map[string]any{"messages": row.messages})
		r, err := parse(body)
		if err != nil || r.Script != row.script || r.Turn != row.turn {
			t.Errorf("%s: script %q turn %d, %v", row.name, r.Script, r.Turn, err)
		}
	}
}

func TestWhyAScriptIsAskedAgain(t *testing.T) {
	parsed := func(text string) Request {
		body, _ := json.Marshal(map[string]any{"messages": []any{user(Prompt("a")), assistant("x"), user(text)}})
		r, err := parse(body)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if got := parsed("Stop hook feedback:\nwait for b1").Feedback(); got != "wait for b1" {
		t.Errorf("feedback %q", got)
	}
	if !parsed("<task-notification>\n<task-id>b1</task-id>").Notified() {
		t.Error("a notification was missed")
	}
	if r := parsed("[SUGGESTION MODE: what next?]"); !r.ephemeral() || r.Feedback() != "" || r.Notified() {
		t.Error("a suggestion was missed")
	}
}

func TestStreamedAnswer(t *testing.T) {
	s := start(t, map[string]Script{"a": launcher})
	body := ask(t, s, map[string]any{"stream": true, "tools": tools("Bash"), "messages": []any{user(Prompt("a"))}})
	var events []string
	for sc := bufio.NewScanner(strings.NewReader(body)); sc.Scan(); {
		if name, ok := strings.CutPrefix(sc.Text(), "event: "); ok {
			events = append(events, name)
		}
	}
	want := "message_start content_block_start content_block_delta content_block_stop message_delta message_stop"
	if got := strings.Join(events, " "); got != want {
		t.Errorf("events %s", got)
	}
	if !strings.Contains(body, `"partial_json":"{\"command\":\"sleep 9\"}"`) || !strings.Contains(body, `"stop_reason":"tool_use"`) {
		t.Errorf("body %s", body)
	}
}

func TestHelpersAndCounting(t *testing.T) {
	s := start(t, nil)
	if got := plainAnswer(t, s, map[string]any{"messages": []any{user(Prompt("a"))}}); got.Content[0].Text == "" {
		t.Errorf("a helper got %+v", got)
	}
	if len(s.Asked()) != 0 {
		t.Error("a helper was recorded")
	}
	resp, err := http.Post(s.URL+"/v1/messages/count_tokens", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if out, _ := io.ReadAll(resp.Body); !strings.Contains(string(out), "input_tokens") {
		t.Errorf("count_tokens: %s", out)
	}
}

func TestWaitEndsAtTheDeadline(t *testing.T) {
	s := start(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := s.Wait(ctx, func() bool { return false }); err == nil {
		t.Error("a condition that never holds was waited for without an error")
	}
}
