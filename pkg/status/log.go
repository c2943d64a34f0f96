package status

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/ledger"
)

// Entry is one line of the log: a stop that was answered, something else that was
// done, or a task's launch, its end, or that somebody was told of that.
type Entry struct {
	SessionID string
	// Begun is when the session's record began: it can be begun anew, and then the
	// numbers of its stops too.
	Begun time.Time
	// Stop is set, with its number, for a stop that was answered.
	ledger.Stop
	// Act is set, with its number, for what else was recorded.
	Act ledger.Act
	// What is [Launched], [Ended] or [Told] for those of a task, Task the task and
	// News who was told; "" for others.
	What string
	Task Task
	News News
	at   time.Time
}

// What a task did.
const (
	Launched = "launch"
	Ended    = "end"
	Told     = "delivery"
)

// Answered is when the stop was answered: one that was held came long before.
func (e Entry) Answered() time.Time { return e.Time.Add(e.Duration) }

// IsStop tells whether it is a stop.
func (e Entry) IsStop() bool { return e.What == "" && e.Act.Deed == "" }

// When is the time of the entry: that of a stop's answer.
func (e Entry) When() time.Time {
	switch {
	case e.What != "":
		return e.at
	case e.Act.Deed != "":
		return e.Act.Time
	}
	return e.Answered()
}

// Agent is whom the entry is about; "" for a session as a whole.
func (e Entry) Agent() string {
	switch {
	case e.What == Told:
		return e.News.To
	case e.What != "":
		return e.Task.Owner
	case e.Act.Deed != "":
		return e.Act.AgentID
	}
	return e.AgentID
}

// AgentType is what that one is; "" where it is not known.
func (e Entry) AgentType() string { return cmp.Or(e.Type, e.Act.Type) }

// Key tells the entry from every other one.
func (e Entry) Key() string {
	record := e.SessionID + " " + e.Begun.Format(time.RFC3339Nano) + " "
	if e.What != "" {
		return record + e.What + " " + e.Task.ID + " " + e.News.To + " " + string(e.News.By) + " " + e.at.Format(time.RFC3339Nano)
	}
	return record + strconv.FormatUint(cmp.Or(e.Seq, e.Act.Seq), 10)
}

// Log is what happened in the sessions, in order: the stops in which they were
// answered, which within a session is that of their numbers, also when the clock was
// set back.
func (s Status) Log() []Entry {
	type dated struct {
		Entry
		at time.Time
	}
	var all []dated
	for _, x := range s.Sessions {
		last := time.Time{}
		for _, e := range x.recorded() {
			if e.IsStop() {
				last = later(last, e.Answered())
			} else {
				last = later(last, e.When())
			}
			all = append(all, dated{e, last})
		}
		for _, e := range x.taskEntries() {
			all = append(all, dated{e, e.at})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return a.at.Compare(b.at) })
	out := make([]Entry, 0, len(all))
	for _, d := range all {
		out = append(out, d.Entry)
	}
	return out
}

// recorded are the stops and acts of a session by their numbers.
func (s Session) recorded() []Entry {
	var out []Entry
	for _, stop := range s.Stops {
		out = append(out, Entry{SessionID: s.ID, Begun: s.Begun, Stop: stop})
	}
	for _, act := range s.Acts {
		out = append(out, Entry{SessionID: s.ID, Begun: s.Begun, Act: act})
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return cmp.Compare(cmp.Or(a.Seq, a.Act.Seq), cmp.Or(b.Seq, b.Act.Seq)) })
	return out
}

// taskEntries are the launches and the told ends of a session's tasks, and who was
// told of an end.
func (s Session) taskEntries() []Entry {
	var out []Entry
	for _, t := range s.Tasks {
		if t.Kind == event.TypeTeammate {
			continue
		}
		if !t.Launched.IsZero() {
			out = append(out, Entry{SessionID: s.ID, Begun: s.Begun, What: Launched, Task: t, at: t.Launched})
		}
		if t.Fate.Over() && !t.Ended.IsZero() {
			out = append(out, Entry{SessionID: s.ID, Begun: s.Begun, What: Ended, Task: t, at: t.Ended})
		}
		if !t.Fate.Over() {
			continue // news of an agent that only rested, and works again
		}
		for _, n := range t.News {
			out = append(out, Entry{SessionID: s.ID, Begun: s.Begun, What: Told, Task: t, News: n, at: n.At})
		}
	}
	return out
}

// jsonEntry is a line of the log that is no stop.
type jsonEntry struct {
	Time      *time.Time `json:"time"`
	Kind      string     `json:"kind"`
	AgentID   string     `json:"agent_id"`
	AgentType string     `json:"agent_type"`
	Number    uint64     `json:"number"`
	Tasks     []string   `json:"tasks"`
	Until     *time.Time `json:"until"`
	Note      string     `json:"note"`
	// State, ExitCode and Took are of a task's end, By of the news of it; Command is
	// its face.
	State     string `json:"state"`
	ExitCode  *int   `json:"exit_code"`
	Took      int64  `json:"took_ms"`
	By        Way    `json:"by"`
	Command   string `json:"command"`
	SessionID string `json:"session_id"`
}

// WriteJSON prints the entry as one line of JSON. A stop is one of the status, with its
// session_id; others have their kind instead of a verdict.
func (e Entry) WriteJSON(w io.Writer) error {
	var out any
	switch {
	case e.What != "":
		x := jsonEntry{
			Time: when(e.at), Kind: e.What, AgentID: e.Agent(), By: e.News.By, Tasks: []string{e.Task.ID}, Command: e.Task.Face.Title(), SessionID: e.SessionID,
		}
		if e.What == Ended {
			x.State, x.ExitCode, x.Took = string(e.Task.State), e.Task.ExitCode, e.Task.Took(e.at).Milliseconds()
		}
		out = x
	case e.Act.Deed != "":
		out = jsonEntry{
			Time: when(e.Act.Time), Kind: string(e.Act.Deed), AgentID: e.Act.AgentID, AgentType: e.Act.Type, Number: e.Act.Seq,
			Tasks: some(e.Act.Tasks), Until: when(e.Act.Until), Note: e.Act.Note, SessionID: e.SessionID,
		}
	default:
		stop := stopJSON(e.Stop)
		stop.SessionID = e.SessionID
		out = stop
	}
	data, err := encode(out, "")
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
