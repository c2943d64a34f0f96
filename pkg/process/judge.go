package process

import "time"

// Kind is what the looks at a task come to.
type Kind string

// The kinds.
const (
	// Works is a task that did something since the last look: it is worth waiting
	// for.
	Works Kind = "works"
	// Quiet is one that did nothing, but not for long enough to say more: it is
	// waited for like one that works.
	Quiet Kind = "quiet"
	// Serves is one that listens or watches files and has been idle for
	// [ServesAfter]: it does not end by itself.
	Serves Kind = "serves"
	// Idle is one that has been idle for [IdleAfter] and neither listens nor
	// watches: it hangs, polls for what does not come, or waits for another
	// machine. Only its history can say that it ends.
	Idle Kind = "idle"
	// Gone is one whose processes are all gone: it has ended, whatever was said.
	Gone Kind = "gone"
	// Unknown is one of which the system tells nothing, or not enough: it can
	// only be said how long it has been quiet.
	Unknown Kind = "unknown"
)

// How long a task must have been idle to be taken for what it is.
const (
	ServesAfter = time.Minute
	IdleAfter   = 10 * time.Minute
)

// Verdict is what the looks at a task came to. The zero value is none.
type Verdict struct {
	Kind Kind
	// Words say for people by what it was decided: "listens on 5173, idle 60 s".
	Words string
	// Quiet is how long no sign of work was seen.
	Quiet time.Duration
	// Listens and Watches tell what was seen of that; of a task that works nobody
	// looks for it.
	Listens, Watches bool
}

// String is the verdict in words: "serves: listens on 5173, idle 60 s".
func (v Verdict) String() string {
	if v.Words == "" {
		return string(v.Kind)
	}
	return string(v.Kind) + ": " + v.Words
}

// Observation is one look at a task, as [Judge] takes it.
type Observation struct {
	At time.Time
	Tree
	// Told is false where the system tells nothing but the output's size.
	Told bool
	// Grew is set where the task showed work elsewhere since the last look: the
	// transcript of a child agent grew.
	Grew bool
}

// Judge comes to a verdict by successive looks at one task. It is a plain state
// machine that looks at nothing itself. Its zero value is ready.
type Judge struct {
	last  Observation
	looks int
	// was is set once a process of the task was seen.
	was bool
	// rest and idle are how long the task has been idle, by the rule for what
	// serves and by the more patient one for what is idle: rest is never longer.
	rest, idle time.Duration
	// gone counts the looks in a row that found no process.
	gone  int
	tanks tanks
	// before is where an earlier watch ended, zero for none.
	before State
}

// State is where a watch of a task ended, for one that goes on with it: a hold is
// shorter than [IdleAfter]. The zero value is none.
type State struct {
	At   time.Time     `json:"at,omitzero"`
	Idle time.Duration `json:"idle,omitempty"`
	// Size and Ticks are as of the last look; PID and Start are the launcher's.
	Size  int64  `json:"size,omitempty"`
	Ticks uint64 `json:"ticks,omitempty"`
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`
}

// state is where the judge is.
func (j *Judge) state() State {
	launcher, _ := j.last.launcher()
	return State{At: j.last.At, Idle: j.idle, Size: j.last.Size, Ticks: j.last.Ticks(), PID: launcher.PID, Start: launcher.Start}
}

// resume goes on where an earlier watch ended, if the task did no work since: the
// output is as it was, and the processes are the same ones and used no more than a
// poll loop does.
func (j *Judge) resume(l *Observation) {
	launcher, _ := l.launcher()
	s, gap := j.before, l.At.Sub(j.before.At)
	polls := newTanks().polls
	if s.At.IsZero() || gap < 0 || l.Size != s.Size || launcher.PID != s.PID || launcher.Start != s.Start || polls.add(l.Ticks()-min(s.Ticks, l.Ticks()), gap) {
		return
	}
	if j.idle = s.Idle + min(gap, maxGap); !l.Told {
		j.rest = j.idle
	}
}

// maxGap is how much of the time between two looks counts as seen: a machine that
// slept, or a hook that was stopped, has not watched a task being idle.
const maxGap = 30 * time.Second

// Idle is how long the task has been idle, a little work now and then allowed.
func (j *Judge) Idle() time.Duration { return j.idle }

// See takes the next look and tells the verdict by all of them. A look of a time
// before the last one counts as made at the same time.
func (j *Judge) See(l Observation) Verdict {
	if j.looks == 0 {
		j.last, j.tanks = l, newTanks()
		j.resume(&l)
	}
	gap, told := max(l.At.Sub(j.last.At), 0), l.Told && (l.alive() || l.Others > 0)
	w := outward(&j.last, &l)
	if told && w.words == "" {
		w = j.tanks.inward(&j.last, &l, gap)
	}
	j.pass(w, gap)
	var v Verdict
	if told {
		j.gone = 0
		v = j.seen(&l, w)
	} else {
		v = j.unseen(&l, w)
	}
	v.Listens, v.Watches = l.Listens, l.Watches
	j.last, j.was = l, j.was || l.alive()
	j.looks++
	return v
}

// idle is a verdict of a task that did nothing for so long.
func idle(kind Kind, words string, d time.Duration) Verdict {
	return Verdict{Kind: kind, Words: words + " " + span(d), Quiet: d}
}

// seen judges a look that found processes.
func (j *Judge) seen(l *Observation, w work) Verdict {
	serves := l.Listens || l.Watches
	switch {
	case l.Others > 0 && w.words == "":
		return idle(Unknown, "part of it runs as another user, idle", j.rest)
	case l.Others > 0: // and it works, as far as it can be seen
	case serves && j.rest >= ServesAfter:
		return idle(Serves, does(l)+"idle", j.rest)
	case serves && j.idle >= IdleAfter:
		return idle(Serves, does(l)+"nearly idle", j.idle)
	case !l.Deep && j.idle >= IdleAfter:
		return idle(Unknown, "not all of it could be looked at, idle", j.idle)
	case j.idle >= IdleAfter:
		return idle(Idle, "listens on nothing, watches nothing, idle", j.idle)
	}
	switch {
	case w.words != "":
		return Verdict{Kind: Works, Words: w.words}
	case j.looks == 0:
		return Verdict{Kind: Quiet, Words: "seen for the first time"}
	}
	return idle(Quiet, does(l)+"idle", j.rest)
}

// unseen judges a look that found no process.
func (j *Judge) unseen(l *Observation, w work) Verdict {
	switch {
	case w.words != "":
		// Somebody writes, if only the client that notes the end.
		j.gone = 0
		return Verdict{Kind: Works, Words: w.words}
	case !l.Told:
		return idle(Unknown, "the system tells nothing of its processes, no output for", j.rest)
	case !j.was && !l.Sure:
		return idle(Unknown, "no process of it was found, no output for", j.rest)
	}
	if j.gone++; j.gone < 2 {
		return Verdict{Kind: Quiet, Words: "no process was found at this look", Quiet: j.rest}
	}
	return Verdict{Kind: Gone, Words: "no process is left", Quiet: j.rest}
}

// pass lets the time since the last look go by.
func (j *Judge) pass(w work, gap time.Duration) {
	gap = min(gap, maxGap)
	j.rest, j.idle = j.rest+gap, j.idle+gap
	if w.words != "" {
		j.rest = 0
	}
	if w.much {
		j.idle = 0
	}
}
