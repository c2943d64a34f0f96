package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

const (
	agent  = "af40843b4cd16fa52"
	old    = "2.1.198"
	recent = "2.1.332"
)

// quote is a JSON string as the client writes it.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// call is an assistant line with one tool call; input is JSON.
func call(id, tool, input string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":true,"agentId":%q,"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]},"timestamp":"2026-11-30T12:00:00.000Z","version":%q}`, agent, id, tool, input, recent)
}

// answer is the user line with that call's result.
func answer(id, text, version, extra string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":true,"agentId":%q,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s%s]},"timestamp":"2026-11-30T12:00:01.000Z","version":%q}`, agent, id, quote(text), extra, version)
}

// result is an answer without anything more to it.
func result(id, text, version string) string { return answer(id, text, version, "}") }

// structured is an answer with a toolUseResult of its own.
func structured(id, text, version, toolUseResult string) string {
	line := result(id, text, version)
	return strings.TrimSuffix(line, "}") + `,"toolUseResult":` + toolUseResult + "}"
}

func write(t testing.TB, content string) string { return writeOf(t, agent, content) }

// writeOf makes the transcript of somebody.
func writeOf(t testing.TB, owner, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent-"+owner+".jsonl")
	if owner == Main {
		path = filepath.Join(t.TempDir(), "s.jsonl")
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func scanOf(t testing.TB, path, owner string, from Cursor) Batch {
	t.Helper()
	b, err := Scan(context.Background(), host.Files{}, Source{Path: path, Owner: owner}, from)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func scanLines(t testing.TB, owner string, lines ...string) Batch {
	t.Helper()
	return scanOf(t, writeOf(t, owner, strings.Join(lines, "\n")+"\n"), owner, Cursor{})
}

const out = "/tmp/claude-1000/-p/s/tasks/"

// Each sentence by which a launch is told, with the call it belongs to.
func TestEverySentenceOfALaunch(t *testing.T) {
	t.Parallel()
	asked, plain := `{"command":"make","run_in_background":true}`, `{"command":"make"}`
	cases := []struct {
		name, tool, input, text, version string
		want                             Launch
	}{
		{
			"a command started in the background", "Bash", asked,
			"Command running in background with ID: b3l1piyt6. Output is being written to: " + out + "b3l1piyt6.output. You will be notified when it completes.", recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Output: out + "b3l1piyt6.output", Evidence: TextAsked},
		},
		{
			"the same that ends with the final response", "Bash", asked,
			"Command running in background with ID: b3l1piyt6. Output is being written to: " + out + "b3l1piyt6.output. If it exits while you are still working you will be notified, but it is terminated when you give your final response", recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Output: out + "b3l1piyt6.output", Evidence: TextAsked},
		},
		{
			"the same in PowerShell", "PowerShell", asked,
			`Command running in background with ID: b3l1piyt6. Output is being written to: C:\Users\Ä B\tasks\b3l1piyt6.output.`, recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Output: `C:\Users\Ä B\tasks\b3l1piyt6.output`, Evidence: TextAsked},
		},
		{
			"a command that timed out, as older clients say it", "Bash", plain,
			"Command running in background with ID: b3l1piyt6. Output is being written to: " + out + "b3l1piyt6.output", old,
			Launch{Task: "b3l1piyt6", Kind: "shell", Output: out + "b3l1piyt6.output", Evidence: Text},
		},
		{
			"a command that timed out", "Bash", plain,
			"Command did not complete within its 120s timeout and was moved to the background (ID: b3l1piyt6). Output is being written to: " + out + "b3l1piyt6.output.", recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Output: out + "b3l1piyt6.output", Evidence: Text},
		},
		{
			"a command that timed out, in short", "Bash", plain, "Command timed out and was moved to the background (ID: b3l1piyt6)", recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Evidence: Text},
		},
		{
			"a command that the user put into the background", "Bash", plain,
			"Command was manually backgrounded by user with ID: b3l1piyt6. Output is being written to: " + out + "b3l1piyt6.output.", recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Output: out + "b3l1piyt6.output", Evidence: Text},
		},
		{
			"a command moved after running for a while", "Bash", plain, "Command was moved to the background (ID: b3l1piyt6) after running for 30s.", recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Evidence: Text},
		},
		{
			"a command moved because a message came", "Bash", plain, "Command was moved to the background (ID: b3l1piyt6) so that a message that arrived while it was running can reach you.", recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Evidence: Text},
		},
		{
			"a command beyond the blocking budget", "Bash", plain, "Command exceeded the assistant-mode blocking budget (15s) and was moved to the background with ID: b3l1piyt6. It is still running.", recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Evidence: Text},
		},
		{
			"a command beyond its timeout, in other words", "Bash", plain, "Command exceeded the timeout (600s) and was moved to the background with ID: b3l1piyt6. It is still running …", recent,
			Launch{Task: "b3l1piyt6", Kind: "shell", Evidence: Text},
		},
		{
			"a monitor that expires", "Monitor", `{"command":"tail -f x"}`, "Monitor started (task m0n12345, expires in 1m unless the source ends first).", recent,
			Launch{Task: "m0n12345", Kind: "monitor", Evidence: TextAsked},
		},
		{
			"a monitor with a timeout", "Monitor", `{}`, "Monitor started (task m0n12345, timeout 60000ms).", recent,
			Launch{Task: "m0n12345", Kind: "monitor", Evidence: TextAsked},
		},
		{
			"a persistent monitor", "Monitor", `{}`, "Monitor started (task m0n12345, persistent — runs until TaskStop or session end)", recent,
			Launch{Task: "m0n12345", Kind: "monitor", Evidence: TextAsked, Persistent: true},
		},
		{
			"a monitor asked to be persistent", "Monitor", `{"persistent":true}`, "Monitor started (task m0n12345).", recent,
			Launch{Task: "m0n12345", Kind: "monitor", Evidence: TextAsked, Persistent: true},
		},
		{
			"an agent in the background", "Agent", `{"run_in_background":true}`, "Async agent launched successfully. (internal)\nagentId: a8b740b (for messages)\noutput_file: " + out + "a8b740b.output\nGo on.", recent,
			Launch{Task: "a8b740b", Kind: "subagent", Output: out + "a8b740b.output", Evidence: TextAsked},
		},
		{
			"an agent asked for in the foreground that came back in the background", "Agent", `{"run_in_background":false}`, "Async agent launched successfully.\nagentId: a8b740b (for messages)", recent,
			Launch{Task: "a8b740b", Kind: "subagent", Evidence: Text},
		},
		{
			"an agent by the older name of the tool", "Task", `{}`, "Async agent launched successfully.\nagentId: a8b740b (for messages)", old,
			Launch{Task: "a8b740b", Kind: "subagent", Evidence: Text},
		},
		{
			"a workflow", "Workflow", `{}`, "Workflow launched in background. Task ID: w12345678. More.", recent,
			Launch{Task: "w12345678", Kind: "workflow", Evidence: TextAsked},
		},
		{
			"a tool of a server", "mcp__slow__run", `{}`, `MCP tool "run" is still running after 30s. It was moved to the background as task q12345678 and goes on.`, recent,
			Launch{Task: "q12345678", Kind: "MCP task", Evidence: Text},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for form, line := range map[string]string{
				"text":   result("toolu_1", c.text, c.version),
				"blocks": strings.Replace(result("toolu_1", c.text, c.version), `"content":`+quote(c.text), `"content":[{"type":"text","text":`+quote(c.text)+`},{"type":"text","text":"more"}]`, 1),
			} {
				b := scanLines(t, agent, call("toolu_1", c.tool, c.input), line)
				if len(b.Launches) != 1 {
					t.Fatalf("%s: found %d launches, want 1", form, len(b.Launches))
				}
				got := b.Launches[0]
				if got.Owner != agent || got.ToolUseID != "toolu_1" || got.At.IsZero() || got.File == "" || got.Line == 0 {
					t.Errorf("%s: launch %+v lacks where it was seen", form, got)
				}
				got.Owner, got.ToolUseID, got.File, got.Line, got.At = "", "", "", 0, c.want.At
				if got != c.want {
					t.Errorf("%s: got %+v\nwant %+v", form, got, c.want)
				}
			}
		})
	}
}

