package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
)

// Log prints entries of the log. On a terminal they stand in columns, with a header
// before the first ones, and what there is no room for is cut; elsewhere each is one
// line that says all. faces finds a task's face, and may be nil.
type Log struct {
	Screen
	Faces func(session, task string) string
	begun bool
}

// Print prints further entries.
func (l *Log) Print(entries []status.Entry, now time.Time) {
	if len(entries) == 0 {
		return
	}
	if l.Width <= 0 {
		for _, e := range entries {
			l.line(e, now)
		}
		return
	}
	columns := []Column{
		{Title: "NO", Right: true, Drop: 3}, {Title: "TIME"}, {Title: "SESSION", Drop: 5}, {Title: "AGENT", Least: 9, Drop: 2}, {Title: "WHAT"},
		{Title: "TOOK", Right: true, Drop: 1}, {Title: "WHY, AND WHICH TASK", Least: 16},
	}
	if l.begun {
		for i := range columns {
			columns[i].Title = strings.Repeat(" ", len(columns[i].Title))
		}
	}
	var rows [][]Cell
	for _, e := range entries {
		what, style := what(e)
		rows = append(rows, []Cell{
			{Text: number(e)}, {Text: l.Clock(e.When(), now)}, {Text: Clean(short(e.SessionID)), Style: Faint}, {Text: Clean(cmp.Or(e.Agent(), "-"))},
			{Text: what, Style: style}, {Text: took(e)}, {Text: strings.Join(l.why(e, now), ", ")},
		})
	}
	l.rows(columns, rows, !l.begun)
	l.begun = true
}

// line prints an entry in one line: its number in its session, when it was, which
// session and agent, what was done and why, and how long it took.
func (l *Log) line(e status.Entry, now time.Time) {
	what, style := what(e)
	agent := cmp.Or(e.Agent(), "-")
	if e.IsStop() {
		agent = cmp.Or(e.AgentID, "?")
	}
	if kind := e.AgentType(); kind != "" {
		agent += " " + kind
	}
	parts := l.why(e, now)
	switch {
	case e.IsStop():
		parts = append(parts, fmt.Sprintf("%d ms", (e.Duration-e.Held).Milliseconds()))
	case e.What == status.Ended && took(e) != "":
		parts = append(parts, "after "+took(e))
	}
	lead := fmt.Sprintf("%4s  %s  %s  %s  ", number(e), l.Clock(e.When(), now), Clean(cut(e.SessionID, 9)), Clean(agent))
	l.Text(lead+l.Paint(what, style)+"  ", "      ", strings.Join(parts, ", "), Normal)
}

// Worth says of a task whether it was waited for, and which of the four that are asked
// decided: "b1 not waited for (processes): serves: listens on 5173, idle 60 s".
func Worth(w ledger.Worth) string {
	return Clean(w.Task + " " + gate.Worth{Wait: w.Wait, By: gate.By(w.By), Words: w.Words}.String())
}

func number(e status.Entry) string {
	if n := cmp.Or(e.Seq, e.Act.Seq); n > 0 {
		return strconv.FormatUint(n, 10)
	}
	return ""
}

// deeds are the words for what was done.
var deeds = map[ledger.Deed]string{
	ledger.Held: "held", ledger.Stood: "courier waits", ledger.Woke: "courier woke", ledger.Left: "courier left", ledger.Fell: "courier lost",
	ledger.Released: "released", ledger.SwitchedOff: "off", ledger.SwitchedOn: "on",
}

// what says in a word or two what was done.
func what(e status.Entry) (string, Style) {
	switch {
	case e.What == status.Launched:
		return "launched", Normal
	case e.What == status.Told:
		return "told", Normal
	case e.What == status.Ended:
		if e.Task.State == status.TaskKilled || e.Task.ExitCode != nil && *e.Task.ExitCode != 0 {
			return "ended", Bad
		}
		return "ended", Good
	case e.Act.Deed != "":
		return Clean(cmp.Or(deeds[e.Act.Deed], string(e.Act.Deed))), Busy
	case e.Verdict == ledger.Block:
		return "blocked", Alarm
	case e.Observed:
		return "would block", Busy
	}
	return "allowed", Good
}

// took is how long a hold lasted, or a task ran; "" where that says nothing.
func took(e status.Entry) string {
	switch {
	case e.What == status.Ended && e.Task.Took(e.When()) > 0:
		return gate.Span(e.Task.Took(e.When()))
	case e.IsStop() && e.Held > 0:
		return gate.Span(e.Held)
	}
	return ""
}

// why says why, and which tasks it was about.
func (l *Log) why(e status.Entry, now time.Time) []string {
	switch {
	case e.What != "":
		return l.ofTask(e)
	case e.Act.Deed != "":
		var parts []string
		if len(e.Act.Tasks) > 0 {
			parts = append(parts, l.tasks(e.SessionID, e.Act.Tasks))
		}
		if !e.Act.Until.IsZero() {
			parts = append(parts, "until "+l.Clock(e.Act.Until, now))
		}
		if e.Act.Note != "" {
			parts = append(parts, Clean(e.Act.Note))
		}
		return parts
	}
	parts := []string{Clean(e.Code)}
	if len(e.Own) > 0 {
		parts = append(parts, "own "+l.tasks(e.SessionID, e.Own))
	}
	for _, w := range e.Worth {
		if !w.Wait && w.By != "" || w.By == string(gate.ByHistory) {
			parts = append(parts, Worth(w))
		}
	}
	if len(e.Unowned) > 0 {
		parts = append(parts, "nobody's "+l.tasks(e.SessionID, e.Unowned))
	}
	if e.Held > 0 {
		parts = append(parts, "held "+gate.Span(e.Held)+" (limited by "+Clean(e.Limit)+")")
	}
	if e.Left > 0 {
		parts = append(parts, "patience left "+gate.Span(e.Left))
	}
	if len(e.Ended) > 0 {
		parts = append(parts, "ended meanwhile: "+l.tasks(e.SessionID, e.Ended))
	}
	if e.Note != "" {
		parts = append(parts, Clean(e.Note))
	}
	return parts
}

// ways are the words for how somebody was told.
var ways = map[status.Way]string{status.ByClient: "the client", status.ByBlock: "a block", status.ByCourier: "a courier"}

func (l *Log) ofTask(e status.Entry) []string {
	parts := []string{l.tasks(e.SessionID, []string{e.Task.ID})}
	if e.Task.Kind != "" {
		parts = append(parts, Clean(e.Task.Kind))
	}
	switch e.What {
	case status.Launched:
		return parts
	case status.Told:
		return append(parts, "by "+ways[e.News.By])
	}
	if e.Task.ExitCode != nil {
		return append(parts, "exit code "+strconv.Itoa(*e.Task.ExitCode))
	}
	return append(parts, string(e.Task.State))
}

// tasks names tasks, with their commands behind them where those are known.
func (l *Log) tasks(session string, ids []string) string {
	const most = 40
	var out []string
	for _, id := range ids {
		text := Clean(id)
		if l.Faces != nil {
			if face := l.Faces(session, id); face != "" {
				text += " (" + Clean(cut(face, most)) + ")"
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}
