package timeline

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/view"
)

// style is the look of a picture, in the page and in a file of its own.
//
//go:embed picture.css
var style string

// signs are the shapes that marks and ends refer to.
//
//go:embed signs.svg
var signs string

// Measures of a picture in a file of its own, in pixels.
const (
	labelWidth = 250
	fileWidth  = 1240
	axisHeight = 26
)

// ink writes markup. Every text and every value goes through it escaped; the
// format strings are ours.
type ink struct{ strings.Builder }

// put writes a format of ours. Its strings are cleaned, whatever was forgotten before,
// and escaped.
func (k *ink) put(format string, args ...any) {
	for i, a := range args {
		switch v := a.(type) {
		case string:
			args[i] = html.EscapeString(view.Spelled(v))
		case share:
			args[i] = v.String()
		}
	}
	fmt.Fprintf(&k.Builder, format, args...)
}

// share is a part of the axis, written as a percentage.
type share float64

func (s share) String() string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(float64(s)*100, 'f', 3, 64), "0"), ".") + "%"
}

// chart writes everything that stands on the time axis.
func (p Picture) chart(k *ink) {
	k.put(`<g class="grid" aria-hidden="true">`)
	for _, t := range p.Ticks {
		k.put(`<line x1="%s" x2="%s" y1="0" y2="%d"/>`, share(t.X), share(t.X), p.Height)
	}
	k.put("</g>\n")
	p.launches(k)
	// Below the lanes: a label must be readable where an arrow passes it.
	k.put(`<g class="news">`)
	for _, a := range p.Arrows {
		a.draw(k)
	}
	k.put("</g>\n")
	for _, r := range p.Rows {
		p.row(k, r)
	}
	if p.Now >= 0 {
		k.put(`<g class="now" role="img"><title>now, %s</title><line x1="%s" x2="%s" y1="0" y2="%d"/></g>`, clock(p.Timeline.Now), share(p.Now), share(p.Now), p.Height)
	}
}

// maxLaunches is how many lanes there may be for their launches to be drawn.
const maxLaunches = 40

// launches are thin lines from each launcher's lane to the agent's.
func (p Picture) launches(k *ink) {
	if len(p.Rows) > maxLaunches {
		return
	}
	k.put(`<g class="launch" aria-hidden="true">`)
	whole := p.Timeline.Until.Sub(p.Timeline.From)
	for i, r := range p.Rows {
		for _, parent := range p.Rows[:i] {
			if parent.Lane.ID == r.Lane.Parent && whole > 0 {
				x := share(float64(r.Lane.From.Sub(p.Timeline.From)) / float64(whole))
				k.put(`<line x1="%s" x2="%s" y1="%d" y2="%d"/>`, x, x, parent.Y+barHeight, r.Y+barHeight/2)
			}
		}
	}
	k.put("</g>\n")
}

func (p Picture) row(k *ink, r Row) {
	l := r.Lane
	name := l.Title
	if l.State != "" {
		name += ", " + l.State
	}
	k.put(`<g class="lane" role="group" aria-label="%s">`, name)
	for _, it := range r.Items {
		it.draw(k, p.Timeline.Totals.Tasks <= maxSigns)
	}
	if r.Deadline >= 0 {
		at := clock(l.Deadline)
		k.put(`<g class="i deadline" role="img"><title>%s is held until %s at the latest</title>`, l.Name, at)
		if p.Now >= 0 {
			k.put(`<line class="reach" x1="%s" x2="%s" y1="%d" y2="%d"/>`, share(p.Now), share(r.Deadline), r.Y+barHeight/2, r.Y+barHeight/2)
		}
		k.put(`<line x1="%s" x2="%s" y1="%d" y2="%d"/><text x="%s" dx="-5" y="%d" text-anchor="end">until %s</text></g>`,
			share(r.Deadline), share(r.Deadline), r.Y-3, r.Y+barHeight+3, share(r.Deadline), r.Y+4, at)
	}
	k.put("</g>\n")
}

// maxSigns is how many tasks there may be for the signs at their ends to be drawn;
// beyond, their colours must do.
const maxSigns = 400

func (it Item) draw(k *ink, few bool) {
	k.put(`<g class="i %s" role="img"><title>%s</title>`, it.Class, it.Title)
	wide := share(max(0, it.X1-it.X0))
	switch it.Shape {
	case ShapeMark:
		k.put(`<use href="#m-%s" x="%s" y="%d"`, it.Class, share(it.X0), it.Y+barHeight/2)
		if it.Shift > 0 {
			k.put(` transform="translate(%d 0)"`, it.Shift)
		}
		k.WriteString("/>")
	case ShapeSpan:
		y, height := it.Y, barHeight
		if it.Class == string(Idle) {
			y, height = it.Y+barHeight/2-1, 2
		}
		k.put(`<rect x="%s" y="%d" width="%s" height="%d"/>`, share(it.X0), y, wide, height)
	case ShapeTask:
		k.put(`<rect class="t" x="%s" y="%d" width="%s" height="%d" rx="3"/>`, share(it.X0), it.Y, wide, taskHeight)
		if it.End != "" && few {
			k.put(`<use href="#e-%s" x="%s" y="%d"/>`, it.End, share(it.X1), it.Y+taskHeight/2)
		}
		it.label(k)
	}
	k.put("</g>\n")
}

