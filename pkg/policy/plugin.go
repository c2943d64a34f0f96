package policy

import (
	"slices"
	"strconv"
	"time"

	"stopgate/pkg/span"
)

// EnvPatience is where the client puts what a person chose as the plugin's patience;
// it is set for hooks of the plugin alone, and only where something was chosen
// (docs/client.md: plugins).
const EnvPatience = "CLAUDE_PLUGIN_OPTION_PATIENCE"

// Configured are a command line's arguments with what a person chose for the plugin in
// place of what its hooks.json says: a duration, or a number of minutes. A choice that
// cannot be meant, or a mode without patience, changes nothing.
func Configured(args []string, env func(name string) string) []string {
	chosen := env(EnvPatience)
	if chosen == "" || len(args) == 0 || args[0] != Gate && args[0] != Lead {
		return args
	}
	d, err := span.Parse(chosen)
	if minutes, notNumber := strconv.Atoi(chosen); notNumber == nil {
		d, err = time.Duration(min(max(minutes, -1), int(MaxHold/time.Minute)+1))*time.Minute, nil
	}
	if err != nil || d < 0 || d > MaxHold {
		return args
	}
	return append(slices.Clone(args), "--patience", d.String()) // the last one counts
}
