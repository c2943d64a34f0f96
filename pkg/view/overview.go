package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
)

const (
	// oldAfter is how long after its last event a session that recorded no end gets one
	// line, like one that ended: its client has died, and nobody can do anything.
	oldAfter = 24 * time.Hour
	// mostEnded is how many sessions of one line are listed unless all are.
	mostEnded = 5
)

// Options say how much of a status is printed.
type Options struct {
	// Ended lists all sessions that have ended, not only the last few.
	Ended bool
	// Stuck prints who needs somebody, and nothing else.
	Stuck bool
}

// Overview prints what a person wants to know first: who needs somebody, with the
// sentence that helps, then who is held and by what, who works, who rests; and the
// sessions that have ended, a line each.
func Overview(scr Screen, st status.Status, o Options) {
	v := overview{scr: scr, now: st.Now}
	var over []status.Session
	for _, s := range st.Sessions {
		if !s.Ended.IsZero() || st.Now.Sub(s.Last.Time) > oldAfter {
			over = append(over, s)
			continue
		}
		v.live = append(v.live, s)
	}
	Off(scr, st)
	v.needy(st)
	if o.Stuck {
		return
	}
	v.head()
	v.held()
	v.working()
	v.resting()
	for _, s := range v.live {
		for _, t := range s.Teams {
			teamTable(scr, t, st.Now, false)
		}
	}
	v.ended(over, o.Ended)
}

// overview prints one status.
type overview struct {
	scr Screen
	now time.Time
	// live are the sessions that may still run.
	live []status.Session
	// began tells that something was printed.
	began bool
}

// section begins a part, behind a blank line.
func (v *overview) section(title string, style Style) {
	if v.began {
		v.scr.Line()
	}
	v.began = true
	v.scr.Line(v.scr.Paint(title, style))
}

// Needy counts who needs somebody: agents, members of teams, and teams without a lead.
func Needy(st status.Status) int {
	n := len(st.Teams)
	for _, s := range st.Sessions {
		if s.Ended.IsZero() && st.Now.Sub(s.Last.Time) <= oldAfter {
			n += len(needyOf(s, st.Now))
		}
	}
	return n
}

// need is somebody who needs somebody.
type need struct {
	advice, say string
	// tasks are its open tasks, a line each.
	tasks []string
}

func needyOf(s status.Session, now time.Time) []need {
	var out []need
	for _, a := range s.Agents {
		if a.Stuck {
			n := need{advice: a.Advice, say: a.Say}
			for _, id := range a.Own {
				if t, _ := s.Task(id); t.State.Open() && !t.Excused() && t.Face != (status.Face{}) {
					n.tasks = append(n.tasks, TaskLine(s, t, now))
				}
			}
			out = append(out, n)
		}
	}
	for _, t := range s.Teams {
		for _, m := range t.Members {
			if m.Stuck && m.AgentID == "" {
				out = append(out, need{advice: m.Advice})
			}
		}
		if t.Advice != "" {
			out = append(out, need{advice: t.Advice})
		}
	}
	return out
}

func (v *overview) needy(st status.Status) {
	var all []need
	for _, s := range v.live {
		for _, n := range needyOf(s, v.now) {
			if len(v.live) > 1 {
				n.advice += " [session " + short(s.ID) + "]"
			}
			all = append(all, n)
		}
	}
	for _, t := range st.Teams {
		all = append(all, need{advice: t.Advice})
	}
	if len(all) == 0 {
		return
	}
	title := "1 needs somebody"
	if len(all) > 1 {
		title = fmt.Sprint(len(all), " need somebody")
	}
	v.section(title, Alarm)
	for _, n := range all {
		v.scr.advice(n.advice)
		for _, line := range n.tasks {
			v.scr.Line("  ", v.scr.Paint(v.scr.CutBehind(line, 2), Faint))
		}
		if n.say != "" {
			v.scr.Text("  "+v.scr.Paint("paste: ", Faint), "         ", Clean(n.say), Normal)
		}
	}
}

