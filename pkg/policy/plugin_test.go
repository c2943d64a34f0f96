package policy

import (
	"testing"
	"time"
)

// What a person chose for the plugin takes the place of what its entry says, and
// nothing that they write can make a command line that is not understood.
func TestConfigured(t *testing.T) {
	t.Parallel()
	entry := []string{Gate, "--hold", "9m30s", "--patience", "1h"}
	for name, c := range map[string]struct {
		args   []string
		chosen string
		want   time.Duration
	}{
		"nothing was chosen":    {entry, "", time.Hour},
		"a duration":            {entry, "25m", 25 * time.Minute},
		"a number of minutes":   {entry, "90", 90 * time.Minute},
		"none":                  {entry, "0", 0},
		"the coordinator's":     {[]string{Lead, "--patience", "1h"}, "2h", 2 * time.Hour},
		"words":                 {entry, "a while", time.Hour},
		"less than nothing":     {entry, "-1m", time.Hour},
		"minutes before now":    {entry, "-5", time.Hour},
		"more than a day":       {entry, "25h", time.Hour},
		"too many minutes":      {entry, "9223372036854775807", time.Hour},
		"a flag":                {entry, "--observe", time.Hour},
		"an entry that records": {[]string{}, "25m", DefaultPatience},
		"a courier has none":    {[]string{Courier, "--for", "2h"}, "25m", DefaultPatience},
	} {
		p, err := Parse(Configured(c.args, func(name string) string {
			if name == EnvPatience {
				return c.chosen
			}
			return ""
		}))
		if err != nil || p.Patience != c.want {
			t.Errorf("%s: %s, want %s, %v", name, p.Patience, c.want, err)
		}
	}
}
