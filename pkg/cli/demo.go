package cli

import (
	"github.com/spf13/cobra"

	"stopgate/pkg/replay"
	"stopgate/pkg/view"
)

func (a *app) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "play a recorded session through the gate: no client needed",
		Long: `demo plays a recorded session that is part of this program through the real
gate, as hookctl replay does: two background agents that would stop while their
own shells still run. Nothing of it stays behind.`,
		Example: `  hookctl demo`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			rec, err := replay.Demo()
			if err != nil {
				return err
			}
			a.screen().Text("", "", "Agent A and agent B run in the background. Each starts a shell of its own and ends its turn while the shell still runs; "+
				"the coordinator has one too. Without the gate each agent would report before its result is there. "+
				"The gate finds out whose task is whose, blocks each agent once for its own, and for nobody else's.", view.Normal)
			a.screen().Line()
			return a.play(rec, replay.Options{})
		},
	}
}
