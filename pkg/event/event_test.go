package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

const example = `{"session_id":"62dfedaf-72b8-418a-a11c-30c406412c34","transcript_path":"/h/p.jsonl","cwd":"/p","prompt_id":"x","permission_mode":"default","effort":{"level":"high"},
"agent_id":"af40843b4cd16fa52","agent_type":"general-purpose","hook_event_name":"SubagentStop","stop_hook_active":true,
"agent_transcript_path":"/h/p/subagents/agent-af40843b4cd16fa52.jsonl","last_assistant_message":"waiting…",
"background_tasks":[{"id":"af40843b4cd16fa52","type":"subagent","status":"running","description":"d","agent_type":"general-purpose"},
{"id":"b3l1piyt6","type":"shell","status":"running","description":"sleep","command":"sleep 45"}],"session_crons":[]}`

func TestAPayload(t *testing.T) {
	t.Parallel()
	e, err := Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	for what, ok := range map[string]bool{
		"name":       e.Name == SubagentStop,
		"session":    e.SessionID == "62dfedaf-72b8-418a-a11c-30c406412c34",
		"transcript": e.TranscriptPath == "/h/p.jsonl" && e.AgentTranscript == "/h/p/subagents/agent-af40843b4cd16fa52.jsonl",
		"cwd":        e.Cwd == "/p",
		"agent":      e.AgentID == "af40843b4cd16fa52" && e.AgentType == "general-purpose" && e.AgentTypeGiven && !e.EmptyAgentType(),
		"message":    e.LastMessage == "waiting…" && e.LastMessageGiven,
		"active":     e.StopHookActive,
		"tasks":      e.RegistryGiven && len(e.Tasks) == 2 && e.Tasks[1] == Task{ID: "b3l1piyt6", Type: TypeShell, Status: "running", Command: "sleep 45"},
		"lists":      e.Lists("b3l1piyt6") && !e.Lists("b9"),
		"candidates": len(e.Candidates()) == 1 && e.Candidates()[0].ID == "b3l1piyt6",
		"sum":        e.Sum != [16]byte{},
	} {
		if !ok {
			t.Errorf("%s: %+v", what, e)
		}
	}
}

// Every field may be missing, null or of another type: it has its zero value
// then, and the others stay as they are.
func TestEveryFieldMayBeMissingOrOfAnotherType(t *testing.T) {
	t.Parallel()
	looks := map[string]func(Event) any{
		"hook_event_name":        func(e Event) any { return e.Name },
		"session_id":             func(e Event) any { return e.SessionID },
		"transcript_path":        func(e Event) any { return e.TranscriptPath },
		"cwd":                    func(e Event) any { return e.Cwd },
		"agent_id":               func(e Event) any { return e.AgentID },
		"agent_type":             func(e Event) any { return e.AgentType },
		"agent_transcript_path":  func(e Event) any { return e.AgentTranscript },
		"last_assistant_message": func(e Event) any { return e.LastMessage },
		"stop_hook_active":       func(e Event) any { return e.StopHookActive },
		"background_tasks":       func(e Event) any { return e.RegistryGiven || len(e.Tasks) > 0 },
		"tool_name":              func(e Event) any { return e.Tool },
		"tool_use_id":            func(e Event) any { return e.ToolUseID },
		"teammate_name":          func(e Event) any { return e.TeammateName },
		"team_name":              func(e Event) any { return e.TeamName },
	}
	values := map[string]string{}
	for key := range looks {
		values[key] = `"value of ` + key + `"`
	}
	values["stop_hook_active"], values["background_tasks"] = "true", `[{"id":"b1","type":"shell"}]`
	build := func(change, to string) []byte {
		var b strings.Builder
		b.WriteString(`{"first":0`)
		for key, value := range values {
			if key == change {
				value = to
			}
			if value != "" {
				b.WriteString(`,"` + key + `":` + value)
			}
		}
		return []byte(b.String() + "}")
	}
	for key := range looks {
		for _, to := range []string{"", "null", "7", "-1.5e9", "false", "{}", `{"a":[1]}`, "[]", `["x"]`, `"x"`, "true"} {
			e, err := Parse(build(key, to))
			if err != nil {
				t.Fatalf("%s %s: %v", key, to, err)
			}
			for other, look := range looks {
				got := look(e)
				full := got == gjson.Parse(values[other]).Value() || other == "background_tasks" && got == true
				if other != key && !full {
					t.Errorf("with %s %s, %s is %v", key, to, other, got)
				}
				empty := got == "" || got == false
				takes := to == `"x"` || key == "stop_hook_active" && to == "true" || key == "background_tasks" && strings.HasPrefix(to, "[")
				if key == "stop_hook_active" || key == "background_tasks" {
					takes = takes && to != `"x"`
				}
				if other == key && empty == takes {
					t.Errorf("%s %s is %v", key, to, got)
				}
			}
		}
	}
}

