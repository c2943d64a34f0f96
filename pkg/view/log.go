package view

import (
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
	ledger.Stop
}

// Log is the stops of the sessions, oldest first.
func (s Status) Log() []Entry {
	var out []Entry
	for _, x := range s.Sessions {
		for _, stop := range x.Stops {
			out = append(out, Entry{x.ID, stop})
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	return out
}

// Print prints the entry in one line: its number in its session, when, which
// session and agent, what was answered and why, and how long it took.
func (e Entry) Print(scr Screen, now time.Time) {
	verdict, style := "allowed", Good
	switch {
	case e.Verdict == ledger.Block:
		verdict, style = "blocked", Alarm
	case e.Observed:
		verdict, style = "would block", Busy
	}
	agent := first(e.AgentID, "?")
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
	lead := fmt.Sprintf("%4d  %s  %s  %s  ", e.Seq, scr.Clock(e.Time, now), Clean(cut(e.SessionID, 9)), Clean(agent))
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
