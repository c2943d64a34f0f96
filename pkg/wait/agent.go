package wait

import (
	"context"
	"io/fs"
	"time"

	"stopgate/pkg/event"
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

// agentEnded applies the rule for agents: one has ended when its end was told,
// it did not start again since, and owns no unfinished task. A parked one tells
// its end twice (docs/client.md: an agent's end).
func (w *Wait) agentEnded(ctx context.Context, t Task, now time.Time, depth int) bool {
	a := w.agents[t.ID]
	if a == nil {
		a = &childAgent{path: transcript.OfAgent(w.Files, w.Main, t.ID, ""), owned: map[string]transcript.Launch{}}
		w.agents[t.ID] = a
	}
	if a.path != "" {
		w.mention(a.path)
		if b, news := w.scan(ctx, transcript.Source{Path: a.path, Owner: t.ID}, a.cursor, &a.last); news {
			a.cursor = b.Cursor
			for _, l := range b.Launches {
				a.owned[l.Task] = l
			}
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
	end, told := w.ends[t.ID]
	if !told || end.At.Before(t.Since) || a.active.After(end.At) {
		return false // not told, told of an earlier life, or it went on since
	}
	if !a.end.At.Equal(end.At) {
		a.end, a.freed = end, time.Time{}
	}
	if end.Parked && len(a.owned) == 0 {
		return false // its transcript does not tell yet what it waits for
	}
	for _, l := range a.owned {
		if !w.ownedEnded(ctx, l, now, depth) {
			a.freed = time.Time{}
			return false
		}
	}
	if len(a.owned) == 0 {
		return true
	}
	if a.freed.IsZero() {
		a.freed = now
	}
	// Newer clients wake it for its task's end; then its transcript grows.
	w.again(a.freed.Add(grace))
	return now.Sub(a.freed) >= grace
}

func (w *Wait) ownedEnded(ctx context.Context, l transcript.Launch, now time.Time, depth int) bool {
	switch {
	case l.Persistent || depth >= maxDepth:
		return true
	case l.Kind == event.TypeSubagent:
		return w.agentEnded(ctx, Task{ID: l.Task, Kind: l.Kind, Since: l.At}, now, depth+1)
	}
	_, told := w.ends[l.Task]
	return told || w.output(l.Output).how != ""
}