// What looks like a launch and is none.
func TestNoLaunch(t *testing.T) {
	t.Parallel()
	running := "Command running in background with ID: b99999999. Output is being written to: " + out + "b99999999.output."
	cases := []struct {
		name  string
		lines []string
	}{
		{"a foreground command that prints the sentence", []string{call("t", "Bash", `{"command":"cat log"}`), result("t", running, recent)}},
		{"the same from a client of unknown version", []string{call("t", "Bash", `{"command":"cat log"}`), result("t", running, "")}},
		{"a sentence that is not at the start", []string{call("t", "Bash", `{"run_in_background":true}`), result("t", "Note: "+running, recent)}},
		{"a sentence behind a line break", []string{call("t", "Bash", `{"run_in_background":true}`), result("t", "\n"+running, recent)}},
		{"a sentence of another tool", []string{call("t", "Bash", `{"run_in_background":true}`), result("t", "Monitor started (task m0n12345, persistent)", recent)}},
		{"a tool that launches nothing", []string{call("t", "Read", `{"run_in_background":true}`), result("t", running, recent)}},
		{"an error", []string{call("t", "Bash", `{"run_in_background":true}`), answer("t", running, recent, `,"is_error":true}`)}},
		{"an error in words", []string{call("t", "Bash", `{"run_in_background":true}`), result("t", "<tool_use_error>"+running+"</tool_use_error>", recent)}},
		{"a foreground agent whose report holds an agentId line", []string{call("t", "Agent", `{}`), result("t", "Done.\nagentId: a8b740b (use SendMessage)", recent)}},
		{
			"a foreground agent whose report begins like a launch, told by the structure",
			[]string{call("t", "Agent", `{}`), structured("t", "Async agent launched successfully.\nagentId: a8b740b (x)", recent, `{"status":"completed","agentId":"a1","content":[{"type":"text","text":"Async agent launched successfully.\nagentId: a8b740b (x)"}]}`)},
		},
		{
			"a foreground command that prints another sentence, told by the structure",
			[]string{call("t", "Bash", `{}`), structured("t", "Command was manually backgrounded by user with ID: b99999999.", recent, `{"stdout":"Command was manually backgrounded by user with ID: b99999999.","stderr":""}`)},
		},
		{
			"a foreground command of an older client that prints the sentence, told by the structure",
			[]string{call("t", "Bash", `{}`), structured("t", running, old, `{"stdout":"x","stderr":""}`)},
		},
		{"an agent that came back without an id", []string{call("t", "Agent", `{}`), result("t", "Async agent launched successfully.", recent)}},
		{"an id of no id characters", []string{call("t", "Bash", `{"run_in_background":true}`), result("t", "Command running in background with ID: $(x)", recent)}},
		{"prose that quotes call and result", []string{`{"type":"user","isSidechain":true,"agentId":"` + agent + `","message":{"role":"user","content":` + quote(call("t", "Bash", `{"run_in_background":true}`)+"\n"+result("t", running, recent)) + `}}`}},
		{"a result that the agent has not asked for, in a string", []string{call("t", "Bash", `{"run_in_background":true}`), `{"type":"user","agentId":"` + agent + `","message":{"content":` + quote(`"tool_use_id":"t" `+running) + `}}`}},
		{"a teammate that was spawned", []string{call("t", "Agent", `{}`), structured("t", "Spawned successfully.", recent, `{"status":"teammate_spawned","agent_id":"ping@team"}`)}},
		{"a server's tool that quotes the sentence in a later line", []string{call("t", "mcp__x__y", `{}`), result("t", "MCP tool \"y\" said:\nIt was moved to the background as task q12345678", recent)}},
		{"a message to an agent that was not resumed", []string{call("t", "SendMessage", `{"to":"x"}`), structured("t", "Async agent launched successfully.\nagentId: a8b740b", recent, `{"success":true}`)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if b := scanLines(t, agent, c.lines...); len(b.Launches) != 0 {
				t.Errorf("found %+v", b.Launches)
			}
		})
	}
}

