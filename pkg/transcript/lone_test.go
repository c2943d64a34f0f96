package transcript

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A few results stand before their call, and a few have no call in the file: they
// are attributed all the same, and what a command printed claims nothing.
func TestAResultWithoutItsCallBeforeIt(t *testing.T) {
	t.Parallel()
	const id = "b3l1piyt6"
	running := "Command running in background with ID: " + id + ". Output is being written to: " + out + id + ".output. You will be notified when it completes."
	moved := "Command did not complete within its 2s timeout and was moved to the background (ID: " + id + "). Output is being written to: " + out + id + ".output. You will be notified when it completes."
	spawned := "Async agent launched successfully.\nagentId: " + id + " (internal)\noutput_file: " + out + id + ".output\nMore."
	asked, plain := call("t", "Bash", `{"run_in_background":true}`), call("t", "Bash", `{"command":"cat log"}`)
	said := `{"type":"assistant","agentId":"` + agent + `","message":{"content":[{"type":"text","text":"done"}]}}`
	other := call("u", "Read", `{}`)
	shell := `{"stdout":"","stderr":"","interrupted":false,"backgroundTaskId":"` + id + `"}`
	rows := []struct {
		name  string
		lines []string
		want  Evidence // "" for no launch
	}{
		// before its call
		{"a launch before its call", []string{result("t", running, recent), asked, said}, TextAsked},
		{"a launch two lines before its call", []string{result("t", running, recent), other, asked, said}, TextAsked},
		{"a launch before its call, told by the structure", []string{structured("t", running, recent, shell), plain}, ToolUseResult},
		{"a monitor before its call", []string{result("t", "Monitor started (task "+id+", persistent)", recent), call("t", "Monitor", `{"persistent":true}`)}, TextAsked},
		{"an agent before its call", []string{result("t", spawned, recent), call("t", "Agent", `{}`)}, Text},
		{"what a command printed, before its call", []string{result("t", running, recent), plain, said}, ""},
		{"what a command printed, before its call, told by the structure", []string{structured("t", moved, recent, `{"stdout":"x","stderr":""}`), plain}, ""},
		{"what another tool gave, before its call", []string{result("t", running, recent), call("t", "Read", `{}`), said}, ""},
		{"an error before its call", []string{answer("t", running, recent, `,"is_error":true}`), asked}, ""},
		// without a call
		{"a launch without a call", []string{result("t", running, recent), said}, Text},
		{"a command that timed out, without a call", []string{result("t", moved, recent), said}, Text},
		{"a launch without a call, told by the structure", []string{structured("t", running, recent, shell), said}, Text},
		{"a launch without a call, told by nothing but the structure", []string{structured("t", "x", recent, shell), said}, Text},
		{"a monitor without a call", []string{result("t", "Monitor started (task "+id+", timeout 60000ms). You will be notified on each event.", recent)}, Text},
		{"a monitor without a call, told by the structure", []string{structured("t", "Monitor started (task "+id+", timeout 60000ms)", recent, `{"taskId":"`+id+`"}`)}, Text},
		{"an agent without a call", []string{result("t", spawned, recent)}, Text},
		{"an agent without a call, told by the structure", []string{structured("t", "Async agent launched successfully.\nagentId: "+id+" (x)", recent, `{"status":"async_launched","agentId":"`+id+`"}`)}, Text},
		{"an error without a call", []string{answer("t", running, recent, `,"is_error":true}`), said}, ""},
		{"a command's answer without a call, told by the structure", []string{structured("t", running, recent, `{"stdout":"x","stderr":""}`)}, ""},
		{"an answer without a call whose structure names another task", []string{structured("t", running, recent, `{"backgroundTaskId":"b9"}`)}, ""},
		{"a sentence without a path, without a call", []string{result("t", "Command running in background with ID: "+id+".", recent)}, ""},
		{"a sentence and more lines, without a call", []string{result("t", running+"\nok\n", recent)}, ""},
		{"a sentence with another's path, without a call", []string{result("t", strings.Replace(running, id+".output", "b9.output", 1), recent)}, ""},
		{"a sentence behind other words, without a call", []string{result("t", "$ cat log\n"+running, recent)}, ""},
		{"a foreground agent's report without a call", []string{result("t", "Async agent launched successfully.\nagentId: "+id+" (x)", recent)}, ""},
		{"a todo that was changed, without a call", []string{structured("t", "Updated task #1", recent, `{"success":true,"taskId":"1"}`)}, ""},
		// its call is in the file, but no longer known
		{"a record that stands twice, of what a command printed", []string{plain, result("t", running, recent), result("t", running, recent)}, ""},
		{"what another tool gave", []string{call("t", "Grep", `{}`), result("t", running, recent), said}, ""},
		{"what another tool gave, on a line of several results", []string{
			call("t", "Read", `{}`), call("x", "Bash", `{"run_in_background":true}`),
			strings.Replace(result("t", running, recent), `]}`, `,{"type":"tool_result","tool_use_id":"x","content":"Command failed in the background"}]}`, 1),
		}, ""},
		{"what a command printed, whose call is on a line too long to look at", []string{
			strings.Replace(plain, "cat log", strings.Repeat("x", maxLine+1), 1), result("t", running, recent),
		}, ""},
		{"what a command printed, whose call was dropped", append(append([]string{plain}, many(maxOpen+9)...), result("t", running, recent)), ""},
		{"a launch whose call was dropped", append(append([]string{asked}, many(maxOpen+9)...), result("t", running, recent)), TextAsked},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			b := scanLines(t, agent, r.lines...)
			if got := strings.Join(strings.Fields(fmt.Sprint(evidence(b))), " "); got != fmt.Sprint(want(r.want)) {
				t.Errorf("got %s, want %s", got, want(r.want))
			}
			for _, l := range b.Launches {
				if l.Task != id || l.Owner != agent || l.ToolUseID != "t" || l.At.IsZero() || l.File == "" {
					t.Errorf("got %+v", l)
				}
			}
			for _, c := range b.Cursor.Open {
				if c.ID == "t" && r.want != "" {
					t.Error("the call counts as open")
				}
			}
		})
	}
}

