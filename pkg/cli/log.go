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
	"stopgate/pkg/view"
)

// followStep is how often log -f looks for new stops.
const followStep = 500 * time.Millisecond

func (a *app) log() *cobra.Command {
	l := &logRun{app: a, shown: map[string]uint64{}}
	cmd := &cobra.Command{
		Use:   "log",
		Short: "list the recorded stops, and follow them",
		Long: `log lists the stops that were recorded, one a line: number, time, session,
agent, whether it was blocked, and by which rule. The number is what explain
takes; each session counts for itself.`,
		Example: `  hookctl log
  hookctl log -f --all
  hookctl log --agent reviewer -n 0 --json`,
		Args: cobra.NoArgs,
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
	// shown is the number of the last stop that was seen, by session.
	shown map[string]uint64
}

func (l *logRun) run(ctx context.Context) error {
	f, err := l.app.filter(l.session, l.all)
	if err != nil {
		return err
	}
	f.Bare = true
	if l.last < 0 {
		return exitCode{exitUsage, fmt.Errorf("-n %d: not a number of lines", l.last)}
	}
	st, err := l.app.source().Load(ctx, f)
	if err != nil {
		return err
	}
	for _, p := range st.Problems {
		l.app.say("%s %s", view.Clean(p.Path), view.Clean(p.Text))
	}
	entries := l.fresh(st)
	if l.last > 0 {
		entries = entries[max(0, len(entries)-l.last):]
	}
	if err := l.print(entries, st.Now); err != nil {
		return err
	}
	if len(entries) == 0 && !l.follow && !l.asJSON {
		l.app.nothingLogged(st)
	}
	seen := stores(l.app.source().Dir)
	for l.follow && l.app.h.Clock.Sleep(ctx, followStep) {
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
func (l *logRun) fresh(st view.Status) []view.Entry {
	var out []view.Entry
	for _, e := range st.Log() {
		if e.Seq > l.shown[e.SessionID] {
			l.shown[e.SessionID] = e.Seq
			if l.agent == "" || e.Type == l.agent || strings.HasPrefix(e.AgentID, l.agent) {
				out = append(out, e)
			}
		}
	}
	return out
}

func (l *logRun) print(entries []view.Entry, now time.Time) error {
	scr := l.app.screen()
	for _, e := range entries {
		if !l.asJSON {
			e.Print(scr, now)
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

// nothingLogged says why there is no stop to list.
func (a *app) nothingLogged(st view.Status) {
	if len(st.Sessions) == 0 {
		a.nothing(st)
		return
	}
	a.screen().Line("no stop of a subagent was recorded in ", countOf(len(st.Sessions), "session"), " (hookctl status)")
}
