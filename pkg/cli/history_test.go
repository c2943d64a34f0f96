package cli

import (
	"context"
	"fmt"
	"time"

	"stopgate/pkg/history"
	"stopgate/pkg/state"
)

// remember notes what happened to a command: PROJECT COMMAND WHAT [DURATION].
func remember(now time.Time, folder string, args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("remember %q", args)
	}
	what := map[string]history.What{"ended": history.Ended, "failed": history.Failed, "left": history.Left, "served": history.Served}[args[2]]
	n := history.Note{Project: args[0], Command: args[1], What: what}
	if len(args) > 3 {
		var err error
		if n.Took, err = time.ParseDuration(args[3]); err != nil {
			return err
		}
	}
	return history.Record(context.Background(), state.At(folder), now, n)
}
