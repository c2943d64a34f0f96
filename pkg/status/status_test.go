package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/replay"
	"stopgate/pkg/state"
	"stopgate/pkg/status/statustest"
	"stopgate/pkg/transcript"
)

var (
	noon = statustest.Noon
	ago  = statustest.Ago
)

var letThrough = statustest.LetThrough

func TestAgentStates(t *testing.T) {
	t.Parallel()
	end := func(at time.Time) *transcript.End { return &transcript.End{Status: "completed", At: at} }
	minute, second := ago(time.Minute), ago(time.Second)
	rows := []struct {
		name string
		life
		want AgentState
	}{
		{"started, no stop yet", life{started: minute}, AgentRunning},
		{"never seen to start, no stop yet", life{}, AgentRunning},
		{"stop let through", life{started: minute, stopped: second}, AgentStopped},
		{"stop let through, own work open", life{started: minute, stopped: second, open: true}, AgentStopped},
		{"stop blocked", life{started: minute, stopped: second, goesOn: true}, AgentRunning},
		{"stop blocked, but its end was told", life{started: minute, stopped: minute, goesOn: true, end: end(second)}, AgentEnded},
		{"stop held", life{started: minute, stopped: ago(time.Hour), held: true, open: true}, AgentRunning},
		{"started again after its stop", life{started: second, stopped: minute}, AgentRunning},
		{"end told", life{started: minute, stopped: second, end: end(second)}, AgentEnded},
		{"end told, own work open", life{started: minute, stopped: second, end: end(second), open: true}, AgentStopped},
		{"end told, then started again", life{started: second, stopped: minute, end: end(minute)}, AgentRunning},
		{"end told, stop not registered", life{started: minute, end: end(second)}, AgentEnded},
		{"listed again after its stop", life{started: ago(time.Hour), stopped: minute, background: true, listed: true, listedAt: second}, AgentRunning},
		{"listed at its own stop", life{started: ago(time.Hour), stopped: minute, background: true, listed: true, listedAt: minute}, AgentStopped},
		{"background, started, no longer listed", life{started: minute, background: true, listedAt: second}, AgentEnded},
		{"background, started just now, not listed yet", life{started: second, background: true, listedAt: second}, AgentRunning},
		{"foreground, never listed", life{started: minute, listedAt: second}, AgentRunning},
		{"teammate after its stop", life{started: minute, stopped: second, teammate: true}, AgentIdle},
		{"teammate after its stop, own work open", life{started: minute, stopped: second, teammate: true, open: true}, AgentIdle},
		{"teammate at work", life{started: second, stopped: minute, teammate: true}, AgentRunning},
		{"teammate at work, its child went idle", life{started: minute, idle: second, teammate: true}, AgentRunning},
		{"teammate blocked, then idle all the same", life{started: ago(time.Hour), stopped: minute, goesOn: true, idle: second, teammate: true}, AgentIdle},
		{"the session ended", life{started: minute, over: true, open: true}, AgentEnded},
	}
	for _, r := range rows {
		if got, _ := agentVerdict(r.life); got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}

// written is a state folder with one session, as a test wants it.
func written(t *testing.T, id string, change func(*ledger.Tx)) Source {
	t.Helper()
	src := Source{Dir: state.At(t.TempDir()), Now: noon, Env: func(string) string { return "" }}
	statustest.Put(t, src.Dir, id, change)
	return src
}

func load(t *testing.T, src Source, f Filter) Status {
	t.Helper()
	st, err := src.Load(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

const (
	sessionA = "11111111-aaaa-bbbb-cccc-000000000001"
	sessionB = "22222222-aaaa-bbbb-cccc-000000000002"
)

func TestHoldsAreShownWhileTheirProcessLives(t *testing.T) {
	t.Parallel()
	src := written(t, sessionA, func(tx *ledger.Tx) {
		for pid, id := range map[int]string{1: "alive", 2: "dead"} {
			a := tx.Touch(id, "builder", "")
			a.Stopped, a.Stops, a.Chain = ago(time.Hour), 1, 0
			a.Started = ago(2 * time.Hour)
			tx.PutAgent(a)
			tx.PutHold(ledger.Hold{AgentID: id, Tasks: []string{"b1"}, Since: ago(time.Minute), Until: noon.Add(time.Hour), Process: ledger.Process{PID: pid}})
		}
	})
	src.Lives = func(p ledger.Process) bool { return p.PID == 1 }
	s := load(t, src, Filter{All: true}).Sessions[0]
	alive, _ := s.Agent("alive")
	dead, _ := s.Agent("dead")
	if alive.Hold == nil || alive.State != AgentRunning {
		t.Errorf("the held agent is %+v", alive)
	}
	if dead.Hold != nil || dead.State != AgentStopped || dead.Lost == nil || dead.Why != WhyHoldLost || !strings.Contains(dead.Advice, "ended from outside") {
		t.Errorf("the agent of a dead hold is %+v", dead)
	}
}

// A courier is shown while it waits, and the advice for its agent says so.
func TestCouriersAreShownWhileTheyWait(t *testing.T) {
	t.Parallel()
	src := written(t, sessionA, func(tx *ledger.Tx) {
		for pid, id := range map[int]string{1: "alive", 2: "dead", 3: "half"} {
			a := tx.Touch(id, "builder", "")
			a.Started, a.Stopped, a.Stops = ago(2*time.Hour), ago(time.Hour), 1
			tx.PutAgent(a)
			tasks := []string{"b1" + id, "b2" + id}
			for _, task := range tasks {
				tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: task, Owner: id, Kind: "shell", At: ago(90 * time.Minute), Evidence: transcript.PostToolUse}}})
			}
			if id == "half" {
				tasks = tasks[1:]
			}
			tx.PutWatch(ledger.Watch{AgentID: id, Tasks: tasks, At: ago(time.Hour), Until: noon.Add(time.Hour), Process: ledger.Process{PID: pid}})
		}
	})
	src.Lives = func(p ledger.Process) bool { return p.PID != 2 }
	st := load(t, src, Filter{All: true})
	for id, told := range map[string]bool{"alive": true, "dead": false, "half": false} {
		a, _ := st.Sessions[0].Agent(id)
		if a.Why != WhyOwnWork || strings.Contains(a.Advice, "a courier waits for that") != told || (a.Courier != nil) != (id != "dead") {
			t.Errorf("%s: %s, courier %+v", id, a.Advice, a.Courier)
		}
	}
	data, err := st.JSON()
	if err != nil || strings.Count(string(data), `"courier": {`) != 2 {
		t.Errorf("%v: %s", err, data)
	}
}

