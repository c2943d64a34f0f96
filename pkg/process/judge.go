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
	// seen is set once a process of the task was.
	seen bool
	// rest and idle are how long the task has been idle, by the rule for what
	// serves and by the more patient one for what is idle: rest is never longer.
	rest, idle time.Duration
	// gone counts the looks in a row that found no process.
	gone  int
	tanks tanks
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
	}
	v := j.verdict(l, max(l.At.Sub(j.last.At), 0))
	v.Listens, v.Watches = l.Listens, l.Watches
	j.last, j.seen = l, j.seen || l.alive()
	j.looks++
	return v
}

func (j *Judge) verdict(l Observation, gap time.Duration) Verdict {
	if !l.Told || !l.alive() && l.Others == 0 {
		w := outward(j.last, l)
		j.pass(w, gap)
		return j.unseen(l, w)
	}
	j.gone = 0
	w := outward(j.last, l)
	if w.words == "" {
		w = j.tanks.inward(j.last, l, gap)
	}
	j.pass(w, gap)
	serves := l.Listens || l.Watches
	switch {
	case l.Others > 0 && w.words == "":
		return Verdict{Kind: Unknown, Words: "part of it runs as another user, idle " + span(j.rest), Quiet: j.rest}
	case l.Others > 0:
		return Verdict{Kind: Works, Words: w.words}
	case serves && j.rest >= ServesAfter:
		return Verdict{Kind: Serves, Words: does(l.Tree) + "idle " + span(j.rest), Quiet: j.rest}
	case serves && j.idle >= IdleAfter:
		return Verdict{Kind: Serves, Words: does(l.Tree) + "nearly idle " + span(j.idle), Quiet: j.idle}
	case !l.Deep && j.idle >= IdleAfter:
		return Verdict{Kind: Unknown, Words: "not all of it could be looked at, idle " + span(j.idle), Quiet: j.idle}
	case j.idle >= IdleAfter:
		return Verdict{Kind: Idle, Words: "listens on nothing, watches nothing, idle " + span(j.idle), Quiet: j.idle}
	case w.words != "":
		return Verdict{Kind: Works, Words: w.words}
	case j.looks == 0:
		return Verdict{Kind: Quiet, Words: "seen for the first time"}
	}
	return Verdict{Kind: Quiet, Words: does(l.Tree) + "idle " + span(j.rest), Quiet: j.rest}
}

// unseen judges a look that found no process.
func (j *Judge) unseen(l Observation, w work) Verdict {
	switch {
	case w.words != "":
		// Somebody writes, if only the client that notes the end.
		j.gone = 0
		return Verdict{Kind: Works, Words: w.words}
	case !l.Told:
		return Verdict{Kind: Unknown, Words: "the system tells nothing of its processes, no output for " + span(j.rest), Quiet: j.rest}
	case !j.seen && !l.Sure:
		return Verdict{Kind: Unknown, Words: "no process of it was found, no output for " + span(j.rest), Quiet: j.rest}
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
