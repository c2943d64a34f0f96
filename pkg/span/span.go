// Package span reads and writes durations as people do, everywhere the same: on the
// command lines of both programs, in the environment and in a plugin's options.
package span

import (
	"errors"
	"math"
	"strings"
	"time"
)

// ErrSyntax is returned by [Parse] for what is no duration.
var ErrSyntax = errors.New("not a duration like 30s, 5m, 1h30m or 2d")

// Parse reads a duration of Go's, such as "90s" or "1h30m", with days before it or
// alone, as in "2d" or "1d12h". One that is longer than Go can count is the longest.
func Parse(text string) (time.Duration, error) {
	rest, negative := strings.CutPrefix(text, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	var d time.Duration
	days, below, hasDays := strings.Cut(rest, "d")
	if hasDays {
		hours, err := time.ParseDuration(days + "h")
		if err != nil || signed(days) {
			return 0, ErrSyntax
		}
		d, rest = 24*min(hours, math.MaxInt64/24), below
	}
	if rest != "" || !hasDays {
		more, err := time.ParseDuration(rest)
		if err != nil || signed(rest) {
			return 0, ErrSyntax
		}
		d += min(more, math.MaxInt64-d)
	}
	if negative {
		d = -d
	}
	return d, nil
}

func signed(text string) bool { return strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") }

// Text writes a duration as a person would, and as [Parse] reads it: 10m, not 10m0s.
func Text(d time.Duration) string {
	text := d.String()
	if rest, ok := strings.CutSuffix(text, "m0s"); ok {
		text = rest + "m"
	}
	if rest, ok := strings.CutSuffix(text, "h0m"); ok {
		text = rest + "h"
	}
	return text
}
