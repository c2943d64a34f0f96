package otlp

import (
	"encoding/hex"
	"time"
)

// ID is the id of a trace (16 bytes) or of a span (8); empty for none.
type ID []byte

// MarshalText writes the id as OTLP/JSON has it: in hexadecimal digits.
func (id ID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = hex.AppendDecode(nil, text)
	return err
}

// Nanos is a time as the protocol counts it; 0 is none.
type Nanos uint64

// At is a time in the protocol's count. What it cannot hold is 0, which is none.
func At(t time.Time) Nanos {
	if y := t.Year(); t.IsZero() || y < 1971 || y > 2200 {
		return 0
	}
	return Nanos(t.UnixNano()) //nolint:gosec // after 1971
}

// Time is the same as a time.
func (n Nanos) Time() time.Time { return time.Unix(0, int64(n)) } //nolint:gosec // before 2200

// KeyValue is one attribute.
type KeyValue struct {
	Key   string   `json:"key"   pb:"1"`
	Value AnyValue `json:"value" pb:"2"`
}

// AnyValue is the value of an attribute: the one of its fields that is not nil.
type AnyValue struct {
	String *string     `json:"stringValue,omitempty"     pb:"1"`
	Bool   *bool       `json:"boolValue,omitempty"       pb:"2"`
	Int    *int64      `json:"intValue,omitempty,string" pb:"3"`
	Double *float64    `json:"doubleValue,omitempty"     pb:"4"`
	Array  *ArrayValue `json:"arrayValue,omitempty"      pb:"5"`
}

// ArrayValue is a list as a value.
type ArrayValue struct {
	Values []AnyValue `json:"values" pb:"1"`
}

// String, Int, Double, Bool and List are attributes.
func String(key, value string) KeyValue { return KeyValue{key, AnyValue{String: &value}} }

// Int is an attribute that is a whole number.
func Int(key string, value int64) KeyValue { return KeyValue{key, AnyValue{Int: &value}} }

// Double is an attribute that is a number.
func Double(key string, value float64) KeyValue { return KeyValue{key, AnyValue{Double: &value}} }

// Bool is an attribute that is true or false.
func Bool(key string, value bool) KeyValue { return KeyValue{key, AnyValue{Bool: &value}} }

// Resource is what records come from.
type Resource struct {
	Attributes []KeyValue `json:"attributes" pb:"1"`
}

// Scope is what part of a program made them.
type Scope struct {
	Name    string `json:"name"              pb:"1"`
	Version string `json:"version,omitempty" pb:"2"`
}

// Traces are spans as one request, and as one line of a file.
type Traces struct {
	Resources []ResourceSpans `json:"resourceSpans" pb:"1"`
}

// ResourceSpans are the spans of one resource.
type ResourceSpans struct {
	Resource Resource     `json:"resource"            pb:"1"`
	Scopes   []ScopeSpans `json:"scopeSpans"          pb:"2"`
	Schema   string       `json:"schemaUrl,omitempty" pb:"3"`
}

// ScopeSpans are the spans of one scope.
type ScopeSpans struct {
	Scope Scope  `json:"scope" pb:"1"`
	Spans []Span `json:"spans" pb:"2"`
}

// Span is one stretch of work.
type Span struct {
	TraceID    ID         `json:"traceId"                pb:"1"`
	SpanID     ID         `json:"spanId"                 pb:"2"`
	ParentID   ID         `json:"parentSpanId,omitempty" pb:"4"`
	Name       string     `json:"name"                   pb:"5"`
	Kind       int32      `json:"kind"                   pb:"6"`
	Start      Nanos      `json:"startTimeUnixNano,string" pb:"7"`
	End        Nanos      `json:"endTimeUnixNano,string" pb:"8"`
	Attributes []KeyValue `json:"attributes,omitempty"   pb:"9"`
	Links      []Link     `json:"links,omitempty"        pb:"13"`
	Status     *Status    `json:"status,omitempty"       pb:"15"`
}

// KindInternal is the kind of a span that neither calls nor is called.
const KindInternal = 1

// Link leads from a span to another.
type Link struct {
	TraceID    ID         `json:"traceId"              pb:"1"`
	SpanID     ID         `json:"spanId"               pb:"2"`
	Attributes []KeyValue `json:"attributes,omitempty" pb:"4"`
}

// Status is how a span ended.
type Status struct {
	Message string `json:"message,omitempty" pb:"2"`
	Code    int32  `json:"code"              pb:"3"`
}

// StatusError is the code of what went wrong.
const StatusError = 2

// Logs are log records as one request, and as one line of a file.
type Logs struct {
	Resources []ResourceLogs `json:"resourceLogs" pb:"1"`
}

// ResourceLogs are the records of one resource.
type ResourceLogs struct {
	Resource Resource    `json:"resource"            pb:"1"`
	Scopes   []ScopeLogs `json:"scopeLogs"           pb:"2"`
	Schema   string      `json:"schemaUrl,omitempty" pb:"3"`
}

// ScopeLogs are the records of one scope.
type ScopeLogs struct {
	Scope   Scope    `json:"scope"      pb:"1"`
	Records []Record `json:"logRecords" pb:"2"`
}

