package gate

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stopgate/pkg/fate"
)

// MaxReason bounds the reason in characters. The client cuts at 10,000
// (docs/client.md: the hook contract); a model reads a short text better.
const MaxReason = 2000

// Reason is the text of a block: the agent's next instruction. It quotes ids and
// output paths only, and only harmless ones, since a command or a description is
// somebody's text and would be read as an instruction.
func Reason(d Decision) string {
	head, tail := opening(d), advice(d)
	room := MaxReason - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return head + itemLines(d.Tasks, room) + tail
}

// opening says first that this is no error: the client shows a block as one.
func opening(d Decision) string {
	switch d.Code {
	case TaskEnded:
		return "This is not an error: your stop was held until your own background work had ended.\n"
	case HoldOver:
		return "This is not an error: your stop was held for your own background work, and it has not all ended in that time.\n"
	case PatienceOver:
		return "This is not an error: your stop was held for your own background work as long as it may be, and it has not all ended.\n"
	case TaskIdle:
		return "This is not an error: your stop was held for your own background work, and all that is left of it has done nothing for long.\n"
	case CeilingNear:
		return "This is not an error: your stop was held for your own background work, but the run that you belong to is about to end.\n"
	case MessageWaits:
		return "This is not an error: your stop was held for your own background work, but a message to you waits. It comes after your next tool call: call one now, and answer it first.\n"
	}
	return "This is not an error: background work of your own has not finished yet.\n"
}

// itemLines names the tasks, one a line, within room characters: with the output paths
// of as many as fit, and the first ones only if not even all ids do.
func itemLines(tasks []Task, room int) string {
	lines := make([]string, len(tasks))
	used := 0
	for i, t := range tasks {
		lines[i] = item(t, false)
		used += utf8.RuneCountInString(lines[i])
	}
	if used <= room {
		for i, t := range tasks {
			long := item(t, true)
			more := utf8.RuneCountInString(long) - utf8.RuneCountInString(lines[i])
			if used+more <= room {
				lines[i], used = long, used+more
			}
		}
		return strings.Join(lines, "")
	}
	const more = "- and %d more\n"
	left := room - utf8.RuneCountInString(fmt.Sprintf(more, len(tasks)))
	for i, line := range lines {
		if left -= utf8.RuneCountInString(line); left < 0 {
			return strings.Join(lines[:i], "") + fmt.Sprintf(more, len(tasks)-i)
		}
	}
	return strings.Join(lines, "")
}

func item(t Task, path bool) string {
	var b strings.Builder
	b.WriteString("- ")
	if Quotable(t.ID, maxID) && !strings.Contains(t.ID, " ") { // an id of several words would be a sentence
		b.WriteString(t.ID)
	} else {
		b.WriteString("(a task whose id cannot be shown)")
	}
	b.WriteString(" (" + kind(t.Kind))
	switch {
	case t.Fate.Over():
		b.WriteString(") " + ending(t))
	default:
		if t.Running > 0 {
			b.WriteString(", running for " + Span(t.Running))
		}
		if t.Usually > 0 && !t.Worth.Idle {
			b.WriteString(", " + Usually(t.Usually, t.Times))
		}
		b.WriteString(")")
		if t.Worth.Idle {
			b.WriteString(" has been idle for long and is not waited for any longer")
		}
	}
	if path && Quotable(t.Output, maxPath) {
		b.WriteString(", output" + size(t.Fate) + ": " + t.Output)
	}
	b.WriteString("\n")
	return b.String()
}

// Usually says how long a command took before: "usually 12 min, 3 so far".
func Usually(d time.Duration, times int) string {
	text := fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
	if d >= 100*time.Second {
		text = fmt.Sprintf("%d min", d.Round(time.Minute)/time.Minute)
	}
	return fmt.Sprintf("usually %s, %d so far", text, times)
}

// kind is the type as the reason names it: only the known ones are quoted.
func kind(k string) string {
	switch k {
	case "shell", "monitor", "subagent", "workflow", "MCP task", "teammate":
		return k
	}
	return "task"
}

// ending says how a task ended: "exited with code 0 after 3m12s".
func ending(t Task) string {
	text := "ended"
	switch {
	case t.Fate.How == fate.Killed:
		text = "was killed"
	case t.Fate.ExitCode != nil:
		text = fmt.Sprintf("exited with code %d", *t.Fate.ExitCode)
	}
	if !t.Since.IsZero() && t.Fate.At.After(t.Since) {
		text += " after " + Span(t.Fate.At.Sub(t.Since))
	}
	return text
}

func size(f fate.Fate) string {
	if !f.Over() || f.Size < 0 {
		return ""
	}
	return " (" + Bytes(f.Size) + ")"
}

// maxWaited bounds the ids in the command that waits, in characters.
const maxWaited = 200

// report asks for the report again: only the agent's last message reaches its
// caller, and after a block that is the one that follows.
const report = "give your complete final report again as your last message, with the results"

