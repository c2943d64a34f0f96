package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stopgate/pkg/host"
)

// Whose transcript is where: what lies there, what the event gives, and what is read.
func TestWhereAnAgentsTranscriptIs(t *testing.T) {
	t.Parallel()
	const (
		flat   = "s/subagents/agent-a1.jsonl"
		nested = "s/subagents/workflows/wf_2/agent-a1.jsonl"
		away   = "other/subagents/agent-a1.jsonl" // of a worktree
	)
	meta := func(path string) string { return strings.TrimSuffix(path, transcriptExt) + metaExt }
	rows := []struct {
		name  string
		there string // the files that are there; a>b is a link, a=b another name of one file
		id    string
		given string
		want  string
	}{
		{"given, as it always is", flat, "a1", flat, flat},
		{"given in another folder", away, "a1", away, away},
		{"given in another folder, and there is one in its place", away + " " + flat, "a1", away, away},
		{"given in another folder, with nothing but its meta file", meta(away), "a1", away, away},
		{"given, not there yet", "", "a1", away, away},
		{"given, not there, and there is one in its place", flat, "a1", away, flat},
		{"given, not there, and there is one below a workflow", nested, "a1", flat, nested},
		{"given under a name that says nothing", "odd.jsonl", "a1", "odd.jsonl", "odd.jsonl"},
		{"not given", flat, "a1", "", flat},
		{"not given, below a workflow", nested, "a1", "", nested},
		{"not given, with nothing but its meta file below a workflow", meta(nested), "a1", "", nested},
		{"not given, not there yet", "", "a1", "", flat},
		{"given as the root folder", flat, "a1", "/", flat},
		{"given as a folder of its own name", flat + " other/agent-a1.jsonl/x", "a1", "other/agent-a1.jsonl", flat},
		{"given as the coordinator's", flat, "a1", "s.jsonl", flat},
		{"given as the coordinator's, spelt otherwise", flat, "a1", "s/../s.jsonl", flat},
		{"given as a link to the coordinator's", flat + " odd.jsonl>s.jsonl", "a1", "odd.jsonl", flat},
		{"given as another name of the coordinator's", flat + " odd.jsonl=s.jsonl", "a1", "odd.jsonl", flat},
		{"given as a sibling's", flat + " s/subagents/agent-a2.jsonl", "a1", "s/subagents/agent-a2.jsonl", flat},
		{"given as a sibling's, and nothing in its place", "s/subagents/agent-a2.jsonl", "a1", "s/subagents/agent-a2.jsonl", flat},
		{"given as a link to a sibling's", "s/subagents/agent-a2.jsonl odd.jsonl>s/subagents/agent-a2.jsonl", "a1", "odd.jsonl", flat},
		{"given as a link of its own name to a sibling's", "s/subagents/agent-a2.jsonl " + away + ">s/subagents/agent-a2.jsonl", "a1", away, flat},
		{"given as a link of its own name to a sibling's that is gone", away + ">s/subagents/agent-a2.jsonl", "a1", away, flat},
		{"a link in its place to a sibling's", "s/subagents/agent-a2.jsonl " + flat + ">s/subagents/agent-a2.jsonl", "a1", "", flat},
		{"given as a link of an output file to its own", flat + " tasks/a1.output>" + flat, "a1", "tasks/a1.output", "tasks/a1.output"},
		{"given as a link to its own of another session", "old/agent-a1.jsonl " + flat + ">old/agent-a1.jsonl", "a1", flat, flat},
		{"of an id that no file can bear", "s/subagents/agent-a2.jsonl", "a@b", "s/subagents/agent-a2.jsonl", "s/subagents/agent-a2.jsonl"},
		{"of an id that climbs", "", "../../x", "", ""},
		{"of nobody", flat, "", flat, ""},
		{"of the coordinator", flat, Main, flat, "s.jsonl"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			at := func(path string) string {
				if path == "" || path == "/" {
					return path
				}
				return filepath.ToSlash(dir) + "/" + path // as it is spelt
			}
			put := func(path string, make func() error) {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := make(); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range append([]string{"s.jsonl"}, strings.Fields(r.there)...) {
				name, to, linked := strings.Cut(f, ">")
				other, of, same := strings.Cut(f, "=")
				switch {
				case linked:
					put(at(name), func() error { return os.Symlink(at(to), at(name)) })
				case same:
					put(at(other), func() error { return os.Link(at(of), at(other)) })
				default:
					put(at(name), func() error { return os.WriteFile(at(name), []byte("{}\n"), 0o600) })
				}
			}
			got := OfAgent(host.Files{}, at("s.jsonl"), r.id, at(r.given))
			if filepath.Clean(got) != filepath.Clean(at(r.want)) {
				t.Errorf("got %q, want %q", got, at(r.want))
			}
		})
	}
	if got := OfAgent(host.Files{}, "", "a1", ""); got != "" {
		t.Errorf("without any path: %q", got)
	}
}

// A link in a session's folder that leads to a file of another name is nobody's
// transcript; one to a file of its own name is the agent's, of another session.
func TestLinksAmongTheAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, to := range map[string]string{"agent-a2.jsonl": "agent-a1.jsonl", "agent-a3.jsonl": "old/agent-a3.jsonl", "agent-a4.jsonl": "s.jsonl"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "agent-a1.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, path := range Agents(host.Files{}, dir) {
		got = append(got, AgentOf(path))
	}
	if want := "a1 a3"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A file that bears an agent's name is read as that agent's, whoever it is taken for.
func TestAFileIsReadAsTheAgentsWhoseNameItBears(t *testing.T) {
	t.Parallel()
	unmarked := strings.NewReplacer(`"agentId":"`+agent+`",`, "", `"isSidechain":true,`, "")
	path := write(t, unmarked.Replace(aBash+"\n"+aRan+"\n"))
	for _, taken := range []string{"a2", Main, ""} {
		b := scanOf(t, path, taken, Cursor{})
		if len(b.Launches) != 1 || b.Launches[0].Owner != agent || b.Cursor.Owner != agent {
			t.Errorf("taken for %q's: %+v, %+v", taken, b.Launches, b.Cursor)
		}
		if again := scanOf(t, path, agent, b.Cursor); again.Read != 0 {
			t.Errorf("taken for %q's at first, it is read again", taken)
		}
	}
}

// A cursor of one owner is none for another: the file is read from its start.
func TestACursorOfAnotherOwner(t *testing.T) {
	t.Parallel()
	path := writeOf(t, Main, aBash+"\n"+aRan+"\n")
	b := scanOf(t, path, "a2", Cursor{})
	if len(b.Launches) != 0 {
		t.Fatalf("got %+v", b.Launches)
	}
	if b = scanOf(t, path, agent, b.Cursor); tasks(b) != "b3l1piyt6" {
		t.Errorf("got %+v", b.Launches)
	}
	// One that was kept before cursors had owners goes on.
	b.Cursor.Owner = ""
	if b = scanOf(t, path, agent, b.Cursor); b.Read != 0 || b.Cursor.Owner != agent {
		t.Errorf("read %d bytes again, %+v", b.Read, b.Cursor)
	}
}
