package gate

import (
	"slices"

	"stopgate/pkg/fate"
)

// The codes of a stop that was held.
const (
	TaskEnded    Code = "task-ended"    // all own tasks ended in the hold: block with the outcomes
	HoldOver     Code = "hold-over"     // the hold's time is over: block
	PatienceOver Code = "patience-over" // and so is all the patience for its tasks: block, and let go next
	CeilingNear  Code = "ceiling-near"  // a print run is about to end: block, and let go next
	AgentStopped Code = "agent-stopped" // the held agent itself was stopped
	MessageWaits Code = "message-waits" // a message waits for the agent: block, or let a teammate read it
	TaskIdle     Code = "task-idle"     // all that is left has been idle for long: block, and let go next
	TasksStopped Code = "tasks-stopped" // the own tasks were stopped: nothing to wait for
	SessionOver  Code = "session-over"  // the session or its client is gone
	HoldLost     Code = "hold-lost"     // the hold was ended from outside, and found later
)

// HoldFacts are what a held stop is answered from.
type HoldFacts struct {
	// Disabled, SessionOver and Released tell what happened meanwhile: the off
	// switch, the end of the session or client, all tasks excused by a person.
	Disabled, SessionOver, Released bool
	// Message tells that somebody sent the agent a message.
	Message bool
	// Teammate marks an in-process teammate, which is given its messages only when
	// its turn has ended (docs/client.md: messages).
	Teammate bool
	// Tasks are the tasks held for, with their fates; those that are let go as idle
	// are marked so ([Worth.Idle]). What is let go for another
	// reason is not among them.
	Tasks []Task
	// Last is the Last of the decision that began the hold.
	Last bool
	// AgentStopped tells that somebody stopped the held agent.
	AgentStopped bool
	// CeilingNear tells that the print run will soon be over.
	CeilingNear bool
	// Stuck tells that all that still works has been silent for long.
	Stuck bool
	// Policy is what the tasks may cost. Their Waited counts this hold already.
	Policy Policy
}

// holdRules, the first that answers wins. A held stop that none answers is
// blocked because its time is over.
var holdRules = []struct {
	code    Code
	block   bool
	answers func(HoldFacts) bool
}{
	{Disabled, false, func(f HoldFacts) bool { return f.Disabled }},
	{SessionOver, false, func(f HoldFacts) bool { return f.SessionOver }},
	{AgentStopped, false, func(f HoldFacts) bool { return f.AgentStopped }},
	{Excused, false, func(f HoldFacts) bool { return f.Released }},
	{TasksStopped, false, func(f HoldFacts) bool {
		return all(f.Tasks, func(t Task) bool { return t.Fate.How == fate.Killed })
	}},
	{TaskEnded, true, func(f HoldFacts) bool { return all(f.Tasks, func(t Task) bool { return t.Fate.Over() }) }},
	{TaskIdle, true, func(f HoldFacts) bool { return len(running(f.Tasks)) == 0 }},
	{MessageWaits, true, func(f HoldFacts) bool { return f.Message }},
	{StuckWork, true, func(f HoldFacts) bool { return f.Stuck }},
	{CeilingNear, true, func(f HoldFacts) bool { return f.CeilingNear }},
	{PatienceOver, true, func(f HoldFacts) bool {
		return f.Policy.Patience > 0 && (f.Last || f.Policy.Left(running(f.Tasks)) <= 0)
	}},
}

// AfterHold answers a stop that was held.
func AfterHold(f HoldFacts) Decision {
	d := Decision{Block: true, Code: HoldOver, Tasks: f.Tasks, Last: f.Last, Left: f.Policy.Left(running(f.Tasks))}
	for _, r := range holdRules {
		if r.answers(f) {
			d.Code, d.Block = r.code, r.block
			break
		}
	}
	if d.Code == MessageWaits && f.Teammate {
		d.Block = false // the message wakes it, and its next stop is guarded
	}
	if d.Code == CeilingNear || d.Code == PatienceOver || d.Code == TaskIdle {
		d.Last, d.Left = true, 0
	}
	if !d.Block {
		d.Tasks, d.Last, d.Left = nil, false, 0
	}
	return d
}

// running are the tasks that have not ended and are not let go.
func running(tasks []Task) []Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool { return t.Fate.Over() || t.Worth.Idle })
}

func all(tasks []Task, is func(Task) bool) bool {
	for _, t := range tasks {
		if !is(t) {
			return false
		}
	}
	return true
}
