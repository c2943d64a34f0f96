package status

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"stopgate/pkg/event"
	"stopgate/pkg/replay"
	"stopgate/pkg/state"
	"stopgate/pkg/status/statustest"
)

const captures = statustest.Captures

// played is a recording that was played up to an event.
type played struct {
	play *replay.Play
	root string
	now  Source
}

// play plays the first events of a recording, all for a negative number. The
// recordings were made without a gate, so the agents stop: a play that shall look
// like them must not block.
func play(t *testing.T, name string, events int, o replay.Options) played {
	t.Helper()
	p := played{root: t.TempDir()}
	p.play = statustest.Play(t, p.root, name, events, o)
	p.now = Source{Dir: p.play.State, Files: p.play.Files, Now: p.play.Clock().Now(), Env: func(string) string { return "" }}
	return p
}

func (p played) session(t *testing.T) Session {
	t.Helper()
	st, err := p.now.Load(context.Background(), Filter{All: true})
	if err != nil || len(st.Problems) > 0 || len(st.Sessions) != 1 {
		t.Fatalf("loaded %d sessions, problems %v, %v", len(st.Sessions), st.Problems, err)
	}
	return st.Sessions[0]
}

// At the end of every recording every task has the state that its files tell,
// and the owner that the recording names, whatever the hook was told.
func TestStatesOfRecordedSessions(t *testing.T) {
	folders, err := filepath.Glob(captures + "/*/*/events.jsonl")
	if err != nil || len(folders) != 27 {
		t.Fatalf("found %d recordings (%v), want 27", len(folders), err)
	}
	variants := map[string]replay.Options{
		"everything registered": {},
		"only stops and ends":   {Without: []string{event.PostToolUse, event.SubagentStart, event.TeammateIdle}},
	}
	for _, folder := range folders {
		dir := filepath.Dir(folder)
		name := strings.TrimPrefix(filepath.ToSlash(dir), captures+"/")
		for variant, o := range variants {
			t.Run(name+"/"+variant, func(t *testing.T) {
				t.Parallel()
				s := play(t, name, -1, o).session(t)
				checkTasks(t, s, truth(t, dir))
				for _, a := range s.Agents {
					if a.State != AgentEnded {
						t.Errorf("agent %s is %s after the session's end", a.ID, a.State)
					}
				}
			})
		}
	}
}

// fact is what the files of a recording say of a task.
type fact struct {
	state TaskState
	exit  *int
	owner string
}

func checkTasks(t *testing.T, s Session, want map[string]fact) {
	t.Helper()
	for id, w := range want {
		got, ok := s.Task(id)
		if !ok {
			t.Errorf("task %s is missing", id)
			continue
		}
		if got.State != w.state {
			t.Errorf("task %s is %s (%s), want %s", id, got.State, got.Sign, w.state)
		}
		if (got.ExitCode == nil) != (w.exit == nil) || w.exit != nil && *got.ExitCode != *w.exit {
			t.Errorf("task %s has exit code %v, want %v", id, got.ExitCode, w.exit)
		}
		owner := got.Owner
		if a, ok := s.Agent(owner); ok {
			owner = a.Description // the recordings call agents so
		}
		if owner != w.owner {
			t.Errorf("task %s belongs to %q, want %q", id, owner, w.owner)
		}
	}
	for _, got := range s.Tasks {
		resumed := got.Kind == event.TypeSubagent && got.Owner == "main" // has no launch, so the recording names no owner
		if _, ok := want[got.ID]; !ok && got.Kind != event.TypeTeammate && !resumed {
			t.Errorf("task %s (%s) is not one of the recording", got.ID, got.Kind)
		}
	}
}

