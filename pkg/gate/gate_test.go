package gate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"stopgate/pkg/fate"
)

// blocking are the facts of a stop that is blocked; each row changes what makes
// its situation.
func blocking(change func(*Facts)) Facts {
	f := Facts{Registry: true, Session: true, Candidates: 1, Own: []Task{{ID: "b1", Kind: "shell"}}, Store: true}
	if change != nil {
		change(&f)
	}
	return f
}

func own(tasks ...Task) func(*Facts) {
	return func(f *Facts) { f.Own, f.Candidates = tasks, max(1, len(tasks)) }
}

func TestDecide(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		facts  Facts
		blocks int
		code   Code
		named  string
		last   bool
	}{
		{"an own task", blocking(nil), 1, OwnTask, "b1", true},
		{"an own task with two blocks", blocking(nil), 2, OwnTask, "b1", false},
		{"an own task with one of two blocks spent", blocking(own(Task{ID: "b1", Charged: 1})), 2, OwnTask, "b1", true},
		{"nothing known at all", Facts{}, 1, NoRegistry, "", false},
		// the rules in their order
		{"the same event again", blocking(func(f *Facts) { f.Duplicate = true }), 1, Duplicate, "", false},
		{"switched off", blocking(func(f *Facts) { f.Disabled = true }), 1, Disabled, "", false},
		{"switched off before anything else of the event", Facts{Disabled: true, Ephemeral: true}, 1, Disabled, "", false},
		{"ephemeral", blocking(func(f *Facts) { f.Ephemeral = true }), 1, Ephemeral, "", false},
		{"no list of tasks", blocking(func(f *Facts) { f.Registry = false }), 1, NoRegistry, "", false},
		{"no session", blocking(func(f *Facts) { f.Session = false }), 1, NoSession, "", false},
		{"nothing that could be own", blocking(func(f *Facts) { f.Candidates, f.Own = 0, nil }), 1, NoTasks, "", false},
		{"no store", blocking(func(f *Facts) { f.Store = false }), 1, NoStore, "", false},
		{"nothing own", blocking(own()), 1, NotOwn, "", false},
		{"nothing own and one without an owner", blocking(func(f *Facts) { f.Own, f.Unowned = nil, 1 }), 1, Unattrib, "", false},
		{"an own task and one without an owner", blocking(func(f *Facts) { f.Unowned = 1 }), 1, OwnTask, "b1", true},
		{"an own persistent monitor", blocking(own(Task{ID: "m1", Kind: "monitor", Persistent: true})), 1, Excused, "", false},
		{"an agent that agreed to its own shutdown", blocking(func(f *Facts) { f.ShutDown = true }), 1, ShutDown, "", false},
		{"an own task that is excused", blocking(own(Task{ID: "b1", Excused: true})), 1, Excused, "", false},
		{"a persistent monitor beside a shell", blocking(own(Task{ID: "m1", Persistent: true}, Task{ID: "b1"})), 1, OwnTask, "b1", true},
		{"an excused task beside one whose block is spent", blocking(own(Task{ID: "b1", Excused: true}, Task{ID: "b2", Charged: 1})), 1, BudgetSpent, "", false},
		// the budget
		{"no blocks at all", blocking(nil), 0, BudgetSpent, "", false},
		{"its block is spent", blocking(own(Task{ID: "b1", Charged: 1})), 1, BudgetSpent, "", false},
		{"more is spent than there is now", blocking(own(Task{ID: "b1", Charged: 5})), 2, BudgetSpent, "", false},
		{"one of two tasks has a block left", blocking(own(Task{ID: "b1", Charged: 1}, Task{ID: "b2"})), 1, OwnTask, "b1 b2", true},
		{"six blocks in a row", blocking(func(f *Facts) { f.Chain = 5 }), 9, OwnTask, "b1", false},
		{"the seventh block in a row", blocking(func(f *Facts) { f.Chain = 6 }), 9, OwnTask, "b1", true},
		{"seven blocks in a row were given", blocking(func(f *Facts) { f.Chain = 7 }), 9, BudgetSpent, "", false},
		{"more than seven", blocking(func(f *Facts) { f.Chain = 70 }), 9, BudgetSpent, "", false},
		// what was lost and what decides nothing
		{"after a block", blocking(func(f *Facts) { f.StopHookActive = true }), 1, OwnTask, "b1", true},
		{"a fresh store", blocking(func(f *Facts) { f.StoreRenewed = true }), 1, OwnTask, "b1", true},
		{"a fresh store after a block", blocking(func(f *Facts) { f.StoreRenewed, f.StopHookActive = true, true }), 1, Renewed, "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := Decide(c.facts, Policy{Blocks: c.blocks})
			named := ""
			for i, task := range d.Tasks {
				if i > 0 {
					named += " "
				}
				named += task.ID
			}
			if d.Code != c.code || d.Block != (c.code == OwnTask) || named != c.named || d.Last != c.last {
				t.Errorf("got %+v", d)
			}
		})
	}
}

