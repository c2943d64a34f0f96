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

func (a *app) log() *cobra.Command {
	l := &logRun{app: a, shown: map[string]mark{}}
	cmd := &cobra.Command{
		Use:   "log",
		Short: "list the recorded stops, and follow them",
		Long: `log lists the stops that were recorded, one a line: number, time of the answer,
session, agent, whether it was blocked, and by which rule. They come in the order in
which they were answered; one that was held came before. The number is what explain
takes; each session counts for itself.`,
		Example: `  hookctl log
  hookctl log -f --all
  hookctl log --agent reviewer -n 0 --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(a.context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return l.run(ctx)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&l.session, "session", "", "list this session only: its `ID`, or how it begins")
	flags.StringVar(&l.agent, "agent", "", "list this agent only: its `ID`, how that begins, or its type")
	flags.BoolVar(&l.all, "all", false, "list the sessions of every folder")
	flags.BoolVar(&l.asJSON, "json", false, "print a line of JSON for each stop")
	flags.BoolVarP(&l.follow, "follow", "f", false, "go on with the stops that are recorded from now on")
	flags.IntVarP(&l.last, "lines", "n", 20, "how many of the last stops to list; 0 lists all")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
	_ = cmd.RegisterFlagCompletionFunc("session", a.completeSessions) // fails only for an unknown flag
	return cmd
}

// logRun is one run of the command.
type logRun struct {
	app                 *app
	session, agent      string
	all, asJSON, follow bool
	last                int
	// shown is how far the stops were seen, by session.
	shown map[string]mark
}

// mark is the number of the last stop that was seen of a session, in the record that
// began then.
type mark struct {
	seq   uint64
	begun time.Time
}

func (l *logRun) run(ctx context.Context) error {
	f, err := l.app.filter(l.session, l.all)
	if err != nil {
		return err
	}
	f.Bare = true
	if l.last < 0 {
		return misused("-n %d: not a number of lines", l.last)
	}
	seen := stores(l.app.source().Dir) // before the stops are read: what comes meanwhile is news
	st, err := l.app.source().Load(ctx, f)
	if err != nil {
		return err
	}
	for _, p := range st.Problems {
		l.app.say(p.Path + " " + p.Text)
	}
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
		st, err := src.Load(ctx, f)
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

// fresh are the stops that were not seen before.
func (l *logRun) fresh(st status.Status) []status.Entry {
	var out []status.Entry
	for _, e := range st.Log() {
		if last := l.shown[e.SessionID]; e.Seq > last.seq || !e.Begun.Equal(last.begun) {
			l.shown[e.SessionID] = mark{e.Seq, e.Begun}
			if l.agent == "" || e.Type == l.agent || strings.HasPrefix(e.AgentID, l.agent) {
				out = append(out, e)
			}
		}
	}
	return out
}

func (l *logRun) print(entries []status.Entry, now time.Time) error {
	scr := l.app.screen()
	for _, e := range entries {
		if !l.asJSON {
			view.Stop(scr, e, now)
		} else if err := e.WriteJSON(l.app.h.Stdout); err != nil {
			return err
		}
	}
	return nil
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
	case l.agent != "" && len(st.Log()) > 0:
		l.app.screen().Line("no stop of an agent ", view.Clean(l.agent), " was recorded in ", in, " (hookctl status lists the agents)")
	default:
		l.app.screen().Line("no stop of a subagent was recorded in ", in, " (hookctl status)")
	}
}
