// Package fate is the one account of what became of a session's background tasks.
// What the transcripts gained, the client's lists of unfinished tasks and the ends
// of the output files go in; one [Fate] for each task comes out, by one table of
// signs, for the hold, the courier, `hookctl wait` and `hookctl status` alike.
//
// It waits for nothing and decides nothing of a stop. docs/status.md has the table
// with the reasons; docs/client.md (ends, an agent's end) what it rests on.
package fate

import "time"

// How a task ended.
type How string

// The ways to end. A task that runs has none of them.
const (
	Runs How = ""
	// Exited is the end of a command, with an exit code.
	Exited How = "exited"
	// Killed was ended by somebody.
	Killed How = "killed"
	// Ended is an end of which no more is told.
	Ended How = "ended"
	// Unknown is over, or its session is, and nothing tells how.
	Unknown How = "unknown"
)

// Word reads a status of the client's (docs/client.md: ends). One that is not
// known is an end.
func Word(status string) How {
	switch status {
	case "":
		return Runs
	case "killed", "stopped", "cancelled", "canceled":
		return Killed
	}
	return Ended
}

// Sign is by what a fate was told, in the words of `hookctl status --json`.
type Sign string

// The signs, the first that tells an end before all others.
const (
	// Notice is a notification or a TaskStop in a transcript.
	Notice Sign = "notice"
	// LastLine is the last line of the output file.
	LastLine Sign = "output"
	// Gone: none of its processes is left.
	Gone Sign = "gone"
	// NotListed: it is no longer named, and nothing tells how it ended.
	NotListed Sign = "not-listed"
	// SessionOver: its session ended before it did.
	SessionOver Sign = "session-ended"
	// Agent: it is an agent, and goes by the agent's state.
	Agent Sign = "agent"
	// Listed: the last list of the unfinished tasks names it.
	Listed Sign = "listed"
	// Launched: it was launched, and nothing was told since.
	Launched Sign = "launched"
)

// Fate is what became of one task.
type Fate struct {
	Task string
	// How is Runs for a task that has not ended.
	How How
	// ExitCode is set where How is Exited, else nil.
	ExitCode *int
	// At is when it ended, as far as that is known.
	At time.Time
	// Sign is by what this is known.
	Sign Sign
	// Heard tells that its owner or the coordinator was given the news.
	Heard bool
	// Output is its output file and Size its length in bytes, -1 where there is
	// none.
	Output string
	Size   int64
}

// Over tells whether the task has ended.
func (f Fate) Over() bool { return f.How != Runs }

// Unheard tells whether a task ended by itself, the client told its end, and
// nobody is seen to have been given the news.
func (f Fate) Unheard() bool {
	return f.Sign == Notice && (f.How == Ended || f.How == Exited) && !f.Heard
}
