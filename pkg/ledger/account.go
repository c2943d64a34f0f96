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
	for id, e := range s.Ends {
		a.End(e.End)
		if !e.Delivered.IsZero() {
			a.Deliver(transcript.Delivery{Task: id, To: e.DeliveredTo, At: e.Delivered})
		}
	}
	for _, d := range s.Heard {
		a.Deliver(d)
	}
	return a
}
