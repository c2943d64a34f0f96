// Package wait waits for background tasks to end: for all of them, or for one,
// until a deadline, or until somebody cancels. It follows the coordinator's
// transcript, the tasks' output files and, for child agents, their transcripts
// (docs/client.md: ends). No store is open and no lock is held meanwhile.
//
// Some tasks leave no signal at all when they are killed, on clients up to
// 2.1.220: for these the deadline is the answer.
package wait

import (
	"context"
	"io/fs"
	"os"
	"time"

	"stopgate/pkg/fate"
	"stopgate/pkg/host"
	"stopgate/pkg/transcript"
)

// Step is how often the files are looked at while they change, or where nothing
// tells that they do: an end is seen within 150 ms.
const Step = 100 * time.Millisecond

// stepRead bounds what one look reads, by the machine's clock: a cold gigabyte
// must not keep a hold from noticing that nobody waits for it any more.
const stepRead = time.Second

// grace is how long an agent may take to go on after its last own task ended,
// before its earlier end counts as the final one.
const grace = 2 * time.Second

// Task is one task to wait for.
type Task struct {
	ID string
	// Kind is its type in the words of background_tasks.
	Kind string
	// Output is its output file, "" where it is unknown.
	Output string
	// Since is from when an end counts: an agent that was resumed has ended
	// before. Zero counts every end.
	Since time.Time
	// Owner is who launched it: an agent id or [transcript.Main]; "" where that is
	// unknown. Launched is when; zero where that is.
	Owner    string
	Launched time.Time
}

// Why a wait ended.
type Why string

// The reasons.
const (
	AllEnded  Why = "ended"
	AnyEnded  Why = "one ended"
	Deadline  Why = "deadline"
	Cancelled Why = "cancelled"
	Messaged  Why = "message"
	// Quieted is the end by [Wait.Quiet].
	Quieted Why = "ceiling"
	// SelfStopped is the end by [Wait.Self].
	SelfStopped Why = "agent stopped"
)

// Wait is one wait. Fill the fields in and call [Wait.Run] once.
type Wait struct {
	Files host.Files
	Clock host.Clock
	// Main is the coordinator's transcript and From where to begin in it.
	Main string
	From transcript.Cursor
	// Tasks are what is waited for.
	Tasks []Task
	// Known are ends that were told before From.
	Known []transcript.End
	// Launches are those that are known of before: what an agent that is waited for
	// launched stands in its transcript, but may be told of sooner.
	Launches map[string]transcript.Launch
	// List is asked at every look for the client's last list of unfinished tasks;
	// nil knows none.
	List func() fate.List
	// Held tells whether a process has an output file open for writing, and
	// whether that can be told; nil cannot tell.
	Held func(path string) (held, known bool)
	// Opinion is asked at every look what else is known of a task that runs by
	// what the wait itself sees; nil knows nothing.
	Opinion func(task string) fate.Fate
	// Since is from when messages count.
	Since time.Time
	// Until is the deadline.
	Until time.Time
	// Any ends the wait with the first task that ends.
	Any bool
	// Cancelled is asked at every look; a non-empty answer ends the wait. nil
	// never does.
	Cancelled func() string
	// Excused is asked at every look for tasks that need no longer be waited
	// for; nil excuses none.
	Excused func(task string) bool
	// LetGo is asked at every look for tasks that have not ended and are not worth
	// being waited for any longer; nil lets none go.
	LetGo func(task string) bool
	// Message is given each message that the coordinator, or an agent of
	// Senders, sends from now on; true ends the wait. nil ignores them.
	Message func(transcript.Message) bool
	// Quiet ends the wait once so much time has passed since the last line of a
	// turn of the coordinator: a print run ends its agents then (docs/client.md:
	// turns). Where that line has no time, the wait's start counts.
	// Zero never ends it.
	Quiet time.Duration
	// Patient tells that Quiet does not count for now: the coordinator itself is
	// held, so that its turn is not over. nil never does.
	Patient func() bool
	// Senders lists the transcripts of other agents that may send messages to
	// this one. It is asked again and again, for agents come and go. What they
	// sent since Since counts. nil has none.
	Senders func() []string
	// Inboxes are the inbox files of this agent. An unread entry since Since
	// ends the wait.
	Inboxes []string
	// Watch begins to watch files, so that nothing need be looked at while
	// nothing changes. nil looks at the Pace; where it fails, or cannot watch a
	// file, the wait looks ever more rarely while nothing changes.
	Watch func() (host.Watcher, error)
	// Pace is how often is looked where Watch is nil; zero is every [Step].
	Pace time.Duration
	// Paths are more files at whose change Cancelled and Excused are to be asked
	// at once; without a change they are asked every one or two seconds. A file
	// that every hook of a session writes, as its store, wakes all that wait.
	Paths []string
	// Near are files, and folders with what lies in them, at whose change they are
	// to be asked within two seconds. nil asks at every tick.
	Near []string
	// Due is when the next look is to be at the latest, though nothing changes; nil
	// or a zero time leaves that to the wait.
	Due func() time.Time
	// Self is the agent whose stop is held: news that it was stopped itself, told
	// since Since, end the wait. "" for a wait of nobody.
	Self string

	known    fate.Account
	seen     seen
	outputs  fate.Outputs
	agents   map[string]*childAgent
	senders  map[string]*sender
	inboxes  map[string]*inbox
	messaged bool
	stopped  bool
	// mailed is when others' transcripts were looked at last.
	mailed time.Time
	// turn is when the coordinator's last line of a turn was written.
	turn time.Time
	// mainLast is how the coordinator's transcript looked when it was last read to
	// its end.
	mainLast fs.FileInfo
	vigil
}

