package attribute

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// clock is a clock that moves by sleeping and then makes happen what is due.
type clock struct {
	now  time.Time
	then func(slept time.Duration)
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	c.now = c.now.Add(d)
	if c.then != nil {
		c.then(d)
	}
	return true
}

// world is a session's files; it notes which transcripts are looked at.
type world struct {
	t      *testing.T
	dir    string
	clock  *clock
	opened []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), clock: &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}}
	w.put("main", says("go"))
	w.put("a1", says("done"))
	return w
}

func (w *world) path(who string) string {
	if who == transcript.Main {
		return filepath.Join(w.dir, "s.jsonl")
	}
	return filepath.Join(w.dir, "s", "subagents", "agent-"+who+".jsonl")
}

// put makes the transcript of somebody.
func (w *world) put(who, text string) {
	w.t.Helper()
	hosttest.Write(w.t, w.clock.now, w.path(who), text)
}

func (w *world) meta(who, text string) {
	w.t.Helper()
	hosttest.Write(w.t, w.clock.now, transcript.MetaPath(w.path(who)), text)
}

func says(text string) string {
	return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
}

// launched are the lines of a launch: asked for in the background or not, with a
// structured answer or not.
func launched(task string, asked, structured bool) string {
	input, extra := `{}`, ""
	if asked {
		input = `{"run_in_background":true}`
	}
	if structured {
		extra = `,"toolUseResult":{"backgroundTaskId":"` + task + `"}`
	}
	return `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_` + task + `","name":"Bash","input":` + input + `}]}}` + "\n" +
		`{"type":"user","version":"2.1.198","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_` + task + `","content":"Command running in background with ID: ` + task + `. Output is being written to: /o/tasks/` + task + `.output."}]}` + extra + "}\n"
}

// stop is the stop of a1 with tasks listed.
func (w *world) stop(tasks ...string) event.Event {
	e := event.Event{AgentID: "a1", AgentTranscript: w.path("a1"), TranscriptPath: w.path(transcript.Main), LastMessage: "done", LastMessageGiven: true, RegistryGiven: true}
	for _, id := range tasks {
		kind := event.TypeShell
		switch id[0] {
		case 'a', 'c':
			kind = event.TypeSubagent
		case 't':
			kind = event.TypeTeammate
		case 'd':
			kind = "dream"
		}
		e.Tasks = append(e.Tasks, event.Task{ID: id, Type: kind, Status: "running"})
	}
	return e
}

func (w *world) find(e event.Event, snap ledger.Snapshot) Result {
	w.t.Helper()
	w.opened = nil
	return Find(w.t.Context(), host.Host{Clock: w.clock, Files: host.Files{Map: func(name string) string {
		if strings.HasSuffix(name, ".jsonl") {
			who := transcript.AgentOf(name)
			if who == "" {
				who = transcript.Main
			}
			w.opened = append(w.opened, who)
		}
		return name
	}}}, e, snap)
}