func evidence(b Batch) []Evidence {
	out := []Evidence{}
	for _, l := range b.Launches {
		out = append(out, l.Evidence)
	}
	return out
}

func want(e Evidence) []Evidence {
	if e == "" {
		return []Evidence{}
	}
	return []Evidence{e}
}

// many are calls without an answer.
func many(n int) []string {
	var out []string
	for i := range n {
		out = append(out, call(fmt.Sprintf("o%d", i), "Bash", `{}`))
	}
	return out
}

// The call comes on disk after a stop has read its result.
func TestACallThatComesLaterThanItsResult(t *testing.T) {
	t.Parallel()
	path := write(t, aRan+"\n")
	first := scanOf(t, path, agent, Cursor{})
	if len(first.Launches) != 1 || first.Launches[0].Evidence != Text {
		t.Fatalf("without the call: %+v", first.Launches)
	}
	appendTo(t, path, aBash+"\n")
	second := scanOf(t, path, agent, first.Cursor)
	if len(second.Launches) != 1 || second.Launches[0].Evidence != TextAsked || len(second.Cursor.Open) != 0 || len(second.Cursor.Early) != 0 {
		t.Errorf("with the call: %+v, %+v", second.Launches, second.Cursor)
	}
	if got, want := Join(first.Launches[0], second.Launches[0]), second.Launches[0]; got != want {
		t.Errorf("together %+v, want %+v", got, want)
	}
}

// A task that was stopped by a call that stands behind its result.
func TestAStopBeforeItsCall(t *testing.T) {
	t.Parallel()
	said := answer("s", `{"message":"Successfully stopped task: b1 (make)"}`, recent, "}")
	if b := scanLines(t, agent, said, call("s", "TaskStop", `{"task_id":"b1"}`)); len(b.Ends) != 1 || b.Ends[0].Task != "b1" {
		t.Errorf("got %+v", b.Ends)
	}
	for name, lines := range map[string][]string{
		"without a call":           {said},
		"of a command":             {said, call("s", "Bash", `{}`)},
		"of a call that stops b2":  {said, call("s", "TaskStop", `{"task_id":"b2"}`)},
		"of a tool that reads":     {call("s", "Read", `{}`), said},
		"of a call that stops b12": {said, call("s", "TaskStop", `{"task_id":"b12"}`)},
	} {
		if b := scanLines(t, agent, lines...); len(b.Ends) != 0 {
			t.Errorf("%s: got %+v", name, b.Ends)
		}
	}
}

// Whatever is torn or too long around it, a search for a call ends.
func TestSearchesForCallsAreBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 4 * maxEarly {
		lines = append(lines, result(fmt.Sprintf("t%d", i), fmt.Sprintf("Command running in background with ID: b%d. Output is being written to: %sb%d.output. More.", i, out, i), recent))
	}
	path := write(t, strings.Join(lines, "\n")+"\n")
	b := scanOf(t, path, agent, Cursor{})
	if len(b.Launches) != 4*maxEarly || len(b.Cursor.Early) > maxEarly {
		t.Errorf("%d launches, %d waiting for their calls", len(b.Launches), len(b.Cursor.Early))
	}
	if info, err := os.Stat(path); err != nil || b.Cursor.Offset != info.Size() {
		t.Errorf("at %d, %v", b.Cursor.Offset, err)
	}
}
