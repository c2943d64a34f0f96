package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/event"
	"stopgate/pkg/fate"
	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
	"stopgate/pkg/wait"
)

// Exit codes of wait.
const (
	exitUnknown = 3
	exitLetGo   = 4
	exitTimeout = 124
)

// defaultTimeout stays below the client's limit for a command in the foreground.
const defaultTimeout = 9 * time.Minute

// waitOptions are what wait was asked for.
type waitOptions struct {
	session               string
	timeout               time.Duration
	first, asJSON, noText bool
}

func (a *app) wait() *cobra.Command {
	var o waitOptions
	cmd := &cobra.Command{
		Use:   "wait TASK...",
		Short: "wait for background tasks to end, and say how they did",
		Long: `wait waits until the background tasks have ended and prints how: with which exit
code, when, and where the output is. It is what an agent runs in the foreground
instead of stopping, in steps under the client's limit of 10 minutes for one
command; run in the background by the coordinator, its own end wakes that. On a
terminal each task is named by its command, and its last line of output is shown.

Exit codes: 0 all (or, with --any, one) ended, 124 the time was over first,
3 no recorded session knows such a task, 1 the session ended, 4 none ended that
could: what is left serves, or is idle, and is not waited for (docs/ignore.md).`,
		Example: `  hookctl wait blxqppgqo
  hookctl wait --any --timeout 5m blxqppgqo bot8qc2lo`,
		ValidArgsFunction: a.completeTasks,
		Args:              needs("a TASK (hookctl status lists them)", many),
		RunE:              func(_ *cobra.Command, ids []string) error { return a.runWait(o, ids) },
	}
	o.flags(a, cmd)
	return cmd
}

func (o *waitOptions) flags(a *app, cmd *cobra.Command) {
	a.sessionFlag(cmd, &o.session, "look in this session only: its `ID`, or how it begins")
	flags := cmd.Flags()
	spanFlag(flags, &o.timeout, "timeout", defaultTimeout, 0, "wait no longer than this `DURATION`")
	flags.BoolVar(&o.first, "any", false, "stop waiting when one of them has ended")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	flags.BoolVar(&o.noText, "no-text", false, "show no commands and no output")
}

func (a *app) runWait(o waitOptions, ids []string) error {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	s, err := a.sessionOf(o.session, ids)
	if err != nil {
		return err
	}
	// An agent reads what goes elsewhere than to a terminal: to a model nothing is
	// quoted that a task prints or is called.
	s.faces = !o.noText && !o.asJSON && a.onTerminal()
	w := a.waitFor(s, ids)
	left := &leaving{a: a, s: s}
	w.LetGo = left.letGo
	w.Until, w.Any = a.h.Clock.Now().Add(o.timeout), o.first
	if s.faces {
		scr := a.screen()
		for _, id := range ids {
			if title := a.titleOf(s, id); title != "" {
				scr.Line(scr.Paint(scr.Cut("waits for "+view.Clean(id)+": "+view.Clean(title)), view.Faint))
			}
		}
	}
	result := w.Run(a.context())
	if err := a.printOutcomes(s, result, o.asJSON); err != nil {
		return err
	}
	if !o.asJSON {
		left.print()
	}
	switch result.Why {
	case wait.AllEnded, wait.AnyEnded:
		if len(left.worth) > 0 && len(result.Outcomes) == 0 {
			return exitCode{code: exitLetGo}
		}
		return nil
	case wait.Deadline:
		return exitCode{code: exitTimeout}
	}
	return exitCode{exitFailed, errors.New(result.Note)}
}

// titleOf is what a task runs, in its launcher's words where that is not known.
func (a *app) titleOf(s found, id string) string {
	return a.source().TitleOf(status.Session{Transcript: s.snap.Session.Transcript}, s.tasks[id])
}

// found is the session that knows the asked tasks.
type found struct {
	id, path string
	snap     ledger.Snapshot
	// tasks are what status says of them.
	tasks map[string]status.Task
	// faces tells that a person reads, who shall see what tasks run and print.
	faces bool
}

// sessionOf finds the session that knows all the tasks: in the ledgers, the last
// used first, or by reading the transcripts of the sessions around here.
func (a *app) sessionOf(session string, ids []string) (found, error) {
	src := a.source()
	filter, err := a.filter(session, false)
	if err != nil {
		filter, err = a.filter(session, true)
	}
	if err != nil {
		return found{}, err
	}
	all, err := src.Load(a.context(), status.Filter{All: session == "", Session: session, Bare: true})
	if err != nil {
		return found{}, err
	}
	known := func(f found) bool {
		for _, id := range ids {
			_, launched := f.snap.Launches[id]
			_, ended := f.snap.Ends[id]
			_, seen := f.tasks[id]
			if !launched && !ended && !seen {
				return false
			}
		}
		return true
	}
	for _, s := range all.Sessions {
		f := found{id: s.ID, path: src.Dir.Store(s.ID)}
		if f.snap, err = a.snapshot(f.path); err == nil && known(f) {
			f.tasks = a.tasksOf(f.id)
			return f, nil
		}
	}
	near, err := src.Load(a.context(), filter)
	if err != nil {
		return found{}, err
	}
	for _, s := range near.Sessions {
		f := found{id: s.ID, path: src.Dir.Store(s.ID), tasks: byID(s.Tasks)}
		if f.snap, err = a.snapshot(f.path); err == nil && known(f) {
			return f, nil
		}
	}
	return found{}, exitCode{exitUnknown, fmt.Errorf("no recorded session knows %s (hookctl status lists the tasks)", view.Clean(strings.Join(ids, " and ")))}
}