// Record is one log record.
type Record struct {
	Time         Nanos      `json:"timeUnixNano,string"   pb:"1"`
	Severity     int32      `json:"severityNumber"        pb:"2"`
	SeverityText string     `json:"severityText"          pb:"3"`
	Body         AnyValue   `json:"body"                  pb:"5"`
	Attributes   []KeyValue `json:"attributes,omitempty"  pb:"6"`
	TraceID      ID         `json:"traceId,omitempty"     pb:"9"`
	SpanID       ID         `json:"spanId,omitempty"      pb:"10"`
	Observed     Nanos      `json:"observedTimeUnixNano,string" pb:"11"`
	Event        string     `json:"eventName,omitempty"   pb:"12"`
}

// Severities.
const (
	SeverityInfo = 9
	SeverityWarn = 13
)

// Metrics are metrics as one request, and as one line of a file.
type Metrics struct {
	Resources []ResourceMetrics `json:"resourceMetrics" pb:"1"`
}

// ResourceMetrics are the metrics of one resource.
type ResourceMetrics struct {
	Resource Resource       `json:"resource"            pb:"1"`
	Scopes   []ScopeMetrics `json:"scopeMetrics"        pb:"2"`
	Schema   string         `json:"schemaUrl,omitempty" pb:"3"`
}

// ScopeMetrics are the metrics of one scope.
type ScopeMetrics struct {
	Scope   Scope    `json:"scope"   pb:"1"`
	Metrics []Metric `json:"metrics" pb:"2"`
}

// Metric is one metric: a sum or a histogram.
type Metric struct {
	Name        string     `json:"name"                pb:"1"`
	Description string     `json:"description"         pb:"2"`
	Unit        string     `json:"unit"                pb:"3"`
	Sum         *Sum       `json:"sum,omitempty"       pb:"7"`
	Histogram   *Histogram `json:"histogram,omitempty" pb:"9"`
}

// Cumulative is the temporality of points that tell all since the beginning.
const Cumulative = 2

// Sum is a counter.
type Sum struct {
	Points      []Number `json:"dataPoints"             pb:"1"`
	Temporality int32    `json:"aggregationTemporality" pb:"2"`
	Monotonic   bool     `json:"isMonotonic"            pb:"3"`
}

// Number is a point of a counter.
type Number struct {
	Start      Nanos      `json:"startTimeUnixNano,string" pb:"2"`
	Time       Nanos      `json:"timeUnixNano,string"      pb:"3"`
	Int        *int64     `json:"asInt,string"             pb:"6,fixed"`
	Attributes []KeyValue `json:"attributes,omitempty"     pb:"7"`
}

// Histogram is a distribution.
type Histogram struct {
	Points      []Distribution `json:"dataPoints"             pb:"1"`
	Temporality int32          `json:"aggregationTemporality" pb:"2"`
}

// Distribution is a point of a histogram. Counts has one more than Bounds.
type Distribution struct {
	Start      Nanos      `json:"startTimeUnixNano,string" pb:"2"`
	Time       Nanos      `json:"timeUnixNano,string"      pb:"3"`
	Count      Nanos      `json:"count,string"             pb:"4"`
	Sum        *float64   `json:"sum,omitempty"            pb:"5"`
	Counts     []Count    `json:"bucketCounts"             pb:"6"`
	Bounds     []float64  `json:"explicitBounds"           pb:"7"`
	Attributes []KeyValue `json:"attributes,omitempty"     pb:"9"`
}

// Len counts the spans of a message.
func (t *Traces) Len() int {
	n := 0
	for _, r := range t.Resources {
		for _, s := range r.Scopes {
			n += len(s.Spans)
		}
	}
	return n
}

// Len counts the records of a message.
func (l *Logs) Len() int {
	n := 0
	for _, r := range l.Resources {
		for _, s := range r.Scopes {
			n += len(s.Records)
		}
	}
	return n
}

// Halves are two messages that together say what one of a single resource and scope
// says; ok is false for one of a single item.
func Halves(message any) (first, second any, ok bool) {
	switch m := message.(type) {
	case *Traces:
		a, b, ok := halved(m.Resources[0].Scopes[0].Spans)
		with := func(spans []Span) *Traces {
			r := m.Resources[0]
			r.Scopes = []ScopeSpans{{r.Scopes[0].Scope, spans}}
			return &Traces{[]ResourceSpans{r}}
		}
		return with(a), with(b), ok
	case *Logs:
		a, b, ok := halved(m.Resources[0].Scopes[0].Records)
		with := func(records []Record) *Logs {
			r := m.Resources[0]
			r.Scopes = []ScopeLogs{{r.Scopes[0].Scope, records}}
			return &Logs{[]ResourceLogs{r}}
		}
		return with(a), with(b), ok
	case *Metrics:
		a, b, ok := halved(m.Resources[0].Scopes[0].Metrics)
		with := func(metrics []Metric) *Metrics {
			r := m.Resources[0]
			r.Scopes = []ScopeMetrics{{r.Scopes[0].Scope, metrics}}
			return &Metrics{[]ResourceMetrics{r}}
		}
		return with(a), with(b), ok
	}
	return nil, nil, false
}

func halved[T any](all []T) (first, second []T, ok bool) {
	return all[:len(all)/2], all[len(all)/2:], len(all) > 1
}
