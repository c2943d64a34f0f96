package transcript

import (
	"strings"
	"testing"
)

func enqueue(content, extra string) string {
	return `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-11-30T12:00:00.000Z","content":` + quote(content) + extra + `}`
}

const shellNotice = "<task-notification>\n<task-id>b3l1piyt6</task-id>\n<tool-use-id>toolu_b</tool-use-id>\n<output-file>/tmp/c/tasks/b3l1piyt6.output</output-file>\n<status>completed</status>\n<summary>Background command \"build\" completed (exit code 3)</summary>\n</task-notification>"

func code(n int) *int { return &n }

// How the end of a task is told in the coordinator's transcript.
func TestEnds(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, line string
		want       []End
	}{
		{"a shell that completed", enqueue(shellNotice, ""), []End{{Task: "b3l1piyt6", Status: "completed", ExitCode: code(3), Output: "/tmp/c/tasks/b3l1piyt6.output"}}},
		{"a shell that failed", enqueue(strings.Replace(shellNotice, "<status>completed", "<status>failed", 1), ""), []End{{Task: "b3l1piyt6", Status: "failed", ExitCode: code(3), Output: "/tmp/c/tasks/b3l1piyt6.output"}}},
		{"only an id and a status", enqueue("<task-notification><task-id>b1</task-id><status>completed</status></task-notification>", ""), []End{{Task: "b1", Status: "completed"}}},
		{"a negative exit code", enqueue("<task-notification><task-id>b1</task-id><status>failed</status><summary>x (exit code -1)</summary></task-notification>", ""), []End{{Task: "b1", Status: "failed", ExitCode: code(-1)}}},
		{"a name that speaks of an exit code", enqueue("<task-notification><task-id>b1</task-id><status>killed</status><summary>Background command \"check exit code 5\" was stopped</summary></task-notification>", ""), []End{{Task: "b1", Status: "killed"}}},
		{"a name that holds a closing tag", enqueue("<task-notification><task-id>b1</task-id><status>completed</status><summary>Background command \"a</summary><status>no</status>\" completed (exit code 0)</summary></task-notification>", ""), []End{{Task: "b1", Status: "completed", ExitCode: code(0)}}},
		{"an agent that finished", enqueue("<task-notification><task-id>a1</task-id><status>completed</status><summary>Agent \"x\" finished</summary><result>all done</result></task-notification>", ""), []End{{Task: "a1", Status: "completed"}}},
		{"an agent that waits for its own work", enqueue("<task-notification><task-id>a1</task-id><status>completed</status><summary>Agent \"x\" is waiting on its own background work</summary><note>n</note></task-notification>", ""), []End{{Task: "a1", Status: "completed", Parked: true}}},
		{"an agent whose report speaks of waiting", enqueue("<task-notification><task-id>a1</task-id><status>completed</status><summary>Agent \"is waiting on its own background work\" finished</summary><result>it is waiting on its own background work</result></task-notification>", ""), []End{{Task: "a1", Status: "completed"}}},
		{"a name that holds another notification", enqueue("<task-notification><task-id>b1</task-id><status>completed</status><summary>\"</summary></task-notification><task-notification><task-id>b2</task-id><status>completed</status>\" completed</summary></task-notification>", ""), []End{{Task: "b1", Status: "completed"}}},
		{"a report that holds another notification", enqueue("<task-notification><task-id>a1</task-id><status>completed</status><result></task-notification><task-notification><task-id>b2</task-id><status>completed</status></result></task-notification>", ""), []End{{Task: "a1", Status: "completed"}}},
		{"a user's prose that quotes a notification", enqueue("look: "+shellNotice, ""), nil},
		{"two in one", enqueue("<task-notification><task-id>b1</task-id><status>completed</status></task-notification>\n<task-notification><task-id>b2</task-id><status>completed</status></task-notification>", ""), []End{{Task: "b1", Status: "completed"}}}, // never seen: each line has one
		{"a monitor's event", enqueue("<task-notification>\n<task-id>m1</task-id>\n<summary>Monitor event: \"ticks\"</summary>\n<event>tick 1</event>\n</task-notification>", ""), nil},
		{"a monitor's event that prints a status", enqueue("<task-notification>\n<task-id>m1</task-id>\n<summary>Monitor event: \"ticks\"</summary>\n<event><status>completed</status></event>\n</task-notification>", ""), nil},
		{"a monitor whose name holds a status", enqueue("<task-notification><task-id>m1</task-id><summary>Monitor event: \"<status>completed</status>\"</summary></task-notification>", ""), nil},
		{"prose in the place of an id", enqueue("<task-notification><task-id>my secret words</task-id><status>completed</status></task-notification>", ""), nil},
		{"prose in the place of a status", enqueue("<task-notification><task-id>b1</task-id><status>my secret words</status></task-notification>", ""), nil},
		{"prose in the place of a path", enqueue("<task-notification><task-id>b1</task-id><output-file>my secret words</output-file><status>completed</status></task-notification>", ""), []End{{Task: "b1", Status: "completed"}}},
		{"prose with a slash in the place of a path", enqueue("<task-notification><task-id>b1</task-id><output-file>my secret and/or words</output-file><status>completed</status></task-notification>", ""), []End{{Task: "b1", Status: "completed"}}},
		{"prose that ends like a path", enqueue("<task-notification><task-id>b1</task-id><output-file>delete all /b1.output</output-file><status>completed</status></task-notification>", ""), []End{{Task: "b1", Status: "completed"}}},
		{"another task's output", enqueue("<task-notification><task-id>b1</task-id><output-file>/tmp/b2.output</output-file><status>completed</status></task-notification>", ""), []End{{Task: "b1", Status: "completed"}}},
		{"a path on Windows", enqueue(`<task-notification><task-id>b1</task-id><output-file>C:\t\tasks\b1.output</output-file><status>completed</status></task-notification>`, ""), []End{{Task: "b1", Status: "completed", Output: `C:\t\tasks\b1.output`}}},
		{"a path outside the client's folder", enqueue("<task-notification><task-id>b1</task-id><output-file>/tmp/b1.output</output-file><status>completed</status></task-notification>", ""), []End{{Task: "b1", Status: "completed"}}},
		{"several tasks", enqueue("<task-notification>\n<task-id>b1</task-id>\n<task-id>b2</task-id>\n<status>stopped</status>\n<summary>2 background tasks were stopped (exit code 9)</summary>\n</task-notification>", ""), []End{{Task: "b1", Status: "stopped"}, {Task: "b2", Status: "stopped"}}},
		{"several tasks, each with its status and its path", enqueue("<task-notification><task-id>b1</task-id><output-file>/t/tasks/b1.output</output-file><status>completed</status><task-id>b2</task-id><output-file>/t/tasks/b2.output</output-file><status>failed</status></task-notification>", ""), []End{{Task: "b1", Status: "completed", Output: "/t/tasks/b1.output"}, {Task: "b2", Status: "failed", Output: "/t/tasks/b2.output"}}},
		{"several tasks in one field", enqueue("<task-notification><task-id>b1, b2,b3</task-id><status>killed</status></task-notification>", ""), []End{{Task: "b1", Status: "killed"}, {Task: "b2", Status: "killed"}, {Task: "b3", Status: "killed"}}},
		{"several tasks, one of them prose", enqueue("<task-notification><task-id>b1</task-id><task-id>my secret words</task-id><task-id>b1</task-id><status>killed</status></task-notification>", ""), []End{{Task: "b1", Status: "killed"}}},
		{"a name that holds another task's id", enqueue("<task-notification><task-id>b1</task-id><status>completed</status><summary>Background command \"</summary><task-id>b2</task-id>\" completed (exit code 0)</summary></task-notification>", ""), []End{{Task: "b1", Status: "completed", ExitCode: code(0)}}},
		{"a field of another task behind the summary", enqueue("<task-notification><task-id>b1</task-id><status>completed</status><summary>x</summary><usage><task-id>b2</task-id></usage></task-notification>", ""), []End{{Task: "b1", Status: "completed"}}},
		{"a task that still runs", enqueue("<task-notification><task-id>b1</task-id><status>running</status></task-notification>", ""), nil},
		{"a task that has not begun", enqueue("<task-notification><task-id>b1</task-id><status>pending</status></task-notification>", ""), nil},
		{"a task whose status nobody knows", enqueue("<task-notification><task-id>b1</task-id><status>expired</status></task-notification>", ""), []End{{Task: "b1", Status: "expired"}}},
		{"a dequeue", strings.Replace(enqueue(shellNotice, ""), `"enqueue"`, `"dequeue"`, 1), nil},
		{"a remove", strings.Replace(enqueue(shellNotice, ""), `"enqueue"`, `"remove"`, 1), nil},
		{"an operation of no name", strings.Replace(enqueue(shellNotice, ""), `"enqueue"`, `7`, 1), nil},
		{"a message that the user typed", enqueue("build it", ""), nil},
		{"a notification that was torn", enqueue("<task-notification><task-id>b1</task-id><status>compl", ""), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := scanLines(t, Main, c.line).Ends
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			for i, w := range c.want {
				g := got[i]
				if g.Task != w.Task || g.Status != w.Status || g.Output != w.Output || g.Parked != w.Parked || g.At.IsZero() ||
					(g.ExitCode == nil) != (w.ExitCode == nil) || g.ExitCode != nil && *g.ExitCode != *w.ExitCode {
					t.Errorf("got %+v, want %+v", g, w)
				}
			}
			if got := scanLines(t, agent, c.line).Ends; len(got) != 0 {
				t.Errorf("an agent's transcript told of ends: %+v", got)
			}
		})
	}
}

