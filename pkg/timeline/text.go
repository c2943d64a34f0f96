package timeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// look is how a doing is drawn in a terminal.
var look = map[Doing]struct {
	char  string
	style view.Style
}{
	Working: {"█", view.Good}, Waiting: {"▒", view.Good}, Held: {"▞", view.Busy}, Idle: {"·", view.Faint},
}

// signsText are the marks in a terminal.
var signsText = map[MarkKind]struct {
	char  string
	style view.Style
}{
	MarkBlock: {"■", view.Alarm}, MarkAllow: {"○", view.Strong}, MarkWake: {"▲", view.Busy},
	MarkMessage: {"✉", view.Strong}, MarkOff: {"×", view.Alarm}, MarkRelease: {"◇", view.Faint},
}

// Widths of the text, in columns.
const (
	nameColumns  = 26
	leastColumns = 24
	usualColumns = 120
)

// Print prints the timeline as text: the lanes on one axis, each task beneath, and
// then what happened, a line each.
func (t Timeline) Print(scr view.Screen) {
	width := scr.Width
	if width == 0 {
		width = usualColumns
	}
	p := printer{Timeline: t, scr: scr, names: min(nameColumns, width/3)}
	p.columns = max(leastColumns, width-p.names-2)
	scr.Line(scr.Paint("session "+t.Session, view.Strong))
	scr.Text("", "  ", strings.Join(append([]string{t.Folder}, t.subtitle()...), " · "), view.Faint)
	scr.Line()
	p.axis()
	for i := range t.Lanes {
		p.lane(&t.Lanes[i])
	}
	scr.Line()
	scr.Text("", "  ", "█ works  ▒ waits for an answer  ▞ held  · idle  ■ blocked  ○ let go  ▲ woken  ✉ message  × off  ◇ released  ┊ now or a hold's end", view.Faint)
	marks := t.marks()
	if len(marks) > 0 {
		scr.Line()
	}
	for _, m := range marks[max(0, len(marks)-maxLines):] {
		scr.Text(clock(m.At)+"  "+scr.Paint(signsText[m.Kind].char, signsText[m.Kind].style)+" ", "            ", m.lane+": "+m.Text, view.Normal)
	}
	for _, l := range t.Lanes {
		if l.Advice != "" {
			scr.Line()
			scr.Text("! ", "  ", l.Advice, view.Alarm)
		}
	}
}

// maxLines is how many of the last marks are told in a line.
const maxLines = 40

type printer struct {
	Timeline
	scr            view.Screen
	names, columns int
}

// column is where a time stands, from 0.
func (p printer) column(at time.Time) int {
	return min(p.columns-1, int(writer{t: p.Timeline}.x(at)*float64(p.columns)))
}

// cells are a line of the axis, a character and its style each.
type cell struct {
	char  string
	style view.Style
}

func (p printer) line(name string, style view.Style, cells []cell) {
	var b strings.Builder
	for i := 0; i < len(cells); {
		run := cells[i].style
		var part strings.Builder
		for ; i < len(cells) && cells[i].style == run; i++ {
			part.WriteString(cmp.Or(cells[i].char, " "))
		}
		b.WriteString(p.scr.Paint(part.String(), run))
	}
	name = view.Snip(name, p.names)
	p.scr.Line(p.scr.Paint(name, style), strings.Repeat(" ", max(0, p.names-view.Width(name))+2), b.String())
}

func (p printer) axis() {
	labels, rule := make([]cell, p.columns), make([]cell, p.columns)
	free := 0
	for i := range rule {
		rule[i] = cell{"─", view.Faint}
	}
	for _, tick := range ticks(p.From, p.Until, max(2, p.columns/14)) {
		at := min(p.columns-1, int(tick.X*float64(p.columns)))
		rule[at].char = "┬"
		if at < free || at+len(tick.Label) > p.columns {
			continue
		}
		for i, r := range tick.Label {
			labels[at+i] = cell{string(r), view.Faint}
		}
		free = at + len(tick.Label) + 1
	}
	p.line("", view.Normal, labels)
	p.line("", view.Normal, rule)
}

func (p printer) lane(l *Lane) {
	cells := make([]cell, p.columns)
	best := make([]time.Duration, p.columns)
	each := p.Until.Sub(p.From) / time.Duration(p.columns)
	for _, s := range l.Spans {
		for c := p.column(s.From); c <= p.column(s.Until); c++ {
			from := p.From.Add(each * time.Duration(c))
			took := earlier(s.Until, from.Add(each)).Sub(later(s.From, from))
			if took > best[c] || took == best[c] && cells[c].char == "" && s.Doing != Idle {
				best[c], cells[c] = took, cell(look[s.Doing])
			}
		}
	}
	p.lines(l, cells)
	for _, m := range l.Marks {
		cells[p.column(m.At)] = cell(signsText[m.Kind])
	}
	p.line(strings.Repeat("  ", min(l.Depth, 5))+l.Name, view.Strong, cells)
	for i := range l.Tasks {
		p.task(&l.Tasks[i])
	}
}

// lines draws now and a hold's end.
func (p printer) lines(l *Lane, cells []cell) {
	if !p.Ended && !p.Now.After(p.Until) && p.Now.Before(p.Until) {
		cells[p.column(p.Now)] = cell{"┊", view.Alarm}
	}
	if !l.Deadline.IsZero() {
		cells[p.column(l.Deadline)] = cell{"┊", view.Busy}
	}
}

// task prints a task's bar, with its command and result where there is room.
func (p printer) task(t *Task) {
	cells := make([]cell, p.columns)
	from, until := p.column(t.From), p.column(t.Until)
	style := view.Normal
	end := "┤"
	switch {
	case t.State == status.TaskRunning:
		style, end = view.Busy, "╌"
	case t.Failed() || t.Unheard:
		style = view.Bad
	case t.State == status.TaskKilled || t.State == status.TaskUnknown:
		style, end = view.Faint, "×"
	}
	for c := from; c <= until; c++ {
		cells[c] = cell{"─", style}
	}
	cells[from].char = "├"
	cells[until].char = end
	words := short(cmp.Or(t.Text, t.ID), labelLength) + ", " + result(t) + t.during()
	switch heard := p.heard(t); {
	case t.Unheard:
		words += " ✗ nobody heard"
	case heard != "":
		words += " → " + heard
	}
	wide := view.Width(words)
	at := until + 2
	switch {
	case at+wide <= p.columns:
	case from-wide-1 >= 0:
		at = from - wide - 1
	default:
		// No room beside it: the words stand on a line of their own.
		p.line("", view.Normal, cells)
		p.scr.Text(strings.Repeat(" ", p.names+2), strings.Repeat(" ", p.names+4), words, style)
		return
	}
	p.line("", view.Normal, append(append(append([]cell{}, cells[:at]...), cell{words, style}), tail(cells, at+wide)...))
}

func tail(cells []cell, from int) []cell {
	if from >= len(cells) {
		return nil
	}
	return cells[from:]
}

// heard are those who heard of a task's end, by name.
func (p printer) heard(t *Task) string {
	var names []string
	for _, n := range t.News {
		names = append(names, fmt.Sprintf("%s (%s)", p.nameOf(n.To), n.By))
	}
	return strings.Join(names, ", ")
}
