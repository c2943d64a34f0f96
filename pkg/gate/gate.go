// Package gate holds the rule: when is a stop blocked, and with which words.
// Everything in it is a pure function over values; who owns a task is found out
// in pkg/attribute, and what was spent is kept in pkg/ledger.
package gate

import (
	"slices"
	"time"

	"stopgate/pkg/fate"
)

// Code says by which rule a stop was answered. The codes are recorded and shown.
type Code string

// The codes, in the order of the rules.
const (
	Disabled    Code = "disabled"      // the off switch is set
	Ephemeral   Code = "ephemeral"     // an internal one-turn fork, no agent
	NoRegistry  Code = "no-registry"   // the event does not tell what is unfinished
	NoSession   Code = "no-session"    // the event names no session
	NoTasks     Code = "no-tasks"      // nothing listed could be the agent's own
	NoStore     Code = "no-store"      // the ledger cannot be used
	Duplicate   Code = "duplicate"     // the same event again, answered already
	Unattrib    Code = "unattributed"  // nothing own, and a task without an owner
	NotOwn      Code = "not-own"       // all that runs is somebody else's
	BudgetSpent Code = "budget-spent"  // own tasks, but their blocks are used up
	Renewed     Code = "store-renewed" // the ledger forgot what was spent
	CeilingOver Code = "ceiling-over"  // a print run ends before an answer could count
	ShutDown    Code = "shut-down"     // the agent agreed to its own shutdown
	Excused     Code = "excused"       // own tasks, none of which is waited for
	OwnTask     Code = "own-task"      // own unfinished tasks: block
)

// MaxChain is how many blocks in a row one agent gets without a stop that was
// let through; the client forces a stop after 8 (docs/client.md: the client's clocks).
const MaxChain = 7

// Task is one unfinished task of the stopping agent.
type Task struct {
	ID string
	// Kind is its type in the words of background_tasks.
	Kind string
	// Output is its output file; "" where it is unknown.
	Output string
	// Running is how long ago it was launched; 0 where that is unknown.
	Running time.Duration
	// Since is when it was launched; zero where that is unknown.
	Since time.Time
	// Charged is how many blocks it was the reason of before.
	Charged int
	// Waited is how long stops were held for it before, in all.
	Waited time.Duration
	// Told marks a task whose end was handed over to the agent before.
	Told bool
	// Persistent marks a monitor that has no end of its own.
	Persistent bool
	// Excused marks a task that is not waited for; Worth says why, or why it is.
	Excused bool
	Worth   Worth
	// Usually is how long its command took before, as far as that is known, and
	// Times how often it ended.
	Usually time.Duration
	Times   int
	// Fate is what became of it while the stop was held; zero for one that runs.
	Fate fate.Fate
}

// Facts are what a decision is made from. The zero value is a stop of which
// nothing is known; it is let through.
type Facts struct {
	Disabled  bool
	Ephemeral bool
	// Registry tells whether the event lists the unfinished tasks at all.
	Registry bool
	// Session tells whether the event names its session.
	Session bool
	// Candidates counts the listed tasks that could be the agent's own.
	Candidates int
	// Own are the listed tasks that the agent launched, of a type that can block.
	Own []Task
	// Unowned counts the candidates whose launcher is unknown.
	Unowned int
	// StopHookActive is the payload's; alone it decides nothing, since another
	// hook may have caused it.
	StopHookActive bool

	// Store tells whether the ledger can be used.
	Store bool
	// StoreRenewed tells that the ledger was begun afresh after a broken one was
	// set aside, so that spent blocks are forgotten.
	StoreRenewed bool
	// Duplicate tells that the same event was answered a moment ago.
	Duplicate bool
	// Chain counts the agent's blocks since a stop of it was last let through.
	Chain int
	// ShutDown tells that the agent agreed to its own shutdown: it is never asked
	// again.
	ShutDown bool
	// CeilingOver tells that the agent is in the background of a print run that
	// will not wait for another answer of it.
	CeilingOver bool
}

// Policy is what a person chose, and what the client allows of it.
type Policy struct {
	// Blocks is how many blocks one task may be the reason of, where Patience is 0.
	Blocks int
	// Patience is how long stops may be held for one task in all; 0 where stops
	// are not held, or held once for each block.
	Patience time.Duration
	// Chain is how many blocks in a row one agent gets; 0 is [MaxChain].
	Chain int
}

// affords tells whether a task may be the reason of another block.
func (p Policy) affords(t Task) bool {
	if p.Patience > 0 {
		return !t.Told && t.Waited < p.Patience
	}
	return t.Charged < p.Blocks
}

// Left is how much patience there is for the one of the tasks that has most of it.
func (p Policy) Left(tasks []Task) time.Duration {
	left := time.Duration(0)
	for _, t := range tasks {
		if p.affords(t) {
			left = max(left, p.Patience-t.Waited)
		}
	}
	return left
}

