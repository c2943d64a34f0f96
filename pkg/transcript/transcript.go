// Package transcript reads what Claude Code writes about a session: transcripts
// (one JSON record a line), the agents' .meta.json files and the background
// tasks' output files. Lines go in; launches, ends, deliveries, messages and a
// cursor come out. Every name of these formats that stopgate relies on stands
// here, beside the test that pins it (docs/client.md: launches, ends, files).
//
// It keeps no text of a conversation, and it does not decide who owns a task
// when the evidence is contradictory beyond the order that [Launch.Beats] gives.
package transcript

import (
	"cmp"
	"slices"
	"time"

	"stopgate/pkg/host"
)

// Main is the owner of what the coordinator launched; every other owner is an
// agent id.
const Main = "main"

// Evidence is how a launch was seen, in the words of `hookctl status --json`.
type Evidence string

// The kinds of evidence, the strongest first. A resumption is weaker than each of
// them, however it was seen: see [Launch].Resumed.
const (
	// PostToolUse is the structured answer of the tool as the hook event tells
	// it, at the moment of the launch.
	PostToolUse Evidence = "post-tool-use"
	// ToolUseResult is the same structure, kept on the transcript line.
	ToolUseResult Evidence = "tool-use-result"
	// Meta is the parent that an agent's .meta.json names.
	Meta Evidence = "meta"
	// TextAsked is the sentence of a tool result whose call asked for the
	// background.
	TextAsked Evidence = "text-asked"
	// Text is the sentence of any other tool result of a launching tool. A
	// command that merely prints such a sentence looks the same, so this may be
	// wrong.
	Text Evidence = "text"
)

// strengths are the kinds of evidence, the weakest first. "" is none.
var strengths = []Evidence{Text, TextAsked, Meta, ToolUseResult, PostToolUse}

// strength is how far the record can be relied on, in one order: 0 for none, then a
// resumption, then the kinds of evidence of a launch.
func (l Launch) strength() int {
	const resumption = 1
	kind := slices.Index(strengths, l.Evidence)
	switch {
	case kind < 0:
		return 0
	case l.Resumed:
		return resumption
	}
	return resumption + 1 + kind
}

// Launch is one background task as its launcher's records show it.
type Launch struct {
	// Task is the id that background_tasks uses.
	Task string `json:"task"`
	// Owner is the launcher: an agent id or [Main].
	Owner string `json:"owner"`
	// Kind is the type of the task, in the words of background_tasks.
	Kind string `json:"kind"`
	// ToolUseID is the tool call that launched it; "" where it is unknown.
	ToolUseID string `json:"tool_use_id,omitempty"`
	// Output is the task's output file; "" where no record names it.
	Output string `json:"output,omitempty"`
	// At is when it was launched; zero where the record has no time.
	At time.Time `json:"at,omitzero"`
	// Evidence is what the launch was seen by.
	Evidence Evidence `json:"evidence"`
	// Persistent marks a monitor without an end of its own.
	Persistent bool `json:"persistent,omitempty"`
	// Resumed marks an agent that was woken by a message, not launched: somebody
	// else has launched it, so this is weaker than any launch of it.
	Resumed bool `json:"resumed,omitempty"`
	// Ignored marks a command that the policy does not wait for.
	Ignored bool `json:"ignored,omitempty"`
	// File and Line say where it was seen: the transcript's path and the byte
	// offset of the line. "" for a PostToolUse event.
	File string `json:"file,omitempty"`
	Line int64  `json:"line,omitempty"`
}

// Beats tells whether l is better evidence than other for the same task: the
// stronger kind, then the earlier launch, since a later one was printed by somebody
// who looked at it, or the later resumption, for which the agent runs now.
func (l Launch) Beats(other Launch) bool {
	if a, b := l.strength(), other.strength(); a != b {
		return a > b
	}
	if l.At.IsZero() || other.At.IsZero() {
		return false
	}
	if l.Resumed {
		return l.At.After(other.At)
	}
	return l.At.Before(other.At)
}

// maxRing bounds the agents that [Launch.Circular] asks for.
const maxRing = 32

// Circular tells a resumption that makes nobody wait: the one who woke the agent is
// itself, by way of its launchers and wakers, that agent's. Two that resumed each
// other must not wait for each other. launch tells who launched or resumed an agent.
func (l Launch) Circular(launch func(agent string) (Launch, bool)) bool {
	if !l.Resumed {
		return false
	}
	for owner, n := l.Owner, 0; n < maxRing; n++ {
		if owner == l.Task {
			return true
		}
		up, known := launch(owner)
		if !known {
			return false
		}
		owner = up.Owner
	}
	return false
}

