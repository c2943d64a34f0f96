package fate

import (
	"slices"
	"time"

	"stopgate/pkg/transcript"
)

// Account is what is known of the tasks of a session. Evidence comes in any order
// and may come twice. The zero value knows nothing.
type Account struct {
	// Launches is the best evidence of each task's launch, Ends its last told end,
	// News to whom the news of an end was given. To be read only.
	Launches map[string]transcript.Launch
	Ends     map[string]transcript.End
	News     map[string][]transcript.Delivery
}

// Take takes in what a transcript gained.
func (a *Account) Take(b transcript.Batch) {
	for _, l := range b.Launches {
		a.Launch(l)
	}
	for _, e := range b.Ends {
		a.End(e)
	}
	for _, d := range b.Deliveries {
		a.Deliver(d)
	}
}

// Launch takes in a launch: of two of one task the better evidence counts.
func (a *Account) Launch(l transcript.Launch) {
	if a.Launches == nil {
		a.Launches = map[string]transcript.Launch{}
	}
	if have, ok := a.Launches[l.Task]; ok {
		l = transcript.Join(have, l)
	}
	a.Launches[l.Task] = l
}

// End takes in an end: of two of one task the later counts.
func (a *Account) End(e transcript.End) {
	if a.Ends == nil {
		a.Ends = map[string]transcript.End{}
	}
	if have, ok := a.Ends[e.Task]; !ok || !e.At.Before(have.At) {
		a.Ends[e.Task] = e
	}
}

// Deliver takes in that the news of an end reached somebody.
func (a *Account) Deliver(d transcript.Delivery) {
	if a.News == nil {
		a.News = map[string][]transcript.Delivery{}
	}
	if !slices.Contains(a.News[d.Task], d) {
		a.News[d.Task] = append(a.News[d.Task], d)
	}
}

// Ended is the last told end of a task; nil where none is known.
func (a *Account) Ended(task string) *transcript.End {
	if e, ok := a.Ends[task]; ok {
		return &e
	}
	return nil
}

// Heard tells whether the news of a task's last end reached its owner or the
// coordinator (docs/client.md: ends). News of an earlier end is none, and news for
// a third one is no concern of theirs.
func (a *Account) Heard(task, owner string) bool {
	end := a.Ends[task]
	return slices.ContainsFunc(a.News[task], func(d transcript.Delivery) bool {
		return (d.To == owner || d.To == transcript.Main || d.To == "") && (d.At.IsZero() || !d.At.Before(end.At))
	})
}

// List is the client's last list of a session's unfinished tasks. The zero value
// is none.
type List struct {
	// At is when it was given.
	At    time.Time
	Tasks map[string]bool
}

// listAge is how old a list may be when it is given: it is taken before the hook
// starts, and names nothing that was launched a moment before (docs/client.md:
// background_tasks).
const listAge = time.Second

// Names tells whether the list names a task.
func (l List) Names(task string) bool { return l.Tasks[task] }

// Lacks tells whether the list would name a task if it ran: it was launched, or
// named by an earlier list, before that one was taken.
func (l List) Lacks(task string, launched, seen time.Time) bool {
	if l.At.IsZero() || l.Names(task) {
		return false
	}
	return !launched.After(l.At.Add(-listAge)) || !seen.IsZero() && seen.Before(l.At)
}

// refutes tells whether the list names a task as unfinished after something that
// looked like its end. It decides against any older sign, since a command can
// print anything.
func (l List) refutes(task string, at time.Time) bool {
	return l.Names(task) && !at.IsZero() && !at.After(l.At.Add(-listAge))
}
