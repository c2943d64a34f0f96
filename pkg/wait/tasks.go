package wait

import (
	"context"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/fate"
	"stopgate/pkg/transcript"
)

// seen is what a wait saw come, and when: that is later than what was there at
// first, whatever the times of both say.
type seen struct {
	// ends is when each end was seen to come, begun whether any look is over.
	ends  map[string]time.Time
	begun bool
	// list is the last list, came when it was seen to come, zero for the first
	// one; named are the tasks that one of them named.
	list  fate.List
	came  time.Time
	named map[string]time.Time
}

// ended notes ends that a transcript gained since it was read to its end.
func (s *seen) ended(ends []transcript.End, now time.Time) {
	for _, e := range ends {
		if s.ends == nil {
			s.ends = map[string]time.Time{}
		}
		s.ends[e.Task] = now
	}
}

// look asks for the list. One that is older than what is known is none: two hooks
// that end beside each other may write theirs in the wrong order. Where the known one
// is yet to come, the clock was set back, and every list is newer.
func (s *seen) look(list func() fate.List, now time.Time) {
	if list != nil {
		if l := list(); l.At.After(s.list.At) || s.list.At.After(now) && !l.At.Equal(s.list.At) && !l.At.IsZero() {
			s.list, s.came = l, time.Time{}
			if s.begun {
				s.came = now
			}
			for id, at := range s.named {
				if !at.Before(l.At) {
					s.named[id] = l.At.Add(-1)
				}
			}
			for id := range l.Tasks {
				if s.named == nil {
					s.named = map[string]time.Time{}
				}
				s.named[id] = l.At
			}
		}
	}
	s.begun = true
}

// fresh is since when the list is known.
func (s *seen) fresh() time.Time {
	if s.came.IsZero() {
		return s.list.At
	}
	return s.came
}

// outcome is what is known of a task now.
func (w *Wait) outcome(ctx context.Context, t Task, now time.Time) fate.Fate {
	var f fate.Fate
	if t.Kind == event.TypeSubagent {
		f = w.agent(ctx, t, now, 0)
		f.Output = t.Output
	} else {
		f = w.task(t, now)
	}
	if !f.Over() && w.Opinion != nil {
		if other := w.Opinion(t.ID); other.Over() {
			return other
		}
	}
	return f
}

// task is what is known of a task that is no agent.
func (w *Wait) task(t Task, now time.Time) fate.Fate {
	end := w.told(t)
	path := t.Output
	if path == "" && end != nil {
		path = end.Output
	}
	w.mention(path)
	out := w.outputs.Look(path, now)
	if out.Seen.Equal(now) {
		w.changed = w.looked
	}
	list := w.seen.list
	if t.Kind == event.TypeTeammate {
		list = fate.List{} // names it by another id (docs/client.md: background_tasks)
	}
	f := fate.Judge(fate.Signs{
		Task: t.ID, End: end, EndSeen: w.seen.ends[t.ID], Heard: w.known.Heard(t.ID, t.Owner), Output: out,
		Launched: t.Launched, List: list, Seen: w.seen.named[t.ID], ListSeen: w.seen.came,
	})
	if !f.Over() && !out.Next.IsZero() {
		w.again(out.Next)
	}
	return w.unsaid(f, now)
}

// unsaid keeps a task that is no longer listed for one that runs until the news of
// its end has had its time to come.
func (w *Wait) unsaid(f fate.Fate, now time.Time) fate.Fate {
	if until := w.seen.fresh().Add(grace); f.Sign == fate.NotListed && now.Before(until) {
		w.again(until)
		f.How, f.Sign = fate.Runs, fate.Launched
	}
	return f
}

// told is the last told end of a task that counts for it.
func (w *Wait) told(t Task) *transcript.End {
	if end := w.known.Ended(t.ID); end != nil && !end.At.Before(t.Since) {
		return end
	}
	return nil
}
