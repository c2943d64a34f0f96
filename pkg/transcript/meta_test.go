package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
)

func TestMetaFiles(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, content string
		want          AgentMeta
	}{
		{"a child", `{"agentType":"general-purpose","description":"child","toolUseId":"t","spawnDepth":2,"parentAgentId":"a7"}`, AgentMeta{AgentType: "general-purpose", Description: "child", ParentAgentID: "a7", ToolUseID: "t"}},
		{"a teammate", `{"agentType":"ping","name":"ping","taskKind":"in_process_teammate","teamName":"crew","color":"blue","isFork":false}`, AgentMeta{AgentType: "ping", Name: "ping", Teammate: true, TeamName: "crew", Color: "blue"}},
		{"every key of another type", `{"agentType":7,"description":null,"name":[],"parentAgentId":{"x":1},"taskKind":true}`, AgentMeta{}},
		{"nothing", `{}`, AgentMeta{}},
		{"empty", ``, AgentMeta{}},
		{"an array", `[{"parentAgentId":"a7"}]`, AgentMeta{}},
		{"half written", `{"agentType":"gen`, AgentMeta{}},
		{"a parent quoted in a description", `{"description":"\"parentAgentId\":\"a7\""}`, AgentMeta{Description: `"parentAgentId":"a7"`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "agent-a1.jsonl")
			if err := os.WriteFile(MetaPath(path), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadMeta(host.Files{}, path)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestWhereAgentsLie(t *testing.T) {
	t.Parallel()
	dir := AgentsDir(filepath.Join("p", "s.jsonl"))
	if want := filepath.Join("p", "s", "subagents"); dir != want {
		t.Errorf("folder %q, want %q", dir, want)
	}
	if AgentsDir("") != "" {
		t.Error("a session without a transcript has agents")
	}
	for _, id := range []string{"", "../../x", "a/b", `a\b`, "a.b", "a@b", "a b", "a\x00", "é", strings.Repeat("a", 129)} {
		if path := AgentPath(dir, id); path != "" {
			t.Errorf("%.20q became the path %q", id, path)
		}
	}
	for _, id := range []string{"a8b740b", "af40843b4cd16fa52", "agent-abc123", "aping-0a1b"} {
		path := AgentPath(dir, id)
		if AgentOf(path) != id || filepath.Dir(path) != dir {
			t.Errorf("%q became %q", id, path)
		}
	}
	for path, want := range map[string]string{"": "", "x.jsonl": "", "agent-a1.meta.json": "", "p/agent-a1.jsonl": "a1", "agent-.jsonl": ""} {
		if got := AgentOf(path); got != want {
			t.Errorf("AgentOf(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestListingAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var want []string
	for _, name := range []string{"agent-a1.jsonl", "agent-a2.jsonl", "workflows/wf_1/agent-w1.jsonl", "workflows/wf_2/agent-w2.jsonl"} {
		want = append(want, filepath.Join(dir, filepath.FromSlash(name)))
	}
	for _, path := range append(want, filepath.Join(dir, "agent-a1.meta.json"), filepath.Join(dir, "other", "agent-x.jsonl"), filepath.Join(dir, "notes.txt")) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := Agents(host.Files{}, dir)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := Agents(host.Files{}, filepath.Join(dir, "missing")); got != nil {
		t.Errorf("a missing folder has %q", got)
	}
}

// The last text of the agent tells that its file is caught up.
func TestCaughtUp(t *testing.T) {
	t.Parallel()
	text := func(s string) string {
		return `{"type":"assistant","message":{"content":[{"type":"text","text":` + quote(s) + `}]}}` + "\n"
	}
	tool := `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}` + "\n"
	cases := []struct {
		name, content string
		want          bool
	}{
		{"its last line", text("before") + text("done"), true},
		{"with other lines behind", text("done") + strings.Repeat(`{"type":"attachment"}`+"\n", 30), true},
		{"with space around", text("  done\n\n"), true},
		{"in two blocks", `{"type":"assistant","message":{"content":[{"type":"text","text":"all"},{"type":"text","text":"done"}]}}` + "\n", false},
		{"another text", text("done") + text("more"), false},
		{"before a long file of other lines", text("done") + strings.Repeat(`{"type":"attachment","x":"`+strings.Repeat("y", 999)+`"}`+"\n", 300), true},
		{"before more than is looked at", text("done") + strings.Repeat(`{"type":"attachment","x":"`+strings.Repeat("y", 999)+`"}`+"\n", 2000), false},
		{"partial", strings.TrimSuffix(text("done"), "\"}]}}\n"), false},
		{"without its line end", strings.TrimSuffix(text("done"), "\n"), false},
		{"only a tool call so far", tool, false},
		{"empty", "", false},
		{"said by the user", `{"type":"user","message":{"content":[{"type":"text","text":"done \"assistant\""}]}}` + "\n", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := CaughtUp(host.Files{}, write(t, c.content), "done", time.Time{}); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func FuzzMeta(f *testing.F) {
	f.Add([]byte(`{"agentType":"x","parentAgentId":"a7"}`))
	f.Add([]byte(`{"a":{"b":[`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "agent-a1.jsonl")
		if err := os.WriteFile(MetaPath(path), data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = ReadMeta(host.Files{}, path)
	})
}

func FuzzAgentPath(f *testing.F) {
	for _, id := range []string{"a8b740b", "../../x", "a@b", "", "agent-abc123", "aping-0a"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		path := AgentPath(filepath.Join("p", "subagents"), id)
		if path != "" && (filepath.Dir(path) != filepath.Join("p", "subagents") || AgentOf(path) != id) {
			t.Errorf("%q became %q", id, path)
		}
	})
}

// A monitor's launch tells no path; its output lies beside the others'.
func TestAnOutputBesideAnothers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"m1.output", "b1.output"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known := map[string]Launch{
		"b1": {Task: "b1", Output: filepath.Join(dir, "b1.output")},
		"b2": {Task: "b2", Output: filepath.Join(dir, "elsewhere")},
		"m1": {Task: "m1"},
	}
	for task, want := range map[string]string{
		"m1": filepath.Join(dir, "m1.output"), "m2": "", "../m1": "", "": "",
	} {
		if got := OutputBeside(host.Files{}, known, task); got != want {
			t.Errorf("%q: %q, want %q", task, got, want)
		}
	}
}
