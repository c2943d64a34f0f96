package export

import (
	"testing"
	"time"

	"stopgate/pkg/otlp"
	"stopgate/pkg/telemetry"
)

func measures(code string) []telemetry.Measure {
	return []telemetry.Measure{{Metric: telemetry.Stops, Value: 1, Attributes: []otlp.KeyValue{otlp.String("code", code)}}}
}

// A series begins with a point of zero, so that its first value counts as growth.
func TestASeriesBeginsAtZero(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := newCursor(at)
	c.add(measures("a"))
	values := func(now time.Time) (out []int64, times []otlp.Nanos) {
		for _, p := range c.points(now)[0].Sum.Points {
			out, times = append(out, *p.Int), append(times, p.Time)
		}
		return out, times
	}
	got, times := values(at.Add(time.Second))
	if len(got) != 2 || got[0] != 0 || got[1] != 1 || times[0] != otlp.At(at) || times[1] != otlp.At(at.Add(time.Second)) {
		t.Errorf("%v at %v", got, times)
	}
	c.add(measures("a"))
	// The clock was set back: no point is older than the last.
	got, times = values(at.Add(-time.Hour))
	if len(got) != 1 || got[0] != 2 || times[0] != otlp.At(at.Add(time.Second+pointGap)) {
		t.Errorf("%v at %v", got, times)
	}
}

// Engines count in milliseconds, and of two points of one they keep either.
func TestTwoPointsOfOneMoment(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := newCursor(at)
	c.add(measures("a"))
	points := c.points(at.Add(time.Microsecond))[0].Sum.Points
	if gap := points[1].Time - points[0].Time; gap < otlp.Nanos(time.Millisecond) {
		t.Errorf("%d ns apart", gap)
	}
}

func TestWhichBucketAValueIsIn(t *testing.T) {
	t.Parallel()
	c := newCursor(time.Now())
	m := telemetry.Metric{Name: telemetry.Holds.Name, Bounds: []float64{1, 5}}
	for _, v := range []float64{0.5, 1, 1.1, 5, 6, 7} { // a bound belongs to the bucket below it
		c.add([]telemetry.Measure{{Metric: m, Value: v}})
	}
	for _, s := range c.Sums {
		if s.Buckets[0] != 2 || s.Buckets[1] != 2 || s.Buckets[2] != 2 || s.Count != 6 || s.Total != 20.6 {
			t.Errorf("%+v", s)
		}
	}
}