// Result is how a wait ended.
type Result struct {
	Why Why
	// Note is what the cancellation said.
	Note string
	// Outcomes are the tasks', in their order; those that are excused or let go are
	// left out.
	Outcomes []fate.Fate
	// Learned is what the coordinator's transcript brought.
	Ends       []transcript.End
	Deliveries []transcript.Delivery
	Cursor     transcript.Step
}

// Run waits. A ctx that is done cancels.
func (w *Wait) Run(ctx context.Context) Result {
	w.outputs = fate.Outputs{Files: w.Files, Held: w.Held, Unmarked: !transcript.Marks(transcript.Version(w.Files, w.Main))}
	w.agents = map[string]*childAgent{}
	w.senders = map[string]*sender{}
	w.inboxes = map[string]*inbox{}
	w.turn = w.Clock.Now()
	for _, e := range w.Known {
		w.known.End(e)
		w.stopped = w.stopped || w.selfEnd(e)
	}
	w.lastTurn(w.turn)
	w.begin()
	defer w.end()
	res := Result{Cursor: transcript.Step{From: w.From, To: w.From}}
	for {
		w.guard()
		now := w.looked
		w.follow(ctx, &res, now)
		w.mail(ctx, now)
		w.seen.look(w.List, now)
		done := w.outcomes(ctx, &res, now)
		if w.Due != nil {
			w.again(w.Due())
		}
		limit, why := w.limit()
		res.Why, res.Note = w.over(ctx, done, len(res.Outcomes))
		if res.Why == "" && !now.Before(limit) {
			res.Why = why
		}
		if res.Why != "" {
			return res
		}
		w.rest(ctx, limit.Sub(now))
	}
}

// outcomes looks at the tasks and counts those that have ended.
func (w *Wait) outcomes(ctx context.Context, res *Result, now time.Time) (done int) {
	res.Outcomes = res.Outcomes[:0]
	for _, t := range w.Tasks {
		if w.Excused != nil && w.Excused(t.ID) {
			continue
		}
		o := w.outcome(ctx, t, now)
		if !o.Over() && w.LetGo != nil && w.LetGo(t.ID) {
			continue
		}
		res.Outcomes = append(res.Outcomes, o)
		if o.Over() {
			done++
		}
	}
	return done
}

// over tells why the wait is over before its limit, if it is.
func (w *Wait) over(ctx context.Context, done, tasks int) (why Why, note string) {
	switch {
	case w.stopped:
		return SelfStopped, "agent stopped"
	case done == tasks:
		return AllEnded, ""
	case w.Any && done > 0:
		return AnyEnded, ""
	case w.messaged:
		return Messaged, ""
	case w.Cancelled != nil:
		note = w.Cancelled()
	}
	if note == "" && ctx.Err() != nil {
		note = "interrupted"
	}
	if note != "" {
		return Cancelled, note
	}
	return "", ""
}

// limit is when the wait ends at the latest, and why.
func (w *Wait) limit() (time.Time, Why) {
	if w.Quiet > 0 && (w.Patient == nil || !w.Patient()) {
		if quiet := w.turn.Add(w.Quiet); quiet.Before(w.Until) {
			return quiet, Quieted
		}
	}
	return w.Until, Deadline
}

// lastTurn looks when the coordinator wrote its last line of a turn. A time that
// is yet to come, because the clock was set back, is now.
func (w *Wait) lastTurn(now time.Time) {
	if w.Quiet <= 0 {
		return
	}
	if _, at, ok := transcript.Turn(w.Files, w.Main); ok && !at.IsZero() {
		if at.After(now) {
			at = now
		}
		w.turn = at
	}
}

// follow reads what the coordinator's transcript gained.
func (w *Wait) follow(ctx context.Context, res *Result, now time.Time) {
	fresh := w.mainLast != nil
	b, news := w.scan(ctx, transcript.Source{Path: w.Main, Owner: transcript.Main}, res.Cursor.To, &w.mainLast)
	if !news {
		return // not there yet, or no longer: the output files may still tell
	}
	w.lastTurn(now)
	res.Cursor.To = b.Cursor
	res.Ends = append(res.Ends, b.Ends...)
	res.Deliveries = append(res.Deliveries, b.Deliveries...)
	w.learn(b, fresh)
}

// same tells whether a file looks as it did.
func same(last, info fs.FileInfo) bool {
	return last != nil && os.SameFile(last, info) && last.Size() == info.Size() && last.ModTime().Equal(info.ModTime())
}

// scan reads what a transcript gained; news is false where it cannot be read or
// looks as it did when it was last read to its end, which each reader of it keeps.
func (w *Wait) scan(ctx context.Context, src transcript.Source, from transcript.Cursor, last *fs.FileInfo) (b transcript.Batch, news bool) {
	info, err := w.Files.Stat(src.Path)
	if err != nil {
		*last = nil
		return b, false
	}
	if same(*last, info) {
		return b, false
	}
	ctx, cancel := context.WithTimeout(ctx, stepRead)
	defer cancel()
	if b, err = transcript.Scan(ctx, w.Files, src, from); err != nil {
		return b, false
	}
	w.changed = w.looked
	if b.Cut {
		w.again(w.looked)
	} else {
		*last = info
	}
	return b, true
}
