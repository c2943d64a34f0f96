package view

import (
	"fmt"
	"io"
	"strings"
	"time"
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

// Style is how a piece of text looks where colours are allowed.
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
func (s Screen) Paint(text string, style Style) string {
	if !s.Colour || style == Normal || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Line prints one line. What is printed is cleaned by the caller. A write that
// fails is the reader's going away, which is no matter.
func (s Screen) Line(parts ...string) {
	_, _ = fmt.Fprintln(s.W, strings.TrimRight(strings.Join(parts, ""), " "))
}

// Text prints a text of several words within the width: behind lead, and below
// that behind indent. Where lead leaves hardly any room the text stands below it.
func (s Screen) Text(lead, indent, text string, style Style) {
	const least = 20
	text = strings.TrimLeft(text, " ")
	room, below := 0, 0
	if s.Width > 0 {
		room, below = s.Width-Width(plainText(lead)), max(least, s.Width-Width(indent))
	}
	lines := []string{text}
	switch {
	case s.Width == 0 || Width(text) <= room:
	case room < least:
		s.Line(lead)
		lead, lines = indent, wrap(text, below)
	default:
		begin := wrap(text, room)[0]
		lines = append([]string{begin}, wrap(strings.TrimPrefix(text[len(begin):], " "), below)...)
	}
	for _, line := range lines {
		s.Line(lead, s.Paint(line, style))
		lead = indent
	}
}

// plainText is a text without the styles that Paint gave it.
func plainText(s string) string {
	for {
		begin, rest, found := strings.Cut(s, "\x1b[")
		if !found {
			return s
		}
		_, rest, _ = strings.Cut(rest, "m")
		s = begin + rest
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
}

// gap is what stands between two columns.
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

// Table prints rows under their titles. Where they do not fit, the columns that
// may become narrower do, from the last one on.
func (s Screen) Table(indent string, columns []Column, rows [][]Cell) {
	w := widths(columns, rows)
	if s.Width > 0 {
		over := total(w) + Width(indent) - s.Width
		for i := len(w) - 1; i >= 0 && over > 0; i-- {
			if least := columns[i].Least; least > 0 && w[i] > least {
				less := min(over, w[i]-least)
				w[i] -= less
				over -= less
			}
		}
	}
	line := func(cells []Cell) {
		parts := []string{indent}
		for i, c := range cells {
			text := cut(c.Text, w[i])
			pad := strings.Repeat(" ", w[i]-Width(text))
			if i > 0 {
				parts = append(parts, gap)
			}
			switch {
			case columns[i].Right:
				parts = append(parts, pad, s.Paint(text, c.Style))
			case i == len(cells)-1:
				parts = append(parts, s.Paint(text, c.Style))
			default:
				parts = append(parts, s.Paint(text, c.Style), pad)
			}
		}
		s.Line(parts...)
	}
	head := make([]Cell, len(columns))
	for i, c := range columns {
		head[i] = Cell{c.Title, Faint}
	}
	line(head)
	for _, row := range rows {
		line(row)
	}
}
