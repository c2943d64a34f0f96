package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

func TestAgentsListedAgainAndAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := Lister{Dir: dir}
	old := time.Now().Add(-time.Hour)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"nothing", func() error { return nil }},
		{"an agent", func() error { return os.WriteFile(filepath.Join(dir, "agent-a1.jsonl"), nil, 0o600) }},
		{"nothing new", func() error { return nil }},
		{"no agent", func() error { return os.WriteFile(filepath.Join(dir, "agent-a1.meta.json"), nil, 0o600) }},
		{"a flow", func() error { return os.MkdirAll(filepath.Join(dir, "workflows", "wf_1"), 0o700) }},
		{"its agent", func() error {
			return os.WriteFile(filepath.Join(dir, "workflows", "wf_1", "agent-a2.jsonl"), nil, 0o600)
		}},
		{"its second agent", func() error {
			return os.WriteFile(filepath.Join(dir, "workflows", "wf_1", "agent-a3.jsonl"), nil, 0o600)
		}},
		{"one agent less", func() error { return os.Remove(filepath.Join(dir, "agent-a1.jsonl")) }},
		{"no flow", func() error { return os.RemoveAll(filepath.Join(dir, "workflows")) }},
		{"no folder", func() error { return os.RemoveAll(dir) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for _, again := range []string{"", ", again"} {
			if got, want := list.List(), Agents(host.Files{}, dir); !slices.Equal(got, want) {
				t.Errorf("%s%s: %q, want %q", step.name, again, got, want)
			}
		}
	}
	// A folder that has not changed for long is not read: even where it lies.
	dir = t.TempDir()
	list = Lister{Dir: dir}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "agent-a1.jsonl"), nil, 0o600), os.Chtimes(dir, old, old)); err != nil {
		t.Fatal(err)
	}
	first := list.List()
	if err := errors.Join(os.Remove(filepath.Join(dir, "agent-a1.jsonl")), os.Chtimes(dir, old, old)); err != nil {
		t.Fatal(err)
	}
	if again := list.List(); len(first) != 1 || !slices.Equal(first, again) {
		t.Errorf("%q, then %q", first, again)
	}
}

// A workflow's folder that has lain there without an agent for a while is looked at
// again when one comes.
func TestTheFirstAgentOfAWorkflowComesLate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flow := filepath.Join(dir, "workflows", "wf_1")
	old := time.Now().Add(-time.Hour)
	if err := os.MkdirAll(flow, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{flow, filepath.Dir(flow), dir} {
		if err := os.Chtimes(folder, old, old); err != nil {
			t.Fatal(err)
		}
	}
	list := Lister{Dir: dir}
	for range 3 {
		if got := list.List(); len(got) > 0 {
			t.Fatalf("%q", got)
		}
	}
	agent := filepath.Join(flow, "agent-a2.jsonl")
	if err := os.WriteFile(agent, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := list.List(); !slices.Equal(got, []string{agent}) {
		t.Errorf("%q", got)
	}
}
