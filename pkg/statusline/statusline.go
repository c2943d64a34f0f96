// Package statusline is one short line for the client's status line: who is held and
// for what, and which ends nobody heard of. A session's ledger goes in, a line comes
// out, "" where there is nothing to say.
//
// It is run every few seconds, so it reads no transcript: what a command is called is
// looked up where the ledger says that it was launched, in at most 64 kB a task.
package statusline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/fate"
	"stopgate/pkg/gate"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

// Source is what a line is made of.
type Source struct {
	Files host.Files
	Now   time.Time
	// Lives tells whether a process of ours still runs.
	Lives func(ledger.Process) bool
	// NoText leaves the words of commands out.
	NoText bool
	// Off tells that stops are let through, OffUntil until when; zero is for ever.
	Off      bool
	OffUntil time.Time
}

const (
	// most is how many tasks are named, and wide how wide a command may be.
	most, wide = 3, 28
	// settled is how old an end is before it counts as unheard: the client needs a
	// moment to tell it, and the ledger one more to learn of that.
	settled = 20 * time.Second
)

// Line is the line for a session, at most width columns wide; 0 is as wide as it
// takes. colour allows colours.
func (s Source) Line(snap ledger.Snapshot, width int, colour bool) string {
	scr := view.Screen{Colour: colour}
	held, names := s.held(snap)
	var parts []string
	if unheard := s.unheard(snap); unheard > 0 {
		parts = append(parts, scr.Paint(fmt.Sprintf("%d unheard", unheard), view.Bad))
	}
	if s.Off {
		text := "stopgate off"
		if !s.OffUntil.IsZero() {
			text += " until " + s.OffUntil.Local().Format("15:04")
		}
		parts = append(parts, scr.Paint(text, view.Bad))
	}
	if held == 0 {
		return view.Snip(strings.Join(parts, " · "), cmp.Or(width, 400))
	}
	head := scr.Paint(fmt.Sprintf("⏸ %d held", held), view.Busy)
	for n := min(len(names), most); ; n-- {
		first := head
		if n > 0 {
			first += ": " + strings.Join(names[:n], ", ")
			if more := len(names) - n; more > 0 {
				first += fmt.Sprintf(" +%d", more)
			}
		}
		line := strings.Join(append([]string{first}, parts...), " · ")
		if width == 0 || view.Width(line) <= width || n == 0 {
			return line
		}
	}
}

// held counts the stops that are held, and names the tasks they are held for, the
// oldest first.
func (s Source) held(snap ledger.Snapshot) (agents int, names []string) {
	type task struct {
		id    string
		since time.Time
	}
	var tasks []task
	seen := map[string]bool{}
	for _, h := range snap.Holds {
		if s.Lives != nil && !s.Lives(h.Process) {
			continue
		}
		agents++
		for _, id := range h.Tasks {
			if _, ended := snap.Ends[id]; seen[id] || ended {
				continue
			}
			seen[id] = true
			since := snap.Launches[id].At
			if since.IsZero() {
				since = h.Since
			}
			tasks = append(tasks, task{id, since})
		}
	}
	slices.SortFunc(tasks, func(x, y task) int { return cmp.Or(x.since.Compare(y.since), strings.Compare(x.id, y.id)) })
	for i, t := range tasks {
		name := ""
		if i < most {
			name = s.name(snap, t.id) + " "
		}
		names = append(names, name+age(s.Now.Sub(t.since)))
	}
	return agents, names
}

// name is what a task is called: the beginning of its command where that is found,
// else its kind and id. A launch that an event told of stands in no transcript that was
// read: it is looked for at the end of its owner's, which writes nothing in a hold.
func (s Source) name(snap ledger.Snapshot, id string) string {
	l := snap.Launches[id]
	path := l.File
	if path == "" {
		if path = snap.Agents[l.Owner].Transcript; l.Owner == transcript.Main {
			path = snap.Session.Transcript
		}
	}
	if !s.NoText {
		if call, ok := transcript.CallBefore(s.Files, path, l.Line, l.ToolUseID); ok && call.Text != "" {
			first, _, _ := strings.Cut(strings.TrimSpace(call.Text), "\n")
			return view.Snip(view.Clean(first), wide)
		}
	}
	return view.Clean(strings.TrimSpace(l.Kind + " " + id))
}

// unheard counts the ends that the ledger knows, of tasks whose owners rest and are
// not seen to have been told of it.
func (s Source) unheard(snap ledger.Snapshot) int {
	account := snap.Account()
	n := 0
	for id, e := range snap.Ends {
		l := snap.Launches[id]
		owner, known := snap.Agents[l.Owner]
		_, told := snap.Couriers[id]
		switch {
		case !known || l.Owner == transcript.Main, !snap.Session.Ended.IsZero():
		case told || snap.Told[id] || snap.Released[id] || l.Ignored || l.Persistent:
		case owner.Stopped.Before(owner.Started) || owner.Chain > 0 || holds(snap, l.Owner): // it is at work
		case fate.Word(e.Status) == fate.Killed || s.Now.Sub(e.At) < settled:
		case account.Heard(id, l.Owner):
		default:
			n++
		}
	}
	return n
}

func holds(snap ledger.Snapshot, agent string) bool {
	return slices.ContainsFunc(snap.Holds, func(h ledger.Hold) bool { return h.AgentID == agent })
}

// age is a duration in one number: 40s, 3m, 2h.
func age(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return gate.Span(d)
}