// owners are the owners as "task=owner" in order.
func owners(r Result) string {
	var out []string
	for task, l := range r.Owners {
		out = append(out, task+"="+l.Owner)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func known(task, owner string, e transcript.Evidence) ledger.Snapshot {
	return ledger.Snapshot{Launches: map[string]transcript.Launch{task: {Task: task, Owner: owner, Kind: "shell", Output: "/o", Evidence: e}}}
}

// The evidence is taken in the order of its cost, and no further than needed.
func TestWhoOwnsATask(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		prepare func(w *world)
		tasks   string
		snap    ledger.Snapshot
		want    string
		opened  string // the transcripts that were looked at, each once
		waited  bool
	}{
		{"nothing is listed", nil, "", ledger.Snapshot{}, "", "", false},
		{"only itself and a teammate", nil, "a1 t1", ledger.Snapshot{}, "", "", false},
		{"the ledger knows", nil, "b1", known("b1", "a1", transcript.PostToolUse), "b1=a1", "", false},
		{"the ledger knows it is somebody else's", nil, "b1", known("b1", "a2", transcript.TextAsked), "b1=a2", "", false},
		{"the own transcript tells", func(w *world) { w.put("a1", launched("b1", true, false)+says("done")) }, "b1", ledger.Snapshot{}, "b1=a1", "a1", false},
		{"the own transcript tells by text that a command could print", func(w *world) {
			w.put("a1", launched("b1", false, false)+says("done"))
			w.put("a2", says("x"))
		}, "b1", ledger.Snapshot{}, "b1=a1", "a1 main a2", false},
		{"what a command printed, and the coordinator's structure", func(w *world) {
			w.put("a1", launched("b1", false, false)+says("done"))
			w.put("main", launched("b1", true, true))
			w.put("a2", says("x"))
		}, "b1", ledger.Snapshot{}, "b1=main", "a1 main", false},
		{"what a command printed, and the sibling's own launch", func(w *world) {
			w.put("a1", launched("b1", false, false)+says("done"))
			w.put("a2", launched("b1", true, false))
		}, "b1", ledger.Snapshot{}, "b1=a2", "a1 main a2", false},
		{"the ledger knows by text only, the sibling by its call", func(w *world) {
			w.put("a2", launched("b1", true, false))
		}, "b1", known("b1", "a1", transcript.Text), "b1=a2", "a1 main a2", false},
		{"a child names its parent", func(w *world) { w.meta("c1", `{"parentAgentId":"a1"}`) }, "c1", ledger.Snapshot{}, "c1=a1", "a1 c1", false},
		{"a child names no parent", func(w *world) { w.meta("c1", `{}`); w.put("a2", says("x")) }, "c1", ledger.Snapshot{}, "", "a1 c1 main a2", false},
		{"an agent of a workflow", func(w *world) {
			dir := filepath.Join(filepath.Dir(w.path("a1")), "workflows", "wf_1")
			hosttest.Write(w.t, w.clock.now, filepath.Join(dir, "agent-w1.jsonl"), launched("b1", true, false))
		}, "b1", ledger.Snapshot{}, "b1=w1", "a1 main w1", false},
		{"several tasks of several owners", func(w *world) {
			w.put("a1", launched("b1", true, false)+says("done"))
			w.put("main", launched("b2", true, true))
			w.put("a2", launched("b3", true, false))
		}, "b1 b2 b3", ledger.Snapshot{}, "b1=a1 b2=main b3=a2", "a1 main a2", false},
		{"a task of no blocking type without an owner is not waited for", func(w *world) { w.put("a1", "") }, "d1", ledger.Snapshot{}, "", "a1 main", false},
		{"a transcript that lags is waited for", func(w *world) {
			w.put("a1", "")
			w.clock.then = func(time.Duration) { w.put("a1", launched("b1", true, false)+says("done")) }
		}, "b1", ledger.Snapshot{}, "b1=a1", "a1 main", true},
		{"a transcript that is missing is waited for", func(w *world) {
			if err := os.Remove(w.path("a1")); err != nil {
				w.t.Fatal(err)
			}
			w.clock.then = func(time.Duration) { w.put("a1", launched("b1", true, false)+says("done")) }
		}, "b1", ledger.Snapshot{}, "b1=a1", "a1 main", true},
		{"one that never comes is not waited for long", func(w *world) { w.put("a1", "") }, "b1", ledger.Snapshot{}, "", "a1 main", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.prepare != nil {
				c.prepare(w)
			}
			r := w.find(w.stop(strings.Fields(c.tasks)...), c.snap)
			if got := owners(r); got != c.want {
				t.Errorf("owners %q, want %q", got, c.want)
			}
			var opened []string
			for _, name := range w.opened {
				if !slices.Contains(opened, name) {
					opened = append(opened, name)
				}
			}
			if got := strings.Join(opened, " "); got != c.opened {
				t.Errorf("opened %q, want %q", got, c.opened)
			}
			if r.Waited > 0 != c.waited || r.Waited > Settle+settleStep {
				t.Errorf("waited %v", r.Waited)
			}
		})
	}
}

// A task of the agent whose output path nobody has told is looked up in its own
// transcript, and nowhere else.
func TestAMissingOutputPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a1", launched("b1", true, false)+says("done"))
	snap := known("b1", "a1", transcript.PostToolUse)
	l := snap.Launches["b1"]
	l.Output, l.ToolUseID = "", "toolu_b1"
	snap.Launches["b1"] = l
	r := w.find(w.stop("b1"), snap)
	if got := r.Owners["b1"]; got.Output != "/o/tasks/b1.output" || got.Evidence != transcript.PostToolUse {
		t.Errorf("got %+v", got)
	}
	if slices.Contains(w.opened, "main") {
		t.Errorf("opened %q", w.opened)
	}
}

