package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// context is what a command's waiting and reading is bound to.
func (a *app) context() context.Context { return context.Background() }

func (a *app) status() *cobra.Command {
	var session string
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "show sessions, their agents and tasks, and who is stuck",
		Long: `status shows the recorded sessions that run in this folder, above it or below
it: their agents, who owns which background task and what became of it. An agent
that stopped with own work open is marked with "!", and its open tasks with "*".

It only looks: nothing is written, and no session is held up. The states and the
JSON are described in docs/status.md.`,
		Example: `  hookctl status
  hookctl status --session 65f459a2
  hookctl status --all --json | jq '.sessions[].agents[] | select(.stuck)'`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			f, err := a.filter(session, all)
			if err != nil {
				return err
			}
			st, err := a.source().Load(a.context(), f)
			if errors.Is(err, status.ErrNoSession) && asJSON {
				// An unknown session is an empty answer to a program, and an error.
				if err := st.WriteJSON(a.h.Stdout); err != nil {
					return err
				}
			}
			if err != nil {
				return err
			}
			for _, p := range st.Problems {
				a.say(p.Path + " " + p.Text)
			}
			switch {
			case asJSON:
				err = st.WriteJSON(a.h.Stdout)
			case len(st.Sessions) > 0:
				view.Status(a.screen(), st, session != "")
			default:
				a.nothing(st)
				view.Leftover(a.screen(), st, true)
			}
			if err == nil && len(st.Sessions) == 0 && len(st.Problems) > 0 {
				err = exitCode{code: exitFailed}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "show this session only: its `ID`, or how it begins")
	cmd.Flags().BoolVar(&all, "all", false, "show the sessions of every folder")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON for programs")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
	_ = cmd.RegisterFlagCompletionFunc("session", a.completeSessions) // fails only for an unknown flag
	return cmd
}

// nothing says why there is nothing to show, and what to do about it.
func (a *app) nothing(st status.Status) {
	scr := a.screen()
	view.Off(scr, st)
	switch {
	case st.Elsewhere > 0:
		scr.Line("no session of this folder was recorded; ", countOf(st.Elsewhere, "session"), " elsewhere: hookctl status --all")
	case len(st.Problems) > 0:
	case st.EphemeralEvents > 0:
		scr.Line("only ", countOf(int(st.EphemeralEvents), "ephemeral event"), " so far: the hook runs, and no subagent has stopped yet")
	case a.obstacle() != "":
		scr.Text("", "  ", "nothing is recorded where it should be: "+a.obstacle(), view.Normal)
		scr.Text("- ", "  ", a.named("what to do: hookctl doctor"), view.Normal)
	default:
		scr.Line("nothing has been recorded yet in ", view.Clean(st.StateDir))
		scr.Line()
		for _, text := range a.nextSteps() {
			scr.Text("- ", "  ", a.named(text), view.Normal)
		}
	}
}

// obstacle is what keeps the records from being where they belong, or "".
func (a *app) obstacle() string {
	if err := state.Place(a.h.Env).Obstacle(); err != nil {
		return view.Clean(err.Error())
	}
	return ""
}

// nextSteps says what brings the first record: to register the hook, or where it is
// registered to begin a session.
func (a *app) nextSteps() []string {
	const first, without = "the first subagent that starts or stops in it appears here", "to see what happens then without a session: hookctl demo"
	if in := a.registered(); in != "" {
		return []string{
			"the hook is registered in " + in + "; start a new session of Claude Code, if none was started since: running ones took their hooks at their start",
			first, "to look whether it can work: hookctl doctor", without,
		}
	}
	return []string{"register the hook: hookctl install; then start a new session of Claude Code", first, without}
}

// registered is where a session here gets the hook from; "" for nowhere.
func (a *app) registered() string {
	w, err := a.world()
	if err != nil {
		return ""
	}
	for _, s := range w.Sources() {
		switch {
		case len(s.Hooks) > 0:
			return view.Clean(w.Short(s.Path))
		case s.Plugin != "":
			return "the plugin " + view.Clean(s.Plugin)
		}
	}
	return ""
}
