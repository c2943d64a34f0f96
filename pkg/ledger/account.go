package ledger

import (
	"stopgate/pkg/fate"
	"stopgate/pkg/transcript"
)

// Account is what the snapshot tells of the tasks: the one account of what became of
// them begins with it.
func (s Snapshot) Account() fate.Account {
	var a fate.Account
	for _, l := range s.Launches {
		a.Launch(l)
	}
	for _, e := range s.Ends {
		e.tell(&a)
	}
	for _, d := range s.Heard {
		a.Deliver(d)
	}
	return a
}

func (e End) tell(a *fate.Account) {
	a.End(e.End)
	if !e.Delivered.IsZero() {
		a.Deliver(transcript.Delivery{Task: e.Task, To: e.DeliveredTo, At: e.Delivered})
	}
}

// Fate is what the end alone tells of its task, which owner launched.
func (e End) Fate(owner string) fate.Fate {
	var a fate.Account
	e.tell(&a)
	return fate.Judge(fate.Signs{Task: e.Task, End: &e.End, Heard: a.Heard(e.Task, owner), Output: fate.Output{Size: -1}})
}