// What was read is learned, with the cursors from and to which it was read.
func TestWhatIsLearned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a1", launched("b1", true, false)+launched("b2", true, false)+says("done"))
	r := w.find(w.stop("b1"), ledger.Snapshot{})
	if len(r.Learned.Launches) != 2 {
		t.Errorf("learned %+v", r.Learned.Launches)
	}
	step, ok := r.Learned.Cursors[w.path("a1")]
	info, err := os.Stat(w.path("a1"))
	if err != nil || !ok || step.From.Offset != 0 || step.To.Offset != info.Size() {
		t.Errorf("cursor %+v, %v", step, err)
	}
	again := w.find(w.stop("b3"), ledger.Snapshot{Cursors: map[string]transcript.Cursor{w.path("a1"): step.To}, Looks: map[string]host.Look{w.path("a1"): step.Look}})
	if len(again.Learned.Launches) != 0 {
		t.Errorf("learned again: %+v", again.Learned.Launches)
	}
	if _, moved := again.Learned.Cursors[w.path("a1")]; moved {
		t.Error("a cursor that did not move was learned")
	}
	w.meta("c1", `{"agentType":"x","name":"n","parentAgentId":"a1","description":"secret"}`)
	r = w.find(w.stop("c1"), ledger.Snapshot{})
	want := ledger.Agent{ID: "c1", Type: "x", Name: "n", Parent: "a1", Transcript: w.path("c1")}
	if len(r.Learned.Agents) != 1 || r.Learned.Agents[0] != want {
		t.Errorf("learned %+v", r.Learned.Agents)
	}
}

// With no time left, what the ledger knows is all there is.
func TestNoTimeLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a1", launched("b2", true, false))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := Find(ctx, host.Host{Clock: w.clock}, w.stop("b1", "b2"), known("b1", "a1", transcript.PostToolUse))
	if owners(r) != "b1=a1" || !r.Cut || r.Waited != 0 {
		t.Errorf("got %q, cut %v, waited %v", owners(r), r.Cut, r.Waited)
	}
}

// The time is over between two transcripts: that is said too.
func TestNoTimeLeftForTheSiblings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.Remove(w.path(transcript.Main)); err != nil {
		t.Fatal(err)
	}
	w.put("a2", launched("b2", true, false))
	ctx, cancel := context.WithCancel(context.Background())
	files := host.Files{Map: func(name string) string {
		if name == w.path(transcript.Main) {
			cancel()
		}
		return name
	}}
	r := Find(ctx, host.Host{Clock: w.clock, Files: files}, w.stop("b2"), ledger.Snapshot{})
	if owners(r) != "" || !r.Cut {
		t.Errorf("got %q, cut %v", owners(r), r.Cut)
	}
}

// Whenever the client writes the launch and the last message, also between two looks
// of one stop at the transcript, the launch is found.
func TestATranscriptThatIsWrittenBetweenTwoLooks(t *testing.T) {
	t.Parallel()
	for before := range 14 {
		w := newWorld(t)
		w.put("a1", "")
		looks := 0
		files := host.Files{Map: func(name string) string {
			if transcript.AgentOf(name) == "a1" {
				if looks++; looks == before+1 {
					w.put("a1", launched("b1", true, false)+says("done"))
				}
			}
			return name
		}}
		r := Find(t.Context(), host.Host{Clock: w.clock, Files: files}, w.stop("b1"), ledger.Snapshot{})
		if looks <= before {
			t.Fatalf("only %d looks", looks)
		}
		if owners(r) != "b1=a1" {
			t.Errorf("written before look %d of %d: owners %q", before+1, looks, owners(r))
		}
	}
}

// An agent that ends twice with the same words is not caught up by the first.
func TestTheSameLastWordsAgain(t *testing.T) {
	w := newWorld(t)
	stopped := w.clock.now
	w.put("a1", strings.Replace(says("done"), "{", `{"timestamp":"`+stopped.Add(-time.Second).Format(time.RFC3339Nano)+`",`, 1))
	slept := time.Duration(0)
	w.clock.then = func(d time.Duration) {
		if slept += d; slept == 80*time.Millisecond {
			w.put("a1", says("done")+launched("b1", true, false)+says("done"))
		}
	}
	snap := ledger.Snapshot{Agents: map[string]ledger.Agent{"a1": {ID: "a1", Stopped: stopped}}}
	if got := owners(w.find(w.stop("b1"), snap)); got != "b1=a1" {
		t.Errorf("owners %q after waiting %s, want b1=a1", got, slept)
	}
}
