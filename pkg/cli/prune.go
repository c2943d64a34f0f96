package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"stopgate/pkg/state"
	"stopgate/pkg/view"
)

func (a *app) prune() *cobra.Command {
	var all bool
	var older string
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "remove what was recorded of old sessions",
		Long: `prune removes the files of sessions that nobody used for a time: 7 days, or
$STOPGATE_KEEP, unless --older or --all says otherwise. The hook does the same by
itself now and then. Of a session that still runs, --all forgets which blocks
were spent: it may get one more.`,
		Example: `  hookctl prune --older 2d
  hookctl prune --all`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			keep := state.Keep(a.h.Env)
			switch {
			case all:
				keep = 0
			case older != "":
				d, err := state.ParseSpan(older)
				if err != nil || d <= 0 {
					return exitCode{exitUsage, fmt.Errorf("--older %q: not a duration like 12h or 30d", older)}
				}
				keep = d
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
	cmd.Flags().StringVar(&older, "older", "", "remove what was not used for this `DURATION`, for example 12h or 30d")
	cmd.MarkFlagsMutuallyExclusive("all", "older")
	return cmd
}
