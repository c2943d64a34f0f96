// Package timeline tells what became of a session's time: one lane for each agent
// with what it did and when, its tasks, who heard of their ends, and what the gate
// answered. A session's status and its transcripts go in; a model comes out, and
// from it a picture (SVG, a page), a text for the terminal, or JSON.
//
// [Read] gathers, [Build] and the layout compute and touch nothing. Everything that
// somebody else wrote is text: it is cleaned where the model is built, and escaped
// where it is written.
package timeline

import (
	"slices"
	"time"

	"stopgate/pkg/status"
)

// Doing is what an agent does for a time.
type Doing string

// What an agent does.
const (
	// Working: its model is at work.
	Working Doing = "working"
	// Waiting: a tool that it called has not answered yet.
	Waiting Doing = "waiting"
	// Held: its stop is being held until its tasks end.
	Held Doing = "held"
	// Idle: its turn is over, and nothing has begun another.
	Idle Doing = "idle"
)

// Timeline is a session along its time.
type Timeline struct {
	// Session and Folder name it, Client is the client's version; "" is unknown.
	Session string `json:"session_id"`
	Folder  string `json:"cwd"`
	Client  string `json:"client"`
	// From and Until bound the axis; Now is the time for which it holds, which is
	// where the line of now stands unless the session has Ended.
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	Now   time.Time `json:"now"`
	Ended bool      `json:"ended"`
	// Lanes begin with the coordinator's; each agent's stands below its launcher's.
	Lanes  []Lane `json:"lanes"`
	Totals Totals `json:"totals"`
}

// Totals is what it came to.
type Totals struct {
	Agents int `json:"agents"`
	Tasks  int `json:"tasks"`
	Stops  int `json:"stops"`
	// Holds counts the stops that were held, and Waited how long, in all.
	Holds  int           `json:"holds"`
	Waited time.Duration `json:"waited_ns"`
	// HeldNow counts the agents whose stop is held.
	HeldNow int `json:"held_now"`
	// Saved counts the results that a stop without the gate would have lost: see
	// [Lost].
	Saved int `json:"saved"`
	// Blocks and Wakes are what it cost: a turn of an agent for each block, and one
	// of the coordinator for each courier's wake. Turns is the sum.
	Blocks int `json:"blocks"`
	Wakes  int `json:"wakes"`
	Turns  int `json:"turns"`
	// Unheard counts the ends of which nobody heard, Stuck the agents that need
	// somebody.
	Unheard int `json:"unheard"`
	Stuck   int `json:"stuck"`
}

// Lane is one agent, or the coordinator.
type Lane struct {
	// ID is the agent's, or "main".
	ID string `json:"id"`
	// Name is how it is called in a sentence, Title with its type.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Parent is the launcher's lane, Depth how deep it is nested.
	Parent string `json:"parent"`
	Depth  int    `json:"depth"`
	// State is what the status says of it, Advice what to do where it is stuck.
	State  string `json:"state"`
	Advice string `json:"advice"`
	// From and Until are its life, as far as it is seen.
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	Spans []Phase   `json:"spans"`
	Tasks []Task    `json:"tasks"`
	Marks []Mark    `json:"marks"`
	// Self is the lane as its launcher's task; nil where it was not launched into
	// the background.
	Self *Task `json:"self"`
	// Deadline is until when its stop is held; zero where none is.
	Deadline time.Time `json:"deadline,omitzero"`
}

// Phase is one thing that an agent does for a time.
type Phase struct {
	Doing Doing     `json:"doing"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// About says more: the tool that is waited for, the tasks a stop is held for.
	About string `json:"about"`
}

// Task is one background task.
type Task struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Text is its command, or what its launcher called it; "" where neither is
	// known. About is the launcher's words beside a command.
	Text  string `json:"text"`
	About string `json:"about"`
	// From is its launch; Until its end, or the axis' end while it runs.
	From  time.Time        `json:"from"`
	Until time.Time        `json:"until"`
	State status.TaskState `json:"state"`
	Exit  *int             `json:"exit_code"`
	// Output is its output file.
	Output string `json:"output"`
	// Excused marks a task that nothing waits for.
	Excused bool `json:"excused"`
	// News is who was told of its end, and when. Unheard marks an end that nobody
	// is seen to have heard of.
	News    []News `json:"news"`
	Unheard bool   `json:"unheard"`
	// Saved marks a result that a stop without the gate would have lost.
	Saved bool `json:"saved"`
}

// Failed tells whether the task ended with an exit code that is not 0.
func (t Task) Failed() bool { return t.Exit != nil && *t.Exit != 0 }

// News is the news of a task's end as it reached somebody.
type News struct {
	At time.Time `json:"at"`
	// To is the lane that heard it.
	To string `json:"to"`
	// By is who told it.
	By Teller `json:"by"`
}

// Teller is who told the news of an end.
type Teller string

// The tellers.
const (
	ByClient  Teller = "client"
	ByGate    Teller = "gate"
	ByCourier Teller = "courier"
)

// MarkKind is what a mark stands for.
type MarkKind string

// The kinds of marks.
const (
	MarkBlock   MarkKind = "block"
	MarkAllow   MarkKind = "allow"
	MarkWake    MarkKind = "wake"
	MarkMessage MarkKind = "message"
	MarkOff     MarkKind = "off"
	MarkRelease MarkKind = "release"
)

// Mark is something that happened at once.
type Mark struct {
	Kind MarkKind  `json:"kind"`
	At   time.Time `json:"at"`
	// Text says what, in a sentence without its time.
	Text string `json:"text"`
	// Stop is the number of the stop for hookctl explain, 0 for none.
	Stop uint64 `json:"stop"`
}

// In is the timeline with its times in a zone; nil is the machine's.
func (t Timeline) In(zone *time.Location) Timeline {
	if zone == nil {
		zone = time.Local
	}
	move := func(at *time.Time) {
		if !at.IsZero() {
			*at = at.In(zone)
		}
	}
	task := func(x Task) Task {
		move(&x.From)
		move(&x.Until)
		x.News = slices.Clone(x.News)
		for i := range x.News {
			move(&x.News[i].At)
		}
		return x
	}
	move(&t.From)
	move(&t.Until)
	move(&t.Now)
	t.Lanes = slices.Clone(t.Lanes)
	for i := range t.Lanes {
		l := &t.Lanes[i]
		move(&l.From)
		move(&l.Until)
		move(&l.Deadline)
		l.Spans, l.Tasks, l.Marks = slices.Clone(l.Spans), slices.Clone(l.Tasks), slices.Clone(l.Marks)
		for n := range l.Spans {
			move(&l.Spans[n].From)
			move(&l.Spans[n].Until)
		}
		for n := range l.Marks {
			move(&l.Marks[n].At)
		}
		for n := range l.Tasks {
			l.Tasks[n] = task(l.Tasks[n])
		}
		if l.Self != nil {
			self := task(*l.Self)
			l.Self = &self
		}
	}
	return t
}