// The toolUseResult of a line is the tool's structured answer and stronger than
// its text.
func TestStructuredAnswers(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, tool, input, response string
		want                        Launch
	}{
		{"Bash", "Bash", `{}`, `{"stdout":"","backgroundTaskId":"b3l1piyt6"}`, Launch{Task: "b3l1piyt6", Kind: "shell"}},
		{"Bash that timed out", "Bash", `{}`, `{"backgroundTaskId":"b3l1piyt6","timedOutAfterMs":120000}`, Launch{Task: "b3l1piyt6", Kind: "shell"}},
		{"Bash that ends with the final response", "Bash", `{}`, `{"backgroundTaskId":"b3l1piyt6","backgroundEndsWithFinalResponse":true}`, Launch{Task: "b3l1piyt6", Kind: "shell"}},
		{"PowerShell", "PowerShell", `{}`, `{"backgroundTaskId":"b3l1piyt6"}`, Launch{Task: "b3l1piyt6", Kind: "shell"}},
		{"Monitor", "Monitor", `{}`, `{"taskId":"m0n12345","timeoutMs":60000,"persistent":false}`, Launch{Task: "m0n12345", Kind: "monitor"}},
		{"Monitor, persistent", "Monitor", `{}`, `{"taskId":"m0n12345","persistent":true}`, Launch{Task: "m0n12345", Kind: "monitor", Persistent: true}},
		{"Monitor, asked to be persistent", "Monitor", `{"persistent":true}`, `{"taskId":"m0n12345"}`, Launch{Task: "m0n12345", Kind: "monitor", Persistent: true}},
		{"Agent", "Agent", `{}`, `{"isAsync":true,"status":"async_launched","agentId":"a8b740b","outputFile":"/o/tasks/a8b740b.output"}`, Launch{Task: "a8b740b", Kind: "subagent", Output: "/o/tasks/a8b740b.output"}},
		{"Task", "Task", `{}`, `{"status":"async_launched","agentId":"a8b740b"}`, Launch{Task: "a8b740b", Kind: "subagent"}},
		{"Workflow", "Workflow", `{}`, `{"taskId":"w12345678"}`, Launch{Task: "w12345678", Kind: "workflow"}},
		{"SendMessage that resumed an agent", "SendMessage", `{"to":"x"}`, `{"success":true,"resumedAgentId":"a8b740b"}`, Launch{Task: "a8b740b", Kind: "subagent", Resumed: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := scanLines(t, agent, call("toolu_1", c.tool, c.input), structured("toolu_1", "something else", recent, c.response))
			if len(b.Launches) != 1 {
				t.Fatalf("the transcript gave %d launches, want 1", len(b.Launches))
			}
			got := b.Launches[0]
			got.Owner, got.File, got.Line, got.At, got.ToolUseID = "", "", 0, c.want.At, ""
			want := c.want
			want.Evidence = ToolUseResult
			if got != want {
				t.Errorf("the transcript gave %+v\nwant %+v", got, want)
			}
			got, found := FromResponse(c.tool, "toolu_1", gjson.Parse(c.input), gjson.Parse(c.response), PostToolUse)
			want.Evidence, want.ToolUseID = PostToolUse, "toolu_1"
			if !found || got != want {
				t.Errorf("the event gave %v %+v\nwant %+v", found, got, want)
			}
		})
	}
}

