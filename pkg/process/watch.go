package process

import "time"

// Watch looks at several tasks again and again, each time in one pass over the
// system's processes. Its zero value is ready; it is not for use by several
// goroutines.
type Watch struct {
	// Client is the process that starts the shells, 0 where it is unknown. With it
	// a task whose processes were gone before the first look can be told from one
	// that is not seen.
	Client int

	tasks  []*Task
	memory memory
}

// Task is a task that is watched.
type Task struct {
	// Grew is set by the caller before a look where the task showed work elsewhere
	// since the last one: the transcript of a child agent grew.
	Grew bool
	// Verdict is what the looks came to so far; the zero verdict before the first.
	Verdict Verdict
	// PIDs are its processes at the last look.
	PIDs []int

	ask   ask
	judge Judge
}

// State is where the watch of the task is, and Resume lets it go on from there in
// another process. Resume is called before the first look.
func (t *Task) State() State { return t.judge.state() }

// Resume goes on from a state; see [Task.State].
func (t *Task) Resume(s State) { t.judge.before = s }

// Add begins to watch the task of an output file.
func (w *Watch) Add(output string) *Task {
	t := &Task{ask: ask{output: output}}
	w.tasks = append(w.tasks, t)
	return t
}

// Drop no longer watches a task.
func (w *Watch) Drop(task *Task) {
	for i, t := range w.tasks {
		if t == task {
			w.tasks = append(w.tasks[:i:i], w.tasks[i+1:]...)
			return
		}
	}
}

// How long a task must have been idle before more of it is looked at: what it
// holds open decides after [ServesAfter], how much it writes after [IdleAfter].
const (
	deepAfter  = ServesAfter / 2
	weighAfter = IdleAfter - 2*time.Minute
)

// Look looks at all the tasks and brings their verdicts up to date. Every few
// seconds is often enough; a look takes some milliseconds.
func (w *Watch) Look(now time.Time) {
	if len(w.tasks) == 0 {
		return
	}
	asks := make([]ask, len(w.tasks))
	for i, t := range w.tasks {
		asks[i] = t.ask
	}
	found, told := scan(system, &w.memory, asks, w.Client)
	for i, t := range w.tasks {
		tree := found[i].tree
		if told && t.judge.Idle() >= deepAfter {
			deepen(system, &tree)
		}
		if told && t.judge.Idle() >= weighAfter {
			weigh(system, &tree)
		}
		t.ask.file = first(t.ask.file, found[i].file)
		if launcher, ok := tree.launcher(); ok {
			t.ask.launcher = launcher
		}
		t.Verdict = t.judge.See(Observation{At: now, Tree: tree, Told: told, Grew: t.Grew})
		t.Grew, t.PIDs = false, tree.PIDs()
	}
}

func first(a, b identity) identity {
	if a != (identity{}) {
		return a
	}
	return b
}
