package cli

import (
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/state"
	"stopgate/pkg/view"
)

func (a *app) prune() *cobra.Command {
	var all bool
	var older time.Duration
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "remove what was recorded of old sessions",
		Long: `prune removes the files of sessions that nobody used for a time: 7 days, or
$STOPGATE_KEEP, unless --older or --all says otherwise. The hook does the same by
itself now and then. Of a session that still runs, --all forgets which blocks
were spent: it may get one more.`,
		Example: `  hookctl prune --older 2d
  hookctl prune --all`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			keep := state.Keep(a.h.Env)
			switch {
			case all:
				keep = 0
			case older > 0:
				keep = older
			}
			dir := state.Existing(a.h.Env)
			before := len(dir.Stores())
			files := dir.Sweep(a.h.Clock.Now(), keep)
			after := len(dir.Stores())
			scr := a.screen()
			scr.Line("removed ", countOf(files, "file"), " of ", countOf(before-after, "session"), "; ", countOf(after, "session"), " left in ", view.Clean(dir.Path()))
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "remove every session's files")
	spanFlag(cmd.Flags(), &older, "older", 0, time.Nanosecond, "remove what was not used for this `DURATION`, for example 12h or 30d")
	cmd.MarkFlagsMutuallyExclusive("all", "older")
	return cmd
}
