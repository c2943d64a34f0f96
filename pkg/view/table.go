package view

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
)

// Sessions prints the sessions for people, whole: each with its agents, its tasks and
// their outputs, its teams, and what to do about an agent that is stuck.
func Sessions(scr Screen, st status.Status) {
	Off(scr, st)
	for i, x := range st.Sessions {
		if i > 0 {
			scr.Line()
		}
		session(scr, x, st.Now, true)
	}
	Leftover(scr, st, len(st.Sessions) > 0)
}

// Off says that every stop is let through, where it is, and by what: the switch,
// or the environment, which a client that was started elsewhere need not have.
func Off(scr Screen, st status.Status) {
	if st.Disabled != "" {
		scr.Line(scr.Paint(state.EnvDisable+"="+Clean(st.Disabled)+" is set here: a client started from here lets every stop through", Alarm))
	}
	if st.Off {
		scr.Line(scr.Paint("stopgate is switched off "+offUntil(scr, st.OffUntil, st.Now)+": every stop is let through", Alarm), " (hookctl on)")
	}
	if st.Off || st.Disabled != "" {
		scr.Line()
	}
}

// Leftover prints the teams without a lead that no recorded session led, a
// line each, behind a blank one if apart is set.
func Leftover(scr Screen, st status.Status, apart bool) {
	if len(st.Teams) > 0 && apart {
		scr.Line()
	}
	for _, t := range st.Teams {
		scr.advice(t.Advice)
	}
}

