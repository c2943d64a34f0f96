package status

import (
	"io"
	"slices"
	"time"

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