// truth reads a recording's files anew, without the packages that the view
// stands on: the queue's lines, what was given to models, the stopped tasks and
// the outputs' last lines. Who owns what stands in expect.jsonl.
func truth(t *testing.T, dir string) map[string]fact {
	t.Helper()
	owners := map[string]string{}
	each(t, filepath.Join(dir, "expect.jsonl"), func(line gjson.Result) {
		line.Get("owners").ForEach(func(id, owner gjson.Result) bool {
			owners[id.Str] = owner.Str
			return true
		})
		line.Get("no_launch_record").ForEach(func(_, id gjson.Result) bool {
			delete(owners, id.Str)
			return true
		})
	})
	each(t, filepath.Join(dir, "events.jsonl"), func(line gjson.Result) {
		p := line.Get("payload")
		id := p.Get("tool_response.backgroundTaskId").Str
		if id == "" && p.Get("tool_name").Str == "Monitor" {
			id = p.Get("tool_response.taskId").Str
		}
		if id != "" && owners[id] == "" {
			owners[id] = p.Get("agent_id").Str // ended before any stop listed it
		}
	})
	ends, given, stopped := map[string]string{}, map[string]string{}, map[string]bool{}
	err := filepath.WalkDir(filepath.Join(dir, "claude"), func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		each(t, path, func(line gjson.Result) {
			text := line.Raw
			if at := strings.Index(text, "Successfully stopped task: "); at >= 0 && line.Get("type").Str == "user" {
				stopped[text[at+27:][:9]] = true
			}
			_, rest, notice := strings.Cut(text, "<task-id>")
			id, rest, _ := strings.Cut(rest, "</task-id>")
			if !notice || !strings.Contains(rest, "<status>") {
				return
			}
			at := line.Get("timestamp").Str
			switch {
			case line.Get("operation").Str == "enqueue":
				ends[id] = at
				_, code, found := strings.Cut(rest, "(exit code ")
				if code, _, _ = strings.Cut(code, ")"); found {
					ends[id+"/exit"] = code
				}
			case line.Get("type").Str == "user" || line.Get("reason").Str == "delivered_to_agent":
				given[id] = at
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]fact{}
	names := agentNames(t, dir)
	for id, owner := range owners {
		if name, ok := names[owner]; ok {
			owner = name
		}
		f := fact{state: TaskUnknown, owner: owner}
		output, _ := os.ReadFile(filepath.Join(dir, "outputs", id+".output")) // not every task has one
		lines := strings.Split(strings.TrimSpace(string(output)), "\n")
		switch last := lines[len(lines)-1]; {
		case ends[id] != "" && given[id] >= ends[id]:
			f.state = TaskFinished
		case ends[id] != "":
			f.state = TaskUndelivered
		case stopped[id], last == "[killed]":
			f.state = TaskKilled
		}
		if code := ends[id+"/exit"]; code != "" {
			n := int(gjson.Parse(code).Int())
			f.exit = &n
		}
		out[id] = f
	}
	return out
}

func agentNames(t *testing.T, dir string) map[string]string {
	t.Helper()
	rec, err := replay.Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return rec.Descriptions()
}

func each(t *testing.T, path string, see func(gjson.Result)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if line != "" {
			see(gjson.Parse(line))
		}
	}
}

// What a person sees in the middle of a session.
func TestMomentsOfRecordedSessions(t *testing.T) {
	t.Parallel()
	type agents map[string]string // by label: state, and "!" if it is stuck
	moments := []struct {
		name   string
		play   string
		events int
		agents agents
		tasks  map[string]string
	}{
		{
			"a background agent stopped and its shell runs", "2.1.332/sib-sdk", 13,
			agents{"agent A": "stopped!", "agent B": "running"},
			map[string]string{"blxqppgqo": "running", "bot8qc2lo": "running", "a85c14a6928672ba4": "running"},
		},
		{
			"its shell ended and the client wakes it, the news not yet on disk", "2.1.332/sib-sdk", 21,
			agents{"agent A": "running", "agent B": "stopped!"},
			map[string]string{"blxqppgqo": "undelivered", "bot8qc2lo": "running"},
		},
		{
			"it has the news and stopped again", "2.1.332/sib-sdk", 22,
			agents{"agent A": "stopped", "agent B": "stopped!"},
			map[string]string{"blxqppgqo": "finished", "bot8qc2lo": "running"},
		},
		{
			"it went on, stopped again and has ended", "2.1.332/sib-sdk", 23,
			agents{"agent A": "ended", "agent B": "stopped!"},
			map[string]string{"a85c14a6928672ba4": "finished", "aafe2df7955317069": "running"},
		},
		{
			"older client: the agents stopped while their shells run", "2.1.220/sib-sdk", 20,
			agents{"agent A": "stopped!", "agent B": "stopped!"},
			map[string]string{"bpzhlf6os": "running", "b0njg1pz8": "running"},
		},
		{
			"older client: the shells ended and nobody was told", "2.1.220/sib-sdk", 21,
			agents{"agent A": "stopped!", "agent B": "stopped!"},
			map[string]string{"bpzhlf6os": "undelivered", "b0njg1pz8": "undelivered", "bzixfx2he": "finished"},
		},
		{
			"an agent before its first stop", "2.1.332/fg-sdk", 3,
			agents{"launch sleeper": "running"},
			map[string]string{"b9znutjnu": "running"},
		},
		{
			"a foreground agent stopped and its shell was killed", "2.1.332/fg-sdk", 6,
			agents{"launch sleeper": "stopped"},
			map[string]string{"b9znutjnu": "unknown"}, // the output is not part of a shortened play
		},
		{
			"an idle teammate whose shell runs", "2.1.332/team-tui", 13,
			agents{"ping": "idle!", "child": "stopped"},
			map[string]string{"bo2zai8k1": "running", "tpzbidbfg": "running"},
		},
		{
			"an idle teammate whose shell ended unheard", "2.1.235/team-tui", 15,
			agents{"ping": "idle!", "child": "stopped"},
			map[string]string{"brrmg4wdf": "undelivered"},
		},
		{
			"a teammate at work whose child went idle", "2.1.235/team-tui", 10,
			agents{"ping": "running", "child": "stopped!"},
			map[string]string{"brrmg4wdf": "running"},
		},
		{
			"an agent resumed by a message", "2.1.332/resume-sdk", 9,
			agents{"lazarus": "running"},
			map[string]string{"ab4f461862b8eefa8": "running", "buru9vm39": "running"},
		},
		{
			"the resumed agent stopped with a shell", "2.1.332/resume-sdk", 13,
			agents{"lazarus": "stopped!"},
			map[string]string{"ab4f461862b8eefa8": "running", "buru9vm39": "running"},
		},
		{
			"the child of an agent ended for the coordinator", "2.1.220/nested-sdk", 16,
			agents{"ping": "stopped!", "child": "stopped!"},
			map[string]string{"aeb239db4e40ecdc2": "running", "b2vwo3whn": "running"},
		},
	}
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := play(t, m.play, m.events, letThrough).session(t)
			got := agents{}
			for _, a := range s.Agents {
				text := string(a.State)
				if a.Stuck {
					text += "!"
				}
				if a.Stuck != (a.Advice != "") {
					t.Errorf("agent %s: stuck %v with the advice %q", a.ID, a.Stuck, a.Advice)
				}
				got[s.Label(a.ID)] = text
			}
			for name, want := range m.agents {
				if got[name] != want {
					t.Errorf("agent %s is %q, want %q (all: %v)", name, got[name], want, got)
				}
			}
			for id, want := range m.tasks {
				if task, _ := s.Task(id); string(task.State) != want {
					t.Errorf("task %s is %q (%s), want %q", id, task.State, task.Sign, want)
				}
			}
		})
	}
}

