package transcript

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
)

func momentsOf(t *testing.T, content string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent-a1.jsonl")
	hosttest.Write(t, time.Now(), path, content)
	var out []string
	names := map[MomentKind]string{Prompted: "prompted", Called: "called", Answered: "answered", Said: "said", Rested: "rested"}
	err := Moments(context.Background(), host.Files{}, Source{Path: path}, func(m Moment) {
		words := []string{names[m.Kind], m.At.Format("05"), m.Call, m.Tool, m.Text, m.About, m.To}
		if m.Failed {
			words = append(words, "failed")
		}
		out = append(out, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// turnOf is a line of the agent a1's transcript at a second.
func turnOf(second int, kind, content, more string) string {
	return fmt.Sprintf(`{"isSidechain":true,"agentId":"a1","type":%q,"message":{"role":%q,"content":%s%s},"timestamp":"2026-11-30T12:00:%02d.000Z"}`+"\n", kind, kind, content, more, second)
}

func TestMoments(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct{ name, content, want string }{
		{"a prompt", turnOf(1, "user", `"go"`, ""), "prompted 01"},
		{"a command, with its caller's words", turnOf(2, "assistant", `[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make","description":"build it"}}]`, ""), "called 02 t1 Bash make build it|said 02"},
		{"a file", turnOf(2, "assistant", `[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/x"}}]`, ""), "called 02 t1 Read /x|said 02"},
		{"a message", turnOf(2, "assistant", `[{"type":"tool_use","id":"t1","name":"SendMessage","input":{"to":"bob","message":"secret"}}]`, ""), "called 02 t1 SendMessage bob|said 02"},
		{"an answer", turnOf(3, "user", `[{"type":"tool_result","tool_use_id":"t1","content":"x"}]`, ""), "answered 03 t1"},
		{"an error", turnOf(3, "user", `[{"type":"tool_result","tool_use_id":"t1","content":"x","is_error":true}]`, ""), "answered 03 t1 failed"},
		{"words before a call", turnOf(4, "assistant", `[{"type":"text","text":"now"}]`, `,"stop_reason":"tool_use"`), "said 04"},
		{"the last words", turnOf(5, "assistant", `[{"type":"text","text":"done"}]`, `,"stop_reason":"end_turn"`), "rested 05"},
		{"an interrupt", turnOf(6, "user", `[{"type":"text","text":"[Request interrupted by user]"}]`, ""), "rested 06"},
		{"a line of another agent", strings.Replace(turnOf(1, "user", `"go"`, ""), `"a1"`, `"a2"`, 1), ""},
		{"a line without a time", strings.Replace(turnOf(1, "user", `"go"`, ""), "timestamp", "time", 1), ""},
		{"a last line without an end", strings.TrimSuffix(turnOf(1, "user", `"go"`, ""), "\n"), ""},
		{"a torn line before a whole one", `{"type":"us` + "\n" + turnOf(1, "user", `"go"`, ""), "prompted 01"},
		{"a line of five megabytes before a whole one", turnOf(1, "user", `"`+strings.Repeat("x", 5<<20)+`"`, "") + turnOf(2, "user", `"go"`, ""), "prompted 02"},
		{"a line that the buffer does not hold", turnOf(1, "user", `"`+strings.Repeat("x", 1<<20)+`"`, "") + turnOf(2, "user", `"go"`, ""), "prompted 01|prompted 02"},
	} {
		if got := strings.Join(momentsOf(t, c.content), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	got := momentsOf(t, turnOf(2, "assistant", `[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"x`+long+`"}}]`, ""))[0]
	if !utf8.ValidString(got) || len(got) > maxMomentText+30 {
		t.Errorf("a long command became %d bytes of text, valid: %v", len(got), utf8.ValidString(got))
	}
}
