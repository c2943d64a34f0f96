package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"stopgate/pkg/version"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Long: `version prints which stopgate this is: its version, where they are known the commit
that it was built from and that commit's time, the release of Go that built it, and
the system that it is for.`,
		Example: `  hookctl version`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.h.Stdout, a.name, version.This())
			return err
		},
	}
}