// Join merges two records of one task: the better one, with what only the other
// knows. Details are taken over only from a record of the same tool use, since a
// command can print what looks like another record of its owner's.
func Join(a, b Launch) Launch {
	if b.Beats(a) {
		a, b = b, a
	}
	if a.Owner != b.Owner {
		return a
	}
	a.Ignored = a.Ignored || b.Ignored // that is our own
	if a.ToolUseID != b.ToolUseID {
		return a
	}
	a.Output = cmp.Or(a.Output, b.Output)
	if a.At.IsZero() {
		a.At = b.At
	}
	if a.File == "" {
		a.File, a.Line = b.File, b.Line
	}
	a.Persistent = a.Persistent || b.Persistent
	return a
}

// Certain tells whether the evidence can be relied on without asking the other
// transcripts: everything but a resumption, and text that a command may have
// printed.
func (l Launch) Certain() bool { return l.strength() > Launch{Evidence: Text}.strength() }

// StatusKilled is the status of an end by TaskStop. The client tells no end of a
// killed task; it is read from the call's own result.
const StatusKilled = "killed"

// End is the end of a task as a transcript tells it: the coordinator's by a
// notification, any by a TaskStop.
type End struct {
	Task string `json:"task"`
	// Status is the word of the notification, for example "completed".
	Status string `json:"status"`
	// ExitCode is the shell's exit code; nil where none was told.
	ExitCode *int `json:"exit_code,omitempty"`
	// At is the time of the line; zero where it has none.
	At time.Time `json:"at,omitzero"`
	// Output is the output file that the notification names, or "".
	Output string `json:"output,omitempty"`
	// Parked marks an agent that ended a turn while work of its own runs; it may
	// end again (docs/client.md: an agent's end).
	Parked bool `json:"parked,omitempty"`
}

// Delivery says that the notification of a task's end reached a model.
type Delivery struct {
	Task string `json:"task"`
	// To is whose transcript shows it; "" where the client only said that it
	// was delivered to the agent.
	To string    `json:"to,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// Message is a message that the transcript's owner sent to an agent.
type Message struct {
	// To is the addressee as written: a name or an agent id.
	To string
	At time.Time
}

// Cursor is how far a transcript has been read. The zero value is its start.
type Cursor struct {
	// Inode and Sum identify the file: its number on the volume and a hash of
	// up to 4 kB before Offset. Another identity is read from the start.
	Inode uint64 `json:"inode,omitempty"`
	Sum   string `json:"sum,omitempty"`
	// Offset is the byte behind the last whole line read, or, where Inside is
	// true, behind what was read of a line that is too long to look at.
	Offset int64 `json:"offset"`
	Inside bool  `json:"inside,omitempty"`
	// Owner is whose lines were read; "" for a cursor that nobody has read from yet.
	Owner string `json:"owner,omitempty"`
	// Open are the calls of launching tools whose results have not been seen, and
	// Early the results whose calls have not.
	Open  []ToolUse `json:"open,omitempty"`
	Early []Early   `json:"early,omitempty"`
}

// Equal tells whether two cursors stand at the same place of the same file, read
// as the same owner's.
func (c Cursor) Equal(other Cursor) bool {
	return c.Inode == other.Inode && c.Sum == other.Sum && c.Offset == other.Offset && c.Owner == other.Owner
}

// Step is a cursor's move in one reading, and how the file looked that was read to
// its end; zero for one that was not.
type Step struct {
	From, To Cursor
	Look     host.Look
}

// ToolUse is a call of a tool that may launch something.
type ToolUse struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Asked tells whether the call itself asked for the background.
	Asked bool `json:"asked,omitempty"`
	// Persistent is the call's wish for a monitor without an end.
	Persistent bool `json:"persistent,omitempty"`
	// Target is the task that a TaskStop is to end.
	Target string `json:"target,omitempty"`
}

// Batch is what one reading of a transcript brought.
type Batch struct {
	Launches   []Launch
	Ends       []End
	Deliveries []Delivery
	Messages   []Message
	// Cursor is where the next reading starts.
	Cursor Cursor
	// Look is how the file looked, where it was read to its end.
	Look host.Look
	// Read counts bytes; Bad counts lines that were no record and Oversize those
	// too long to look at. Both are skipped.
	Read          int64
	Bad, Oversize int
	// Cut is true when the time was over before the end of the file.
	Cut bool
}
