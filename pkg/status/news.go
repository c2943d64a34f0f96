package status

import (
	"slices"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// Way is how the news of a task's end was given.
type Way string

// The ways, in the words of `hookctl log --json`.
const (
	// ByClient is the client's own notification (docs/client.md: ends).
	ByClient Way = "client"
	// ByBlock is a block of the gate's that handed the outcome over.
	ByBlock Way = "block"
	// ByCourier is a courier that woke the coordinator.
	ByCourier Way = "courier"
)

// News is that somebody was told of a task's end.
type News struct {
	// To is an agent id or [transcript.Main].
	To string
	By Way
	At time.Time
}

// sameNews is how far apart the client's two notes of one delivery may lie: the
// coordinator's transcript says that it was made, the agent's what was given.
const sameNews = time.Minute

// news are those who were told of a task's end, as far as it is known when.
func (b *builder) news(task string) []News {
	owner, told := b.account.Launches[task].Owner, b.account.News[task]
	var out []News
	for _, d := range told {
		to := d.To
		if to == "" {
			to = owner
		}
		again := d.To == "" && slices.ContainsFunc(told, func(o transcript.Delivery) bool {
			return o.To == owner && o.At.Sub(d.At).Abs() < sameNews
		})
		if !d.At.IsZero() && to != "" && !again {
			out = append(out, News{To: to, By: ByClient, At: d.At})
		}
	}
	for _, stop := range b.snap.Stops { // one for a message is answered later, with the outcomes
		if stop.Verdict == ledger.Block && stop.Code != string(gate.MessageWaits) && slices.Contains(stop.Ended, task) {
			out = append(out, News{To: stop.AgentID, By: ByBlock, At: stop.Time.Add(stop.Duration)})
		}
	}
	if c, woke := b.snap.Couriers[task]; woke {
		out = append(out, News{To: transcript.Main, By: ByCourier, At: c.At})
	}
	slices.SortStableFunc(out, func(a, b News) int { return a.At.Compare(b.At) })
	return out
}