func TestTheMarkOfAnEphemeralEvent(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]bool{
		`{"agent_type":""}`: true, `{}`: false, `{"agent_type":null}`: false, `{"agent_type":7}`: false, `{"agent_type":"fork"}`: false, `{"agent_type":"general-purpose"}`: false, `{"agent_type":" "}`: false,
	} {
		if e, err := Parse([]byte(payload)); err != nil || e.EmptyAgentType() != want {
			t.Errorf("%s: %v, %v", payload, e.EmptyAgentType(), err)
		}
	}
}

func TestNoSessionId(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{`{}`, `{"session_id":""}`, `{"session_id":null}`, `{"session_id":"null"}`, `{"session_id":7}`, `{"session_id":["x"]}`} {
		if e, err := Parse([]byte(payload)); err != nil || e.SessionID != "" {
			t.Errorf("%s: %q, %v", payload, e.SessionID, err)
		}
	}
}

func TestTheListOfTasks(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, list string
		given      bool
		ids        string
	}{
		{"empty", `[]`, true, ""},
		{"missing", ``, false, ""},
		{"null", `null`, false, ""},
		{"an object", `{"id":"b1"}`, false, ""},
		{"a text", `"b1"`, false, ""},
		{"entries of other types", `[7,null,"b1",[],true,{"id":"b2"}]`, true, "b2"},
		{"entries without an id", `[{},{"id":""},{"id":7},{"id":null}]`, true, ""},
		{"two of one id", `[{"id":"b1","type":"shell"},{"id":"b1","type":"monitor"},{"id":"b2"}]`, true, "b1 b2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			payload := `{"background_tasks":` + c.list + `}`
			if c.list == "" {
				payload = `{}`
			}
			e, err := Parse([]byte(payload))
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, task := range e.Tasks {
				ids = append(ids, task.ID)
			}
			if e.RegistryGiven != c.given || strings.Join(ids, " ") != c.ids {
				t.Errorf("given %v, %q", e.RegistryGiven, ids)
			}
			if len(e.Tasks) > 0 && e.Tasks[0].ID == "b1" && e.Tasks[0].Type != TypeShell {
				t.Errorf("the second of one id counts: %+v", e.Tasks)
			}
		})
	}
}

func TestWhichTasksCanBeOwn(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{
		"shell": true, "monitor": true, "subagent": true, "workflow": true, "MCP task": true,
		"teammate": false, "cloud session": false, "dream": false, "auto-mode scan": false, "memory import": false, "local_bash": false, "monitor_mcp": false, "Shell": false, "": false,
	} {
		for status, unfinished := range map[string]bool{"running": true, "pending": true, "": true, "completed": false, "failed": false, "killed": false, "Running": false} {
			if got := (Task{ID: "b1", Type: kind, Status: status}).CanBeOwn(); got != (want && unfinished) {
				t.Errorf("%q %q: %v", kind, status, got)
			}
		}
	}
}