func (a *app) snapshot(path string) (ledger.Snapshot, error) {
	ctx, cancel := context.WithTimeout(a.context(), status.Patience)
	defer cancel()
	return ledger.ReadFile(ctx, path)
}

// tasksOf are the tasks of a session as status shows them now; none where it
// cannot be had.
func (a *app) tasksOf(session string) map[string]status.Task {
	st, err := a.source().Load(a.context(), status.Filter{Session: session})
	if err != nil || len(st.Sessions) != 1 {
		return nil
	}
	return byID(st.Sessions[0].Tasks)
}

func byID(tasks []status.Task) map[string]status.Task {
	out := map[string]status.Task{}
	for _, t := range tasks {
		out[t.ID] = t
	}
	return out
}

// statusEvery is how often a wait asks what status would say, at the most.
const statusEvery = 2 * time.Second

// opinion is what status says of a task. It sees more than a wait does, such as
// what an agent was told or stopped itself, so the two must not differ.
func (a *app) opinion(s found) func(task string) fate.Fate {
	tasks, next := s.tasks, a.h.Clock.Now().Add(statusEvery)
	return func(task string) fate.Fate {
		if now := a.h.Clock.Now(); !now.Before(next) {
			began := time.Now()
			tasks = a.tasksOf(s.id)
			next = now.Add(statusEvery + 10*time.Since(began))
		}
		f := tasks[task].Fate
		if f.Sign == fate.SessionOver {
			return fate.Fate{} // the end of the session is no end of a task
		}
		return f
	}
}

// waitFor is the wait for tasks of a session. It ends when the session does.
func (a *app) waitFor(s found, ids []string) *wait.Wait {
	main := s.snap.Session.Transcript
	w := &wait.Wait{
		Files: a.h.Files, Held: a.h.Held, Clock: a.h.Clock, Watch: a.h.Watch,
		Main: main, From: s.snap.Cursors[main], Paths: []string{s.path}, Opinion: a.opinion(s), Launches: s.snap.Launches,
	}
	for _, e := range s.snap.Ends {
		w.Known = append(w.Known, e.End)
	}
	for _, id := range ids {
		w.Tasks = append(w.Tasks, s.task(id))
	}
	session := s.snap.Session
	var modified time.Time
	w.List = func() fate.List { // what a look asks for first
		if info, err := os.Stat(s.path); err == nil && !info.ModTime().Equal(modified) {
			if snap, err := a.snapshot(s.path); err == nil {
				session, modified = snap.Session, info.ModTime()
			}
		}
		return session.List()
	}
	w.Cancelled = func() string {
		if !session.Ended.IsZero() {
			return "the session has ended"
		}
		return ""
	}
	return w
}

// task is a task to wait for, as far as it is known.
func (s found) task(id string) wait.Task {
	l, seen := s.snap.Launches[id], s.tasks[id]
	t := wait.Task{
		ID: id, Kind: cmp.Or(l.Kind, seen.Kind), Output: cmp.Or(seen.Output, l.Output, s.snap.Ends[id].Output),
		Owner: cmp.Or(seen.Owner, l.Owner), Launched: l.At,
	}
	if t.Launched.IsZero() {
		t.Launched = seen.Launched
	}
	if t.Kind == event.TypeSubagent {
		// An end from before its last start was not its last.
		t.Since = s.snap.Agents[id].Started
	}
	return t
}

// lastLineSize is how much of an output is read for its last line, in bytes.
const lastLineSize = 8 << 10

// outcome is one line of wait's JSON.
type outcome struct {
	Task     string     `json:"task"`
	State    string     `json:"state"`
	ExitCode *int       `json:"exit_code"`
	At       *time.Time `json:"at"`
	Output   string     `json:"output"`
	Size     *int64     `json:"size"`
}

func (a *app) printOutcomes(s found, r wait.Result, asJSON bool) error {
	if !asJSON {
		scr := a.screen()
		for _, o := range r.Outcomes {
			scr.Line(sayOutcome(o, s.snap.Launches[o.Task], r.Why == wait.Cancelled))
			if !s.faces {
				continue
			}
			if lines := status.OutputLines(a.h.Files, o.Output, lastLineSize); o.Output != "" && len(lines) > 0 {
				scr.Line(scr.Paint(scr.CutBehind("  "+view.Clean(lines[len(lines)-1]), 0), view.Faint))
			}
		}
		return nil
	}
	list := []outcome{}
	for _, f := range r.Outcomes {
		line := outcome{Task: f.Task, State: "running", ExitCode: f.ExitCode, Output: f.Output}
		if f.Over() {
			line.State = string(f.How)
		}
		if !f.At.IsZero() {
			line.At = &f.At
		}
		if f.Size >= 0 {
			line.Size = &f.Size
		}
		list = append(list, line)
	}
	return status.WriteJSON(a.h.Stdout, map[string]any{"why": r.Why, "outcomes": list})
}

func sayOutcome(f fate.Fate, l transcript.Launch, over bool) string {
	text := view.Clean(f.Task) + " "
	switch f.How {
	case fate.Exited:
		text += fmt.Sprintf("exited with code %d", *f.ExitCode)
	case fate.Killed:
		text += "was killed"
	case fate.Ended:
		text += "ended"
	case fate.Unknown:
		text += "is no longer listed, and nothing tells how it ended"
	default:
		text += map[bool]string{false: "still runs", true: "has no known end"}[over]
	}
	if f.Over() && !l.At.IsZero() && f.At.After(l.At) {
		text += " after " + gate.Span(f.At.Sub(l.At))
	}
	if f.Output != "" {
		text += "; output"
		if f.Size >= 0 {
			text += " (" + gate.Bytes(f.Size) + ")"
		}
		text += ": " + view.Clean(f.Output)
	}
	return text
}