// What a task may cost is time where stops are held for it, and blocks where not.
func TestPatience(t *testing.T) {
	t.Parallel()
	hour := Policy{Blocks: 1, Patience: time.Hour}
	cases := []struct {
		name  string
		facts Facts
		code  Code
		left  time.Duration
		last  bool
	}{
		{"nothing was waited yet", blocking(nil), OwnTask, time.Hour, false},
		{"a part of it is left, whatever the blocks", blocking(own(Task{ID: "b1", Charged: 5, Waited: 50 * time.Minute})), OwnTask, 10 * time.Minute, false},
		{"it is spent", blocking(own(Task{ID: "b1", Charged: 1, Waited: time.Hour})), BudgetSpent, 0, false},
		{"the most of several is left", blocking(own(Task{ID: "b1", Waited: time.Hour}, Task{ID: "b2", Waited: time.Minute})), OwnTask, 59 * time.Minute, false},
		{"its end was told", blocking(own(Task{ID: "b1", Charged: 1, Waited: time.Minute, Told: true})), BudgetSpent, 0, false},
		{"the last of the blocks in a row", blocking(func(f *Facts) { f.Chain = 6 }), OwnTask, time.Hour, true},
		{"after the last of the blocks in a row", blocking(func(f *Facts) { f.Chain = 7 }), BudgetSpent, 0, false},
		{"a print run that will not wait", blocking(func(f *Facts) { f.CeilingOver = true }), CeilingOver, 0, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := Decide(c.facts, hour); d.Code != c.code || d.Left != c.left || d.Last != c.last {
				t.Errorf("got %+v", d)
			}
		})
	}
	if d := Decide(blocking(func(f *Facts) { f.Chain = 2 }), Policy{Blocks: 1, Patience: time.Hour, Chain: 2}); d.Code != BudgetSpent {
		t.Errorf("a client that takes fewer blocks: %+v", d)
	}
}

// How a held stop is answered, by what became of it.
func TestAfterHold(t *testing.T) {
	t.Parallel()
	ended, killed := fate.Fate{How: fate.Ended}, fate.Fate{How: fate.Killed}
	hour := Policy{Patience: time.Hour}
	waited := func(d time.Duration, f fate.Fate) []Task { return []Task{{ID: "b1", Waited: d, Fate: f}} }
	cases := []struct {
		name  string
		facts HoldFacts
		code  Code
		left  time.Duration
		last  bool
	}{
		{"the task ended", HoldFacts{Policy: hour, Tasks: waited(time.Minute, ended)}, TaskEnded, 0, false},
		{"the task was stopped", HoldFacts{Policy: hour, Tasks: waited(time.Minute, killed)}, TasksStopped, 0, false},
		{"one was stopped and one ended", HoldFacts{Policy: hour, Tasks: append(waited(0, killed), waited(0, ended)...)}, TaskEnded, 0, false},
		{"one runs: it is waited for again", HoldFacts{Policy: hour, Tasks: waited(9*time.Minute, fate.Fate{})}, HoldOver, 51 * time.Minute, false},
		{"one runs, the patience is spent", HoldFacts{Policy: hour, Tasks: waited(time.Hour, fate.Fate{})}, PatienceOver, 0, true},
		{"one runs, of another the patience is spent", HoldFacts{Policy: hour, Tasks: append(waited(time.Hour, fate.Fate{}), waited(time.Minute, fate.Fate{})...)}, HoldOver, 59 * time.Minute, false},
		{"one runs, it was the last block in a row", HoldFacts{Policy: hour, Last: true, Tasks: waited(time.Minute, fate.Fate{})}, PatienceOver, 0, true},
		{"one runs, blocks are counted", HoldFacts{Last: true, Tasks: waited(time.Minute, fate.Fate{})}, HoldOver, 0, true},
		{"the print run is about to end", HoldFacts{Policy: hour, CeilingNear: true, Tasks: waited(time.Minute, fate.Fate{})}, CeilingNear, 0, true},
		{"a message waits", HoldFacts{Policy: hour, Message: true, Tasks: waited(time.Minute, fate.Fate{})}, MessageWaits, 59 * time.Minute, false},
		{"a message waits for a teammate, which reads it when its turn has ended", HoldFacts{Policy: hour, Message: true, Teammate: true, Tasks: waited(time.Minute, fate.Fate{})}, MessageWaits, 0, false},
		{"the agent was stopped", HoldFacts{Policy: hour, AgentStopped: true, Tasks: waited(time.Minute, ended)}, AgentStopped, 0, false},
		{"nobody waits for the answer", HoldFacts{Policy: hour, SessionOver: true, Tasks: waited(time.Minute, ended)}, SessionOver, 0, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := AfterHold(c.facts)
			blocks := map[Code]bool{TaskEnded: true, HoldOver: true, PatienceOver: true, CeilingNear: true, MessageWaits: !c.facts.Teammate}
			if d.Code != c.code || d.Left != c.left || d.Last != c.last || d.Block != blocks[d.Code] {
				t.Errorf("got %+v", d)
			}
		})
	}
}