func TestStructuredAnswersWithoutALaunch(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, tool, response string }{
		{"a foreground command", "Bash", `{"stdout":"Command running in background with ID: b1. ","stderr":""}`},
		{"a command's answer as text", "Bash", `"Command running in background with ID: b1. "`},
		{"an id of another type", "Bash", `{"backgroundTaskId":7}`},
		{"no answer", "Bash", ``},
		{"null", "Monitor", `null`},
		{"a foreground agent", "Agent", `{"status":"completed","agentId":"a1","content":[{"type":"text","text":"Async agent launched successfully.\nagentId: a2 (x)"}]}`},
		{"a teammate", "Agent", `{"status":"teammate_spawned","agentId":"a1"}`},
		{"a message to one who was awake", "SendMessage", `{"success":true}`},
		{"a tool that launches nothing", "Read", `{"backgroundTaskId":"b1"}`},
		{"the end of a task", "TaskStop", `{"task_id":"b1"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if l, found := FromResponse(c.tool, "t", gjson.Result{}, gjson.Parse(c.response), PostToolUse); found {
				t.Errorf("found %+v", l)
			}
		})
	}
}

// An answer without structure is read by its text, as its transcript line is.
func TestAnEventWithTheTextOnly(t *testing.T) {
	t.Parallel()
	for _, response := range []string{
		`"MCP tool \"run\" is still running after 30s. It was moved to the background as task q1 and goes on."`,
		`[{"type":"text","text":"MCP tool \"run\" is still running after 30s. It was moved to the background as task q1."}]`,
		`{"content":[{"type":"text","text":"MCP tool \"run\" is still running after 30s. It was moved to the background as task q1."}]}`,
	} {
		l, found := FromResponse("mcp__a__run", "t", gjson.Result{}, gjson.Parse(response), PostToolUse)
		if !found || l.Task != "q1" || l.Evidence != Text {
			t.Errorf("%s gave %v %+v", response, found, l)
		}
	}
}

func TestSeveralLaunchesOnOneLine(t *testing.T) {
	t.Parallel()
	calls := `{"type":"assistant","agentId":"` + agent + `","message":{"content":[{"type":"text","text":"go"},{"type":"tool_use","id":"t1","name":"Bash","input":{"run_in_background":true}},{"type":"tool_use","id":"t2","name":"Monitor","input":{"persistent":true}}]}}`
	answers := `{"type":"user","agentId":"` + agent + `","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"Monitor started (task m1, timeout 1ms)"},{"type":"tool_result","tool_use_id":"t1","content":"Command running in background with ID: b1. "}]},"toolUseResult":{"backgroundTaskId":"b9"},"version":"2.1.332"}`
	b := scanLines(t, agent, calls, answers)
	if len(b.Launches) != 2 {
		t.Fatalf("found %+v", b.Launches)
	}
	for i, want := range []string{"m1", "b1"} {
		// Whose the one toolUseResult is cannot be told, so the texts decide.
		if l := b.Launches[i]; l.Task != want || l.Evidence != TextAsked {
			t.Errorf("launch %d is %+v, want %s", i, l, want)
		}
	}
	if len(b.Cursor.Open) != 0 {
		t.Errorf("calls are still open: %+v", b.Cursor.Open)
	}
}

// A fork can inherit its parent's history: those lines are not its own.
func TestLinesOfSomebodyElse(t *testing.T) {
	t.Parallel()
	bash, ran := call("t", "Bash", `{"run_in_background":true}`), result("t", "Command running in background with ID: b1. ", recent)
	foreign := strings.NewReplacer(agent, "a0000000000000000")
	inherited := strings.NewReplacer(`"agentId":"`+agent+`",`, "", `"isSidechain":true`, `"isSidechain":false`)
	unmarked := strings.NewReplacer(`"agentId":"`+agent+`",`, "", `"isSidechain":true,`, "")
	cases := []struct {
		name, owner string
		lines       []string
		want        int
	}{
		{"its own", agent, []string{bash, ran}, 1},
		{"another agent's", agent, []string{foreign.Replace(bash), foreign.Replace(ran)}, 0},
		{"the coordinator's, inherited", agent, []string{inherited.Replace(bash), inherited.Replace(ran)}, 0},
		{"lines without any mark", agent, []string{unmarked.Replace(bash), unmarked.Replace(ran)}, 1},
		{"behind the mark of a fork", agent, []string{`{"type":"fork-context-ref","agentId":"` + agent + `","parent":"x"}`, bash, ran}, 1},
		{"an agent's in the coordinator's transcript", Main, []string{bash, ran}, 0},
		{"the coordinator's own", Main, []string{inherited.Replace(bash), inherited.Replace(ran)}, 1},
		{"the coordinator's transcript given as the agent's", agent, []string{inherited.Replace(bash), inherited.Replace(ran)}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if b := scanLines(t, c.owner, c.lines...); len(b.Launches) != c.want {
				t.Errorf("found %+v, want %d", b.Launches, c.want)
			}
		})
	}
}

// Launches far from the end of the file, and duplicated records, change nothing.
func TestLaunchesBeforeAndAmongOtherLines(t *testing.T) {
	t.Parallel()
	bash, ran := call("t", "Bash", `{"run_in_background":true}`), result("t", "Command running in background with ID: b1. ", recent)
	lines := []string{bash, ran}
	for i := range 30 {
		lines = append(lines, fmt.Sprintf(`{"type":"system","n":%d}`, i), `{"type":"attachment","attachment":{"type":"x"}}`)
	}
	if b := scanLines(t, agent, lines...); len(b.Launches) != 1 {
		t.Errorf("behind 60 other lines: %+v", b.Launches)
	}
	b := scanLines(t, agent, bash, ran, bash, ran)
	if len(b.Launches) == 0 || b.Launches[0].Task != "b1" {
		t.Fatalf("doubled records: %+v", b.Launches)
	}
	for _, l := range b.Launches {
		if l.Task != "b1" {
			t.Errorf("doubled records gave %+v", l)
		}
	}
}

func TestMessagesOfTheCoordinator(t *testing.T) {
	t.Parallel()
	b := scanLines(t, agent, call("t", "SendMessage", `{"to":"ping","message":"secret"}`), call("u", "SendMessage", `{"to":7}`))
	if len(b.Messages) != 1 || b.Messages[0].To != "ping" || b.Messages[0].At.IsZero() {
		t.Errorf("got %+v", b.Messages)
	}
}

func TestVersionsAreComparedByNumber(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"2.1.198": true, "2.1.209": true, "2.1.99": true, "2.0.999": true, "1.9.0": true, "2.1.209-beta": true,
		"2.1.210": false, "2.1.1000": false, "2.2.0": false, "3.0.0": false, "": false, "2.1": false, "x.y.z": false, "2.1.x": false,
	} {
		if got := olderThan(version, askingSince); got != want {
			t.Errorf("olderThan(%q) = %v", version, got)
		}
	}
}

// Of two records of one task the better one stands, in the order of evidence.
func TestConflictingEvidence(t *testing.T) {
	t.Parallel()
	order := []Evidence{PostToolUse, ToolUseResult, Meta, TextAsked, Text, ""}
	for i, better := range order {
		for j, worse := range order {
			a, b := Launch{Owner: "a", Evidence: better}, Launch{Owner: "b", Evidence: worse}
			if got := a.Beats(b); got != (i < j) {
				t.Errorf("%q beats %q: %v", better, worse, got)
			}
			if i < j {
				if got := Join(b, a); got.Owner != "a" {
					t.Errorf("Join(%q, %q) keeps %q", worse, better, got.Owner)
				}
			}
		}
	}
}
