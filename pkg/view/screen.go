package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Screen is where tables are printed.
type Screen struct {
	W io.Writer
	// Width is how many columns there are; 0 is as many as it takes.
	Width int
	// Colour allows colours.
	Colour bool
	// Zone is the zone times are shown in; nil is the machine's.
	Zone *time.Location
}

// Style is how a piece of text looks where colours are allowed: the numbers of
// an ANSI sequence.
type Style string

// The styles.
const (
	Normal Style = ""
	Strong Style = "1"
	Faint  Style = "2"
	Good   Style = "32"
	Busy   Style = "33"
	Bad    Style = "31"
	Alarm  Style = "1;31"
)

// Paint gives a text its style.
func (s Screen) Paint(words string, style Style) string {
	if !s.Colour || style == Normal || words == "" {
		return words
	}
	return text.Escape(words, text.EscapeStart+string(style)+text.EscapeStop)
}

// Line prints one line, or several where it does not fit: those below the first stand a
// little behind it. A single long word behind a short label, a path mostly, stays where it
// is. What is printed is cleaned by the caller. A write that fails is the reader's going
// away, which is no matter.
func (s Screen) Line(parts ...string) {
	const label = 14
	line := strings.TrimRight(strings.Join(parts, ""), " ")
	if s.Width <= 0 || Width(line) <= s.Width || Width(line[:max(0, strings.LastIndex(line, " "))]) < label {
		s.print(line)
		return
	}
	words := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(words)]
	for i, part := range wrap(words, s.Width-len(indent)-len(gap)) {
		if i > 0 {
			part = gap + part
		}
		s.print(indent + part)
	}
}

// print prints a line as it is.
func (s Screen) print(parts ...string) {
	_, _ = fmt.Fprintln(s.W, strings.TrimRight(strings.Join(parts, ""), " "))
}

// Text prints a text of several words within the width: behind lead, and below
// that behind indent. Where lead leaves hardly any room the text stands below it.
func (s Screen) Text(lead, indent, words string, style Style) {
	const least = 20
	words = strings.TrimLeft(words, " ")
	room, below := 0, 0
	if s.Width > 0 {
		room, below = s.Width-Width(lead), max(least, s.Width-Width(indent))
	}
	lines := []string{words}
	switch {
	case s.Width == 0 || Width(words) <= room:
	case room < least:
		s.print(lead)
		lead, lines = indent, wrap(words, below)
	default:
		begin := wrap(words, room)[0]
		lines = append([]string{begin}, wrap(strings.TrimPrefix(words[len(begin):], " "), below)...)
	}
	for _, line := range lines {
		s.print(lead, s.Paint(line, style))
		lead = indent
	}
}

// Clock shows a time of the day, with the date where that is not today's.
func (s Screen) Clock(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	zone := s.Zone
	if zone == nil {
		zone = time.Local
	}
	t, now = t.In(zone), now.In(zone)
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04:05")
}

// Cell is one cell of a table.
type Cell struct {
	Text  string
	Style Style
}

// Column is the head of a column.
type Column struct {
	Title string
	Right bool
	// Least is how narrow the column may become; 0 keeps it whole.
	Least int
	// Drop says which columns go where there is no room for all, the highest first;
	// 0 stays.
	Drop int
}

// bare is a table without lines: two blanks between its columns.
var bare = table.Style{Box: table.BoxStyle{PaddingRight: gap}, Format: table.FormatOptions{Header: text.FormatDefault}}

const gap = "  "

// widths are the columns' widths as their contents want them.
func widths(columns []Column, rows [][]Cell) []int {
	out := make([]int, len(columns))
	for i, c := range columns {
		out[i] = Width(c.Title)
		for _, row := range rows {
			out[i] = max(out[i], Width(row[i].Text))
		}
	}
	return out
}

func total(widths []int) int {
	n := 0
	for _, w := range widths {
		n += w
	}
	return n + len(gap)*max(0, len(widths)-1)
}

// fitting leaves out the columns for which there is no room, even where all are as
// narrow as they may become.
func (s Screen) fitting(columns []Column, rows [][]Cell) ([]Column, [][]Cell) {
	for s.Width > 0 {
		narrow, last := widths(columns, rows), -1
		for i, c := range columns {
			if c.Least > 0 {
				narrow[i] = min(narrow[i], c.Least)
			}
			if c.Drop > 0 && (last < 0 || c.Drop > columns[last].Drop) {
				last = i
			}
		}
		if last < 0 || total(narrow) <= s.Width {
			break
		}
		columns, rows = without(columns, rows, last)
	}
	return columns, rows
}

// without leaves a column out.
func without(columns []Column, rows [][]Cell, at int) ([]Column, [][]Cell) {
	fewer := make([][]Cell, len(rows))
	for i, row := range rows {
		fewer[i] = slices.Delete(slices.Clone(row), at, at+1)
	}
	return slices.Delete(slices.Clone(columns), at, at+1), fewer
}

// Cut shortens a line to the width there is.
func (s Screen) Cut(text string) string { return s.CutBehind(text, 0) }

// CutBehind shortens a line that stands behind so many columns to what there is room
// for.
func (s Screen) CutBehind(text string, behind int) string {
	if s.Width <= 0 {
		return text
	}
	return cut(text, max(1, s.Width-behind))
}

// Table prints rows under their titles. Where they do not fit, columns that may go are
// left out, and those that may become narrower do, from the last one on.
func (s Screen) Table(columns []Column, rows [][]Cell) { s.rows(columns, rows, true) }

// rows prints rows as [Screen.Table] does, under their titles or without.
func (s Screen) rows(columns []Column, rows [][]Cell, titles bool) {
	columns, rows = s.fitting(columns, rows)
	w := widths(columns, rows)
	if s.Width > 0 {
		over := total(w) - s.Width
		for i := len(w) - 1; i >= 0 && over > 0; i-- {
			if least := columns[i].Least; least > 0 && w[i] > least {
				less := min(over, w[i]-least)
				w[i] -= less
				over -= less
			}
		}
	}
	t := table.NewWriter()
	t.SetStyle(bare)
	configs := make([]table.ColumnConfig, len(columns))
	head := make(table.Row, len(columns))
	for i, c := range columns {
		configs[i] = table.ColumnConfig{Number: i + 1, WidthMax: w[i], WidthMaxEnforcer: cut}
		if c.Right {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
		head[i] = s.Paint(c.Title, Faint)
	}
	t.SetColumnConfigs(configs)
	if titles {
		t.AppendHeader(head)
	}
	for _, row := range rows {
		cells := make(table.Row, len(row))
		for i, c := range row {
			cells[i] = s.Paint(cut(c.Text, w[i]), c.Style)
		}
		t.AppendRow(cells)
	}
	for _, line := range strings.Split(t.Render(), "\n") {
		s.print(line)
	}
}
