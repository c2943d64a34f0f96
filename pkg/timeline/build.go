package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

// Record is what a timeline is built from.
type Record struct {
	Session status.Session
	Now     time.Time
	// Client is the client's version.
	Client string
	// Moments are what each lane's owner did, by its id, in the transcripts' order.
	Moments map[string][]transcript.Moment
	// News is to whom the client gave the news of each task's end.
	News map[string][]transcript.Delivery
	// Acts is what was done other than to answer a stop.
	Acts []ledger.Act
	// NoText leaves out the words of commands, descriptions and names.
	NoText bool
}

// quietAfter is how long nothing may have happened in a session whose end was not
// recorded until its picture ends there: its client may have died.
const quietAfter = time.Hour

// Build computes the timeline of a session.
func Build(r Record) Timeline {
	b := builder{Record: r, lanes: map[string]*Lane{}, calls: map[string]transcript.Moment{}}
	b.axis()
	b.lane(transcript.Main)
	for _, a := range r.Session.Agents {
		b.lane(a.ID)
	}
	for _, t := range r.Session.Tasks {
		b.task(t)
	}
	b.stops()
	b.signals()
	t := Timeline{
		Session: view.Clean(r.Session.ID), Folder: view.Clean(r.Session.Cwd), Client: view.Clean(r.Client),
		From: b.from, Until: b.until, Now: r.Now, Ended: !r.Session.Ended.IsZero(),
	}
	t.Lanes = b.nested()
	for i := range t.Lanes {
		t.Until = later(t.Until, t.Lanes[i].Deadline)
	}
	t.Until = earlier(t.Until, b.until.Add(b.until.Sub(b.from)*2/5)) // a far deadline must not squeeze what was
	t.Totals = b.totals(t.Lanes)
	return t
}

// builder computes one timeline.
type builder struct {
	Record
	from, until time.Time
	lanes       map[string]*Lane
	// calls are the tools' calls, by their caller and id.
	calls map[string]transcript.Moment
}

// axis finds the beginning and the end of what is shown.
func (b *builder) axis() {
	s := b.Session
	var last time.Time
	see := func(at time.Time) {
		if at.IsZero() {
			return
		}
		if b.from.IsZero() || at.Before(b.from) {
			b.from = at
		}
		last = later(last, at)
	}
	see(s.Begun)
	see(s.Last.Time)
	for _, stop := range s.Stops {
		see(stop.Time)
		see(stop.Time.Add(stop.Duration))
	}
	for _, t := range s.Tasks {
		see(t.Launched)
		see(t.Ended)
	}
	for owner, moments := range b.Moments {
		for _, m := range moments {
			b.calls[owner+" "+m.Call] = firstCall(b.calls[owner+" "+m.Call], m)
			if owner != transcript.Main {
				see(m.At)
			}
		}
	}
	// The coordinator's transcript may be older than its record: of that belongs
	// here only the turn in which it began.
	const lead = 15 * time.Minute
	for _, m := range b.Moments[transcript.Main] {
		switch {
		case !m.At.Before(b.from):
			last = later(last, m.At)
		case m.Kind == transcript.Prompted && b.from.Sub(m.At) < lead && s.Begun.Sub(m.At) < lead:
			b.from = m.At
		}
	}
	b.until = b.Now
	switch {
	case !s.Ended.IsZero():
		b.until = later(s.Ended, last)
	case b.Now.Sub(last) > quietAfter && !b.holding():
		b.until = last
	}
	if b.from.IsZero() {
		b.from = b.until
	}
	if b.until.Sub(b.from) < time.Second {
		b.until = b.from.Add(time.Second)
	}
}

// firstCall keeps the call of an id, which is its first moment.
func firstCall(have, m transcript.Moment) transcript.Moment {
	if have.Kind == transcript.Called || m.Kind != transcript.Called {
		return have
	}
	return m
}

func (b *builder) holding() bool {
	return slices.ContainsFunc(b.Session.Agents, func(a status.Agent) bool { return a.Hold != nil })
}

