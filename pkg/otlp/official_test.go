package otlp

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	collogs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

var (
	at    = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	trace = bytes.Repeat([]byte{0xab}, 16)
	span  = bytes.Repeat([]byte{0x1f}, 8)
	attrs = []KeyValue{String("s", "text <&>"), String("empty", ""), Int("i", -7), Int("zero", 0), Double("d", 1.5), Bool("b", false), words("l", "a", "b")}
)

// examples are messages with every field set.
func examples() []struct {
	name     string
	message  any
	official proto.Message
} {
	seven, half := int64(-7), 0.5
	from := Resource{attrs}
	return []struct {
		name     string
		message  any
		official proto.Message
	}{
		{"traces", &Traces{[]ResourceSpans{{from, []ScopeSpans{{Scope{"stopgate", "1"}, []Span{{
			TraceID: trace, SpanID: span, ParentID: span, Name: "stop", Kind: KindInternal, Start: At(at), End: At(at.Add(time.Second)),
			Attributes: attrs, Links: []Link{{trace, span, attrs}}, Status: &Status{"bad", StatusError},
		}}}}, "https://schema"}}}, &coltrace.ExportTraceServiceRequest{}},
		{"logs", &Logs{[]ResourceLogs{{from, []ScopeLogs{{Scope{Name: "stopgate"}, []Record{{
			Time: At(at), Severity: SeverityWarn, SeverityText: "WARN", Body: attrs[0].Value, Attributes: attrs,
			TraceID: trace, SpanID: span, Observed: At(at), Event: "stopgate.stop",
		}}}}, "https://schema"}}}, &collogs.ExportLogsServiceRequest{}},
		{"metrics", &Metrics{[]ResourceMetrics{{from, []ScopeMetrics{{Scope{Name: "stopgate"}, []Metric{
			{Name: "n", Description: "d", Unit: "s", Sum: &Sum{[]Number{{At(at), At(at), &seven, attrs}}, Cumulative, true}},
			{Name: "h", Unit: "s", Histogram: &Histogram{[]Distribution{{At(at), At(at), 3, &half, []Count{1, 0, 2}, []float64{0.5, 1}, attrs}}, Cumulative}},
		}}}, "https://schema"}}}, &colmetrics.ExportMetricsServiceRequest{}},
	}
}

// The official types read the protobuf, and say by it, in their own JSON, what ours
// says.
func TestTheOfficialTypesReadIt(t *testing.T) {
	t.Parallel()
	for _, c := range examples() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := proto.Unmarshal(Protobuf(c.message), c.official); err != nil {
				t.Fatal(err)
			}
			if unknown := c.official.ProtoReflect().GetUnknown(); len(unknown) > 0 {
				t.Errorf("fields that nobody knows: %x", unknown)
			}
			theirs, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(c.official)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := JSON(c.message)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := plain(t, theirs), plain(t, ours); a != b {
				t.Errorf("theirs %s\nours   %s", a, b)
			}
		})
	}
}

// plain is JSON with sorted keys, without values that are the default, and with
// ids in one form.
func plain(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(simplify("", v))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func simplify(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if s := simplify(k, inner); s == nil {
				delete(v, k)
			} else {
				v[k] = s
			}
		}
	case []any:
		for i := range v {
			v[i] = simplify("", v[i])
		}
	case string:
		switch key {
		case "traceId", "spanId", "parentSpanId":
			return "an id" // base64 there, hexadecimal here, as OTLP/JSON wants it
		case "description":
			if v == "" {
				return nil
			}
		}
	}
	return v
}

// What OTLP/JSON has otherwise than protobuf's own JSON.
func TestTheFormOfJSON(t *testing.T) {
	t.Parallel()
	data, err := JSON(examples()[0].message)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"traceId":"abababababababababababababababab"`, `"spanId":"1f1f1f1f1f1f1f1f"`, `"startTimeUnixNano":"1767323045000000006"`, `"intValue":"-7"`, `"kind":1`, `text <&>`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("no %s in %s", want, data)
		}
	}
	var back Traces
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if again, _ := JSON(&back); !bytes.Equal(data, again) {
		t.Errorf("read and written it is %s", again)
	}
}

func TestTimesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, c := range []time.Time{{}, time.Unix(0, 0), time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(-1<<60, 0)} {
		if At(c) != 0 {
			t.Errorf("%v is %d", c, At(c))
		}
	}
	if !At(at).Time().Equal(at) {
		t.Error("a time is another one")
	}
}

// words is an attribute that is a list of words.
func words(key string, values ...string) KeyValue {
	array := &ArrayValue{}
	for _, v := range values {
		array.Values = append(array.Values, AnyValue{String: &v})
	}
	return KeyValue{key, AnyValue{Array: array}}
}
