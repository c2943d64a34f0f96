package cli

import (
	"context"

	"github.com/spf13/cobra"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

func (a *app) release() *cobra.Command {
	var session string
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
		RunE: func(_ *cobra.Command, ids []string) error {
			s, err := a.sessionOf(session, ids)
			if err != nil {
				return err
			}
			dir, err := state.Find(a.h.Env)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(a.context(), status.Patience)
			defer cancel()
			err = ledger.Update(ctx, dir, s.snap.Session.ID, a.h.Clock.Now(), func(tx *ledger.Tx) error {
				tx.Release(ids...)
				return nil
			})
			if err != nil {
				return err
			}
			scr := a.screen()
			for _, id := range ids {
				scr.Line("released ", view.Clean(id), ": no stop waits for it any more")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "look in this session only: its `ID`, or how it begins")
	_ = cmd.RegisterFlagCompletionFunc("session", a.completeSessions) // fails only for an unknown flag
	return cmd
}
