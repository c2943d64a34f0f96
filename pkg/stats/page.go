package stats

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/timeline"
	"stopgate/pkg/view"
)

//go:embed page.css
var style string

// Measures of the plots, in pixels.
const (
	plotHeight = 180
	dayWidth   = 64
	barWidth   = 22
	rowHeight  = 24
	// mostRows bounds each table and plot of rows.
	mostRows = 30
)

// ink writes markup: formats are ours, and every text goes in cleaned and escaped.
type ink struct{ strings.Builder }

func (k *ink) put(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = html.EscapeString(view.Spelled(s))
		}
	}
	fmt.Fprintf(&k.Builder, format, args...)
}

// HTML writes the sums as a page that needs nothing else and fetches nothing, in the
// look of the timeline's.
func (s Stats) HTML(w io.Writer, zone *time.Location) error {
	look := timeline.Look() + style
	k := &ink{}
	k.put(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="%s"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="referrer" content="no-referrer"/><meta name="robots" content="noindex"/>
<title>stopgate: what it did</title>
<style>`, timeline.Policy(look))
	k.WriteString(look + "</style></head><body>\n<header>")
	k.put(`<h1>What stopgate did</h1><p class="about">%s</p>`, s.period(zone))
	s.cards(k)
	k.WriteString("</header>\n<main>\n<h2>Day by day</h2>\n")
	s.days(k)
	k.WriteString("<h2>What agents waited for</h2>\n")
	s.commands(k)
	k.WriteString("<h2>Projects</h2>\n")
	s.projects(k)
	k.WriteString("</main>\n<footer>This page fetches nothing and sends nothing; texts of commands stand in it.</footer></body></html>\n")
	_, err := io.WriteString(w, k.String())
	return err
}

// period says which span of time it is.
func (s Stats) period(zone *time.Location) string {
	const form = "2 January 2006 15:04"
	return s.Since.In(zone).Format(form) + " to " + s.Until.In(zone).Format(form) + ", " + count(s.Total.Sessions, "session")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// length is a duration in words; none is "0s".
func length(d Seconds) string {
	if d <= 0 {
		return "0s"
	}
	return gate.Span(time.Duration(d))
}

func (s Stats) cards(k *ink) {
	card := func(class, name, value, more string) {
		k.put(`<div class="%s"><dt>%s</dt><dd>%s <small>%s</small></dd></div>`, class, name, value, more)
	}
	t := s.Total
	k.WriteString(`<dl class="totals">`)
	card("", "saved", fmt.Sprint(t.Results), "results that a stop would have lost")
	card("held", "waited", length(t.Held), "in "+count(t.Holds, "hold"))
	card("", "turns spent", fmt.Sprint(t.Blocks), "one for each block, of "+count(t.Stops, "stop"))
	card("", "wakes", fmt.Sprint(t.Wakes), "of coordinators")
	if t.Left > 0 {
		card("", "left running", fmt.Sprint(t.Left), "when their agents were let go")
	}
	if t.Unheard > 0 {
		card("alarm", "unheard", fmt.Sprint(t.Unheard), "ends that nobody heard of")
	}
	k.WriteString("</dl>")
}

// days draws two bars for each day: results, and time held, each by its own scale.
func (s Stats) days(k *ink) {
	mostHeld, mostResults := Seconds(1), 1
	for _, d := range s.Days {
		mostHeld, mostResults = max(mostHeld, d.Held), max(mostResults, d.Results)
	}
	k.put(`<div class="wide"><svg class="plot" width="%d" height="%d" role="img" aria-label="results saved and time held, day by day; the table below says the same">`, len(s.Days)*dayWidth, plotHeight+40)
	for i, d := range s.Days {
		x := i*dayWidth + (dayWidth-2*barWidth)/2
		bar := func(class, says string, x, height int, value string) {
			k.put(`<g class="%s"><title>%s</title><rect x="%d" y="%d" width="%d" height="%d"/></g>`, class, says, x, plotHeight+16-height, barWidth-2, height)
			if height > 0 {
				k.put(`<text class="v" x="%d" y="%d">%s</text>`, x+barWidth/2, plotHeight+11-height, value)
			}
		}
		bar("working", d.Date+": "+count(d.Results, "result"), x, d.Results*plotHeight/mostResults, fmt.Sprint(d.Results))
		bar("waitbar", d.Date+": held "+length(d.Held), x+barWidth, int(d.Held*plotHeight/mostHeld), short(d.Held))
		k.put(`<text class="d" x="%d" y="%d">%s</text>`, i*dayWidth+dayWidth/2, plotHeight+33, d.Date[5:])
	}
	k.WriteString("</svg></div>\n" + `<ul class="legend"><li><svg viewBox="0 0 18 16" aria-hidden="true"><g class="working"><rect x="1" y="3" width="16" height="10"/></g></svg>results saved</li><li><svg viewBox="0 0 18 16" aria-hidden="true"><g class="waitbar"><rect x="1" y="3" width="16" height="10"/></g></svg>time held</li></ul>`)
	rows := make([][]string, 0, len(s.Days))
	for _, d := range s.Days {
		rows = append(rows, append([]string{d.Date}, d.cells()...))
	}
	table(k, "day", rows)
}

// short is a duration for a bar's end.
func short(d Seconds) string {
	switch t := time.Duration(d); {
	case t >= time.Hour:
		return fmt.Sprintf("%.1fh", t.Hours())
	case t >= time.Minute:
		return fmt.Sprintf("%.0fm", t.Minutes())
	default:
		return fmt.Sprintf("%.0fs", t.Seconds())
	}
}

// commands draws a bar for each command that agents were held for.
func (s Stats) commands(k *ink) {
	most := Seconds(1)
	for _, c := range s.Commands {
		most = max(most, c.Held)
	}
	k.WriteString(`<div class="wide"><table><thead><tr><th>command</th><th>held</th><th></th><th>tasks</th><th>saved</th><th>left</th><th>unheard</th></tr></thead><tbody>` + "\n")
	for _, c := range s.Commands[:min(len(s.Commands), mostRows)] {
		k.put(`<tr><td class="c">%s</td><td class="n">%s</td><td class="b"><svg class="row" width="160" height="%d" aria-hidden="true"><g class="waitbar"><rect x="0" y="5" width="%d" height="14"/></g></svg></td><td class="n">%d</td><td class="n">%d</td><td class="n">%d</td><td class="n">%d</td></tr>`+"\n",
			c.Title(), length(c.Held), rowHeight, int(c.Held*160/most), c.Tasks, c.Results, c.Left, c.Unheard)
	}
	k.WriteString("</tbody></table></div>\n")
	rest(k, len(s.Commands))
}

// Title is the command, or what is known in its place.
func (c Command) Title() string {
	switch {
	case c.Command != "":
		return c.Command
	case c.Kind != "":
		return "(" + c.Kind + ")"
	}
	return "(not known)"
}

func (s Stats) projects(k *ink) {
	rows := make([][]string, 0, len(s.Projects))
	for _, p := range s.Projects[:min(len(s.Projects), mostRows)] {
		folder := p.Folder
		if folder == "" {
			folder = "(not known)"
		}
		rows = append(rows, append([]string{folder}, p.cells()...))
	}
	table(k, "folder", rows)
	rest(k, len(s.Projects))
}

func rest(k *ink, n int) {
	if n > mostRows {
		k.put(`<p class="keys">and %d more</p>`, n-mostRows)
	}
}

// columns are those of cells.
var columns = []string{"sessions", "stops", "blocked", "held", "saved", "left", "unheard", "wakes"} //nolint:gochecknoglobals // a constant

func (s Sums) cells() []string {
	n := func(v int) string { return fmt.Sprint(v) }
	return []string{n(s.Sessions), n(s.Stops), n(s.Blocks), length(s.Held), n(s.Results), n(s.Left), n(s.Unheard), n(s.Wakes)}
}

func table(k *ink, first string, rows [][]string) {
	k.put(`<div class="wide"><table><thead><tr><th>%s</th>`, first)
	for _, c := range columns {
		k.put(`<th>%s</th>`, c)
	}
	k.WriteString("</tr></thead><tbody>\n")
	for _, row := range rows {
		k.put(`<tr><td class="c">%s</td>`, row[0])
		for _, cell := range row[1:] {
			k.put(`<td class="n">%s</td>`, cell)
		}
		k.WriteString("</tr>\n")
	}
	k.WriteString("</tbody></table></div>\n")
}