func TestWhatIsNoPayload(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "null", "[]", "7", `"x"`, "{", "}", "{]", "{}}", "{}{}", "{,}", `{"a":1,}`, "\x00", "not json", "\xff", strings.Repeat("[", 5<<20), `{"a":` + strings.Repeat("[", 5<<20), strings.Repeat(`{"a":`, 1<<20)} {
		if e, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.30q became %+v", text, e)
		}
	}
	for _, text := range []string{"{}", " {} ", "\ufeff{}", "\ufeff\r\n{}\r\n", "{\"x\":\"\xff\xfe\"}"} {
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestALargeMessage(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("Ünïcödé \\\" \n", 5<<20/16)
	payload, err := json.Marshal(map[string]any{"last_assistant_message": large, "agent_id": "a1"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Parse(payload)
	if err != nil || e.LastMessage != large || e.AgentID != "a1" {
		t.Errorf("%d bytes came as %d, %v", len(large), len(e.LastMessage), err)
	}
}

func TestTheAnswer(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"plain", "", "two\nlines and \"quotes\" and \\ and <tags> & é 世", "\x00\x1b[31m\u2028", strings.Repeat("x", 3000)} {
		answer := BlockAnswer(reason)
		var got map[string]string
		if err := json.Unmarshal(answer, &got); err != nil || len(got) != 2 || got["decision"] != "block" || got["reason"] != reason || bytes.Count(answer, []byte("\n")) != 1 {
			t.Errorf("%q became %q, %v", reason, answer, err)
		}
	}
}

// recorded are the payloads of all recordings.
func recorded(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "replay", "testdata", "captures", "*", "*", "events.jsonl"))
	if err != nil || len(paths) < 27 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	var out []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
			out = append(out, gjson.Get(line, "payload").Raw)
		}
	}
	return out
}

func TestEveryRecordedPayload(t *testing.T) {
	t.Parallel()
	for _, payload := range recorded(t) {
		e, err := Parse([]byte(payload))
		if err != nil || e.Name == "" || e.SessionID == "" || e.TranscriptPath == "" {
			t.Errorf("%.300s: %+v, %v", payload, e, err)
		}
	}
}

// A list without end costs no more than a long one.
func TestMoreTasksThanAnySessionHas(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"hook_event_name":"SubagentStop","background_tasks":[`)
	for i := range 2 * maxTasks {
		fmt.Fprintf(&b, `{"id":"b%d","type":"shell"},`, i)
	}
	b.WriteString(`{"id":"last"}]}`)
	e, err := Parse([]byte(b.String()))
	if err != nil || len(e.Tasks) != maxTasks || e.Tasks[maxTasks-1].ID != fmt.Sprint("b", maxTasks-1) {
		t.Errorf("%d tasks, %v", len(e.Tasks), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	for i, payload := range recorded(f) {
		if i%10 == 0 {
			f.Add([]byte(payload))
		}
	}
	f.Add([]byte("\ufeff{\"background_tasks\":[{\"id\":\"b1\"},{\"id\":\"b1\"}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Parse(data)
		var object map[string]any
		trimmed := bytes.TrimPrefix(data, []byte("\ufeff"))
		if valid := json.Unmarshal(trimmed, &object) == nil && object != nil; err == nil && !valid && json.Valid(trimmed) {
			t.Errorf("%q is no object and became %+v", data, e)
		}
		seen := map[string]bool{}
		for _, task := range e.Tasks {
			if task.ID == "" || seen[task.ID] || !e.RegistryGiven {
				t.Errorf("task %+v", task)
			}
			seen[task.ID] = true
		}
		for _, task := range e.Candidates() {
			if task.ID == e.AgentID || !task.CanBeOwn() {
				t.Errorf("candidate %+v", task)
			}
		}
		if e.SessionID == "null" || e.EmptyAgentType() && e.AgentType != "" {
			t.Errorf("%+v", e)
		}
	})
}
