// Package status is what is known: a model of sessions, agents, tasks, teams and
// stops, computed from the ledger's snapshots and, in memory, from what the
// transcripts gained since, and its JSON. How it looks is pkg/view's.
//
// It only looks: it writes nothing, not even a lock file, and no store is open
// while a transcript is read. The rules by which a state is told stand in
// rules.go and in docs/status.md. Texts of somebody else are given as they are:
// who prints them cleans them.
package status

import (
	"time"

	"stopgate/pkg/fate"
	"stopgate/pkg/ledger"
)

// AgentState is what an agent is doing.
type AgentState string

// The states of an agent.
const (
	// AgentRunning is at work, or its stop is being held, or it goes on after a
	// block.
	AgentRunning AgentState = "running"
	// AgentStopped ended its turn and may be resumed or woken.
	AgentStopped AgentState = "stopped"
	// AgentIdle is a teammate that waits for a message.
	AgentIdle AgentState = "idle"
	// AgentEnded is over, by what the client told, or with its session.
	AgentEnded AgentState = "ended"
)

// TaskState is what became of a task.
type TaskState string

// The states of a task.
const (
	TaskRunning TaskState = "running"
	// TaskFinished ended by itself; where that was notified, the news reached
	// its owner or the coordinator.
	TaskFinished TaskState = "finished"
	// TaskKilled was ended by somebody.
	TaskKilled TaskState = "killed"
	// TaskUndelivered ended by itself, and nobody is seen to have been told.
	TaskUndelivered TaskState = "undelivered"
	// TaskUnknown has ended or may have, and nothing tells how.
	TaskUnknown TaskState = "unknown"
)

// Open tells whether somebody may still wait for the task.
func (s TaskState) Open() bool { return s == TaskRunning || s == TaskUndelivered }

// Status is everything that is shown.
type Status struct {
	// Now is the time for which it holds.
	Now time.Time
	// Sessions, the one with the latest event first.
	Sessions []Session
	// Teams are teams whose lead is gone, of sessions that were never recorded.
	Teams []Team
	// Problems are stores, transcripts and team files that could not be read.
	Problems []Problem
	// Elsewhere counts the recorded sessions that were not asked for.
	Elsewhere int
	// EphemeralEvents were counted in EphemeralSessions sessions in all.
	EphemeralEvents   int64
	EphemeralSessions int
	// Off tells that the general off switch is set, OffUntil until when; zero is
	// for ever.
	Off      bool
	OffUntil time.Time
	// Disabled is $STOPGATE_DISABLE where that switches off whom it is set for.
	Disabled string
	// StateDir is the state folder that was read.
	StateDir string
}

// Problem is something that could not be read.
type Problem struct {
	Path, Text string
}

// Session is one session.
type Session struct {
	ID         string
	Cwd        string
	Transcript string
	// Ended is when its end was recorded; zero for a session that may still run.
	Ended time.Time
	// Last is the last recorded event; its Name is "" where there is none.
	Last Event
	// Begun is when its record began.
	Begun time.Time
	// Renewed is when its store was begun afresh in place of a broken one.
	Renewed time.Time
	// Off tells that it is switched off, OffUntil until when; zero is for ever.
	Off      bool
	OffUntil time.Time
	// Ephemeral counts its ephemeral events.
	Ephemeral int64
	// Coordinator is its coordinator as an agent whose own stops were answered;
	// nil where none was.
	Coordinator *Agent
	Agents      []Agent
	// Teams are those that it leads, and those of its teammates.
	Teams []Team
	Tasks []Task
	// Stops are the recorded stops, oldest first.
	Stops []ledger.Stop
	// Acts are what else was recorded, oldest first.
	Acts []ledger.Act
	// Brief marks a session of which no more was read than that it has ended: it has
	// no agents, tasks and stops here. AgentCount and StopCount count them.
	Brief                 bool
	AgentCount, StopCount int
}

