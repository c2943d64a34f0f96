package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/status"
	"stopgate/pkg/team"
)

// mostTasks is how many team tasks are shown of a session among others.
const mostTasks = 12

// colours are the client's names for members' colours.
var colours = map[string]Style{
	"red": Bad, "green": Good, "yellow": Busy, "blue": "34", "purple": "35", "magenta": "35",
	"cyan": "36", "orange": "38;5;208", "pink": "38;5;213",
}

// teamTable prints a team: with whole set all of it, also what to do about members that
// are stuck, which an overview has said above.
func teamTable(scr Screen, t status.Team, now time.Time, whole bool) {
	scr.Line()
	head := count(len(t.Members), "member")
	if t.Dir != "" {
		head += ", " + count(len(t.Tasks), "open task")
	}
	scr.Line("  ", scr.Paint("team ", Faint), Clean(t.Name), ", ", head)
	columns := []Column{
		{Title: "  MEMBER", Least: 12}, {Title: "RUNS AS", Least: 12}, {Title: "STATE"}, {Title: "UNREAD", Right: true}, {Title: "TEAM TASKS", Least: 10},
	}
	var rows [][]Cell
	for _, m := range t.Members {
		rows = append(rows, memberRow(scr, t, m, now))
	}
	scr.Table(columns, rows)
	for _, m := range t.Members {
		if whole && m.Stuck && m.AgentID == "" {
			scr.advice(m.Advice)
		}
	}
	if whole && t.Advice != "" {
		scr.advice(t.Advice)
	}
	teamTasks(scr, t, whole)
}

// advice prints the line of somebody who is stuck.
func (s Screen) advice(text string) { s.Text(s.Paint("! ", Alarm), "  ", Clean(text), Alarm) }

func memberRow(scr Screen, t status.Team, m status.Member, now time.Time) []Cell {
	name := Clean(m.Name)
	if m.Color != "" {
		name += " (" + Clean(m.Color) + ")"
	}
	who := Cell{"  " + name, colours[m.Color]}
	if m.Stuck {
		who = Cell{"! " + name, Alarm}
	}
	as := Cell{Clean(m.AgentID), Normal}
	switch {
	case m.Lead:
		as.Text = "lead"
	case m.Separate:
		as.Text = place(m) + ", own session"
	case m.AgentID == "":
		as = Cell{"not seen", Faint}
	}
	state := Cell{string(m.State), Normal}
	switch m.State {
	case "":
		state.Text = "-"
	case status.AgentRunning:
		state.Style = Busy
	case status.AgentEnded:
		state.Style = Faint
	case status.AgentIdle:
		if !m.Since.IsZero() {
			state.Text += " since " + scr.Clock(m.Since, now)
		}
	}
	if m.Stuck {
		state.Style = Alarm
	}
	unread := Cell{strconv.Itoa(m.Unread), Normal}
	if m.Unread > 0 {
		unread.Style = Busy
	}
	var tasks []string
	for _, task := range t.Tasks {
		if task.Owner == m.Name || strings.HasPrefix(task.Owner, m.Name+"@") {
			tasks = append(tasks, Clean(task.ID))
		}
	}
	return []Cell{who, as, state, unread, {Text: strings.Join(tasks, " ")}}
}

// place is where a member that is a session of its own is to be found.
func place(m status.Member) string {
	name := Clean(m.Backend)
	switch m.Backend {
	case team.ITerm2:
		name = "iTerm2"
	case team.Tmux:
	default:
		return name
	}
	if m.Pane != "" {
		name += " " + Clean(m.Pane)
	}
	return name
}

func teamTasks(scr Screen, t status.Team, whole bool) {
	if len(t.Tasks) == 0 {
		return
	}
	columns := []Column{{Title: "  TEAM TASK", Least: 20}, {Title: "STATUS"}, {Title: "OWNER", Least: 8}, {Title: "WAITS FOR", Least: 9}}
	shown := t.Tasks
	if !whole && len(shown) > mostTasks {
		shown = shown[:mostTasks]
	}
	var rows [][]Cell
	for _, task := range shown {
		owner := Cell{Clean(task.Owner), Normal}
		if task.Owner == "" {
			owner = Cell{"nobody", Faint}
		}
		status := Cell{Clean(cmp.Or(task.Status, "?")), Normal}
		if task.Status == team.InProgress {
			status = Cell{"in progress", Busy}
		}
		name := Clean(task.ID)
		if task.Subject != "" {
			name += " " + Clean(task.Subject)
		}
		rows = append(rows, []Cell{{Text: "  " + name}, status, owner, {Text: Clean(strings.Join(task.WaitsFor, " "))}})
	}
	scr.Line()
	scr.Table(columns, rows)
	if n := len(t.Tasks) - len(shown); n > 0 {
		scr.Line("  ", fmt.Sprintf("and %d more, which hookctl status --session shows", n))
	}
}
