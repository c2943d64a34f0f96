package telemetry

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// The dashboard asks for what is sent, by the names that engines give it, and nothing
// is on it that the suite with the engines does not ask for too.
func TestTheDashboardAsksForWhatIsSent(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/telemetry/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	suite, err := os.ReadFile("../../fleet/fleet_test.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range Metrics {
		name := strings.ReplaceAll(m.Name, ".", "_")
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			names[name+"_seconds"+suffix] = m.Bounds != nil
		}
		names[name+"_total"] = m.Bounds == nil
	}
	source, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`= "((?:stopgate|session|log)\.[a-z_.]+)"`).FindAllStringSubmatch(string(source), -1) {
		names[m[1]], names[strings.ReplaceAll(m[1], ".", "_")] = true, true
	}
	var queries []string
	for _, panel := range gjson.GetBytes(data, "panels").Array() {
		if !strings.Contains(string(suite), `"`+panel.Get("title").Str+`"`) {
			t.Errorf("%q is not asked for by the suite with the engines", panel.Get("title").Str)
		}
		for _, target := range panel.Get("targets").Array() {
			queries = append(queries, target.Get("expr").Str)
			for _, label := range regexp.MustCompile(`{{([a-z_]+)}}`).FindAllStringSubmatch(target.Get("legendFormat").Str, -1) {
				if !strings.Contains(target.Get("expr").Str, label[1]) {
					t.Errorf("%q shows %s, which its query does not give", panel.Get("title").Str, label[1])
				}
			}
		}
	}
	for _, v := range gjson.GetBytes(data, `templating.list.#(type=="query")#.query`).Array() {
		queries = append(queries, v.Str)
	}
	if len(queries) < 15 {
		t.Errorf("%d queries", len(queries))
	}
	for _, query := range queries {
		for _, name := range regexp.MustCompile(`\b(?:stopgate[_.]|session\.|log\.)[a-z_.]+[a-z]`).FindAllString(query, -1) {
			if !names[name] {
				t.Errorf("%s is never sent, in %s", name, query)
			}
		}
	}
}