// A gate that blocks: the agent goes on.
func TestABlockedAgentRuns(t *testing.T) {
	t.Parallel()
	s := play(t, "2.1.332/fg-sdk", 4, replay.Options{}).session(t)
	if a := s.Agents[0]; a.State != AgentRunning || a.Stuck || a.Stops != 1 || a.Blocks != 1 {
		t.Errorf("the blocked agent is %+v", a)
	}
}

// Looking changes nothing: no file, no folder, not a byte.
func TestLookingLeavesEverythingAsItIs(t *testing.T) {
	t.Parallel()
	p := play(t, "2.1.332/sib-sdk", 20, letThrough)
	for _, locks := range []bool{true, false} {
		if !locks {
			paths, _ := filepath.Glob(filepath.Join(p.play.State.Path(), "sessions", "*.lock"))
			for _, path := range paths {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := tree(t, p.root)
		st, err := p.now.Load(context.Background(), Filter{All: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.JSON(); err != nil {
			t.Fatal(err)
		}
		if after := tree(t, p.root); !slices.Equal(before, after) {
			t.Errorf("with lock files %v: before\n%s\nafter\n%s", locks, strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
	}
	nowhere := filepath.Join(t.TempDir(), "state")
	src := Source{Dir: state.At(nowhere), Env: func(string) string { return "" }}
	if st, err := src.Load(context.Background(), Filter{All: true}); err != nil || len(st.Sessions)+len(st.Problems)+st.Elsewhere > 0 || st.EphemeralEvents > 0 {
		t.Errorf("a state folder that does not exist gave %+v, %v", st, err)
	}
	if _, err := os.Stat(nowhere); !os.IsNotExist(err) {
		t.Errorf("the state folder was created: %v", err)
	}
}

// tree lists everything below a folder, with contents and times.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := path + " " + info.Mode().String() + " " + info.ModTime().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum, _ := json.Marshal(data)
			line += " " + string(sum)
		}
		out = append(out, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