// expected says the rule once more, in other words.
func expected(f Facts, p Policy) Code {
	var wait, paid int
	for _, t := range f.Own {
		if !t.Persistent && !t.Excused {
			wait++
			if p.Patience == 0 && t.Charged >= p.Blocks || p.Patience > 0 && (t.Told || t.Waited >= p.Patience) {
				paid++
			}
		}
	}
	chain := 7
	if p.Chain > 0 {
		chain = p.Chain
	}
	switch {
	case f.Duplicate:
		return Duplicate
	case f.Disabled:
		return Disabled
	case f.Ephemeral:
		return Ephemeral
	case !f.Registry:
		return NoRegistry
	case !f.Session:
		return NoSession
	case f.Candidates == 0:
		return NoTasks
	case !f.Store:
		return NoStore
	case len(f.Own) == 0 && f.Unowned > 0:
		return Unattrib
	case len(f.Own) == 0:
		return NotOwn
	case f.ShutDown:
		return ShutDown
	case wait == 0:
		return Excused
	case wait == paid, f.Chain >= chain:
		return BudgetSpent
	case f.CeilingOver:
		return CeilingOver
	case f.StoreRenewed && f.StopHookActive:
		return Renewed
	}
	return OwnTask
}

func randomFacts(r *rand.Rand) (Facts, Policy) {
	often := func() bool { return r.IntN(8) > 0 }
	seldom := func() bool { return r.IntN(8) == 0 }
	f := Facts{
		Disabled: seldom(), Ephemeral: seldom(), Registry: often(), Session: often(), Candidates: r.IntN(4), Unowned: r.IntN(2),
		StopHookActive: r.IntN(2) == 0, Store: often(), StoreRenewed: seldom(), Duplicate: seldom(), Chain: r.IntN(10), CeilingOver: seldom(), ShutDown: seldom(),
	}
	for i := range r.IntN(4) {
		f.Own = append(f.Own, Task{ID: fmt.Sprint("b", i), Charged: r.IntN(3), Persistent: seldom(), Excused: seldom(), Told: seldom(), Waited: time.Duration(r.IntN(4)) * time.Minute})
	}
	return f, Policy{Blocks: r.IntN(4), Patience: time.Duration(r.IntN(4)) * time.Minute, Chain: r.IntN(9)}
}

// Whatever the facts: the rule is as told, what is asked early agrees with it,
// and what is explained is what was decided.
func TestDecideEarlyAndExplainAgree(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[Code]int{}
	for range 200_000 {
		f, p := randomFacts(r)
		d := Decide(f, p)
		seen[d.Code]++
		if want := expected(f, p); d.Code != want || d.Block != (want == OwnTask) {
			t.Fatalf("%+v: %s, want %s", f, d.Code, want)
		}
		if e, ok := Early(f); ok && !f.Duplicate && !reflect.DeepEqual(e, d) {
			t.Fatalf("%+v: early %s, then %s", f, e.Code, d.Code)
		}
		if steps := Explain(f, p); len(steps) == 0 || steps[len(steps)-1].Code != d.Code {
			t.Fatalf("%+v: explained %+v, decided %s", f, steps, d.Code)
		} else {
			for i, s := range steps {
				if s.Answers != (i == len(steps)-1) || s.Rule == "" {
					t.Fatalf("%+v: step %d of %+v", f, i, steps)
				}
			}
		}
		if d.Block {
			checkBlock(t, f, p, d)
		}
	}
	if len(seen) < 14 {
		t.Errorf("only %v were met", seen)
	}
}

// checkBlock: a block names every own task that is waited for, and says rightly
// whether it is the last one.
func checkBlock(t *testing.T, f Facts, p Policy, d Decision) {
	t.Helper()
	n := 0
	after := f
	after.Chain++
	after.Own = nil
	for _, task := range f.Own {
		if !task.Persistent && !task.Excused {
			n++
			task.Charged++
		}
		after.Own = append(after.Own, task)
	}
	if len(d.Tasks) != n {
		t.Fatalf("%+v: named %+v", f, d.Tasks)
	}
	after.StoreRenewed, after.CeilingOver = false, false
	if next := Decide(after, p); next.Block == d.Last {
		t.Fatalf("%+v: last %v, but the next stop is %s", f, d.Last, next.Code)
	}
}
