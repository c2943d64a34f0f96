//go:build fleet

package fleet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// panel is one of the dashboard's.
type panel struct {
	title, kind, expr string
	logs              bool
}

// panels are those of docs/telemetry/dashboard.json.
func panels(t *testing.T) []panel {
	t.Helper()
	data, err := os.ReadFile("../docs/telemetry/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title, Type string
			Targets     []struct {
				Expr       string
				Datasource struct{ Type string }
			}
		}
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	var all []panel
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			all = append(all, panel{p.Title, p.Type, target.Expr, strings.Contains(target.Datasource.Type, "logs")})
		}
	}
	return all
}

// choices are the values of those variables of the dashboard that ask an engine for
// them, as label_values(metric, label).
func (e *engines) choices(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../docs/telemetry/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, v := range gjson.GetBytes(data, `templating.list.#(type=="query")#`).Array() {
		m := regexp.MustCompile(`^label_values\(([a-z_]+), ([a-z_]+)\)$`).FindStringSubmatch(v.Get("query").Str)
		if m == nil {
			t.Fatalf("%s asks otherwise: %s", v.Get("name").Str, v.Get("query").Str)
		}
		answer := get(t, e.metricsFrom+"/api/v1/label/"+m[2]+"/values?match[]="+m[1]+"&start="+strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10))
		var values []string
		for _, value := range gjson.GetBytes(answer, "data").Array() {
			values = append(values, value.Str)
		}
		out[v.Get("name").Str] = values
	}
	if len(out) != 1 {
		t.Errorf("%d variables ask", len(out))
	}
	return out
}

// ask runs a panel's query as the dashboard does for the last days, and gives the
// values by the labels behind one another.
func (e *engines) ask(t *testing.T, p panel) map[string]float64 {
	t.Helper()
	query := strings.NewReplacer("$__range", "7d", "$__rate_interval", "7d", "$host", ".*").Replace(p.expr)
	if p.logs {
		return e.askLogs(t, query)
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	data := get(t, e.metricsFrom+"/api/v1/query?nocache=1&query="+url.QueryEscape(query)+"&time="+strconv.FormatInt(time.Now().Unix()+2, 10))
	if err := json.Unmarshal(data, &answer); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, r := range answer.Data.Result {
		var labels []string
		for _, value := range r.Metric {
			labels = append(labels, value)
		}
		n, err := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.Join(labels, " ")] += n
	}
	return out
}

// askLogs gives the rows of a query by their fields in order, the number left out.
func (e *engines) askLogs(t *testing.T, query string) map[string]float64 {
	t.Helper()
	data := get(t, e.logsFrom+"/select/logsql/query?query="+url.QueryEscape(query))
	out := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var row map[string]string
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		n := 0.0
		var labels []string
		for _, name := range []string{"stopgate.stop.verdict", "stopgate.stop.code", "session.id", "event_name"} {
			if row[name] != "" {
				labels = append(labels, row[name])
			}
		}
		for _, name := range []string{"decisions", "blocks", "records", "kept"} {
			if row[name] != "" {
				n, _ = strconv.ParseFloat(row[name], 64)
			}
		}
		out[strings.Join(labels, " ")] = n
	}
	return out
}

// span is one as Jaeger's query service gives it.
type span struct {
	TraceID, SpanID, OperationName string
	References                     []struct{ RefType, SpanID string }
	StartTime, Duration            int64 // microseconds
	Tags                           []struct {
		Key   string
		Value any
	}
}

func (s span) parent() string {
	for _, r := range s.References {
		if r.RefType == "CHILD_OF" {
			return r.SpanID
		}
	}
	return ""
}

func (s span) tag(key string) string {
	for _, t := range s.Tags {
		if t.Key == key {
			return fmt.Sprint(t.Value)
		}
	}
	return ""
}

// trace asks Jaeger for a trace.
func (e *engines) trace(t *testing.T, id string) ([]span, error) {
	t.Helper()
	data, err := tryGet(t.Context(), e.tracesFrom+"/api/traces/"+id)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data []struct{ Spans []span }
	}
	if err := json.Unmarshal(data, &answer); err != nil || len(answer.Data) != 1 {
		return nil, fmt.Errorf("trace %s: %d of it, %w", id, len(answer.Data), err)
	}
	return answer.Data[0].Spans, nil
}