// head names the sessions that run.
func (v *overview) head() {
	if len(v.live) == 0 {
		return
	}
	if v.began {
		v.scr.Line()
	}
	v.began = true
	for _, s := range v.live {
		text := life(s, v.now)
		if s.Last.Name != "" {
			text += fmt.Sprintf(", last event %s %s ago", Clean(s.Last.Name), gate.Span(max(0, v.now.Sub(s.Last.Time))))
		}
		v.scr.Text(v.scr.Paint("session "+Clean(short(s.ID)), Strong)+"  ", "  ", text+", "+Clean(s.Cwd), Normal)
		if s.Off {
			v.scr.Line("  ", v.scr.Paint("switched off "+offUntil(v.scr, s.OffUntil, v.now)+": its stops are let through", Alarm))
		}
		if !s.Renewed.IsZero() {
			v.scr.Line("  its store was broken and begun afresh at ", v.scr.Clock(s.Renewed, v.now))
		}
	}
}

func (v *overview) held() {
	var rows [][]Cell
	for _, s := range v.live {
		agents := s.Agents
		if s.Coordinator != nil {
			agents = append([]status.Agent{*s.Coordinator}, agents...)
		}
		for _, a := range agents {
			if a.Hold == nil {
				continue
			}
			who := []Cell{{Clean(who(s, a.ID)), Strong}, {gate.Span(max(0, v.now.Sub(a.Hold.Since))), Normal}, {left(*a.Hold, v.now), Busy}}
			rows = append(rows, v.taskRows(s, who, a.Hold.Tasks)...)
		}
	}
	if len(rows) == 0 {
		return
	}
	v.section("held until its tasks have ended", Busy)
	v.table([]Column{{Title: "AGENT", Least: 8}, {Title: "SINCE", Right: true, Drop: 4}, {Title: "PATIENCE", Right: true}}, rows)
}

// left is how much patience is left of a hold at now.
func left(h ledger.Hold, now time.Time) string {
	if h.Left <= 0 {
		return gate.Span(max(0, h.Until.Sub(now)))
	}
	return gate.Span(max(0, h.Left-now.Sub(h.Since)))
}

func (v *overview) working() {
	var rows [][]Cell
	for _, s := range v.live {
		for _, a := range s.Agents {
			if a.State != status.AgentRunning || a.Hold != nil {
				continue
			}
			who := []Cell{{Clean(who(s, a.ID)), Strong}, {since(a.Since, v.now), Normal}}
			rows = append(rows, v.taskRows(s, who, open(s, a.ID))...)
		}
		if mine := open(s, transcript.Main); len(mine) > 0 {
			rows = append(rows, v.taskRows(s, []Cell{{"coordinator", Strong}, {}}, mine)...)
		}
		if nobodys := open(s, ""); len(nobodys) > 0 {
			rows = append(rows, v.taskRows(s, []Cell{{"nobody known", Faint}, {}}, nobodys)...)
		}
	}
	if len(rows) == 0 {
		return
	}
	v.section("at work", Good)
	v.table([]Column{{Title: "AGENT", Least: 8}, {Title: "FOR", Right: true}}, rows)
}