func TestExcusedTasksMakeNobodyStuck(t *testing.T) {
	t.Parallel()
	src := written(t, sessionA, func(tx *ledger.Tx) {
		a := tx.Touch("a1", "builder", "")
		a.Started, a.Stopped, a.Stops = ago(time.Hour), ago(time.Minute), 1
		tx.PutAgent(a)
		at := ago(50 * time.Minute)
		tx.Merge(ledger.Learned{Launches: []transcript.Launch{
			{Task: "m1", Owner: "a1", Kind: "monitor", At: at, Persistent: true, Evidence: transcript.PostToolUse},
			{Task: "b1", Owner: "a1", Kind: "shell", At: at, Evidence: transcript.PostToolUse},
			{Task: "b2", Owner: "a1", Kind: "shell", At: at, Evidence: transcript.PostToolUse},
		}})
		tx.Release("b1")
		tx.Session.ListedAt = ago(time.Minute)
		tx.Session.Listed = []ledger.Listed{{ID: "m1", Type: "monitor"}, {ID: "b1", Type: "shell"}, {ID: "b2", Type: "shell", Ignored: true}}
	})
	s := load(t, src, Filter{All: true}).Sessions[0]
	if a, _ := s.Agent("a1"); a.Stuck || a.State != AgentStopped {
		t.Errorf("the agent is %+v", a)
	}
	mark := func(id string) string {
		task, _ := s.Task(id)
		return fmt.Sprint(task.Persistent, task.Released, task.Ignored)
	}
	for id, want := range map[string]string{"m1": "true false false", "b1": "false true false", "b2": "false false true"} {
		if got := mark(id); got != want {
			t.Errorf("%s is marked (persistent, released, ignored) %s, want %s", id, got, want)
		}
	}
}

