package handler

import (
	"slices"
	"sort"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/fate"
	"stopgate/pkg/gate"
	"stopgate/pkg/host"
	"stopgate/pkg/process"
	"stopgate/pkg/transcript"
)

// How often the processes of tasks are looked at while a stop is held: the more
// others hold, and the more a look costs, the more seldom, and never so seldom that a
// look says nothing of the time between.
const (
	lookEvery  = 5 * time.Second
	lookShare  = 4000 // of the time, a look may cost one part in so many
	lookSeldom = 25 * time.Second
	// costly is how seldom at the most a look is because of what it costs alone: what
	// serves is let go within a minute and a half.
	costly = 10 * time.Second
	// manyHolds is how many holds of one session look as often as one would.
	manyHolds = 10
)

// looks looks at what the tasks do that a stop is held for, and finds those that are
// not worth being waited for any longer.
type looks struct {
	r     *run
	live  *liveness
	watch process.Watch
	tasks map[string]*looked
	next  time.Time
}

// looked is a task that is looked at.
type looked struct {
	gate.Task
	watched *process.Task
	// agent is the transcript of one that is an agent, size how long it was.
	agent string
	size  int64
	// does is what it was seen to do last.
	does gate.Does
	// seen tells that a process of it was seen, in this hold or an earlier one.
	seen bool
	// gone is when its processes were seen to be gone, zero for not.
	gone time.Time
}

// looks begins to look at tasks. Where the processes here have nothing to do with
// them, as in a replay, only their age counts.
func (r *run) looks(tasks []gate.Task, live *liveness) *looks {
	k := &looks{r: r, live: live, tasks: map[string]*looked{}, watch: process.Watch{Client: r.clocks.Client}}
	for _, t := range tasks {
		one := &looked{Task: t}
		switch {
		case !r.h.Processes:
		case t.Kind == event.TypeShell && t.Output != "":
			one.watched = k.watch.Add(r.h.Files.Path(t.Output))
			one.watched.Resume(live.snap.Worth[t.ID].State)
			one.seen = live.snap.Worth[t.ID].State.PID != 0
		case t.Kind == event.TypeSubagent:
			one.agent = transcript.OfAgent(r.h.Files, r.e.TranscriptPath, t.ID, "")
			one.size = size(r.h.Files, one.agent)
		}
		k.tasks[t.ID] = one
	}
	return k
}

func size(files host.Files, path string) int64 {
	info, err := files.Stat(path)
	if path == "" || err != nil {
		return -1
	}
	return info.Size()
}

// look looks where it is time to.
func (k *looks) look() {
	now := k.r.h.Clock.Now()
	if now.Before(k.next) {
		return
	}
	began := time.Now()
	k.watch.Look(now)
	cost := time.Since(began)
	for id, t := range k.tasks {
		if t.Worth.Wait { // what was let go stays so
			k.judge(id, t, now)
		}
	}
	many := lookEvery * time.Duration(len(k.live.snap.Holds)) / manyHolds
	k.next = now.Add(min(max(lookEvery, many, min(cost*lookShare, costly)), lookSeldom))
}

// judge decides of a task by all that is known of it now.
func (k *looks) judge(id string, t *looked, now time.Time) {
	s := k.r.known[id]
	if s.Age += now.Sub(k.r.began); t.Kind != event.TypeShell {
		s.Left, s.Never = false, false // only of a command is known what it did before
	}
	switch {
	case t.watched != nil:
		does(&s, t.watched.Verdict)
		t.seen = t.seen || len(t.watched.PIDs) > 0
		switch {
		case t.watched.Verdict.Kind != process.Gone || !t.seen:
			t.gone = time.Time{} // what was never seen may be hidden, not gone
		case t.gone.IsZero():
			t.gone = now
		}
	case t.agent != "":
		if n := size(k.r.h.Files, t.agent); n != t.size {
			t.size = n
			s.Does, s.DoesWords = gate.Works, "works: its transcript grew"
		}
	}
	t.Worth, t.does = gate.Weigh(s), s.Does
	if !t.Worth.Wait && t.watched != nil {
		k.watch.Drop(t.watched)
		t.watched = nil
	}
}

// due is when the next look is due; zero for never.
func (k *looks) due() time.Time {
	for _, t := range k.tasks {
		if t.watched != nil || t.agent != "" {
			return k.next
		}
	}
	return time.Time{}
}

// letGo tells whether a task is no longer waited for.
func (k *looks) letGo(id string) bool {
	k.look()
	t := k.tasks[id]
	return t != nil && !t.Worth.Wait && t.Worth.By != gate.ByNothing
}

// opinion tells of a task whose processes are all gone that it has ended.
func (k *looks) opinion(id string) fate.Fate {
	k.look()
	t := k.tasks[id]
	if t == nil || t.gone.IsZero() {
		return fate.Fate{Task: id}
	}
	return fate.Fate{Task: id, How: fate.Ended, Sign: fate.Gone, At: t.gone, Output: t.Output, Size: size(k.r.h.Files, t.Output)}
}

// idle are the tasks that were let go as idle.
func (k *looks) idle() []gate.Task {
	var out []gate.Task
	for _, t := range k.tasks {
		if t.Worth.Idle {
			t.Running += k.r.h.Clock.Now().Sub(k.r.began)
			out = append(out, t.Task)
		}
	}
	sort.Slice(out, func(a, b int) bool { return out[a].ID < out[b].ID })
	return out
}

// after are the facts of the stop with what is known of its tasks when the hold is
// over. One that is idle is let go once its agent was told so.
func (k *looks) after(f gate.Facts, d gate.Decision) gate.Facts {
	f.Own = slices.Clone(f.Own)
	for id, t := range k.tasks {
		if t.watched != nil {
			k.r.states = with(k.r.states, id, t.watched.State())
		}
	}
	for i, own := range f.Own {
		if t, ok := k.tasks[own.ID]; ok && (!t.Worth.Idle || d.Block) {
			f.Own[i].Worth = t.Worth
			if s := k.r.known[own.ID]; t.Worth.By == gate.ByProcesses && !t.Worth.Wait {
				s.Does = t.does
				k.r.known[own.ID] = s
			}
		}
	}
	return f
}
