package stats

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"stopgate/pkg/status"
)

// fields are the names of a type's JSON fields, those of embedded ones among them, and
// of the elements of lists.
func fields(of reflect.Type, into map[string]bool) {
	for of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.PkgPath() == "time" {
		return
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous {
			into[name] = true
		}
		fields(f.Type, into)
	}
}

// docs/telemetry.md says of each field of the JSON what it is, and of no other; its
// example is what is printed.
func TestTheDocumentedJSON(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "telemetry.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, doc, found := strings.Cut(string(data), "\n## The sums for a person\n")
	doc, _, _ = strings.Cut(doc, "\n## ")
	_, example, ok := strings.Cut(doc, "```json\n")
	example, _, _ = strings.Cut(example, "```\n")
	if !found || !ok {
		t.Fatal("docs/telemetry.md has no example of the JSON")
	}
	var printed bytes.Buffer
	if err := status.WriteJSON(&printed, sums()); err != nil {
		t.Fatal(err)
	}
	real := map[string]bool{}
	for line := range strings.SplitSeq(printed.String(), "\n") {
		real[strings.TrimRight(line, ",")] = true
	}
	for line := range strings.SplitSeq(example, "\n") {
		if !real[strings.TrimRight(line, ",")] {
			t.Errorf("not printed: %s", line)
		}
	}
	if !gjson.Valid(example) || len(gjson.Get(example, "commands").Array()) == 0 {
		t.Error("the example is no JSON with commands")
	}
	said := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| [a-z]").FindAllStringSubmatch(doc, -1) {
		said[row[1]] = true
	}
	has := map[string]bool{}
	fields(reflect.TypeFor[Stats](), has)
	for name := range has {
		if !said[name] {
			t.Errorf("%s is printed, and not documented", name)
		}
	}
	for name := range said {
		if !has[name] {
			t.Errorf("%s is documented, and never printed", name)
		}
	}
}
