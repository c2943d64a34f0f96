package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stopgate/pkg/span"
)

// noArgs takes no arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, and was given %q", cmd.Name(), args[0])
	}
	return nil
}

// needs takes at least one argument, and at most so many; what says which.
func needs(what string, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 || slices.Contains(args, ""):
			return fmt.Errorf("%s needs %s", cmd.Name(), what)
		case len(args) > most:
			return fmt.Errorf("%s takes one argument, and was given %q too", cmd.Name(), args[most])
		}
		return nil
	}
}

// any number of arguments.
const many = 1 << 30

// spanFlag adds a flag that takes a duration of at least min, which is also what it
// is where it is not given, unless def says otherwise.
func spanFlag(flags *pflag.FlagSet, d *time.Duration, name string, def, least time.Duration, usage string) {
	*d = def
	flags.Var(&spanValue{d, least}, name, usage)
}

type spanValue struct {
	d     *time.Duration
	least time.Duration
}

// String implements pflag.Value; it is what help shows as the default.
func (v *spanValue) String() string {
	if v.d == nil || *v.d == 0 {
		return ""
	}
	return span.Text(*v.d)
}

// Type implements pflag.Value.
func (v *spanValue) Type() string { return "duration" }

// Set implements pflag.Value.
func (v *spanValue) Set(text string) error {
	d, err := span.Parse(text)
	if err == nil && d < v.least {
		err = errors.New("too short")
	}
	if err == nil {
		*v.d = d
	}
	return err
}