func advice(d Decision) string {
	has, pathed := map[string]bool{}, map[string]bool{}
	running := 0
	for _, t := range d.Tasks {
		if !t.Fate.Over() && !t.Worth.Idle {
			running++
			has[kind(t.Kind)] = true
			pathed[kind(t.Kind)] = pathed[kind(t.Kind)] || Quotable(t.Output, maxPath)
		}
	}
	switch {
	case d.Code == TaskIdle:
		return idleAdvice + report + stillRuns
	case running == 0:
		return "Call one tool before you write anything: read the output (of a long one its end). Then " + report + ": only that text reaches the caller."
	case d.Code == PatienceOver:
		return "It is not waited for any longer; once you stop, it may be killed or end unheard. Do not start it again. Read what its output holds now, end with TaskStop what is not needed, and stop: that will be accepted. " + lastReport
	case d.Code == CeilingNear:
		return "Do not wait any longer: a report that comes late reaches nobody. Read what the output holds now, at most, and stop at once: that will be accepted. " + lastReport
	case d.Left > 0:
		return patient(d)
	}
	var b strings.Builder
	b.WriteString("If you stop now, it may be killed or end unheard. Do not start it again. Wait for what you need, in the foreground, in steps of under 10 minutes:\n")
	command := waitCommand(d)
	switch {
	case command != "" && onWindows(d.Waiter):
		fmt.Fprintf(&b, "- run %s\n", command)
		clear(has) // what follows is for other shells than one may have there
		clear(pathed)
	case command != "":
		fmt.Fprintf(&b, "- any kind: run %s; or, if that is not allowed:\n", command)
	}
	if has["shell"] || has["workflow"] || has["MCP task"] || has["task"] {
		b.WriteString("- shell or other command: run timeout 540 sh -c 'until tail -n 1 \"$0\" | grep -qE \"^.(exited|killed)\"; do sleep 2; done' FILE (Bash timeout 600000) with its output path as FILE, then read the file. No such last line: judge by what the file holds.\n")
	}
	if has["subagent"] {
		b.WriteString("- subagent: run timeout 540 sh -c 'until [ \"$(find -L \"$0\" -mmin +1)\" ]; do sleep 5; done' FILE with its output path as FILE, then read its last message at the end of the file.\n")
	}
	switch {
	case pathed["monitor"]:
		b.WriteString("- monitor: if you need its next event, run timeout 540 sh -c 'n=$(wc -c < \"$0\"); until [ $(wc -c < \"$0\") -gt $n ]; do sleep 1; done' FILE with its output path as FILE; otherwise end it.\n")
	case has["monitor"]:
		b.WriteString("- monitor: end it, unless you need its next event; that comes to you while you do other work in the foreground.\n")
	}
	b.WriteString("Whatever is not needed: end it with TaskStop.\n")
	if d.Last {
		b.WriteString("If something still runs after that, you may end your turn again: that will be accepted.\n")
	} else {
		b.WriteString("If something still runs after that, end your turn again: you may be asked once more, and then it will be accepted.\n")
	}
	b.WriteString("Then " + report + stillRuns)
	return b.String()
}

// idleAdvice is for an agent whose task is let go as idle: it may hang, poll for what
// does not come, or wait for another machine.
const idleAdvice = "What is idle may hang, or wait for something that does not come. Call one tool before you write anything: read its output. End it with TaskStop if it is not needed or cannot end, or leave it running on purpose; once you stop, it may be killed or end unheard. Do not start it again. Then "

// stillRuns ends the advice where something may be left running.
const stillRuns = ", and name every task that still runs with its output path: only that text reaches the caller."

// lastReport asks for what is known, of an agent that is let go next.
const lastReport = "In this turn give your complete final report again as your last message, with the results so far" + stillRuns

// patient is the advice for an agent that is waited for again. It costs a short
// turn, no more: nothing has to be done.
func patient(d Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Nothing is lost by waiting: your next stop is held again for it, up to %s more, and you are told how it ended. Do not start it again and do not watch it. ", Span(d.Left))
	if command := waitCommand(d); command != "" {
		fmt.Fprintf(&b, "Do one of these:\n- run %s, in the foreground; if it says that something still runs, do it again or end your turn.\n- or simply end your turn again, with one short line.\n", command)
	} else {
		b.WriteString("Simply end your turn again, with one short line.\n")
	}
	b.WriteString("Whatever is not needed: end it with TaskStop.\nWhen you have the outcome, " + report + stillRuns)
	return b.String()
}

// waitCommand is the command line that waits for those that still run, with the
// Bash timeout that it needs; "" where there is none.
func waitCommand(d Decision) string {
	var ids []string
	room := maxWaited
	for _, t := range d.Tasks {
		if !t.Fate.Over() && !t.Worth.Idle && plainID(t.ID) && room >= len(t.ID) {
			ids = append(ids, t.ID)
			room -= len(t.ID) + 1
		}
	}
	if d.Waiter == "" || len(ids) == 0 {
		return ""
	}
	program, note := invoke(d.Waiter)
	return fmt.Sprintf("%s wait --timeout 9m %s (Bash timeout 600000%s)", program, strings.Join(ids, " "), note)
}

// Longest id and path, in characters, that are quoted.
const (
	maxID   = 64
	maxPath = 300
)

// Quotable tells whether a text of somebody else may be quoted to a model: not
// empty, at most limit characters, and without control and format characters,
// quotes, backticks, dollar signs and line breaks. Spaces and letters of any
// script are fine.
func Quotable(s string, limit int) bool {
	if s == "" || len(s) > limit*utf8.UTFMax || !utf8.ValidString(s) || utf8.RuneCountInString(s) > limit {
		return false
	}
	for _, r := range s {
		if strings.ContainsRune("\"'`$\u2018\u2019\u201c\u201d", r) || r != ' ' && !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) || unicode.In(r, invisible...) {
			return false
		}
	}
	return true
}

// invisible are letters and marks that show nothing: fillers and selectors.
var invisible = []*unicode.RangeTable{unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}

// plainID tells whether an id can stand in a command as it is.
func plainID(id string) bool {
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return id != "" && len(id) <= maxID && id[0] != '-'
}

// Span is a duration as people read it: 4s, 3m12s, 2h05m.
func Span(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// Bytes is a length as people read it: 512 B, 18 kB, 3 MB.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%d MB", (n+500_000)/1_000_000)
}
