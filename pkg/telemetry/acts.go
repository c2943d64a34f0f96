package telemetry

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/clocks"
	"stopgate/pkg/ledger"
	"stopgate/pkg/otlp"
)

// deed is how something that was done, other than to answer a stop, is told.
type deed struct {
	event, body string
	severity    int32
	// ends is how a courier's waiting ended by it; "" where none did.
	ends string
}

// deeds are those of the ledger, all of them.
var deeds = map[ledger.Deed]deed{
	ledger.Held:  {eventHold, "a stop is held", otlp.SeverityInfo, ""},
	ledger.Stood: {eventStood, "a courier waits", otlp.SeverityInfo, ""},
	// A record of its own for each task tells a wake (session.wake): the row that
	// claims the task is what makes it one.
	ledger.Woke:        {"", "", 0, "woke"},
	ledger.Left:        {eventLeft, "a courier was not needed any more", otlp.SeverityInfo, "left"},
	ledger.Fell:        {eventFell, "a courier was ended from outside", otlp.SeverityWarn, "lost"},
	ledger.Released:    {eventRelease, "a person released tasks", otlp.SeverityInfo, ""},
	ledger.SwitchedOff: {eventOff, "switched off: every stop is let through", otlp.SeverityWarn, ""},
	ledger.SwitchedOn:  {eventOn, "switched on again", otlp.SeverityInfo, ""},
}

// limits are the words for what limited a hold. Another is "other".
var limits = map[string]string{
	clocks.ByHold: "hold", clocks.ByPatience: "patience", clocks.ByStall: "stall", clocks.ByTimeout: "timeout",
}

func limitOf(by string) string { return cmp.Or(limits[by], "other") }

// reasons are the words by which a courier notes why it left. Another note is "other".
var reasons = []string{
	ledger.NoteTimeOver, gaveWay, "nothing to tell", "another courier told it", "agreed to its shutdown",
	"switched off", "client gone", "session ended", "agents silent", "ended from outside",
	"agent stopped", "one ended", "ended", "deadline", "cancelled", "message", "ceiling",
}

// gaveWay is the reason of a courier whose agent goes on, or has a later one.
const gaveWay = "agent went on"

// reason is a note as one of the words that are told.
func reason(note string) string {
	if !slices.Contains(reasons, note) {
		return "other"
	}
	return strings.ReplaceAll(note, " ", "-")
}

// act tells what was done other than to answer a stop: a record of it, and where it
// ended a courier's waiting the span of that.
func (s *session) act(a ledger.Act) {
	d, known := deeds[a.Deed]
	if !known {
		return // a newer version's
	}
	id := strconv.FormatUint(a.Seq, 10)
	span := s.parent(a.AgentID)
	attrs := s.common(a.AgentID, otlp.Int(attrSeq, int64(a.Seq)), otlp.Int(attrOwn, int64(len(a.Tasks)))) //nolint:gosec // a number in a row
	if a.Until.After(a.Time) {
		attrs = append(attrs, otlp.Double(attrAtMost, a.Until.Sub(a.Time).Seconds()))
	}
	switch a.Deed {
	case ledger.Held:
		if limit, ok := strings.CutPrefix(a.Note, "limited by "); ok {
			attrs = append(attrs, otlp.String(attrLimit, limitOf(limit)))
		}
	case ledger.Left:
		attrs = append(attrs, otlp.String(attrReason, reason(a.Note)))
	case ledger.Released, ledger.SwitchedOff, ledger.SwitchedOn:
		s.measure(Acts, 1, otlp.String(attrDeed, string(a.Deed)))
	case ledger.Stood, ledger.Woke, ledger.Fell:
	}
	if d.ends != "" {
		span = s.waited(a, d.ends)
	}
	if d.event != "" {
		s.log(d.event, id, d.body, d.severity, a.Time, span, attrs)
	}
}

// begin is the beginning of the courier's waiting that ended with an act. The ledger
// does not say which courier of an agent it was: one that gave way to a later one was
// the earliest, any other the latest.
func (s *session) begin(end ledger.Act) ledger.Act {
	var open []ledger.Act
	for _, a := range s.Snapshot.Acts {
		if a.AgentID != end.AgentID || a.Seq > end.Seq {
			continue
		}
		if a.Deed == ledger.Stood {
			open = append(open, a)
			continue
		}
		if deeds[a.Deed].ends == "" || len(open) == 0 {
			continue
		}
		which := len(open) - 1
		if a.Deed == ledger.Left && a.Note == gaveWay {
			which = 0
		}
		if a.Seq == end.Seq {
			return open[which]
		}
		open = slices.Delete(open, which, which+1)
	}
	return ledger.Act{Seq: end.Seq, Time: end.Time, Tasks: end.Tasks} // it is forgotten
}

// waited tells a courier's waiting that ended with an act.
func (s *session) waited(end ledger.Act, how string) otlp.ID {
	begun := s.begin(end)
	lasted, ends := max(0, end.Time.Sub(begun.Time)), otlp.String(attrEnd, how)
	attrs := s.common(end.AgentID, otlp.Double(attrWaited, lasted.Seconds()), ends, otlp.Int(attrOwn, int64(len(begun.Tasks))))
	span := s.add(spanWait, strconv.FormatUint(begun.Seq, 10), s.parent(end.AgentID), begun.Time, end.Time, attrs)
	s.linkTo(span, begun.Tasks)
	s.measure(Waits, lasted.Seconds(), ends)
	return span.SpanID
}

// answered is what is told of under one number: a stop, or something else.
type answered struct {
	seq  uint64
	stop *ledger.Stop
	act  *ledger.Act
}

// numbered are the stops and acts of a session that were not told, in order.
func (s *session) numbered() []answered {
	var all []answered
	for i, stop := range s.Snapshot.Stops {
		if stop.Seq > s.done.Seq {
			all = append(all, answered{seq: stop.Seq, stop: &s.Snapshot.Stops[i]})
		}
	}
	for i, act := range s.Snapshot.Acts {
		if act.Seq > s.done.Seq {
			all = append(all, answered{seq: act.Seq, act: &s.Snapshot.Acts[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b answered) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// tell tells what stands under one number.
func (s *session) tell(a answered) {
	if a.stop != nil {
		s.stop(*a.stop)
	} else {
		s.act(*a.act)
	}
}

// lastAct is when something was last done.
func lastAct(acts []ledger.Act) (at time.Time) {
	for _, a := range acts {
		at = latest(at, a.Time)
	}
	return at
}
