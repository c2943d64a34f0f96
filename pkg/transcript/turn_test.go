package transcript

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
)

const (
	turnAsked   = `{"type":"user","timestamp":"2026-03-01T12:00:00Z","isSidechain":false,"message":{"role":"user","content":"go on"}}`
	turnCalls   = `{"type":"assistant","timestamp":"2026-03-01T12:00:01Z","message":{"content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}],"stop_reason":"tool_use"}}`
	turnResult  = `{"type":"user","timestamp":"2026-03-01T12:00:02Z","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`
	turnSaid    = `{"type":"assistant","timestamp":"2026-03-01T12:00:03Z","message":{"content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}}`
	turnQueue   = `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-01T12:00:09Z","content":"x"}`
	turnSummary = `{"type":"system","subtype":"stop_hook_summary","timestamp":"2026-03-01T12:00:09Z"}`
)

func turnUser(content string) string {
	return fmt.Sprintf(`{"type":"user","timestamp":"2026-03-01T12:00:05Z","message":{"role":"user","content":%s}}`, content)
}

func turnAnswer(content, reason string) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":"2026-03-01T12:00:05Z","message":{"content":%s,"stop_reason":%s}}`, content, reason)
}

func TestWhetherTheCoordinatorIsBusy(t *testing.T) {
	t.Parallel()
	text := `[{"type":"text","text":"so"}]`
	for name, test := range map[string]struct {
		lines    []string
		busy, ok bool
		at       int // second of the minute
	}{
		"nothing yet":                               {nil, false, false, 0},
		"only bookkeeping":                          {[]string{turnQueue, turnSummary}, false, false, 0},
		"asked":                                     {[]string{turnAsked}, true, true, 0},
		"calls a tool":                              {[]string{turnAsked, turnCalls}, true, true, 1},
		"has a result":                              {[]string{turnAsked, turnCalls, turnResult}, true, true, 2},
		"has answered":                              {[]string{turnAsked, turnCalls, turnResult, turnSaid}, false, true, 3},
		"has answered, and bookkeeping followed":    {[]string{turnAsked, turnSaid, turnQueue, turnSummary}, false, true, 3},
		"begins a message whose call is to come":    {[]string{turnSaid, turnAnswer(text, `"tool_use"`)}, true, true, 5},
		"says something, by an old client":          {[]string{turnAsked, turnAnswer(text, `null`)}, false, true, 5},
		"thinks":                                    {[]string{turnSaid, turnAnswer(`[{"type":"thinking","thinking":"hm"}]`, `null`)}, true, true, 5},
		"thought, and had nothing to say":           {[]string{turnAsked, turnAnswer(`[{"type":"thinking","thinking":"hm"}]`, `"end_turn"`)}, false, true, 5},
		"was interrupted":                           {[]string{turnAsked, turnUser(`[{"type":"text","text":"[Request interrupted by user]"}]`)}, false, true, 5},
		"was interrupted in a tool":                 {[]string{turnCalls, turnUser(`"[Request interrupted by user for tool use]"`)}, false, true, 5},
		"was asked about interrupts":                {[]string{turnSaid, turnUser(`"why [Request interrupted by user]?"`)}, true, true, 5},
		"a person's own command printed":            {[]string{turnSaid, turnUser(`"<command-name>/model</command-name>"`), turnUser(`"<local-command-stdout>ok</local-command-stdout>"`)}, false, true, 5},
		"a person's shell printed":                  {[]string{turnSaid, turnUser(`"<bash-input>ls</bash-input>"`), turnUser(`"<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>"`)}, false, true, 5},
		"woken by a notification":                   {[]string{turnSaid, turnUser(`"<task-notification>\n<task-id>b1</task-id>\n</task-notification>"`)}, true, true, 5},
		"an agent's lines are not its own":          {[]string{turnSaid, strings.Replace(turnAsked, `"isSidechain":false`, `"isSidechain":true,"agentId":"a1"`, 1)}, false, true, 3},
		"the last line is half written":             {[]string{turnSaid, turnAsked[:40]}, false, true, 3},
		"a torn line and a hole come last":          {[]string{turnAsked, "\x00\x00\x00" + turnSaid, turnAsked[:40] + turnAsked[20:], "\x00\x00"}, false, true, 3},
		"a long line comes last":                    {[]string{turnSaid, turnUser(`"` + strings.Repeat("x", 200<<10) + `"`)}, true, true, 5},
		"a line without a time":                     {[]string{`{"type":"user","message":{"content":"x"}}`}, true, true, -1},
		"a last line that is too long to look at":   {[]string{turnSaid, turnUser(`"` + strings.Repeat("x", 2<<20) + `"`)}, false, false, 0},
		"an answer in the oldest form, as a string": {[]string{turnAsked, turnAnswer(`"so"`, `null`)}, false, true, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Join(test.lines, "\n")
			if !strings.Contains(name, "half written") {
				text += "\n"
			}
			path := filepath.Join(t.TempDir(), "main.jsonl")
			hosttest.Write(t, time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC), path, text)
			busy, at, ok := Turn(host.Files{}, path)
			want := time.Date(2026, 3, 1, 12, 0, max(test.at, 0), 0, time.UTC)
			if !test.ok || test.at < 0 {
				want = time.Time{}
			}
			if busy != test.busy || ok != test.ok || !at.Equal(want) {
				t.Errorf("busy %v at %s, %v", busy, at, ok)
			}
		})
	}
	if _, _, ok := Turn(host.Files{}, filepath.Join(t.TempDir(), "none")); ok {
		t.Error("told of a file that is not there")
	}
}

// In every recorded session, as it stood after each of its lines, the coordinator
// is idle just behind an answer that ended its turn.
func TestTheCoordinatorInRecordings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../replay/testdata/captures/*/*/claude/projects/*/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	turns := 0
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		grown := filepath.Join(t.TempDir(), "main.jsonl")
		out, err := os.Create(grown)
		if err != nil {
			t.Fatal(err)
		}
		working := false
		var last time.Time
		in := bufio.NewScanner(file)
		for in.Buffer(nil, 1<<20); in.Scan(); {
			if _, err := out.Write(append(in.Bytes(), '\n')); err != nil {
				t.Fatal(err)
			}
			var line struct {
				Type      string
				Timestamp time.Time
				Message   struct {
					StopReason string `json:"stop_reason"`
				}
			}
			if err := json.Unmarshal(in.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			switch line.Type {
			case "user":
				working, last = true, line.Timestamp
			case "assistant":
				working, last = line.Message.StopReason != "end_turn", line.Timestamp
				turns++
			}
			busy, at, ok := Turn(host.Files{}, grown)
			if busy != working || ok != !last.IsZero() || !at.Equal(last) {
				t.Fatalf("%s, behind %.200s: busy %v at %s, %v", path, in.Text(), busy, at, ok)
			}
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		_ = out.Close()
	}
	if turns < 100 {
		t.Errorf("only %d answers", turns)
	}
}
