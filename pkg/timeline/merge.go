package timeline

import (
	"slices"
	"time"
)

// maxSpans bounds the spans of a picture: beyond, the shortest are merged.
const maxSpans = 3000

// coarse is the shortest time below which spans must be merged for a picture to
// have at most maxSpans of them.
func coarse(lanes []Lane) time.Duration {
	var lengths []time.Duration
	for _, l := range lanes {
		for _, s := range l.Spans {
			lengths = append(lengths, s.Until.Sub(s.From))
		}
	}
	if len(lengths) <= maxSpans {
		return 0
	}
	slices.Sort(lengths)
	for limit := max(time.Second, lengths[len(lengths)-maxSpans]/4); ; limit *= 2 {
		n := 0
		for _, l := range lanes {
			n += len(coarser(l.Spans, limit))
		}
		if n <= maxSpans || limit > 24*time.Hour {
			return limit
		}
	}
}

// coarser merges spans that are shorter than a limit: a run of them becomes one
// span, of what took the longest of it. A hold is always drawn.
func coarser(spans []Phase, limit time.Duration) []Phase {
	if limit == 0 {
		return spans
	}
	out := make([]Phase, 0, len(spans))
	for i := 0; i < len(spans); {
		run := spans[i]
		took := map[Doing]time.Duration{run.Doing: run.Until.Sub(run.From)}
		i++
		for i < len(spans) && run.Doing != Held && spans[i].Doing != Held &&
			(run.Until.Sub(run.From) < limit || spans[i].Until.Sub(spans[i].From) < limit) {
			took[spans[i].Doing] += spans[i].Until.Sub(spans[i].From)
			run.Until, run.About = spans[i].Until, ""
			i++
		}
		for doing, d := range took {
			if d > took[run.Doing] || d == took[run.Doing] && doing < run.Doing {
				run.Doing = doing
			}
		}
		out = append(out, run)
	}
	return out
}
