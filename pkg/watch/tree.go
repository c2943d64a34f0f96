package watch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

// row is one line of the tree: a session, an agent or a task.
type row struct {
	text  string
	style view.Style
	// session is whose it is; agent and task are "" for others.
	session     string
	agent, task string
}

func (r row) key() string { return r.session + "\x00" + r.agent + "\x00" + r.task }

// tree are the sessions that have not ended, each with its agents below who launched
// them, and each agent's tasks below it.
func tree(st status.Status, now time.Time) []row {
	var rows []row
	ended := 0
	for _, s := range st.Sessions {
		if s.Brief || !s.Ended.IsZero() {
			ended++
			continue
		}
		b := branches{s: s, now: now, seen: map[string]bool{}}
		b.add(row{text: "session " + view.Clean(s.ID[:min(8, len(s.ID))]) + "  " + view.Clean(s.Cwd), style: view.Strong})
		b.coordinator()
		for _, a := range s.Agents {
			if a.Parent == "" || a.Parent == transcript.Main {
				b.agent(a, 1)
			}
		}
		for _, a := range s.Agents { // whose launcher is not known, or in a ring
			b.agent(a, 1)
		}
		b.tasks("", 1)
		rows = append(rows, b.rows...)
	}
	if ended > 0 {
		text := "1 session has ended"
		if ended > 1 {
			text = strconv.Itoa(ended) + " sessions have ended"
		}
		rows = append(rows, row{text: text, style: view.Faint})
	}
	return rows
}

// branches are the rows of one session.
type branches struct {
	s    status.Session
	now  time.Time
	seen map[string]bool
	rows []row
}

func (b *branches) add(r row) {
	r.session = b.s.ID
	b.rows = append(b.rows, r)
}

func (b *branches) coordinator() {
	text, style := "coordinator", view.Normal
	if c := b.s.Coordinator; c != nil && c.Hold != nil {
		text, style = text+"  "+held(*c, b.now), view.Busy
	}
	b.add(row{text: "  " + text, style: style, agent: transcript.Main})
	b.tasks(transcript.Main, 2)
}

const indent = "  "

func (b *branches) agent(a status.Agent, depth int) {
	if b.seen[a.ID] {
		return
	}
	b.seen[a.ID] = true
	name := view.Clean(b.s.Label(a.ID))
	if a.Type != "" && a.Type != name {
		name += " (" + view.Clean(a.Type) + ")"
	}
	text, style := string(a.State), view.Faint
	switch {
	case a.Stuck:
		text, style = view.Clean(a.Advice), view.Alarm
	case a.Hold != nil:
		text, style = held(a, b.now), view.Busy
	case a.State == status.AgentRunning:
		text, style = "at work", view.Good
		if !a.Since.IsZero() {
			text += " for " + gate.Span(max(0, b.now.Sub(a.Since)))
		}
	}
	b.add(row{text: strings.Repeat(indent, depth) + name + "  " + text, style: style, agent: a.ID})
	b.tasks(a.ID, depth+1)
	for _, child := range b.s.Agents {
		if child.Parent == a.ID {
			b.agent(child, depth+1)
		}
	}
}

// held is how long a hold has lasted, and what patience is left.
func held(a status.Agent, now time.Time) string {
	left := a.Hold.Left - now.Sub(a.Hold.Since)
	if a.Hold.Left <= 0 {
		left = a.Hold.Until.Sub(now)
	}
	return "held for " + gate.Span(max(0, now.Sub(a.Hold.Since))) + ", patience left " + gate.Span(max(0, left))
}

// tasks are those of an owner; "" is nobody known. What has ended and was heard of is
// of no interest any more.
func (b *branches) tasks(owner string, depth int) {
	for _, t := range b.s.Tasks {
		if t.Owner != owner || t.Kind == event.TypeSubagent || t.Kind == event.TypeTeammate {
			continue
		}
		style := view.Normal
		switch t.State {
		case status.TaskRunning:
		case status.TaskUndelivered:
			style = view.Alarm
		default:
			if b.now.Sub(t.Ended) > endedFor {
				continue
			}
			style = view.Faint
		}
		text := view.TaskLine(b.s, t, b.now)
		if t.State != status.TaskRunning {
			text = cmp.Or(map[status.TaskState]string{status.TaskUndelivered: "ended unheard: "}[t.State], string(t.State)+": ") + text
		}
		b.add(row{text: strings.Repeat(indent, depth) + "· " + text, style: style, agent: owner, task: t.ID})
	}
}

// endedFor is how long a task that has ended is shown.
const endedFor = time.Minute

// find is where a row is now; ok is false where it is gone.
func find(rows []row, key string) (at int, ok bool) {
	at = slices.IndexFunc(rows, func(r row) bool { return r.key() == key })
	return max(0, at), at >= 0
}
