package cli

import (
	"github.com/spf13/cobra"

	"stopgate/pkg/view"
)

// releaseOptions are what release was asked for.
type releaseOptions struct{ session string }

func (a *app) release() *cobra.Command {
	var o releaseOptions
	cmd := &cobra.Command{
		Use:   "release TASK...",
		Short: "excuse tasks: no stop is blocked or held for them any more",
		Long: `release excuses background tasks that are not meant to end, or whose end nobody
needs: no stop is blocked or held for them any more, and a hold for them ends. It
does not end the tasks. For commands that never end, --ignore in the settings or
": stopgate-ignore;" at the start of the command says so beforehand.`,
		Example:           `  hookctl release blxqppgqo`,
		ValidArgsFunction: a.completeTasks,
		Args:              needs("a TASK (hookctl status lists them)", many),
		RunE:              func(_ *cobra.Command, ids []string) error { return a.runRelease(o, ids) },
	}
	o.flags(a, cmd)
	return cmd
}

func (o *releaseOptions) flags(a *app, cmd *cobra.Command) {
	a.sessionFlag(cmd, &o.session, "look in this session only: its `ID`, or how it begins")
}

func (a *app) runRelease(o releaseOptions, ids []string) error {
	s, err := a.sessionOf(o.session, ids)
	if err != nil {
		return err
	}
	if err := a.releaseTasks(s.snap.Session.ID, ids); err != nil {
		return err
	}
	scr := a.screen()
	for _, id := range ids {
		scr.Line("released ", view.Clean(id), ": no stop waits for it any more")
	}
	return nil
}