// open are the tasks of an owner that run, agents left out: they have rows of their
// own. Of "" they are those whose launcher nobody knows.
func open(s status.Session, owner string) []string {
	var ids []string
	for _, t := range s.Tasks {
		if t.Owner == owner && t.State == status.TaskRunning && t.Kind != event.TypeSubagent && t.Kind != event.TypeTeammate {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// taskRows are rows of an agent, one for each task; the agent's cells are empty from
// the second one on.
func (v *overview) taskRows(s status.Session, who []Cell, ids []string) [][]Cell {
	var session []Cell
	if len(v.live) > 1 {
		session = []Cell{{Clean(short(s.ID)), Faint}}
	}
	if len(ids) == 0 {
		return [][]Cell{slices.Concat(who, make([]Cell, 5), session)}
	}
	var rows [][]Cell
	for _, id := range ids {
		t, known := s.Task(id)
		if !known {
			t = status.Task{ID: id}
		}
		rows = append(rows, slices.Concat(who, faceCells(s, t, v.now), session))
		who = make([]Cell, len(who))
	}
	return rows
}

// table prints rows of agents and tasks; lead are the columns of the agents.
func (v *overview) table(lead []Column, rows [][]Cell) {
	columns := append(lead, Column{Title: "TASK", Drop: 3}, Column{Title: "COMMAND", Least: 12}, Column{Title: "RUNS", Right: true, Drop: 2},
		Column{Title: "DONE", Right: true, Drop: 1}, Column{Title: "LAST OUTPUT", Least: 16, Drop: 5})
	if len(v.live) > 1 {
		columns = append(columns, Column{Title: "SESSION", Drop: 6})
	}
	v.scr.Table(filled(columns, rows))
}

// filled leaves out the columns in which nothing stands.
func filled(columns []Column, rows [][]Cell) ([]Column, [][]Cell) {
	for i := len(columns) - 1; i > 0; i-- {
		if !slices.ContainsFunc(rows, func(r []Cell) bool { return r[i].Text != "" }) {
			columns, rows = without(columns, rows, i)
		}
	}
	return columns, rows
}

// faceCells are a task's id, command, age, progress and last output.
func faceCells(s status.Session, t status.Task, now time.Time) []Cell {
	title := Clean(t.Face.Title())
	if title == "" {
		title = Clean(cmp.Or(t.Kind, "?"))
		if t.Kind == event.TypeSubagent {
			title = Clean(who(s, t.ID))
		}
	}
	for _, m := range []struct {
		set  bool
		word string
	}{{t.Persistent, "persistent"}, {t.Ignored, "ignored"}, {t.Released, "released"}} {
		if m.set {
			title += " (" + m.word + ")"
		}
	}
	runs := ""
	if d := t.Took(now); d > 0 || !t.Launched.IsZero() {
		runs = gate.Span(d)
	}
	return []Cell{{Clean(t.ID), Normal}, {title, Normal}, {runs, Normal}, {Clean(t.Face.Progress), Good}, {printed(t, now), Faint}}
}

// printed is the last line of a task's output, and how old it is while the task runs;
// "" for none.
func printed(t status.Task, now time.Time) string {
	if t.Face.Last == "" || t.Fate.Over() {
		return Clean(t.Face.Last)
	}
	return gate.Span(max(0, now.Sub(t.Face.Printed))) + " ago: " + Clean(t.Face.Last)
}

// TaskLine is a task in one line: its id, its command, how long it runs or ran, how
// far it is and what it printed last.
func TaskLine(s status.Session, t status.Task, now time.Time) string {
	var parts []string
	for i, c := range faceCells(s, t, now) {
		text := c.Text
		switch {
		case text == "":
			continue
		case i == 2 && t.Fate.Over():
			text = "ran " + text
		case i == 2:
			text = "runs for " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func (v *overview) resting() {
	var names []string
	for _, s := range v.live {
		for _, a := range s.Agents {
			if (a.State == status.AgentStopped || a.State == status.AgentIdle) && !a.Stuck && a.Hold == nil {
				names = append(names, Clean(who(s, a.ID))+" ("+string(a.State)+")")
			}
		}
	}
	if len(names) == 0 {
		return
	}
	const most = 12
	if n := len(names); n > most {
		names = append(names[:most], fmt.Sprint("and ", n-most, " more"))
	}
	v.section("at rest", Faint)
	v.scr.Text("", "  ", strings.Join(names, ", "), Normal)
}

func (v *overview) ended(over []status.Session, all bool) {
	if len(over) == 0 {
		return
	}
	v.section("ended", Faint)
	rest := 0
	if !all && len(over) > mostEnded {
		over, rest = over[:mostEnded], len(over)-mostEnded
	}
	var rows [][]Cell
	for _, s := range over {
		rows = append(rows, []Cell{
			{Clean(short(s.ID)), Normal}, {life(s, v.now), Normal}, {count(max(s.AgentCount, len(s.Agents)), "agent") + ", " + count(max(s.StopCount, len(s.Stops)), "stop"), Normal}, {Clean(s.Cwd), Faint},
		})
	}
	v.scr.Table([]Column{{Title: "SESSION"}, {Title: "SINCE"}, {Title: "WITH", Drop: 1}, {Title: "FOLDER", Least: 12, Drop: 2}}, rows)
	if rest > 0 {
		v.scr.Text("", "  ", fmt.Sprintf("and %d more that ended (hookctl status --all; one as it was: --session ID)", rest), Normal)
	}
}

// who is an agent by its name where it has one.
func who(s status.Session, id string) string {
	if id == transcript.Main {
		return "coordinator"
	}
	return s.Label(id)
}

// since is how long ago something began; "" where that is unknown.
func since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return gate.Span(max(0, now.Sub(t)))
}

// short is how a session's id begins, enough to name it.
func short(id string) string {
	const most = 8
	if len(id) > most {
		return strings.ToValidUTF8(id[:most], "")
	}
	return id
}