// What shows that a model was told.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	own := `"agentId":"` + agent + `",`
	cases := []struct {
		name, owner, line string
		want, to          string
	}{
		{"a user line of text", agent, `{"type":"user",` + own + `"message":{"content":` + quote(shellNotice) + `}}`, "b3l1piyt6", agent},
		{"a user line of blocks", agent, `{"type":"user",` + own + `"message":{"content":[{"type":"text","text":` + quote("[SYSTEM NOTIFICATION - NOT USER INPUT]\n"+shellNotice) + `}]}}`, "b3l1piyt6", agent},
		{"a user line of the coordinator", Main, `{"type":"user","message":{"content":` + quote(shellNotice) + `}}`, "b3l1piyt6", Main},
		{"a queued command", agent, `{"type":"attachment",` + own + `"attachment":{"type":"queued_command","prompt":` + quote(shellNotice) + `}}`, "b3l1piyt6", agent},
		{"a queued command of blocks", agent, `{"type":"attachment",` + own + `"attachment":{"type":"queued_command","prompt":[{"type":"text","text":` + quote(shellNotice) + `}]}}`, "b3l1piyt6", agent},
		{"taken from the queue for an agent", Main, strings.Replace(enqueue(shellNotice, `,"reason":"delivered_to_agent"`), `"enqueue"`, `"remove"`, 1), "b3l1piyt6", ""},
		{"a user's prose that quotes a notification, taken from the queue for an agent", Main, strings.Replace(enqueue("look: "+shellNotice, `,"reason":"delivered_to_agent"`), `"enqueue"`, `"remove"`, 1), "", ""},
		{"taken from the queue for a reason unknown", Main, strings.Replace(enqueue(shellNotice, ""), `"enqueue"`, `"remove"`, 1), "", ""},
		{"taken from the queue", Main, `{"type":"queue-operation","operation":"dequeue"}`, "", ""},
		{"another attachment", agent, `{"type":"attachment",` + own + `"attachment":{"type":"file","prompt":` + quote(shellNotice) + `}}`, "", ""},
		{"prose that quotes a notification", agent, `{"type":"user",` + own + `"message":{"content":` + quote("Look: "+shellNotice) + `}}`, "", ""},
		{"a tool result that quotes one", agent, `{"type":"user",` + own + `"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":` + quote(shellNotice) + `}]}}`, "", ""},
		{"an answer that quotes one", agent, `{"type":"assistant",` + own + `"message":{"content":[{"type":"text","text":` + quote(shellNotice) + `}]}}`, "", ""},
		{"a monitor's event", agent, `{"type":"user",` + own + `"message":{"content":` + quote("<task-notification><task-id>m1</task-id><event>tick</event></task-notification>") + `}}`, "", ""},
		{"a report that holds the notification of another task", agent, `{"type":"user",` + own + `"message":{"content":` + quote("<task-notification><task-id>a7</task-id><status>completed</status><result>it said\n</result>\n</task-notification>\n"+shellNotice+"\n</result></task-notification>") + `}}`, "a7", agent},
		{"a report that holds one, taken from the queue for an agent", Main, strings.Replace(enqueue("<task-notification><task-id>a7</task-id><status>completed</status><result></task-notification>"+shellNotice+"</result></task-notification>", `,"reason":"delivered_to_agent"`), `"enqueue"`, `"remove"`, 1), "a7", ""},
		{"a monitor's event that holds the notification of another task", agent, `{"type":"user",` + own + `"message":{"content":` + quote("<task-notification><task-id>m1</task-id><summary>x</summary><event></event></task-notification>\n"+shellNotice+"</event></task-notification>") + `}}`, "", ""},
		{"a monitor's event that holds one, as a queued command", agent, `{"type":"attachment",` + own + `"attachment":{"type":"queued_command","prompt":` + quote("<task-notification><task-id>m1</task-id><event>\n</task-notification>\n"+shellNotice+"</event></task-notification>") + `}}`, "", ""},
		{"a name that holds one", agent, `{"type":"user",` + own + `"message":{"content":` + quote("<task-notification><task-id>b1</task-id><status>completed</status><summary>\"</summary></task-notification>"+shellNotice+"\" completed</summary></task-notification>") + `}}`, "b1", agent},
		{"two in one text", agent, `{"type":"user",` + own + `"message":{"content":` + quote("<task-notification><task-id>b1</task-id><status>completed</status></task-notification>\n"+shellNotice) + `}}`, "b1", agent},
		{"two blocks of one line", agent, `{"type":"user",` + own + `"message":{"content":[{"type":"text","text":` + quote("<task-notification><task-id>b1</task-id><status>completed</status></task-notification>") + `},{"type":"tool_result","tool_use_id":"t","content":` + quote("<task-notification><task-id>b7</task-id><status>completed</status></task-notification>") + `},{"type":"text","text":` + quote("[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated …\n"+shellNotice) + `}]}}`, "b1 b3l1piyt6", agent},
		{"several tasks in one", agent, `{"type":"user",` + own + `"message":{"content":` + quote("<task-notification><task-id>b1</task-id><task-id>b2</task-id><status>stopped</status></task-notification>") + `}}`, "b1 b2", agent},
		{"several tasks in one, taken from the queue for an agent", Main, strings.Replace(enqueue("<task-notification><task-id>b1</task-id><task-id>b2</task-id><status>stopped</status></task-notification>", `,"reason":"delivered_to_agent"`), `"enqueue"`, `"remove"`, 1), "b1 b2", ""},
		{"news of the client that quotes one", agent, `{"type":"user",` + own + `"message":{"content":` + quote("[SYSTEM NOTIFICATION - NOT USER INPUT]\nA message: look at "+shellNotice) + `}}`, "", ""},
		{"a line of another agent", agent, `{"type":"user","agentId":"a0","message":{"content":` + quote(shellNotice) + `}}`, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := scanLines(t, c.owner, c.line).Deliveries
			switch {
			case c.want == "" && len(got) != 0:
				t.Errorf("got %+v, want none", got)
			case c.want != "" && (delivered(got) != c.want || got[0].To != c.to):
				t.Errorf("got %+v, want %s to %q", got, c.want, c.to)
			}
		})
	}
}

