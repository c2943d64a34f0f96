package timeline

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// maxRows bounds each table of a page.
const maxRows = 2000

// HTML writes the picture as a page that needs nothing else: it asks for nothing
// over the network, and its content security policy lets it do nothing but what
// stands in it. again is how often it loads itself anew, 0 for never.
func (p Picture) HTML(w io.Writer, again time.Duration) error {
	k := &ink{}
	t := p.Timeline
	look := style + pageStyle
	k.put(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="referrer" content="no-referrer"/><meta name="robots" content="noindex"/>
<title>%s</title>
<style>`, sum(look), sum(pageScript), "session "+t.Session+" · stopgate timeline")
	k.WriteString(look + "</style></head><body>\n<header>")
	k.put(`<h1>Session %s</h1><p class="about">%s</p>`, t.Session, strings.Join(t.about(), " · "))
	t.cards(k)
	k.WriteString("</header>\n<main>")
	for _, l := range t.Lanes {
		if l.Advice != "" {
			k.put(`<p class="advice">%s</p>`, l.Advice)
		}
	}
	k.WriteString(`<div class="bar"><ul class="legend">`)
	legend(k)
	k.WriteString(`</ul><div class="zoom" hidden="hidden"><button id="out" aria-label="zoom out">−</button><output aria-label="zoom">1×</output><button id="in" aria-label="zoom in">+</button><button id="fit">fit</button></div></div>` + "\n")
	_, offset := t.From.Zone()
	k.put(`<div class="frame" tabindex="0" role="group" aria-label="%s" data-from="%d" data-until="%d" data-offset="%d" data-again="%d"><div class="sheet">`,
		"timeline: arrow keys go from item to item, plus and minus zoom; the tables below say the same", t.From.UnixMilli(), t.Until.UnixMilli(), offset*1000, again.Milliseconds())
	k.WriteString(`<div class="corner"></div><div class="top"><svg class="axis" height="26" aria-hidden="true"><g id="axis">`)
	p.axis(k)
	k.put(`</g></svg></div><div class="names"><svg height="%d" aria-hidden="true">`, p.Height)
	p.labels(k)
	k.put(`</svg></div><div class="chart"><svg id="chart" height="%d" role="group" aria-label="agents and their tasks">`, p.Height)
	k.WriteString(signs)
	p.chart(k)
	k.WriteString("</svg></div></div></div><div id=\"tip\" role=\"status\"></div>\n" +
		`<p class="keys" hidden="hidden">arrow keys: from item to item · + − 0: zoom · Ctrl and the wheel: zoom at the pointer · drag: move</p>`)
	if p.Merged > 0 {
		k.put(`<p class="keys">What an agent did is drawn in pieces of %s and longer; shorter ones are merged with their neighbours.</p>`, span(p.Merged))
	}
	t.tables(k)
	k.put("</main>\n<footer>stopgate, %s. This page fetches nothing and sends nothing; texts of commands stand in it.</footer>\n", t.Now.Format("2006-01-02 15:04:05 MST"))
	k.WriteString("<script>" + pageScript + "</script></body></html>\n")
	_, err := io.WriteString(w, k.String())
	return err
}

// sum is a text's hash as a content security policy names it.
func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(h[:])
}

// about says in a line which session it is.
func (t Timeline) about() []string {
	out := []string{t.Folder, t.From.Format("2 January 2006"), fmt.Sprintf("%s to %s (%s)", clock(t.From), clock(t.Until), span(t.Until.Sub(t.From)))}
	if t.Client != "" {
		out = append(out, "client "+t.Client)
	}
	if t.Ended {
		out = append(out, "ended")
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// cards are the totals.
func (t Timeline) cards(k *ink) {
	s := t.Totals
	card := func(class, name, value, more string) {
		k.put(`<div class="%s"><dt>%s</dt><dd>%s <small>%s</small></dd></div>`, class, name, value, more)
	}
	k.WriteString(`<dl class="totals">`)
	card("", "waited", s.waited(), "in "+count(s.Holds, "hold"))
	card("", "saved", fmt.Sprint(s.Saved), strings.TrimPrefix(count(s.Saved, "result"), fmt.Sprint(s.Saved)+" ")+" that would have been lost")
	card("", "turns spent", fmt.Sprint(s.Turns), count(s.Blocks, "block")+", "+count(s.Wakes, "wake"))
	card("", "agents", fmt.Sprint(s.Agents), count(s.Tasks, "task")+", "+count(s.Stops, "stop"))
	if s.HeldNow > 0 {
		card("held", "held now", fmt.Sprint(s.HeldNow), "")
	}
	if s.Unheard > 0 {
		card("alarm", "unheard", fmt.Sprint(s.Unheard), "ends that nobody heard of")
	}
	if s.Stuck > 0 {
		card("alarm", "stuck", fmt.Sprint(s.Stuck), "")
	}
	k.WriteString("</dl>")
}

// legend says what each look means.
func legend(k *ink) {
	box := func(class, name string) {
		k.put(`<li><svg viewBox="0 0 18 16" aria-hidden="true"><g class="%s"><rect x="1" y="3" width="16" height="10"/></g></svg>%s</li>`, class, name)
	}
	box("working", "works")
	box("waiting", "waits for an answer")
	box("held", "held")
	k.WriteString(`<li><svg viewBox="0 0 18 16" aria-hidden="true"><g class="idle"><rect x="1" y="7" width="16" height="2"/></g></svg>idle</li>`)
	for _, m := range []struct{ kind, name string }{
		{"block", "blocked"}, {"allow", "let go"}, {"wake", "woken"}, {"message", "message"}, {"off", "off"}, {"release", "released"},
	} {
		k.put(`<li><svg viewBox="0 0 18 16" aria-hidden="true"><g class="i %s"><use href="#m-%s" x="9" y="8"/></g></svg>%s</li>`, m.kind, m.kind, m.name)
	}
	k.WriteString(`<li><svg viewBox="0 0 18 16" aria-hidden="true"><g class="i told"><line class="head" x1="9" x2="9" y1="15" y2="1"/></g></svg>heard of an end</li>`)
	k.WriteString(`<li><svg viewBox="0 0 18 16" aria-hidden="true"><g class="i untold"><line class="head" x1="9" x2="9" y1="16" y2="5"/></g></svg>nobody heard</li>`)
}

// tables say the same for those who cannot see it.
func (t Timeline) tables(k *ink) {
	head := func(title string, columns ...string) {
		k.put(`<section><h2>%s</h2><div class="wide"><table><thead><tr>`, title)
		for _, c := range columns {
			k.put(`<th scope="col">%s</th>`, c)
		}
		k.WriteString("</tr></thead><tbody>\n")
	}
	end := func(rows int) {
		k.WriteString("</tbody></table></div>\n")
		if rows > maxRows {
			k.put(`<p class="keys">and %d more, with hookctl timeline --json</p>`, rows-maxRows)
		}
		k.WriteString("</section>\n")
	}
	head("Agents", "Agent", "Launched by", "From", "Until", "Works", "Waits", "Held", "Idle", "State")
	for _, l := range t.Lanes {
		sums := map[Doing]time.Duration{}
		for _, s := range l.Spans {
			sums[s.Doing] += s.Until.Sub(s.From)
		}
		k.put(`<tr><th scope="row">%s</th><td>%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td>%s</td></tr>`+"\n",
			l.Title, t.nameOf(l.Parent), clock(l.From), clock(l.Until), span(sums[Working]), span(sums[Waiting]), span(sums[Held]), span(sums[Idle]), l.State)
	}
	end(len(t.Lanes))
	t.taskTable(k, head, end)
	head("Stops, wakes and messages", "Time", "Agent", "What")
	marks := t.marks()
	for _, m := range marks[:min(len(marks), maxRows)] {
		k.put(`<tr><td class="n">%s</td><td>%s</td><td>%s</td></tr>`+"\n", clock(m.At), m.lane, m.Text)
	}
	end(len(marks))
}

func (t Timeline) taskTable(k *ink, head func(string, ...string), end func(int)) {
	head("Tasks", "Task", "Of", "Command", "From", "For", "Result", "Heard by")
	rows, w := 0, writer{t: t}
	for i := range t.Lanes {
		l := &t.Lanes[i]
		for n := range l.Tasks {
			x := &l.Tasks[n]
			if rows++; rows > maxRows {
				continue
			}
			class := ""
			if x.Failed() || x.Unheard {
				class = "bad"
			}
			k.put(`<tr><td class="n">%s</td><td>%s</td><td class="c">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="%s">%s</td></tr>`+"\n",
				x.ID, l.Name, cmp.Or(x.Text, x.Kind), clock(x.From), span(x.Until.Sub(x.From)), result(x), class, w.told(x))
		}
	}
	end(rows)
}

func (t Timeline) nameOf(id string) string { return writer{t: t}.name(id) }

// laneMark is a mark with its lane's name.
type laneMark struct {
	Mark
	lane string
}

// marks are the marks of all lanes by their time.
func (t Timeline) marks() []laneMark {
	var out []laneMark
	for _, l := range t.Lanes {
		for _, m := range l.Marks {
			out = append(out, laneMark{m, l.Name})
		}
	}
	slices.SortStableFunc(out, func(x, y laneMark) int { return x.At.Compare(y.At) })
	return out
}

// Look is the style of the pages: for another page of hookctl's that looks alike, and
// stands as it is between its style tags.
func Look() string { return style + pageStyle }

// Policy is a content security policy by which a page may be nothing but itself, with
// one style and no script.
func Policy(style string) string {
	return "default-src 'none'; style-src 'sha256-" + sum(style) + "'; base-uri 'none'; form-action 'none'"
}