// A task that is its own launcher, or a ring of agents, comes to an end.
func TestRingsOfOwnersEnd(t *testing.T) {
	t.Parallel()
	src := written(t, sessionA, func(tx *ledger.Tx) {
		tx.Merge(ledger.Learned{Launches: []transcript.Launch{
			{Task: "a1", Owner: "a2", Kind: "subagent", Evidence: transcript.PostToolUse},
			{Task: "a2", Owner: "a3", Kind: "subagent", Evidence: transcript.PostToolUse},
			{Task: "a3", Owner: "a1", Kind: "subagent", Evidence: transcript.PostToolUse},
			{Task: "a4", Owner: "a4", Kind: "subagent", Evidence: transcript.PostToolUse},
		}})
	})
	if s := load(t, src, Filter{All: true}).Sessions[0]; len(s.Tasks) != 4 || len(s.Agents) != 4 {
		t.Errorf("%d tasks and %d agents, want 4 and 4", len(s.Tasks), len(s.Agents))
	}
}

func TestWhichSessionsAreShown(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	in := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	src := written(t, sessionA, func(tx *ledger.Tx) { tx.Session.Cwd = in("proj") })
	statustest.Put(t, src.Dir, sessionB, func(tx *ledger.Tx) { tx.Session.Cwd = in("other", "place") })
	rows := []struct {
		name string
		f    Filter
		want string
	}{
		{"its own folder", Filter{Folder: in("proj")}, "1"},
		{"a folder below", Filter{Folder: in("proj", "src", "deep")}, "1"},
		{"a folder above both", Filter{Folder: root}, "1 2"},
		{"a folder whose name begins the same", Filter{Folder: in("project")}, ""},
		{"all", Filter{All: true}, "1 2"},
		{"by id", Filter{Session: sessionB}, "2"},
		{"by the beginning of the id", Filter{Session: "22"}, "2"},
	}
	for _, r := range rows {
		st := load(t, src, r.f)
		var got []string
		for _, s := range st.Sessions {
			got = append(got, s.ID[:1])
		}
		if text := strings.Join(got, " "); text != r.want {
			t.Errorf("%s: %q, want %q", r.name, text, r.want)
		}
		if r.f.Session == "" && st.Elsewhere != 2-len(st.Sessions) {
			t.Errorf("%s: %d elsewhere", r.name, st.Elsewhere)
		}
	}
	if _, err := src.Load(context.Background(), Filter{Session: "3"}); !errors.Is(err, ErrNoSession) {
		t.Errorf("an unknown id gave %v", err)
	}
	statustest.Put(t, src.Dir, "22222222-second", func(*ledger.Tx) {})
	if _, err := src.Load(context.Background(), Filter{Session: "2222"}); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("an ambiguous id gave %v", err)
	}
}

func TestABusyStoreIsWaitedForOneSecond(t *testing.T) {
	t.Parallel()
	src := written(t, sessionA, func(*ledger.Tx) {})
	statustest.Put(t, src.Dir, sessionB, func(*ledger.Tx) {})
	lock, err := state.Acquire(context.Background(), src.Dir.LockPath(sessionA), false)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	began := time.Now()
	st := load(t, src, Filter{All: true})
	if took := time.Since(began); took < Patience || took > 5*Patience {
		t.Errorf("it took %s", took)
	}
	if len(st.Sessions) != 1 || len(st.Problems) != 1 || !strings.Contains(st.Problems[0].Text, "busy") {
		t.Errorf("%d sessions, problems %v", len(st.Sessions), st.Problems)
	}
}

