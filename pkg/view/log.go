package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
)

// Entry is one recorded stop in the log.
type Entry struct {
	SessionID string
	// Begun is when the session's record began: it can be begun anew, and then the
	// numbers of its stops too.
	Begun time.Time
	ledger.Stop
}

// Answered is when the stop was answered: one that was held came long before.
func (e Entry) Answered() time.Time { return e.Time.Add(e.Duration) }

// Log is the stops of the sessions in the order in which they were answered, which
// within a session is that of their numbers, also when the clock was set back.
func (s Status) Log() []Entry {
	type dated struct {
		Entry
		at time.Time
	}
	var all []dated
	for _, x := range s.Sessions {
		last := time.Time{}
		for _, stop := range x.Stops {
			e := Entry{x.ID, x.Begun, stop}
			last = later(last, e.Answered())
			all = append(all, dated{e, last})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return a.at.Compare(b.at) })
	out := make([]Entry, 0, len(all))
	for _, d := range all {
		out = append(out, d.Entry)
	}
	return out
}

// Print prints the entry in one line: its number in its session, when it was answered,
// which session and agent, what was answered and why, and how long it took.
func (e Entry) Print(scr Screen, now time.Time) {
	verdict, style := "allowed", Good
	switch {
	case e.Verdict == ledger.Block:
		verdict, style = "blocked", Alarm
	case e.Observed:
		verdict, style = "would block", Busy
	}
	agent := cmp.Or(e.AgentID, "?")
	if e.Type != "" {
		agent += " " + e.Type
	}
	parts := []string{Clean(e.Code)}
	if len(e.Own) > 0 {
		parts = append(parts, "own "+Clean(strings.Join(e.Own, " ")))
	}
	if len(e.Unowned) > 0 {
		parts = append(parts, "nobody's "+Clean(strings.Join(e.Unowned, " ")))
	}
	if e.Held > 0 {
		parts = append(parts, "held "+gate.Span(e.Held)+" (limited by "+Clean(e.Limit)+")")
	}
	if e.Left > 0 {
		parts = append(parts, "patience left "+gate.Span(e.Left))
	}
	if len(e.Ended) > 0 {
		parts = append(parts, "ended meanwhile: "+Clean(strings.Join(e.Ended, " ")))
	}
	if e.Note != "" {
		parts = append(parts, Clean(e.Note))
	}
	parts = append(parts, fmt.Sprintf("%d ms", (e.Duration-e.Held).Milliseconds()))
	lead := fmt.Sprintf("%4d  %s  %s  %s  ", e.Seq, scr.Clock(e.Answered(), now), Clean(cut(e.SessionID, 9)), Clean(agent))
	scr.Text(lead+scr.Paint(verdict, style)+"  ", "      ", strings.Join(parts, ", "), Normal)
}

// WriteJSON prints the entry as one line of JSON: a stop of the status, with its
// session_id.
func (e Entry) WriteJSON(w io.Writer) error {
	out := stopJSON(e.Stop)
	out.SessionID = e.SessionID
	data, err := encode(out, "")
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
