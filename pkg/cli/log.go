package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// followStep is how often log -f looks for new stops.
const followStep = 500 * time.Millisecond

// defaultLines is how many lines are listed unless one says so.
const defaultLines = 20

// logOptions are what log was asked for.
type logOptions struct {
	session, agent                     string
	all, asJSON, follow, stops, noText bool
	last                               int
	since                              time.Duration
}

func (a *app) log() *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log",
		Short: "list what happened, and follow it",
		Long: `log lists what was recorded, one a line: stops with their verdict and the rule that
gave it, holds and couriers, launches and ends of tasks with their exit code and how
long they ran, who was told of an end and how, releases and the off switch. Stops come in the order in which they were
answered; one that was held came before. The number is what explain takes; each
session counts for itself.`,
		Example: `  hookctl log
  hookctl log -f --all
  hookctl log --since 2h --stops
  hookctl log --agent reviewer -n 0 --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.runLog(o) },
	}
	o.flags(a, cmd)
	return cmd
}

func (o *logOptions) flags(a *app, cmd *cobra.Command) {
	a.sessionFlag(cmd, &o.session, "list this session only: its `ID`, or how it begins")
	flags := cmd.Flags()
	flags.StringVar(&o.agent, "agent", "", "list this agent only: its `ID`, how that begins, or its type")
	_ = cmd.RegisterFlagCompletionFunc("agent", a.completeAgents) // fails only for an unknown flag
	flags.BoolVar(&o.all, "all", false, "list the sessions of every folder")
	flags.BoolVar(&o.asJSON, "json", false, "print a line of JSON for each")
	flags.BoolVar(&o.stops, "stops", false, "list the stops only")
	flags.BoolVar(&o.noText, "no-text", false, "show no commands")
	flags.BoolVarP(&o.follow, "follow", "f", false, "go on with what is recorded from now on")
	flags.IntVarP(&o.last, "lines", "n", defaultLines, "how many of the last lines to list; 0 lists all")
	spanFlag(flags, &o.since, "since", 0, time.Nanosecond, "list the last `DURATION` only, for example 30m or 2d")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
}

func (a *app) runLog(o logOptions) error {
	if o.last < 0 {
		return misused("-n %d: not a number of lines", o.last)
	}
	f, err := a.filter(o.session, o.all)
	if err != nil {
		return err
	}
	f.Bare = true
	ctx, stop := signal.NotifyContext(a.context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l := &logRun{app: a, logOptions: o, filter: f, shown: map[string]bool{}, sessions: map[string]status.Session{}}
	l.out = view.Log{Screen: a.screen()}
	if !o.noText {
		l.out.Faces = l.face
	}
	return l.run(ctx)
}

// logRun is one run of the command.
type logRun struct {
	logOptions
	app    *app
	filter status.Filter
	out    view.Log
	// shown are the keys of what was seen, sessions those that it is about.
	shown    map[string]bool
	sessions map[string]status.Session
}

func (l *logRun) run(ctx context.Context) error {
	seen := stores(l.app.source().Dir) // before the stops are read: what comes meanwhile is news
	st, err := l.load(ctx)
	if err != nil {
		return err
	}
	l.app.sayProblems(st.Problems)
	entries := l.fresh(st)
	if l.last > 0 {
		entries = entries[max(0, len(entries)-l.last):]
	}
	if err := l.print(entries, st.Now); err != nil {
		return err
	}
	if len(entries) == 0 && !l.follow && !l.asJSON {
		l.nothing(st)
	}
	if len(st.Problems) > 0 {
		seen = "" // the first look tries again
	}
	for l.follow && l.app.out.err == nil && l.app.h.Clock.Sleep(ctx, followStep) {
		src := l.app.source()
		now := stores(src.Dir)
		if now == seen {
			continue
		}
		st, err := src.Load(ctx, l.filter)
		if err != nil {
			return err
		}
		if len(st.Problems) == 0 {
			seen = now // else the next look tries again
		}
		if err := l.print(l.fresh(st), st.Now); err != nil {
			return err
		}
	}
	return nil
}

// load reads the sessions: all of them to be followed, else the last ones until there
// are enough entries, since nothing in a store is later than the store.
func (l *logRun) load(ctx context.Context) (status.Status, error) {
	src := l.app.source()
	if l.follow || l.last == 0 || l.session != "" {
		return src.Load(ctx, l.filter)
	}
	st, err := src.Load(ctx, status.Filter{Folder: l.filter.Folder, None: true})
	if err != nil {
		return st, err
	}
	for s := range src.Newest(ctx, l.filter) {
		if got := l.wanted(st.Log(), st.Now); len(got) >= l.last && got[len(got)-l.last].When().After(s.Written) {
			break
		}
		st.Problems = append(st.Problems, s.Problems...)
		switch {
		case s.Asked:
			st.Sessions = append(st.Sessions, s.Session)
		case len(s.Problems) == 0:
			st.Elsewhere++
		}
	}
	return st, nil
}

// wanted are those of the entries that were asked for.
func (l *logRun) wanted(all []status.Entry, now time.Time) []status.Entry {
	var out []status.Entry
	for _, e := range all {
		switch {
		case l.stops && !e.IsStop():
		case l.agent != "" && e.AgentType() != l.agent && !strings.HasPrefix(e.Agent(), l.agent):
		case l.since > 0 && now.Sub(e.When()) > l.since:
		default:
			out = append(out, e)
		}
	}
	return out
}

// fresh are the wanted entries that were not seen before.
func (l *logRun) fresh(st status.Status) []status.Entry {
	for _, s := range st.Sessions {
		l.sessions[s.ID] = s
	}
	var news []status.Entry
	for _, e := range st.Log() {
		if key := e.Key(); !l.shown[key] {
			l.shown[key] = true
			news = append(news, e)
		}
	}
	return l.wanted(news, st.Now)
}

func (l *logRun) print(entries []status.Entry, now time.Time) error {
	if !l.asJSON {
		l.out.Print(entries, now)
		return nil
	}
	for _, e := range entries {
		if e.What != "" && !l.noText {
			e.Task.Face.Command = l.face(e.SessionID, e.Task.ID)
		}
		if err := e.WriteJSON(l.app.h.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// face is the command of a task, looked up for the entries that are printed.
func (l *logRun) face(session, task string) string {
	s := l.sessions[session]
	t, ok := s.Task(task)
	if !ok {
		return ""
	}
	return l.app.source().TitleOf(s, t)
}

// stores tells whether any store changed since the last look.
func stores(dir state.Dir) string {
	var b strings.Builder
	for _, path := range dir.Stores() {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// nothing says why there is no stop to list.
func (l *logRun) nothing(st status.Status) {
	in := countOf(len(st.Sessions), "session")
	switch {
	case len(st.Sessions) == 0:
		l.app.nothing(st)
	case l.since > 0 && len(st.Log()) > 0:
		l.app.screen().Line("nothing was recorded in ", in, " in that time (hookctl log shows what came before)")
	case l.agent != "" && len(st.Log()) > 0:
		l.app.screen().Line("no stop of an agent ", view.Clean(l.agent), " was recorded in ", in, " (hookctl status lists the agents)")
	default:
		l.app.screen().Line("no stop of a subagent was recorded in ", in, " (hookctl status)")
	}
}
