package cli

import (
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/state"
	"stopgate/pkg/view"
)

// pruneOptions are what prune was asked for.
type pruneOptions struct {
	all   bool
	older time.Duration
}

func (a *app) prune() *cobra.Command {
	var o pruneOptions
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
		RunE: func(*cobra.Command, []string) error { return a.runPrune(o) },
	}
	o.flags(cmd)
	return cmd
}

func (o *pruneOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.all, "all", false, "remove every session's files")
	spanFlag(cmd.Flags(), &o.older, "older", 0, time.Nanosecond, "remove what was not used for this `DURATION`, for example 12h or 30d")
	cmd.MarkFlagsMutuallyExclusive("all", "older")
}

func (a *app) runPrune(o pruneOptions) error {
	keep := state.Keep(a.h.Env)
	switch {
	case o.all:
		keep = 0
	case o.older > 0:
		keep = o.older
	}
	dir := state.Existing(a.h.Env)
	before := len(dir.Stores())
	files := dir.Sweep(a.h.Clock.Now(), keep)
	after := len(dir.Stores())
	a.screen().Line("removed ", countOf(files, "file"), " of ", countOf(before-after, "session"), "; ", countOf(after, "session"), " left in ", view.Clean(dir.Path()))
	return nil
}
