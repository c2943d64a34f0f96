package stats

import (
	"fmt"
	"time"

	"stopgate/pkg/view"
)

// Print prints the sums as tables.
func (s Stats) Print(scr view.Screen, zone *time.Location) {
	t := s.Total
	scr.Line(scr.Paint(s.period(zone), view.Strong))
	scr.Line()
	scr.Line("  saved   ", count(t.Results, "result"), " that a stop would have lost, ", count(t.Wakes, "wake"), " of coordinators")
	scr.Line("  cost    ", length(t.Held), " of ", count(t.Holds, "hold"), ", ", count(t.Blocks, "turn"), " of agents (", count(t.Stops, "stop"), ")")
	scr.Line("  lost    ", count(t.Left, "task"), " left running, ", fmt.Sprint(t.Unheard), " that nobody heard of")
	if t.Sessions == 0 {
		return
	}
	scr.Line()
	// What is told first where there is no room for all is what was saved and lost.
	number := func(title string, drop int) view.Column { return view.Column{Title: title, Right: true, Drop: drop} }
	rows := make([][]view.Cell, 0, len(s.Projects))
	for _, p := range s.Projects[:min(len(s.Projects), mostRows)] {
		folder := view.Clean(p.Folder)
		if folder == "" {
			folder = "-"
		}
		rows = append(rows, cells(append([]string{folder}, p.cells()...)))
	}
	scr.Table([]view.Column{
		{Title: "PROJECT", Least: 16}, number("SESSIONS", 5), number("STOPS", 6), number("BLOCKED", 3), number("HELD", 1), number("SAVED", 0), number("LEFT", 0), number("UNHEARD", 2), number("WAKES", 4),
	}, rows)
	if len(s.Commands) == 0 {
		return
	}
	scr.Line()
	rows = rows[:0]
	for _, c := range s.Commands[:min(len(s.Commands), mostRows)] {
		rows = append(rows, cells([]string{view.Clean(c.Title()), length(c.Held), fmt.Sprint(c.Tasks), fmt.Sprint(c.Results), fmt.Sprint(c.Left), fmt.Sprint(c.Unheard)}))
	}
	scr.Table([]view.Column{{Title: "COMMAND", Least: 16}, number("HELD", 1), number("TASKS", 3), number("SAVED", 0), number("LEFT", 0), number("UNHEARD", 2)}, rows)
	if more := len(s.Commands) - mostRows; more > 0 {
		scr.Line("and ", fmt.Sprint(more), " more")
	}
}

func cells(texts []string) []view.Cell {
	out := make([]view.Cell, len(texts))
	for i, text := range texts {
		out[i].Text = text
	}
	return out
}
