package timeline

import (
	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
)

func (b *builder) totals(lanes []Lane) Totals {
	t := Totals{Agents: len(b.Session.Agents), Stops: len(b.Session.Stops)}
	for _, stop := range b.Session.Stops {
		if stop.Held > 0 {
			t.Holds++
			t.Waited += stop.Held
		}
		if stop.Verdict == ledger.Block {
			t.Blocks++
		}
	}
	held := func(a status.Agent) {
		if a.Hold != nil {
			t.HeldNow++
			t.Holds++
			t.Waited += max(0, b.Now.Sub(a.Hold.Since))
		}
		if a.Stuck {
			t.Stuck++
		}
	}
	for _, a := range b.Session.Agents {
		held(a)
	}
	if b.Session.Coordinator != nil {
		held(*b.Session.Coordinator)
	}
	for _, task := range b.Session.Tasks {
		if !task.Courier.IsZero() {
			t.Wakes++
		}
	}
	for _, l := range lanes {
		t.Tasks += len(l.Tasks)
		for _, task := range l.Tasks {
			if task.Saved {
				t.Saved++
			}
			if task.Unheard && !task.Excused {
				t.Unheard++
			}
		}
		if l.Self != nil && l.Self.Unheard {
			t.Unheard++
		}
	}
	t.Turns = t.Blocks + t.Wakes
	return t
}

// Waited is how long, as people read it.
func (t Totals) waited() string { return gate.Span(t.Waited) }