// lastInRow tells whether a block now is the last one that the chain allows.
func (p Policy) lastInRow(chain int) bool { return chain+1 >= p.chain() }

func (p Policy) chain() int {
	if p.Chain > 0 {
		return p.Chain
	}
	return MaxChain
}

// Decision is the answer to a stop.
type Decision struct {
	Block bool
	Code  Code
	// Tasks are the own tasks that a block names and is charged for.
	Tasks []Task
	// Last tells that these tasks have no block left after this one.
	Last bool
	// Left is how much patience is left for those that still run; 0 where there is
	// none, or where blocks are counted instead.
	Left time.Duration
	// Waiter is the path of the program that waits for a task, offered in the
	// reason; "" offers none. Decide leaves it empty.
	Waiter string
}

// rule is one row of the table: it answers, or leaves the stop to the next.
type rule struct {
	name string
	// early rules need only the event; they are asked before anything is read.
	early   bool
	code    Code
	answers func(Facts, Policy) bool
}

// rules, the first that answers wins. All of them let the stop through; a stop
// that none of them answers is blocked.
var rules = []rule{
	{"the same event was answered a moment ago", false, Duplicate, func(f Facts, _ Policy) bool { return f.Duplicate }},
	{"the off switch is set", true, Disabled, func(f Facts, _ Policy) bool { return f.Disabled }},
	{"the event is ephemeral", true, Ephemeral, func(f Facts, _ Policy) bool { return f.Ephemeral }},
	{"the event does not list unfinished tasks", true, NoRegistry, func(f Facts, _ Policy) bool { return !f.Registry }},
	{"the event names no session", true, NoSession, func(f Facts, _ Policy) bool { return !f.Session }},
	{"nothing listed could be the agent's own", true, NoTasks, func(f Facts, _ Policy) bool { return f.Candidates == 0 }},
	{"the ledger cannot be used", false, NoStore, func(f Facts, _ Policy) bool { return !f.Store }},
	{"nothing is the agent's own, but a task has no known owner", false, Unattrib, func(f Facts, _ Policy) bool { return len(f.Own) == 0 && f.Unowned > 0 }},
	{"nothing is the agent's own", false, NotOwn, func(f Facts, _ Policy) bool { return len(f.Own) == 0 }},
	{"the agent agreed to its own shutdown", false, ShutDown, func(f Facts, _ Policy) bool { return f.ShutDown }},
	{"no own task is one to wait for", false, Excused, func(f Facts, _ Policy) bool { return len(Waitable(f.Own)) == 0 }},
	{"what all own tasks may cost is spent", false, BudgetSpent, func(f Facts, p Policy) bool { return !affordable(Waitable(f.Own), p) }},
	{"the agent was blocked too often in a row", false, BudgetSpent, func(f Facts, p Policy) bool { return f.Chain >= p.chain() }},
	{"the print run will not wait for another answer", false, CeilingOver, func(f Facts, _ Policy) bool { return f.CeilingOver }},
	{"the ledger was begun afresh and the agent goes on after a block", false, Renewed, func(f Facts, _ Policy) bool { return f.StoreRenewed && f.StopHookActive }},
}

// Decide answers a stop of which everything is known.
func Decide(f Facts, p Policy) Decision {
	for _, r := range rules {
		if r.answers(f, p) {
			return Decision{Code: r.code}
		}
	}
	own := Waitable(f.Own)
	after := Policy{Blocks: p.Blocks - 1}
	return Decision{Block: true, Code: OwnTask, Tasks: own, Last: p.lastInRow(f.Chain) || p.Patience == 0 && !affordable(own, after), Left: p.Left(own)}
}

// Early answers a stop from the event alone; ok is false for one that needs more.
func Early(f Facts) (d Decision, ok bool) {
	for _, r := range rules {
		if r.early && r.answers(f, Policy{}) {
			return Decision{Code: r.code}, true
		}
	}
	return Decision{}, false
}

// Step is one rule as it was asked.
type Step struct {
	Rule    string
	Code    Code
	Answers bool
}

// Explain asks the rules in their order, up to the one that answers.
func Explain(f Facts, p Policy) []Step {
	var out []Step
	for _, r := range rules {
		s := Step{Rule: r.name, Code: r.code, Answers: r.answers(f, p)}
		out = append(out, s)
		if s.Answers {
			return out
		}
	}
	return append(out, Step{Rule: "own background work is unfinished", Code: OwnTask, Answers: true})
}

// Waitable are the own tasks worth a block: those that can end by themselves.
func Waitable(own []Task) []Task {
	var out []Task
	for _, t := range own {
		if !t.Persistent && !t.Excused {
			out = append(out, t)
		}
	}
	return out
}

// affordable tells whether one of the tasks may be the reason of another block. A
// block names and charges all of them.
func affordable(tasks []Task, p Policy) bool { return slices.ContainsFunc(tasks, p.affords) }
