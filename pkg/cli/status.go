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

// exitNeedy is the exit code of status --exit-code where somebody needs somebody.
const exitNeedy = 4

// statusOptions are what status was asked for.
type statusOptions struct {
	session              string
	all, stuck, exitCode bool
	asJSON, noText       bool
	watch                bool
}

func (a *app) status() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "show who needs somebody, who is held and by what, and who works",
		Long: `status shows the recorded sessions that run in this folder, above it or below it:
who needs somebody, with a sentence to paste to the coordinator; whose stop is held,
for which command and for how much longer; who works, and what its commands printed
last. Sessions that have ended get a line each; --session shows one whole.

It only looks: nothing is written, and no session is held up. The states and the
JSON are described in docs/status.md. With --exit-code the exit code is 4 when
somebody needs somebody.`,
		Example: `  hookctl status
  hookctl status --session 65f459a2
  hookctl status --all --json | jq '.sessions[].agents[] | select(.stuck)'`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.runStatus(o) },
	}
	o.flags(a, cmd)
	return cmd
}

func (o *statusOptions) flags(a *app, cmd *cobra.Command) {
	a.sessionFlag(cmd, &o.session, "show this session only, and whole: its `ID`, or how it begins")
	flags := cmd.Flags()
	flags.BoolVar(&o.all, "all", false, "show the sessions of every folder, and all that have ended")
	flags.BoolVar(&o.stuck, "stuck", false, "show only who needs somebody")
	flags.BoolVar(&o.exitCode, "exit-code", false, "exit with 4 when somebody needs somebody")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON for programs")
	flags.BoolVar(&o.noText, "no-text", false, "show no commands, no descriptions and no output")
	flags.BoolVar(&o.watch, "watch", false, "keep up with what happens, as hookctl watch does")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
	cmd.MarkFlagsMutuallyExclusive("watch", "json")
}

func (a *app) runStatus(o statusOptions) error {
	if o.watch {
		return a.runWatch(watchOptions{session: o.session, all: o.all, noText: o.noText})
	}
	f, err := a.filter(o.session, o.all)
	if err != nil {
		return err
	}
	f.Faces, f.NoText, f.Brief = true, o.noText, !o.asJSON
	st, err := a.source().Load(a.context(), f)
	if errors.Is(err, status.ErrNoSession) && o.asJSON {
		// An unknown session is an empty answer to a program, and an error.
		if err := st.WriteJSON(a.h.Stdout); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	a.sayProblems(st.Problems)
	switch {
	case o.asJSON:
		err = st.WriteJSON(a.h.Stdout)
	case o.stuck:
		view.Overview(a.screen(), st, view.Options{Stuck: true})
	case len(st.Sessions) == 0:
		a.nothing(st)
		view.Leftover(a.screen(), st, true)
	case o.session != "":
		view.Sessions(a.screen(), st)
	default:
		view.Overview(a.screen(), st, view.Options{Ended: o.all})
	}
	switch {
	case err != nil:
	case len(st.Sessions) == 0 && len(st.Problems) > 0:
		err = exitCode{code: exitFailed}
	case o.exitCode && view.Needy(st) > 0:
		err = exitCode{code: exitNeedy}
	}
	return err
}

// sayProblems says which files could not be read.
func (a *app) sayProblems(problems []status.Problem) {
	for _, p := range problems {
		a.say(p.Path + " " + p.Text)
	}
}

// sessionFlag adds the flag that names a session.
func (a *app) sessionFlag(cmd *cobra.Command, session *string, usage string) {
	cmd.Flags().StringVar(session, "session", "", usage)
	_ = cmd.RegisterFlagCompletionFunc("session", a.completeSessions) // fails only for an unknown flag
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