func offUntil(scr Screen, until, now time.Time) string {
	if until.IsZero() {
		return "until it is switched on"
	}
	return "until " + scr.Clock(until, now)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// life says whether the session runs.
func life(x status.Session, now time.Time) string {
	quiet := now.Sub(x.Last.Time)
	switch {
	case !x.Ended.IsZero():
		return "ended " + gate.Span(max(0, now.Sub(x.Ended))) + " ago"
	case quiet > status.QuietAfter:
		return "quiet for " + gate.Span(quiet) + ", no end recorded"
	}
	return "running"
}

func session(scr Screen, x status.Session, now time.Time, whole bool) {
	scr.Line(scr.Paint("session "+Clean(x.ID), Strong), ", ", life(x, now))
	field := func(name, text string) {
		if text != "" {
			scr.Line("  ", scr.Paint(fmt.Sprintf("%-12s", name), Faint), text)
		}
	}
	field("folder", Clean(x.Cwd))
	if x.Last.Name != "" {
		field("last event", fmt.Sprintf("%s at %s, %s ago", Clean(x.Last.Name), scr.Clock(x.Last.Time, now), gate.Span(max(0, now.Sub(x.Last.Time)))))
	}
	field("stops", fmt.Sprintf("%d, %d of them blocked; %s passed by", len(x.Stops), x.Blocks(), count(int(x.Ephemeral), "ephemeral event")))
	if c := x.Coordinator; c != nil {
		text := fmt.Sprintf("%s of its own, %s", count(c.Stops, "stop"), count(c.Blocks, "block"))
		if c.Hold != nil {
			text = fmt.Sprintf("held until %s for %s; %s", scr.Clock(c.Hold.Until, now), Clean(strings.Join(c.Hold.Tasks, ", ")), text)
		}
		field("coordinator", text)
	}
	if !x.Renewed.IsZero() {
		field("note", "its store was broken and begun afresh at "+scr.Clock(x.Renewed, now))
	}
	if x.Off {
		scr.Line("  ", scr.Paint("switched off "+offUntil(scr, x.OffUntil, now)+": its stops are let through", Alarm))
	}
	agents(scr, x, now)
	tasks(scr, x, now)
	for _, t := range x.Teams {
		teamTable(scr, t, now, whole)
	}
}

func agents(scr Screen, x status.Session, now time.Time) {
	if len(x.Agents) == 0 {
		return
	}
	scr.Line()
	columns := []Column{
		{Title: "  AGENT", Least: 12}, {Title: "NAME", Least: 10}, {Title: "STATE"},
		{Title: "STOPS", Right: true}, {Title: "BLOCKS", Right: true}, {Title: "OWN TASKS", Least: 14},
	}
	var rows [][]Cell
	for _, a := range x.Agents {
		id := Cell{"  " + Clean(a.ID), Normal}
		if a.Stuck {
			id = Cell{"! " + Clean(a.ID), Alarm}
		}
		state := Cell{string(a.State), Normal}
		switch {
		case a.Hold != nil:
			state = Cell{"held until " + scr.Clock(a.Hold.Until, now), Busy}
		case a.State == status.AgentRunning:
			state.Style = Busy
		case a.State == status.AgentEnded:
			state.Style = Faint
		case a.Stuck:
			state.Style = Alarm
		}
		var own []string
		for _, id := range a.Own {
			text := Clean(id)
			if t, ok := x.Task(id); ok && t.State.Open() && !t.Excused() {
				text += "*"
			}
			own = append(own, text)
		}
		rows = append(rows, []Cell{
			id, {Text: Clean(a.Title())}, state,
			{Text: strconv.Itoa(a.Stops)}, {Text: strconv.Itoa(a.Blocks)}, {Text: strings.Join(own, " ")},
		})
	}
	scr.Table(columns, rows)
	for _, a := range x.Agents {
		if a.Stuck {
			scr.advice(a.Advice)
		}
	}
}

func tasks(scr Screen, x status.Session, now time.Time) {
	if len(x.Tasks) == 0 {
		return
	}
	scr.Line()
	columns := []Column{
		{Title: "  TASK"}, {Title: "KIND", Drop: 3}, {Title: "OWNER", Least: 8}, {Title: "STATE"}, {Title: "AGE", Right: true, Drop: 2},
		{Title: "RAN", Right: true, Drop: 1}, {Title: "COMMAND", Least: 12, Drop: 4}, {Title: "LAST OUTPUT", Least: 16, Drop: 5}, {Title: "OUTPUT"},
	}
	var rows [][]Cell
	folder, same := "", true // of the output files, while it is the same
	for _, t := range x.Tasks {
		if t.Output != "" {
			dir, name := filepath.Split(t.Output)
			same = same && (folder == "" || folder == dir) && name == t.ID+status.OutputExt
			folder = dir
		}
		rows = append(rows, taskRow(x, t, now))
	}
	columns, rows = filled(columns, rows)
	last := len(columns) - 1 // the column of the paths
	if columns[last].Title != "OUTPUT" || scr.Width == 0 || total(widths(columns, rows)) <= scr.Width {
		scr.Table(columns, rows)
		return
	}
	// The paths do not fit: they stand below, whole, to be copied.
	for i := range rows {
		rows[i] = rows[i][:last]
	}
	scr.Table(columns[:last], rows)
	if same {
		if folder != "" {
			scr.Line("  ", scr.Paint("outputs: ", Faint), Clean(folder), "TASK"+status.OutputExt)
		}
		return
	}
	for _, t := range x.Tasks {
		if t.Output != "" {
			scr.Line("  ", scr.Paint(Clean(t.ID)+": ", Faint), Clean(t.Output))
		}
	}
}

func taskRow(x status.Session, t status.Task, now time.Time) []Cell {
	id := Cell{"  " + Clean(t.ID), Normal}
	state := Cell{string(t.State), Normal}
	switch t.State {
	case status.TaskRunning:
		state.Style = Busy
	case status.TaskFinished:
		state.Style = Good
	case status.TaskKilled:
		state.Style = Bad
	case status.TaskUndelivered:
		state.Style = Alarm
		if !t.Excused() {
			id = Cell{"! " + Clean(t.ID), Alarm}
		}
	case status.TaskUnknown:
		state.Style = Faint
	}
	if t.ExitCode != nil {
		state.Text += " (" + strconv.Itoa(*t.ExitCode) + ")"
		if *t.ExitCode != 0 && t.State == status.TaskFinished {
			state.Style = Bad
		}
	}
	for _, m := range []struct {
		set  bool
		word string
	}{{t.Persistent, "persistent"}, {t.Ignored, "ignored"}, {t.Released, "released"}} {
		if m.set {
			state.Text += ", " + m.word
		}
	}
	if w := t.Worth; t.State.Open() {
		if w.Words != "" && w.By != string(gate.ByText) && w.By != string(gate.ByPerson) {
			state.Text += ", " + Clean(w.Words)
		} else if w.Usually > 0 {
			state.Text += ", " + gate.Usually(w.Usually, w.Times)
		}
	}
	owner := Cell{Clean(x.Label(t.Owner)), Normal}
	if t.Owner == "" {
		owner = Cell{"?", Faint}
	}
	age := "-"
	if !t.Launched.IsZero() {
		age = gate.Span(max(0, now.Sub(t.Launched)))
	}
	ran := ""
	if d := t.Took(now); t.Fate.Over() && d > 0 {
		ran = gate.Span(d)
	}
	kind := Clean(cmp.Or(t.Kind, "?"))
	if t.Kind == event.TypeMCP {
		kind = "mcp"
	}
	return []Cell{
		id, {Text: kind}, owner, state, {Text: age}, {Text: ran}, {Text: Clean(t.Face.Title())}, {Text: printed(t, now), Style: Faint},
		{Text: Clean(t.Output), Style: Faint},
	}
}
