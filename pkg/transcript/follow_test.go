package transcript

import (
	"slices"
	"strings"
	"testing"

	"stopgate/pkg/host"
)

// A cursor in the middle gives what stands behind it, whole lines only, and goes
// on like any other.
func TestACursorInTheMiddle(t *testing.T) {
	t.Parallel()
	line := func(to string) string {
		return `{"type":"assistant","agentId":"` + agent + `","message":{"content":[{"type":"tool_use","id":"` + to + `","name":"SendMessage","input":{"to":"` + to + `"}}]}}` + "\n"
	}
	one, two, three := line("one"), line("two"), line("three")
	long := strings.Repeat("x", 3*chunk) + "\n"
	for name, test := range map[string]struct {
		text   string
		offset int64
		want   []string
	}{
		"at the start":         {one + two, 0, []string{"one", "two"}},
		"in the first line":    {one + two, 5, []string{"one", "two"}},
		"behind it":            {one + two, int64(len(one)), []string{"two"}},
		"in the second line":   {one + two + three, int64(len(one)) + 9, []string{"two", "three"}},
		"at the end":           {one + two, int64(len(one + two)), nil},
		"behind the end":       {one + two, 1 << 40, nil},
		"before the start":     {one + two, -1, []string{"one", "two"}},
		"in a half line":       {one + two[:20], int64(len(one)) + 10, nil},
		"far into a long line": {one + long + two, int64(len(one) + len(long) - 2), []string{"two"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, test.text)
			from, err := CursorAt(host.Files{}, path, test.offset)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Scan(t.Context(), host.Files{}, Source{Path: path, Owner: agent}, from)
			if err != nil {
				t.Fatal(err)
			}
			var to []string
			for _, m := range b.Messages {
				to = append(to, m.To)
			}
			if !slices.Equal(to, test.want) {
				t.Errorf("%v, want %v", to, test.want)
			}
			if int64(len(test.text)) > test.offset+chunk && b.Read > int64(len(test.text))-test.offset {
				t.Errorf("%d bytes read", b.Read)
			}
		})
	}
}
