package export

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/otlp"
	"stopgate/pkg/telemetry"
)

// maxSeries bounds the sums; what comes beyond is kept under one name, as the
// OpenTelemetry specification has it.
const maxSeries = 2000

// pointGap is the least time between two points of a series: engines count in
// milliseconds, and of two points of one they keep either.
const pointGap = 10 * time.Millisecond

const attrOverflow = "otel.metric.overflow"

// sum is one sum of a metric, since the cursor began. Sums are cumulative, so that a
// point that is sent twice, or lost, is no matter to what is counted.
type sum struct {
	Metric     string          `json:"metric"`
	Attributes []otlp.KeyValue `json:"attributes,omitempty"`
	// Count is how many values were added, Total what they make.
	Count uint64  `json:"count"`
	Total float64 `json:"total"`
	// Buckets count the values by the metric's bounds.
	Buckets []otlp.Count `json:"buckets,omitempty"`
	// Told tells that a point was sent before; a series begins with a point of zero.
	Told bool `json:"told,omitempty"`
}

// add adds what was measured.
func (c *cursor) add(measures []telemetry.Measure) {
	for _, m := range measures {
		attrs := slices.Clone(m.Attributes)
		slices.SortFunc(attrs, func(a, b otlp.KeyValue) int { return strings.Compare(a.Key, b.Key) })
		key := seriesKey(m.Metric.Name, attrs)
		if c.Sums[key] == nil && len(c.Sums) >= maxSeries {
			attrs = []otlp.KeyValue{otlp.Bool(attrOverflow, true)}
			key = seriesKey(m.Metric.Name, attrs)
		}
		s := c.Sums[key]
		if s == nil {
			s = &sum{Metric: m.Metric.Name, Attributes: attrs}
			c.Sums[key] = s
		}
		s.Count++
		s.Total += m.Value
		if n := len(m.Metric.Bounds); n > 0 {
			if len(s.Buckets) != n+1 {
				s.Buckets = make([]otlp.Count, n+1)
			}
			at, _ := slices.BinarySearch(m.Metric.Bounds, m.Value) // a bound belongs to the bucket below it
			s.Buckets[at]++
		}
	}
}

func seriesKey(metric string, attrs []otlp.KeyValue) string {
	data, err := json.Marshal(attrs)
	if err != nil {
		return metric // of words and numbers it does not fail
	}
	return metric + string(data)
}

// points are all sums as of now, and marks the series as told.
func (c *cursor) points(now time.Time) []otlp.Metric {
	if earliest := c.Last.Add(pointGap); now.Before(earliest) {
		now = earliest // the clock was set back, or it is the same moment
	}
	keys := slices.Sorted(maps.Keys(c.Sums))
	var out []otlp.Metric
	for _, m := range telemetry.Metrics {
		metric := otlp.Metric{Name: m.Name, Unit: m.Unit, Description: m.Description}
		var numbers []otlp.Number
		var distributions []otlp.Distribution
		for _, key := range keys {
			s := c.Sums[key]
			if s.Metric != m.Name {
				continue
			}
			if m.Bounds == nil {
				numbers = append(numbers, s.numbers(c.Begun, c.Last, now)...)
			} else {
				distributions = append(distributions, s.distributions(m.Bounds, c.Begun, c.Last, now)...)
			}
			s.Told = true
		}
		switch {
		case numbers != nil:
			metric.Sum = &otlp.Sum{Points: numbers, Temporality: otlp.Cumulative, Monotonic: true}
		case distributions != nil:
			metric.Histogram = &otlp.Histogram{Points: distributions, Temporality: otlp.Cumulative}
		default:
			continue
		}
		out = append(out, metric)
	}
	c.Last = now
	return out
}

func (s *sum) numbers(begun, last, now time.Time) []otlp.Number {
	value, zero := int64(s.Total), int64(0)
	point := otlp.Number{Start: otlp.At(begun), Time: otlp.At(now), Int: &value, Attributes: s.Attributes}
	if s.Told {
		return []otlp.Number{point}
	}
	first := point
	first.Time, first.Int = otlp.At(last), &zero
	return []otlp.Number{first, point}
}

func (s *sum) distributions(bounds []float64, begun, last, now time.Time) []otlp.Distribution {
	total, zero := s.Total, 0.0
	point := otlp.Distribution{
		Start: otlp.At(begun), Time: otlp.At(now), Count: otlp.Nanos(s.Count), Sum: &total,
		Counts: slices.Clone(s.Buckets), Bounds: bounds, Attributes: s.Attributes,
	}
	if s.Told {
		return []otlp.Distribution{point}
	}
	first := point
	first.Time, first.Count, first.Sum, first.Counts = otlp.At(last), 0, &zero, make([]otlp.Count, len(s.Buckets))
	return []otlp.Distribution{first, point}
}