func TestBrokenStoresAreSaidPlainly(t *testing.T) {
	t.Parallel()
	whole := written(t, sessionA, func(tx *ledger.Tx) {
		for i := range 200 {
			tx.AddStop(ledger.Stop{AgentID: "a1", Verdict: ledger.Allow, Own: []string{fmt.Sprint("b", i)}})
		}
	})
	data, err := os.ReadFile(whole.Dir.Store(sessionA))
	if err != nil {
		t.Fatal(err)
	}
	damages := map[string][]byte{
		"garbage":   []byte(strings.Repeat("no store ", 1000)),
		"a byte":    {1},
		"truncated": data[:len(data)/2/4096*4096],
		"torn":      append(append([]byte(nil), data[:4096*2]...), make([]byte, len(data)-4096*2)...),
	}
	for name, content := range damages {
		src := written(t, sessionB, func(*ledger.Tx) {})
		hosttest.Write(t, noon, src.Dir.Store(sessionA), string(content))
		st := load(t, src, Filter{All: true})
		if len(st.Sessions)+len(st.Problems) != 2 {
			t.Errorf("%s: %d sessions, problems %v", name, len(st.Sessions), st.Problems)
		}
		if name != "truncated" && (len(st.Problems) != 1 || !strings.Contains(st.Problems[0].Text, "broken")) {
			t.Errorf("%s: problems %v", name, st.Problems)
		}
	}
	src := written(t, sessionB, func(*ledger.Tx) {})
	hosttest.Write(t, noon, src.Dir.Store(sessionA), "")
	if st := load(t, src, Filter{All: true}); len(st.Problems) != 0 || len(st.Sessions) != 1 {
		t.Errorf("an empty store gave %d sessions, problems %v", len(st.Sessions), st.Problems)
	}
}

// The arrays of the JSON are never null, and what is unknown is null or empty.
func TestEmptyJSON(t *testing.T) {
	t.Parallel()
	src := written(t, sessionA, func(tx *ledger.Tx) {
		tx.Session.ListedAt, tx.Session.Listed = ago(time.Minute), []ledger.Listed{{ID: "t1", Type: "teammate"}}
		tx.AddStop(ledger.Stop{Time: noon, Verdict: ledger.Allow, Code: "no-tasks"})
	})
	data, err := load(t, src, Filter{All: true}).JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"agents": []`, `"own": []`, `"owner": null`, `"exit_code": null`, `"problems": []`, `"ended": false`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in\n%s", want, data)
		}
	}
	data, err = Status{}.JSON()
	if err != nil || !strings.Contains(string(data), `"sessions": []`) {
		t.Errorf("no sessions gave %s, %v", data, err)
	}
}

var update = flag.Bool("update", false, "write the golden file anew")

// The JSON of a session, as a golden file.
func TestJSON(t *testing.T) {
	t.Parallel()
	p := play(t, "2.1.220/sib-sdk", 21, replay.Options{})
	st := load(t, p.now, Filter{All: true})
	st.StateDir = "/home/dev/.local/state/stopgate"
	data, err := st.JSON()
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/status.json.golden"
	if *update {
		if err := os.WriteFile(path, data, 0o644); err != nil { //realtime: no test looks at its age
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || !bytes.Equal(data, want) {
		t.Errorf("%s differs (-update writes it anew): %v; got\n%s", path, err, data)
	}
}

// The example of docs/status.md is a cut of what is really printed.
func TestTheDocumentedExampleIsReal(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/status.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(doc), "```json\n")
	example, _, found := strings.Cut(example, "```\n")
	if !found || !json.Valid([]byte(example)) {
		t.Fatal("docs/status.md has no valid example")
	}
	real, err := os.ReadFile("testdata/status.json.golden")
	if err != nil {
		t.Fatal(err)
	}
	printed := map[string]bool{}
	for _, line := range strings.Split(string(real), "\n") {
		printed[strings.TrimRight(line, ",")] = true
	}
	for _, line := range strings.Split(example, "\n") {
		if !printed[strings.TrimRight(line, ",")] {
			t.Errorf("not printed: %s", line)
		}
	}
}
