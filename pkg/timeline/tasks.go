package timeline

import (
	"cmp"
	"slices"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

// task puts a task below its owner's lane, or, where it is an agent, to its own.
func (b *builder) task(t status.Task) {
	owner := t.Owner
	made := Task{
		ID: view.Clean(t.ID), Kind: view.Clean(t.Kind), From: b.within(cmpTime(t.Launched, cmpTime(t.Ended, b.from))),
		State: t.State, Exit: t.ExitCode, Output: view.Clean(t.Output), Excused: t.Excused(), News: b.news(t),
	}
	end := t.Ended
	if end.IsZero() {
		end = b.until
		if t.State != status.TaskRunning { // what became of it, and when, is unknown
			end = b.lastSeen(t.ID, made.From)
		}
	}
	made.Until = later(made.From, b.within(end))
	made.Unheard = t.State == status.TaskUndelivered && len(made.News) == 0
	if call, ok := b.calls[owner+" "+t.ToolUse]; ok && t.ToolUse != "" && !b.NoText {
		made.Text, made.About = view.Clean(call.Text), view.Clean(call.About)
	}
	if _, isAgent := b.Session.Agent(t.ID); isAgent || t.Kind == event.TypeSubagent {
		b.lane(t.ID).Self = &made
		return
	}
	made.Saved = b.saved(t, made)
	l := b.lane(owner)
	l.Tasks = append(l.Tasks, made)
}

// lastSeen is the last stop that named a task among the unfinished, or from.
func (b *builder) lastSeen(task string, from time.Time) time.Time {
	for _, stop := range b.Session.Stops {
		if slices.Contains(stop.Listed, task) || slices.Contains(stop.Own, task) {
			from = later(from, stop.Time)
		}
	}
	return from
}

// news is who heard of a task's end: each lane once, by whoever told it first.
func (b *builder) news(t status.Task) []News {
	all := []News{}
	for _, d := range b.News[t.ID] {
		if !d.At.IsZero() && (t.Ended.IsZero() || !d.At.Before(t.Ended)) {
			all = append(all, News{At: b.within(d.At), To: view.Clean(cmp.Or(d.To, t.Owner)), By: ByClient})
		}
	}
	for _, stop := range b.Session.Stops {
		if stop.Verdict == ledger.Block && slices.Contains(stop.Ended, t.ID) {
			all = append(all, News{At: b.within(answered(stop)), To: view.Clean(stop.AgentID), By: ByGate})
		}
	}
	if !t.Courier.IsZero() {
		all = append(all, News{At: b.within(t.Courier), To: transcript.Main, By: ByCourier})
	}
	slices.SortStableFunc(all, func(x, y News) int { return x.At.Compare(y.At) })
	told := map[string]bool{}
	return slices.DeleteFunc(all, func(n News) bool {
		defer func() { told[n.To] = true }()
		return told[n.To]
	})
}

// saved tells whether a task's result would have been lost without the gate: its
// owner's stop was held or blocked for it, it ended by itself, and its owner worked
// on after that.
func (b *builder) saved(t status.Task, made Task) bool {
	if t.Owner == "" || t.Owner == transcript.Main || t.State != status.TaskFinished || t.Ended.IsZero() {
		return false
	}
	kept := ledger.Stop{}
	for _, stop := range b.Session.Stops {
		if stop.AgentID == t.Owner && slices.Contains(stop.Own, t.ID) && (stop.Verdict == ledger.Block || stop.Held > 0) {
			kept = stop
		}
	}
	a, _ := b.Session.Agent(t.Owner)
	_, background := b.Session.Task(t.Owner)
	place := Place{Client: b.Client, Teammate: a.Team != "", Background: background, Host: kept.Host}
	worked := slices.ContainsFunc(b.Moments[t.Owner], func(m transcript.Moment) bool { return !m.At.Before(made.Until) })
	return kept.Seq != 0 && worked && place.Lost()
}

func answered(s ledger.Stop) time.Time { return s.Time.Add(s.Duration) }
