package history

import (
	"slices"
	"sort"
	"time"
)

// Entry is what is remembered of one command in one project.
type Entry struct {
	// Key is the hash that it is known by.
	Key string `json:"-"`
	// Ended counts how often it ended by itself and well, Failed how often it ended
	// with an exit code that says that it did not.
	Ended  int `json:"ended,omitempty"`
	Failed int `json:"failed,omitempty"`
	// Left counts how often it was left running at its session's end, LeftSince
	// how often of that since it last ended well.
	Left      int `json:"left,omitempty"`
	LeftSince int `json:"left_since,omitempty"`
	// Served counts how often it was seen to serve.
	Served int `json:"served,omitempty"`
	// Took are the last durations after which it ended well, the newest last.
	Took []time.Duration `json:"took,omitempty"`
	// First and Last are when it was first and last noted.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// Expectation is what a history says of a command that runs now. The zero value
// says nothing.
type Expectation struct {
	// Ends says that it will end by itself: it did so before.
	Ends bool
	// NotWaited says that it is not worth being waited for longer than
	// [NotWaitedAfter]: it was left running at least twice, and never ended.
	NotWaited bool
	// Usually is how long it takes to end, 0 where it is not known, and Times is
	// how often it ended.
	Usually time.Duration
	Times   int
}

// NotWaitedAfter is how long a command is waited for that has never ended.
const NotWaitedAfter = 30 * time.Second

// never is how often a command must have been left running to count as one that
// does not end.
const never = 2

// Expect says what an entry is worth.
//
// A command that failed has ended too, but so does a server whose port is taken:
// one failure says nothing, and an old end says nothing of a command that was left
// running twice since.
func (e Entry) Expect() Expectation {
	x := Expectation{Usually: e.usually(), Times: e.Ended}
	x.NotWaited = e.Left >= never && e.Ended == 0 && e.Left > e.Failed
	x.Ends = e.LeftSince < never && (e.Ended > 0 || e.Failed >= 2 && e.Left == 0)
	return x
}

// usually is the middle of the last durations.
func (e Entry) usually() time.Duration {
	if len(e.Took) == 0 {
		return 0
	}
	took := slices.Clone(e.Took)
	sort.Slice(took, func(a, b int) bool { return took[a] < took[b] })
	return took[len(took)/2]
}

// What happened to a command.
type What int

// The things that happen.
const (
	// Ended by itself and well, or nobody knows how.
	Ended What = iota + 1
	// Failed by itself, with an exit code. What was killed is not noted.
	Failed
	// Left running at its session's end.
	Left
	// Served as was seen by its processes.
	Served
)

// Note is one thing that happened to a command.
type Note struct {
	// Command and Project name it; an empty command is not noted.
	Command, Project string
	What             What
	// Took is how long it ran until it ended.
	Took time.Duration
	// Key names the command in place of Command and Project, as [Ask] told it.
	Key string
}

// add adds what happened to an entry.
func (e *Entry) add(n Note, now time.Time) {
	if e.First.IsZero() {
		e.First = now
	}
	e.Last = now
	switch n.What {
	case Ended:
		e.Ended++
		e.LeftSince = 0
		if n.Took > 0 {
			e.Took = append(e.Took, n.Took.Round(time.Second))
			e.Took = e.Took[max(0, len(e.Took)-keepLast):]
		}
	case Failed:
		e.Failed++
	case Left:
		e.Left++
		e.LeftSince++
	case Served:
		e.Served++
	}
}

// old tells whether an entry is no longer remembered. One of the future counts as
// of now.
func (e Entry) old(now time.Time) bool { return now.Sub(e.Last) > Keep }