func (it Item) label(k *ink) {
	x, dx, anchor := it.X0, 6, "start"
	switch it.Side {
	case Behind:
		x, dx = it.X1, 9
	case Before:
		dx, anchor = -6, "end"
	case Inside:
	}
	k.put(`<text x="%s" dx="%d" y="%d" text-anchor="%s">%s</text>`, share(x), dx, it.Y+taskHeight-4, anchor, it.Label)
}

func (a Arrow) draw(k *ink) {
	class := "told"
	if a.Broken {
		class = "untold"
	}
	k.put(`<g class="i %s" role="img"><title>%s</title>`, class, a.Title)
	if a.X1-a.X0 > 0.004 {
		k.put(`<line class="later" x1="%s" x2="%s" y1="%d" y2="%d"/>`, share(a.X0), share(a.X1), a.Y0, a.Y0)
	}
	k.put(`<line class="head" x1="%s" x2="%s" y1="%d" y2="%d"/></g>`+"\n", share(a.X1), share(a.X1), a.Y0, a.Y1)
}

// axis writes the labels of the ticks.
func (p Picture) axis(k *ink) {
	for _, t := range p.Ticks {
		anchor := "middle"
		switch {
		case t.X < 0.03:
			anchor = "start"
		case t.X > 0.97:
			anchor = "end"
		}
		k.put(`<text x="%s" y="17" text-anchor="%s">%s</text>`, share(t.X), anchor, t.Label)
	}
	if p.Now >= 0 {
		k.put(`<g class="now"><use href="#a-now" x="%s" y="24"/></g>`, share(p.Now))
	}
}

// labels writes the lanes' names, nested.
func (p Picture) labels(k *ink) {
	for _, r := range p.Rows {
		l := r.Lane
		x := 12 + 14*min(l.Depth, 6)
		if l.Depth > 0 {
			k.put(`<path class="tree" d="M%d %dv%dh6"/>`, x-9, r.Y-4, barHeight/2+4)
		}
		room := (labelWidth - x - 60) / 7
		k.put(`<text class="name" x="%d" y="%d">%s<title>%s</title></text>`, x, r.Y+12, short(l.Name, room), l.Title)
		state, class := l.State, "state"
		switch {
		case l.Advice != "":
			state, class = "stuck", "state stuck"
		case !l.Deadline.IsZero():
			state, class = "held", "state held"
		}
		k.put(`<text class="%s" x="%d" y="%d" text-anchor="end">%s</text>`, class, labelWidth-10, r.Y+12, state)
	}
}

// SVG writes the picture as a file of its own.
func (p Picture) SVG(w io.Writer) error {
	k := &ink{}
	t := p.Timeline
	const top = 64
	height := top + axisHeight + p.Height + 12
	k.put(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="group" aria-label="%s">`+"\n",
		fileWidth, height, fileWidth, height, "timeline of session "+t.Session)
	k.WriteString("<style>" + style + "</style>\n" + signs)
	k.put(`<rect class="paper" width="100%%" height="100%%"/>`)
	k.put(`<text class="title" x="12" y="26">session %s</text><text class="sub" x="12" y="46">%s</text>`, t.Session, strings.Join(t.subtitle(), " · "))
	k.put(`<g transform="translate(0 %d)">`, top+axisHeight)
	p.labels(k)
	k.put(`</g><svg x="%d" y="%d" width="%d" height="%d" overflow="visible" class="axis">`, labelWidth, top, fileWidth-labelWidth-24, axisHeight)
	p.axis(k)
	k.put(`</svg><svg x="%d" y="%d" width="%d" height="%d" overflow="visible">`+"\n", labelWidth, top+axisHeight, fileWidth-labelWidth-24, p.Height)
	p.chart(k)
	k.put("</svg></svg>\n")
	_, err := io.WriteString(w, k.String())
	return err
}

// subtitle says in a line what it came to.
func (t Timeline) subtitle() []string {
	out := []string{
		fmt.Sprintf("%s to %s, %s", clock(t.From), clock(t.Until), span(t.Until.Sub(t.From))),
		fmt.Sprintf("waited %s in %s", t.Totals.waited(), count(t.Totals.Holds, "hold")),
		count(t.Totals.Saved, "result") + " saved",
		count(t.Totals.Turns, "turn") + " spent",
	}
	if t.Totals.HeldNow > 0 {
		out = append(out, fmt.Sprintf("%d held now", t.Totals.HeldNow))
	}
	if t.Totals.Unheard > 0 {
		out = append(out, fmt.Sprintf("%d unheard", t.Totals.Unheard))
	}
	if t.Totals.Stuck > 0 {
		out = append(out, fmt.Sprintf("%d stuck", t.Totals.Stuck))
	}
	return out
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// clock is a time of the day in the zone that it bears.
func clock(t time.Time) string { return t.Format("15:04:05") }
