package wait

import (
	"context"
	"io/fs"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/fate"
	"stopgate/pkg/transcript"
)

// childAgent is what is known of an agent that is waited for.
type childAgent struct {
	path   string
	cursor transcript.Cursor
	last   fs.FileInfo
	// owned are the tasks it launched.
	owned map[string]transcript.Launch
	// offset is how far its transcript was looked at, and active the latest time
	// found there. Lines come late, so their own times count.
	offset int64
	active time.Time
	// behind tells that there is more to look at.
	behind bool
	// end is its last end as it was told.
	end transcript.End
	// freed is when the last of its own tasks ended after that.
	freed time.Time
}

// maxDepth bounds the agents of agents that are followed.
const maxDepth = 4

// agent is what is known of a task that is an agent (docs/client.md: an agent's
// end). What it owns may wake it: that is waited for, too.
func (w *Wait) agent(ctx context.Context, t Task, now time.Time, depth int) fate.Fate {
	a := w.agents[t.ID]
	if a == nil {
		a = &childAgent{path: transcript.OfAgent(w.Files, w.Main, t.ID, ""), owned: map[string]transcript.Launch{}}
		for id, l := range w.Launches {
			if l.Owner == t.ID {
				a.owned[id] = l
			}
		}
		w.agents[t.ID] = a
	}
	w.activity(ctx, a, t.ID)
	end := w.told(t)
	named := w.seen.named[t.ID]
	s := fate.AgentSigns{
		Task: t.ID, End: end, EndSeen: w.seen.ends[t.ID], Heard: w.known.Heard(t.ID, t.Owner), Since: t.Since,
		Owns: len(a.owned) > 0, List: w.seen.list, ListSeen: w.seen.came,
	}
	switch {
	case end == nil:
		s.Working = named.IsZero() || !w.seen.list.Lacks(t.ID, t.Launched, named)
	case fate.Word(end.Status) != fate.Killed:
		s.Working = a.active.After(end.At) // it went on since
		s.Unfinished = !s.Working && w.unfinished(ctx, a, *end, now, depth)
	}
	return w.unsaid(fate.JudgeAgent(s), now)
}

// activity reads what an agent's transcript gained.
func (w *Wait) activity(ctx context.Context, a *childAgent, id string) {
	if a.path == "" {
		return
	}
	w.mention(a.path)
	fresh := a.last != nil
	if b, news := w.scan(ctx, transcript.Source{Path: a.path, Owner: id}, a.cursor, &a.last); news {
		a.cursor = b.Cursor
		for _, l := range b.Launches {
			a.owned[l.Task] = l
		}
		w.learn(b, fresh)
		a.behind = true
	}
	if a.behind {
		_, latest, offset := transcript.Activity(w.Files, a.path, a.offset)
		if latest.After(a.active) {
			a.active = latest
		}
		if a.behind, a.offset = offset != a.offset, offset; a.behind {
			w.again(w.looked)
		}
	}
}

// unfinished tells whether an agent whose end was told owns a task that runs, or
// that ended a moment ago: newer clients wake it for that, and its transcript
// grows.
func (w *Wait) unfinished(ctx context.Context, a *childAgent, end transcript.End, now time.Time, depth int) bool {
	if !a.end.At.Equal(end.At) {
		a.end, a.freed = end, time.Time{}
	}
	for _, l := range a.owned {
		if !w.ownedEnded(ctx, l, now, depth) {
			a.freed = time.Time{}
			return true
		}
	}
	if len(a.owned) == 0 {
		return false
	}
	if a.freed.IsZero() {
		a.freed = now
	}
	w.again(a.freed.Add(grace))
	return now.Sub(a.freed) < grace
}

func (w *Wait) ownedEnded(ctx context.Context, l transcript.Launch, now time.Time, depth int) bool {
	if l.Persistent || depth >= maxDepth {
		return true
	}
	t := Task{ID: l.Task, Kind: l.Kind, Output: l.Output, Owner: l.Owner, Launched: l.At}
	if l.Kind == event.TypeSubagent {
		t.Since = l.At
		return w.agent(ctx, t, now, depth+1).Over()
	}
	return w.task(t, now).Over()
}