// Event is a recorded event.
type Event struct {
	Name string
	Time time.Time
}

// Blocks counts the blocked stops.
func (s Session) Blocks() int {
	n := 0
	for _, stop := range s.Stops {
		if stop.Verdict == ledger.Block {
			n++
		}
	}
	return n
}

// Agent finds an agent; ok is false for an unknown one.
func (s Session) Agent(id string) (agent Agent, ok bool) {
	for _, a := range s.Agents {
		if a.ID == id {
			return a, true
		}
	}
	return Agent{}, false
}

// Task finds a task; ok is false for an unknown one.
func (s Session) Task(id string) (task Task, ok bool) {
	for _, t := range s.Tasks {
		if t.ID == id {
			return t, true
		}
	}
	return Task{}, false
}

// Agent is one agent of a session.
type Agent struct {
	ID string
	// Type is its type, or the name for a teammate.
	Type string
	// Name is its name for messages, Description its launcher's words for it;
	// both "" where they are unknown.
	Name, Description string
	Team, Color       string
	// Parent is the launching agent, "" for the coordinator's and where it is
	// unknown.
	Parent string
	State  AgentState
	// Stops and Blocks count its recorded stops, and the blocked ones.
	Stops, Blocks int
	// Own are its tasks, by their ids.
	Own []string
	// Hold is the hold of its stop; nil where none is held now.
	Hold *ledger.Hold
	// Courier is the one that waits for its tasks; nil where none does now.
	Courier *ledger.Watch
	// Lost is a hold of it that was ended from outside and that no event has come
	// after; nil for none.
	Lost *ledger.Hold
	// Since is when its state began, as far as that is known.
	Since time.Time
	// Stuck marks an agent that needs somebody, Why says by what; Advice says in
	// one line what that is and what to do, and Say is what to paste to the
	// coordinator so that it is done.
	Stuck  bool
	Why    Why
	Advice string
	Say    string
}

// Task is one background task of a session.
type Task struct {
	ID string
	// Kind is its type in the words of background_tasks; "" where it is unknown.
	Kind string
	// Owner is an agent id, "main", or "" where it is unknown.
	Owner string
	// Fate is what became of it; State, Sign, ExitCode and Ended say it in the words
	// of the status.
	Fate  fate.Fate
	State TaskState
	// Sign is by what the state was told.
	Sign fate.Sign
	// ExitCode is nil where none was told.
	ExitCode *int
	// Output is its output file; "" where it is unknown.
	Output string
	// Evidence is how the launch was seen, ToolUse by which call, File and Line
	// where: a transcript and the byte offset of the line, or "" and 0.
	Evidence string
	ToolUse  string
	File     string
	Line     int64
	// Launched and Ended are zero where they are unknown.
	Launched, Ended time.Time
	// Persistent marks a monitor without an end of its own, Ignored a task that
	// the policy does not wait for, Released one that a person excused.
	Persistent, Ignored, Released bool
	// Worth is what the gate decided of it last; zero for nothing.
	Worth ledger.Worth
	// Blocks is how many blocks it was the reason of.
	Blocks int
	// Courier is when a courier told the coordinator of its end; zero for never.
	Courier time.Time
	// News is to whom the news of its end was given, oldest first.
	News []News
	// Face is what it runs and printed last; the zero value unless it was asked for.
	Face Face
}

// Took is how long the task has run at now, or ran until its end; 0 where it is
// unknown.
func (t Task) Took(now time.Time) time.Duration {
	switch {
	case t.Launched.IsZero():
		return 0
	case !t.Fate.Over():
		return max(0, now.Sub(t.Launched))
	case t.Ended.IsZero():
		return 0
	}
	return max(0, t.Ended.Sub(t.Launched))
}

// Excused tells whether nothing waits for the task.
func (t Task) Excused() bool { return t.Persistent || t.Ignored || t.Released }
