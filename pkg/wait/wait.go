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

	"stopgate/pkg/event"
	"stopgate/pkg/host"
	"stopgate/pkg/transcript"
)

// Step is how often the files are looked at: an end is seen within 150 ms.
const Step = 100 * time.Millisecond

// stepRead bounds what one step reads, by the machine's clock: a cold gigabyte
// must not keep a hold from noticing that nobody waits for it any more.
const stepRead = time.Second

// grace is how long an agent may take to go on after its last own task ended,
// before its earlier end counts as the final one.
const grace = 2 * time.Second

// How a task ended.
type How string

// The ways to end. A task that did not end has none of them.
const (
	Exited How = "exited" // a shell, with an exit code
	Killed How = "killed" // ended by somebody else
	Ended  How = "ended"  // ended, and no more is told
)

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
}

// Outcome is what became of one task.
type Outcome struct {
	Task string
	// How is "" for a task that has not ended.
	How How
	// ExitCode is set where How is [Exited].
	ExitCode int
	// At is when it ended, as far as that is known.
	At time.Time
	// Output is its output file and Size its length in bytes, -1 where there is
	// none.
	Output string
	Size   int64
}

// Done tells whether the task has ended.
func (o Outcome) Done() bool { return o.How != "" }

// Why a wait ended.
type Why string

// The reasons.
const (
	AllEnded  Why = "ended"
	AnyEnded  Why = "one ended"
	Deadline  Why = "deadline"
	Cancelled Why = "cancelled"
	Messaged  Why = "message"
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
	// Since is from when messages count.
	Since time.Time
	// Until is the deadline.
	Until time.Time
	// Any ends the wait with the first task that ends.
	Any bool
	// Cancelled is asked at every step; a non-empty answer ends the wait. nil
	// never does.
	Cancelled func() string
	// Excused is asked at every step for tasks that need no longer be waited
	// for; nil excuses none.
	Excused func(task string) bool
	// Message is given each message that the coordinator sends from now on; true
	// ends the wait. nil ignores them.
	Message func(transcript.Message) bool

	ends     map[string]transcript.End
	outputs  map[string]*outputFile
	agents   map[string]*childAgent
	messaged bool
	// read is how the transcripts that were read to their end looked then.
	read map[string]fs.FileInfo
}

// Result is how a wait ended.
type Result struct {
	Why Why
	// Note is what the cancellation said.
	Note string
	// Outcomes are the tasks', in their order; excused ones are left out.
	Outcomes []Outcome
	// Learned is what the coordinator's transcript brought.
	Ends       []transcript.End
	Deliveries []transcript.Delivery
	Cursor     transcript.Step
}

// Run waits. A ctx that is done cancels.
func (w *Wait) Run(ctx context.Context) Result {
	w.ends = map[string]transcript.End{}
	w.outputs = map[string]*outputFile{}
	w.agents = map[string]*childAgent{}
	w.read = map[string]fs.FileInfo{}
	for _, e := range w.Known {
		w.ends[e.Task] = e
	}
	res := Result{Cursor: transcript.Step{From: w.From, To: w.From}}
	for {
		now := w.Clock.Now()
		w.follow(ctx, &res)
		res.Outcomes = res.Outcomes[:0]
		done := 0
		for _, t := range w.Tasks {
			if w.Excused != nil && w.Excused(t.ID) {
				continue
			}
			o := w.outcome(ctx, t, now)
			res.Outcomes = append(res.Outcomes, o)
			if o.Done() {
				done++
			}
		}
		switch {
		case done == len(res.Outcomes):
			res.Why = AllEnded
		case w.Any && done > 0:
			res.Why = AnyEnded
		case w.messaged:
			res.Why = Messaged
		case ctx.Err() != nil:
			res.Why, res.Note = Cancelled, "interrupted"
		case w.Cancelled != nil:
			if note := w.Cancelled(); note != "" {
				res.Why, res.Note = Cancelled, note
			}
		}
		if res.Why == "" && !now.Before(w.Until) {
			res.Why = Deadline
		}
		if res.Why != "" {
			return res
		}
		w.Clock.Sleep(ctx, min(Step, max(w.Until.Sub(now), time.Millisecond)))
	}
}

// follow reads what the coordinator's transcript gained.
func (w *Wait) follow(ctx context.Context, res *Result) {
	b, news := w.scan(ctx, transcript.Source{Path: w.Main, Owner: transcript.Main}, res.Cursor.To)
	if !news {
		return // not there yet, or no longer: the output files may still tell
	}
	res.Cursor.To = b.Cursor
	res.Ends = append(res.Ends, b.Ends...)
	res.Deliveries = append(res.Deliveries, b.Deliveries...)
	for _, e := range b.Ends {
		w.ends[e.Task] = e
	}
	for _, m := range b.Messages {
		// What was read first may be old: only what was sent since counts.
		if w.Message != nil && !m.At.Before(w.Since) && w.Message(m) {
			w.messaged = true
		}
	}
}

// scan reads what a transcript gained; news is false where it cannot be read or
// looks as it did when it was last read to its end.
func (w *Wait) scan(ctx context.Context, src transcript.Source, from transcript.Cursor) (b transcript.Batch, news bool) {
	info, err := w.Files.Stat(src.Path)
	if err != nil {
		delete(w.read, src.Path)
		return b, false
	}
	if last := w.read[src.Path]; last != nil && os.SameFile(last, info) && last.Size() == info.Size() && last.ModTime().Equal(info.ModTime()) {
		return b, false
	}
	ctx, cancel := context.WithTimeout(ctx, stepRead)
	defer cancel()
	if b, err = transcript.Scan(ctx, w.Files, src, from); err != nil {
		return b, false
	}
	if !b.Cut {
		w.read[src.Path] = info
	}
	return b, true
}

// outcome is what is known of a task now.
func (w *Wait) outcome(ctx context.Context, t Task, now time.Time) Outcome {
	o := Outcome{Task: t.ID, Output: t.Output, Size: -1}
	end, told := w.ends[t.ID]
	told = told && !end.At.Before(t.Since)
	if o.Output == "" && told {
		o.Output = end.Output
	}
	if t.Kind == event.TypeSubagent {
		if told && end.Status == transcript.StatusKilled {
			o.How, o.At = Killed, end.At
		} else if w.agentEnded(ctx, t, now, 0) {
			o.How, o.At = Ended, w.agents[t.ID].end.At
		}
		return o
	}
	last := w.output(o.Output)
	o.Size = last.size
	switch {
	case told && end.Status == transcript.StatusKilled:
		o.How, o.At = Killed, end.At
	case told && end.ExitCode != nil:
		o.How, o.ExitCode, o.At = Exited, *end.ExitCode, end.At
	case last.how != "":
		o.How, o.ExitCode, o.At = last.how, last.code, last.at
	case told:
		o.How, o.At = Ended, end.At
	}
	return o
}
