// Package notice tells a person what needs them: that an agent is stuck, or that a hold
// is over without its task. The status of a session goes in, notices come out, and one
// of them goes to the desktop, the terminal or a program of the person's own.
//
// It is hookctl's: the hook opens no connection and only hands over to it. Whatever goes
// wrong is passed over; a notice is tried once.
package notice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

// Kind is what a notice is about, as a person's own program is told in
// $STOPGATE_NOTICE.
type Kind string

// The kinds.
const (
	// Stuck: an agent needs somebody.
	Stuck Kind = "stuck"
	// LetGo: a hold, or a courier, is over while its task still runs.
	LetGo Kind = "let-go"
	// Trial: somebody wants to see what a notice looks like.
	Trial Kind = "trial"
)

// Notice is one thing to tell.
type Notice struct {
	Kind Kind
	// Key names it among those of its session: what was told is not told again.
	Key string
	// Title and Text are plain text, cleaned, and no option of any program.
	Title, Text string
}

// Limits of a notice.
const (
	// fresh is how old what came of a hold may be: who switches notices on wants none of
	// yesterday.
	fresh = 10 * time.Minute
	// maxTitle and maxText are how wide its texts may be, in columns.
	maxTitle, maxText = 100, 400
)

// letGo says why a hold was over without its task.
var letGo = map[gate.Code]string{
	gate.PatienceOver: "the patience for it is used up",
	gate.CeilingNear:  "the run is about to end",
	gate.TaskIdle:     "it has done nothing for long",
	gate.StuckWork:    "it has been silent for long",
}

// Of are the notices of a session, given before or not, in a lasting order.
func Of(s status.Session, now time.Time) []Notice {
	if !s.Ended.IsZero() || s.Off {
		return nil
	}
	var out []Notice
	for _, a := range s.Agents {
		if a.Stuck && a.Why != status.WhyOwnWork {
			key := fmt.Sprintf("stuck %s %s %d %d", a.ID, a.Why, a.Stops, a.Since.Unix())
			out = append(out, newNotice(Stuck, key, s.Label(a.ID)+" needs somebody", a.Advice))
		}
	}
	for _, stop := range s.Stops {
		if why, is := letGo[gate.Code(stop.Code)]; is && now.Sub(stop.Time.Add(stop.Duration)) <= fresh {
			left := slices.DeleteFunc(slices.Clone(stop.Own), func(id string) bool { return slices.Contains(stop.Ended, id) })
			out = append(out, over(s, fmt.Sprintf("let-go %d", stop.Seq), stop.AgentID, left, why)...)
		}
	}
	for _, act := range s.Acts {
		if act.Deed == ledger.Left && act.Note == ledger.NoteTimeOver && now.Sub(act.Time) <= fresh {
			if a, ok := s.Agent(act.AgentID); ok && a.Why == status.WhyOwnWork {
				out = append(out, over(s, fmt.Sprintf("let-go %d", act.Seq), a.ID, a.Own, "the courier's time is over, and nobody will tell of its end")...)
			}
		}
	}
	return out
}

// over is the notice of tasks that nobody waits for any more, as far as they still run.
func over(s status.Session, key, agent string, tasks []string, why string) []Notice {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(id string) bool {
		t, ok := s.Task(id)
		return !ok || t.State != status.TaskRunning || t.Excused()
	})
	if len(tasks) == 0 {
		return nil
	}
	who := s.Label(agent)
	if agent == transcript.Main {
		who = "the coordinator"
	}
	const most = 3
	list := strings.Join(tasks[:min(len(tasks), most)], ", ")
	if more := len(tasks) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return []Notice{newNotice(LetGo, key, who+" is let go without its task", "still running: "+list+"; "+why)}
}

// newNotice cleans what it is told.
func newNotice(kind Kind, key, title, text string) Notice {
	line := func(s string, width int) string {
		return view.Snip(strings.TrimLeft(view.Clean(s), "- "), width)
	}
	return Notice{kind, key, line("stopgate: "+title, maxTitle), line(text, maxText)}
}

// Sample is what a person sees who asks for a trial.
func Sample() Notice {
	return newNotice(Trial, "", "a trial", "this is how a notice looks")
}