// lane makes the lane of an agent or the coordinator.
func (b *builder) lane(id string) *Lane {
	if l, made := b.lanes[id]; made {
		return l
	}
	l := &Lane{ID: view.Clean(id), Name: b.name(id), Title: b.name(id), Spans: []Phase{}, Tasks: []Task{}, Marks: []Mark{}}
	b.lanes[id] = l
	a, known := b.agent(id)
	switch {
	case id == transcript.Main:
		l.Title = "coordinator"
	case id == "":
		l.Name, l.Title = "nobody's", "tasks whose launcher is unknown"
		return l
	case known:
		l.Parent, l.State, l.Advice = cmp.Or(a.Parent, b.owner(id)), string(a.State), view.Clean(a.Advice)
		switch {
		case b.NoText:
			l.Advice = ""
		case a.Type != "" && a.Type != l.Name:
			l.Title = l.Name + " (" + view.Clean(a.Type) + ")"
		}
	}
	b.life(l, id, a)
	l.Spans = b.spans(l, id, a)
	if a.Hold != nil {
		l.Deadline = a.Hold.Until
	}
	return l
}

func (b *builder) agent(id string) (status.Agent, bool) {
	if id == transcript.Main {
		if b.Session.Coordinator != nil {
			return *b.Session.Coordinator, true
		}
		return status.Agent{ID: id}, false
	}
	return b.Session.Agent(id)
}

// owner is who launched an agent, "" where that is unknown.
func (b *builder) owner(id string) string {
	t, _ := b.Session.Task(id)
	return t.Owner
}

// name is how a lane is called.
func (b *builder) name(id string) string {
	if b.NoText {
		return view.Clean(id)
	}
	return view.Clean(b.Session.Label(id))
}

// life finds when an agent's life begins and ends.
func (b *builder) life(l *Lane, id string, a status.Agent) {
	if id == transcript.Main {
		l.From, l.Until = b.from, b.until
		return
	}
	self, launched := b.Session.Task(id)
	l.From = self.Launched
	var last time.Time
	for _, m := range b.Moments[id] {
		if l.From.IsZero() || m.At.Before(l.From) {
			l.From = m.At
		}
		last = later(last, m.At)
	}
	for _, stop := range b.Session.Stops {
		if stop.AgentID == id {
			if l.From.IsZero() || stop.Time.Before(l.From) {
				l.From = stop.Time
			}
			last = later(last, stop.Time.Add(stop.Duration))
		}
	}
	if launched {
		last = later(last, self.Ended)
	}
	l.From = cmpTime(l.From, cmpTime(a.Since, b.until))
	l.Until = later(l.From, last)
	if a.State != status.AgentEnded && b.Session.Ended.IsZero() {
		l.Until = later(l.Until, b.until)
	}
	l.From, l.Until = b.within(l.From), b.within(l.Until)
}

// within is a time on the axis.
func (b *builder) within(t time.Time) time.Time { return later(b.from, earlier(t, b.until)) }

// nested are the lanes, each below its launcher's.
func (b *builder) nested() []Lane {
	children := map[string][]string{}
	for id, l := range b.lanes {
		if id == transcript.Main {
			continue
		}
		parent := l.Parent
		if b.lanes[parent] == nil || parent == "" || b.circular(id) {
			parent = transcript.Main
		}
		l.Parent = view.Clean(parent)
		children[parent] = append(children[parent], id)
	}
	for _, ids := range children {
		slices.SortFunc(ids, func(x, y string) int {
			return cmp.Or(b.lanes[x].From.Compare(b.lanes[y].From), strings.Compare(x, y))
		})
	}
	out := make([]Lane, 0, len(b.lanes))
	var add func(id string, depth int)
	add = func(id string, depth int) {
		l := b.lanes[id]
		l.Depth = depth
		slices.SortStableFunc(l.Tasks, func(x, y Task) int { return x.From.Compare(y.From) })
		slices.SortStableFunc(l.Marks, func(x, y Mark) int { return x.At.Compare(y.At) })
		out = append(out, *l)
		for _, child := range children[id] {
			add(child, depth+1)
		}
	}
	add(transcript.Main, 0)
	return out
}

// circular tells whether an agent is among its own launchers.
func (b *builder) circular(id string) bool {
	at := id
	for range len(b.lanes) {
		l := b.lanes[at]
		if l == nil || l.Parent == "" {
			return false
		}
		if at = l.Parent; at == transcript.Main {
			return false
		}
	}
	return true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// cmpTime is the first of two times that is known.
func cmpTime(a, b time.Time) time.Time {
	if a.IsZero() {
		return b
	}
	return a
}
