package timeline

import (
	"slices"
	"strings"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

// spans are what an agent did in its life, in order and without a gap.
func (b *builder) spans(l *Lane, id string, a status.Agent) []Phase {
	if !l.Until.After(l.From) {
		return []Phase{}
	}
	moments := b.Moments[id]
	if len(moments) == 0 && id != transcript.Main {
		moments = b.fromStops(id, l.From)
	}
	out := doings(moments, l.From, l.Until)
	if a.State != status.AgentRunning && id != transcript.Main {
		out = settled(out, moments)
	}
	for _, stop := range b.Session.Stops {
		if stop.AgentID == id && stop.Held > 0 {
			out = overlaid(out, Phase{Held, b.within(stop.Time), b.within(stop.Time.Add(stop.Held)), "for " + b.taskNames(stop.Own)})
		}
	}
	if h := a.Hold; h != nil {
		out = overlaid(out, Phase{Held, b.within(h.Since), b.until, "for " + b.taskNames(h.Tasks)})
	}
	return out
}

// fromStops are the moments of an agent without a transcript, from its stops.
func (b *builder) fromStops(id string, from time.Time) []transcript.Moment {
	out := []transcript.Moment{{Kind: transcript.Prompted, At: from}}
	for _, stop := range b.Session.Stops {
		if stop.AgentID != id {
			continue
		}
		out = append(out, transcript.Moment{Kind: transcript.Rested, At: stop.Time})
		if stop.Verdict == ledger.Block {
			out = append(out, transcript.Moment{Kind: transcript.Prompted, At: answered(stop)})
		}
	}
	return out
}

// doings are the spans that moments tell of.
func doings(moments []transcript.Moment, from, until time.Time) []Phase {
	moments = slices.Clone(moments)
	slices.SortStableFunc(moments, func(x, y transcript.Moment) int { return x.At.Compare(y.At) })
	out := []Phase{}
	now, since, about := Idle, from, ""
	open := map[string]string{} // the tools that have not answered
	turn := func(doing Doing, at time.Time, what string) {
		if doing == now && what == about {
			return
		}
		at = later(from, earlier(at, until))
		if at.After(since) {
			out = append(out, Phase{now, since, at, about})
			since = at
		}
		now, about = doing, what
	}
	for _, m := range moments {
		switch m.Kind {
		case transcript.Prompted:
			clear(open)
			turn(Working, m.At, "")
		case transcript.Called:
			open[m.Call] = m.Tool
			turn(Waiting, m.At, "for the answer of "+view.Clean(tools(open)))
		case transcript.Answered:
			if delete(open, m.Call); len(open) == 0 {
				turn(Working, m.At, "")
			}
		case transcript.Said:
			if len(open) == 0 {
				turn(Working, m.At, "")
			}
		case transcript.Rested:
			clear(open)
			turn(Idle, m.At, "")
		}
	}
	if until.After(since) {
		out = append(out, Phase{now, since, until, about})
	}
	return out
}

// tools are the names of the tools that have not answered, each once.
func tools(open map[string]string) string {
	var names []string
	for _, tool := range open {
		if !slices.Contains(names, tool) {
			names = append(names, tool)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// settled ends the last work of an agent that does not work any more at the last
// that was seen of it: it was stopped there, by whatever.
func settled(spans []Phase, moments []transcript.Moment) []Phase {
	if len(spans) == 0 {
		return spans
	}
	last := &spans[len(spans)-1]
	if last.Doing == Idle {
		return spans
	}
	var seen time.Time
	for _, m := range moments {
		seen = later(seen, m.At)
	}
	until := last.Until
	last.Until = later(last.From, earlier(seen, until))
	if until.After(last.Until) {
		spans = append(spans, Phase{Idle, last.Until, until, ""})
	}
	return slices.DeleteFunc(spans, func(s Phase) bool { return !s.Until.After(s.From) })
}

// overlaid puts a span over others.
func overlaid(spans []Phase, over Phase) []Phase {
	if !over.Until.After(over.From) {
		return spans
	}
	out := make([]Phase, 0, len(spans)+2)
	placed := false
	for _, s := range spans {
		if s.From.Before(over.From) {
			before := s
			before.Until = earlier(s.Until, over.From)
			out = append(out, before)
		}
		if !placed && !s.Until.Before(over.From) {
			out, placed = append(out, over), true
		}
		if s.Until.After(over.Until) {
			after := s
			after.From = later(s.From, over.Until)
			out = append(out, after)
		}
	}
	if !placed {
		out = append(out, over)
	}
	return slices.DeleteFunc(out, func(s Phase) bool { return !s.Until.After(s.From) })
}
