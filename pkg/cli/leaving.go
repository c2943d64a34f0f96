package cli

import (
	"slices"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/process"
	"stopgate/pkg/view"
)

// leaving finds tasks that are not worth being waited for, as the gate does: by what it
// decided of them, and by what their processes are seen to do.
type leaving struct {
	a     *app
	s     found
	watch process.Watch
	tasks map[string]*process.Task
	next  time.Time
	// worth are those that were left.
	worth map[string]gate.Worth
}

// lookEvery is how often processes are looked at.
const lookEvery = 5 * time.Second

func (l *leaving) letGo(id string) bool {
	if _, left := l.worth[id]; left {
		return true
	}
	row, judged := l.s.snap.Worth[id]
	w := gate.Worth{Wait: row.Wait || !judged, By: gate.By(row.By), Words: row.Words}
	if v := l.look(id); v.Kind == process.Serves || v.Kind == process.Idle {
		s := gate.Signs{Does: gate.Does(v.Kind), DoesWords: v.String()}
		if w.Wait && w.By == gate.ByHistory {
			s.Ends, s.HistoryWords = true, w.Words
		}
		w = gate.Weigh(s)
	}
	if w.Wait {
		return false
	}
	if l.worth == nil {
		l.worth = map[string]gate.Worth{}
	}
	l.worth[id] = w
	return true
}

// look is what the processes of a task are seen to do; the zero verdict where that
// cannot be told.
func (l *leaving) look(id string) process.Verdict {
	t := l.s.task(id)
	if !l.a.h.Processes || t.Kind != event.TypeShell || t.Output == "" {
		return process.Verdict{}
	}
	if l.tasks[id] == nil {
		if l.tasks == nil {
			l.tasks = map[string]*process.Task{}
		}
		l.tasks[id] = l.watch.Add(l.a.h.Files.Path(t.Output))
	}
	if now := l.a.h.Clock.Now(); !now.Before(l.next) {
		l.watch.Look(now)
		l.next = now.Add(lookEvery)
	}
	return l.tasks[id].Verdict
}

// print says of those that were left why.
func (l *leaving) print() {
	scr := l.a.screen()
	var ids []string
	for id := range l.worth {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		scr.Line(view.Clean(id + " still runs, " + l.worth[id].String()))
	}
}
