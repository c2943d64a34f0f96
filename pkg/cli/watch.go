package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
	"stopgate/pkg/watch"
)

// watchOptions are what watch was asked for.
type watchOptions struct {
	session     string
	all, noText bool
}

func (a *app) watch() *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "show what happens as it happens, in the terminal",
		Long: `watch shows the sessions of this folder and keeps up with them: agents as a tree, their
tasks with their last line of output, how long a stop has been held and how much
patience is left, and the log below. Keys move, open a task's output, explain a stop,
release a task, switch off and on, and quit.

Without a terminal it prints lines, as log -f does.`,
		Example: `  hookctl watch
  hookctl watch --session 65f459a2`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.runWatch(o) },
	}
	o.flags(a, cmd)
	return cmd
}

func (o *watchOptions) flags(a *app, cmd *cobra.Command) {
	a.sessionFlag(cmd, &o.session, "show this session only: its `ID`, or how it begins")
	flags := cmd.Flags()
	flags.BoolVar(&o.all, "all", false, "show the sessions of every folder")
	flags.BoolVar(&o.noText, "no-text", false, "show no commands, no descriptions and no output")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
}

func (a *app) runWatch(o watchOptions) error {
	if !a.onTerminal() || !host.IsTerminal(a.h.Stdin) || a.h.Env("TERM") == "dumb" {
		return a.runLog(logOptions{session: o.session, all: o.all, noText: o.noText, follow: true, last: defaultLines})
	}
	f, err := a.filter(o.session, o.all)
	if err != nil {
		return err
	}
	f.Brief, f.Faces, f.NoText = true, true, o.noText
	ctx, stop := signal.NotifyContext(a.context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return watch.Run(ctx, a.watched(o, f), a.h.Stdin, a.terminal, os.Environ())
}

// outputSize is how much of an output is shown, in bytes.
const outputSize = 256 << 10

// watched is the world of the live view.
func (a *app) watched(o watchOptions, f status.Filter) watch.World {
	noticed := a.h.Clock.Now()
	return watch.World{
		Load: func(ctx context.Context) (status.Status, error) {
			st, err := a.source().Load(ctx, f)
			if st.Now.Sub(noticed) >= time.Minute {
				noticed = st.Now
				a.noticeOf(st)
			}
			return st, err
		},
		Output: func(t status.Task) []string {
			if o.noText || t.Output == "" {
				return nil
			}
			return status.OutputLines(a.h.Files, t.Output, outputSize)
		},
		Explain: func(scr view.Screen, session, agent string) { a.explainOn(scr, o, session, agent) },
		Release: func(session, task string) error { return a.releaseTasks(session, []string{task}) },
		Switch:  a.switchAll,
		Stores:  func() string { return stores(state.Existing(a.h.Env)) },
		Watch:   a.h.Watch,
		Now:     a.h.Clock.Now,
		Colour:  a.screen().Colour,
	}
}

// explainOn explains the hold of an agent, or its last stop, on a screen.
func (a *app) explainOn(scr view.Screen, o watchOptions, session, agent string) {
	st, err := a.source().Load(a.context(), status.Filter{Session: session, Faces: true, NoText: o.noText})
	if err != nil || len(st.Sessions) != 1 {
		scr.Text("", "  ", "what is recorded of this session cannot be read now", view.Normal)
		return
	}
	s := st.Sessions[0]
	x := explaining{a: a, scr: scr, now: st.Now}
	if held, ok := s.Agent(agent); ok && held.Hold != nil {
		x.held(s, held)
		return
	}
	for _, stop := range slices.Backward(s.Stops) {
		if stop.AgentID == agent {
			x.stop(s, stop.Seq)
			return
		}
	}
	scr.Line("no stop of it is recorded yet")
}

// releaseTasks excuses tasks of a session.
func (a *app) releaseTasks(session string, tasks []string) error {
	dir, err := a.ownState()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.context(), status.Patience)
	defer cancel()
	return ledger.Update(ctx, dir, session, a.h.Clock.Now(), func(tx *ledger.Tx) error {
		tx.Release(tasks...)
		return nil
	})
}

// switchAll switches everything off, or on again.
func (a *app) switchAll(off bool) error {
	dir, err := a.ownState()
	if err != nil {
		return err
	}
	if off {
		err = dir.SwitchOff("", time.Time{})
		if err == nil {
			a.noteSwitch(dir, "", ledger.Act{Deed: ledger.SwitchedOff})
		}
		return err
	}
	was, err := dir.SwitchOn("")
	if was && err == nil {
		a.noteSwitch(dir, "", ledger.Act{Deed: ledger.SwitchedOn})
	}
	return err
}
