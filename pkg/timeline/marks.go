package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

func (b *builder) mark(id string, m Mark) {
	m.At = b.within(m.At)
	l := b.lane(id)
	l.Marks = append(l.Marks, m)
}

// stops are the marks of the stops, where they were answered.
func (b *builder) stops() {
	for _, stop := range b.Session.Stops {
		m := Mark{Kind: MarkAllow, At: answered(stop), Stop: stop.Seq}
		verdict := "allowed"
		switch {
		case stop.Verdict == ledger.Block:
			m.Kind, verdict = MarkBlock, "blocked"
		case stop.Observed:
			verdict = "allowed, and blocked but for --observe"
		case stop.Code == string(gate.Disabled):
			m.Kind, verdict = MarkOff, "allowed, switched off"
		}
		m.Text = fmt.Sprintf("stop %d %s: %s", stop.Seq, verdict, view.Clean(stop.Code))
		if stop.Held > 0 {
			m.Text += ", held " + gate.Span(stop.Held)
		}
		if len(stop.Own) > 0 {
			m.Text += ", own " + b.taskNames(stop.Own)
		}
		if len(stop.Ended) > 0 {
			m.Text += ", told of the end of " + b.taskNames(stop.Ended)
		}
		b.mark(stop.AgentID, m)
	}
}

// signals are the marks of everything else: messages, wakes, releases, the switch.
func (b *builder) signals() {
	for id := range b.Moments {
		for _, m := range b.Moments[id] {
			if m.To != "" && !m.At.Before(b.from) {
				b.message(id, m)
			}
		}
	}
	for _, t := range b.Session.Tasks {
		for _, d := range b.News[t.ID] {
			if b.wakes(d) {
				b.mark(d.To, Mark{Kind: MarkWake, At: d.At, Text: "woken by the client: the end of " + b.called(t.ID)})
			}
		}
		if !t.Courier.IsZero() {
			b.mark(transcript.Main, Mark{Kind: MarkWake, At: t.Courier, Text: "woken by the courier: the end of " + b.called(t.ID) + " of " + b.name(t.Owner)})
		}
	}
	for _, act := range b.Acts {
		b.act(act)
	}
}

// act marks what a person did: with tasks at their owners' lanes, with the switch at
// the coordinator's. What the gate itself did is marked by its stops and wakes.
func (b *builder) act(a ledger.Act) {
	switch a.Deed {
	case ledger.Released:
		for _, id := range a.Tasks {
			t, _ := b.Session.Task(id)
			b.mark(t.Owner, Mark{Kind: MarkRelease, At: a.Time, Text: "a person released " + b.called(id)})
		}
	case ledger.SwitchedOff:
		b.mark(transcript.Main, Mark{Kind: MarkOff, At: a.Time, Text: "switched off: every stop is let through"})
	case ledger.SwitchedOn:
		b.mark(transcript.Main, Mark{Kind: MarkOff, At: a.Time, Text: "switched on again"})
	case ledger.Fell:
		b.mark(transcript.Main, Mark{Kind: MarkOff, At: a.Time, Text: "a courier was ended from outside: nobody waits for " + b.taskNames(a.Tasks)})
	case ledger.Held, ledger.Stood, ledger.Woke, ledger.Left: // seen elsewhere
	}
}

// message marks a message where it was sent and where it goes.
func (b *builder) message(from string, m transcript.Moment) {
	to, name := "", view.Clean(m.To)
	if m.To == transcript.Main || m.To == "team-lead" {
		to = transcript.Main
	}
	for _, a := range b.Session.Agents {
		if a.ID == m.To || a.Name == m.To || to == "" && a.Type == m.To {
			to, name = a.ID, b.name(a.ID)
		}
	}
	if b.NoText && to == "" {
		name = "somebody"
	}
	b.mark(from, Mark{Kind: MarkMessage, At: m.At, Text: "message to " + name})
	if to != "" && to != from {
		b.mark(to, Mark{Kind: MarkMessage, At: m.At, Text: "message from " + b.name(from)})
	}
}

// wakes tells whether news began a turn of an agent that rested, and no block did.
func (b *builder) wakes(d transcript.Delivery) bool {
	if d.To == "" || d.To == transcript.Main || d.At.IsZero() {
		return false
	}
	rested := false
	for _, m := range b.Moments[d.To] {
		if !m.At.Before(d.At) {
			break
		}
		rested = m.Kind == transcript.Rested
	}
	return rested && !slices.ContainsFunc(b.Session.Stops, func(s ledger.Stop) bool {
		return s.AgentID == d.To && s.Verdict == ledger.Block && answered(s).Sub(d.At).Abs() < time.Second
	})
}

// called is how a task is called in a sentence: by its command, else by its id.
func (b *builder) called(id string) string {
	t, _ := b.Session.Task(id)
	if call, ok := b.calls[t.Owner+" "+t.ToolUse]; ok && t.ToolUse != "" && call.Text != "" && !b.NoText {
		return short(view.Clean(call.Text), 60)
	}
	return view.Clean(id)
}

// taskNames are tasks as they are called, not too many.
func (b *builder) taskNames(ids []string) string {
	const most = 4
	names := make([]string, 0, most)
	for _, id := range ids[:min(len(ids), most)] {
		names = append(names, b.called(id))
	}
	if len(ids) > most {
		names = append(names, fmt.Sprintf("%d more", len(ids)-most))
	}
	return strings.Join(names, ", ")
}

// short is a text of at most so many characters.
func short(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return strings.TrimRight(string(r[:most-1]), " ") + "…"
	}
	return text
}