// delivered are the tasks of deliveries.
func delivered(got []Delivery) string {
	var ids []string
	for _, d := range got {
		ids = append(ids, d.Task)
	}
	return strings.Join(ids, " ")
}

func FuzzNotices(f *testing.F) {
	f.Add(shellNotice)
	f.Add("<task-notification><task-id>b1</task-id><status>x</status><summary>\"exit code ")
	f.Add("<task-notification><summary></summary></summary><event><task-id>")
	for _, line := range captured(f) {
		if strings.Contains(line, noticeOpen) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range noticesOf(text) {
			if n.task == "" || word(n.task) != n.task || word(n.status) != n.status || n.output != "" && outputOf(n.task, n.output) != n.output {
				t.Errorf("kept %+v", n)
			}
			if !strings.Contains(text, n.task) || !strings.Contains(text, n.status) || !strings.Contains(text, n.output) {
				t.Errorf("made up %+v", n)
			}
			// Nothing behind the first end of a notification counts.
			first, _, _ := strings.Cut(text, noticeClose)
			if !strings.Contains(first, n.task) {
				t.Errorf("told of %+v", n)
			}
		}
	})
}

// An agent's report stands in the notification of its end and can speak of
// anything.
func TestAnEndWhoseReportSpeaksOfToolCalls(t *testing.T) {
	t.Parallel()
	b := scanLines(t, Main, enqueue(`<task-notification><task-id>a1</task-id><status>completed</status><result>the "tool_use" has a "tool_use_id": "t"</result></task-notification>`, ""))
	if len(b.Ends) != 1 {
		t.Errorf("got %+v", b.Ends)
	}
}
