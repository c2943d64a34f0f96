package timeline

import (
	"fmt"
	"strings"
	"time"

	"stopgate/pkg/gate"
)

// steps are the distances that ticks may have.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
}

// ticks are round times on the axis, about so many.
func ticks(from, until time.Time, about int) []Tick {
	whole := until.Sub(from)
	if whole <= 0 {
		return nil
	}
	step := steps[len(steps)-1]
	for _, s := range steps {
		if whole/s <= time.Duration(about) {
			step = s
			break
		}
	}
	form := "15:04:05"
	if step >= time.Minute {
		form = "15:04"
	}
	if step >= 24*time.Hour {
		form = "2 Jan"
	}
	_, offset := from.Zone() // round where people live, not in UTC
	shift := time.Duration(offset) * time.Second
	at := from.Add(shift).Truncate(step).Add(-shift)
	var out []Tick
	for ; !at.After(until); at = at.Add(step) {
		if !at.Before(from) {
			out = append(out, Tick{X: float64(at.Sub(from)) / float64(whole), Label: at.Format(form)})
		}
	}
	return out
}

// span is a duration as people read it, with tenths below ten seconds.
func span(d time.Duration) string {
	d = max(0, d)
	if d < 10*time.Second {
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", d.Seconds()), "0"), ".") + "s"
	}
	return gate.Span(d)
}
