package view

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
	"unicode"

	"stopgate/pkg/fate"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/replay"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// A task's state is its fate (pkg/fate has the table), and whether anybody heard.
func TestTaskStates(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		f    fate.Fate
		want TaskState
	}{
		{fate.Fate{Sign: fate.Launched}, TaskRunning},
		{fate.Fate{Sign: fate.Listed}, TaskRunning},
		{fate.Fate{How: fate.Exited, Sign: fate.Notice, Heard: true}, TaskFinished},
		{fate.Fate{How: fate.Ended, Sign: fate.Notice, Heard: true}, TaskFinished},
		{fate.Fate{How: fate.Exited, Sign: fate.Notice}, TaskUndelivered},
		{fate.Fate{How: fate.Exited, Sign: fate.LastLine}, TaskFinished},
		{fate.Fate{How: fate.Killed, Sign: fate.Notice}, TaskKilled},
		{fate.Fate{How: fate.Killed, Sign: fate.LastLine}, TaskKilled},
		{fate.Fate{How: fate.Unknown, Sign: fate.NotListed}, TaskUnknown},
		{fate.Fate{How: fate.Unknown, Sign: fate.SessionOver}, TaskUnknown},
	} {
		if got := stateOf(r.f); got != r.want {
			t.Errorf("%+v: %s, want %s", r.f, got, r.want)
		}
	}
}

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
	put(t, src, id, change)
	return src
}

func put(t *testing.T, src Source, id string, change func(*ledger.Tx)) {
	t.Helper()
	err := ledger.Update(context.Background(), src.Dir, id, ago(time.Minute), func(tx *ledger.Tx) error {
		tx.Session.LastEvent, tx.Session.LastEventAt = "SubagentStop", ago(time.Minute)
		change(tx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
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
	for id, want := range map[string]string{"m1": "persistent", "b1": "released", "b2": "ignored"} {
		var out bytes.Buffer
		Status{Now: noon, Sessions: []Session{s}}.Print(Screen{W: &out}, true)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not marked as %s:\n%s", id, want, out.String())
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
	put(t, src, sessionB, func(tx *ledger.Tx) { tx.Session.Cwd = in("other", "place") })
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
	put(t, src, "22222222-second", func(*ledger.Tx) {})
	if _, err := src.Load(context.Background(), Filter{Session: "2222"}); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("an ambiguous id gave %v", err)
	}
}

func TestABusyStoreIsWaitedForOneSecond(t *testing.T) {
	t.Parallel()
	src := written(t, sessionA, func(*ledger.Tx) {})
	put(t, src, sessionB, func(*ledger.Tx) {})
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

// Names, paths and ids of somebody else cannot steer a terminal.
func TestHostileTextsArePrintedSafely(t *testing.T) {
	t.Parallel()
	evil := "x\x1b[2J\r\n\u202egnp.exe\u2066\u009b31m\a\u200b\x00\xff\U000e0041end"
	src := written(t, sessionA, func(tx *ledger.Tx) {
		a := tx.Touch(evil, evil, "")
		a.Name, a.Team, a.Stopped, a.Started = evil, evil, ago(time.Minute), ago(time.Hour)
		tx.PutAgent(a)
		tx.Session.Cwd, tx.Session.Transcript, tx.Session.LastEvent = evil, evil, evil
		tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: evil, Owner: evil, Kind: evil, Output: evil, Evidence: transcript.PostToolUse}}})
		tx.AddStop(ledger.Stop{AgentID: evil, Type: evil, Verdict: evil, Code: evil, Own: []string{evil}, Note: evil})
	})
	st := load(t, src, Filter{All: true})
	var out bytes.Buffer
	for _, width := range []int{0, 80} {
		st.Print(Screen{W: &out, Width: width}, true)
	}
	for _, e := range st.Log() {
		e.Print(Screen{W: &out}, noon)
		if err := e.WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
	}
	data, err := st.JSON()
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	for _, r := range out.String() {
		if r != '\n' && !unicode.IsGraphic(r) {
			t.Errorf("%U was printed", r)
		}
	}
	var back struct {
		Sessions []struct{ Cwd string }
	}
	if err := json.Unmarshal(data, &back); err != nil || back.Sessions[0].Cwd != strings.ToValidUTF8(evil, "\ufffd") {
		t.Errorf("the JSON gives %q back, %v", back, err)
	}
	if got := Clean("plain /path/ätsch 日本 b1"); got != "plain /path/ätsch 日本 b1" {
		t.Errorf("a harmless text became %q", got)
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

func TestManySessionsAreQuick(t *testing.T) {
	t.Parallel()
	src := written(t, sessionA, func(*ledger.Tx) {})
	for i := range 200 {
		put(t, src, fmt.Sprintf("session-%04d", i), func(tx *ledger.Tx) { tx.Session.Cwd = fmt.Sprint("/p/", i) })
	}
	began := time.Now()
	if st := load(t, src, Filter{Folder: "/p/7"}); len(st.Sessions) != 2 || st.Elsewhere != 199 {
		t.Errorf("%d sessions, %d elsewhere", len(st.Sessions), st.Elsewhere)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("201 sessions took %s", took)
	}
}

// The screens, as golden files: run with -update after looking at them.
func TestScreens(t *testing.T) {
	t.Parallel()
	screens := []struct {
		name, play string
		events     int
		width      int
		colour     bool
	}{
		{"two agents stuck, a pipe", "2.1.332/sib-sdk", 19, 0, false},
		{"two agents stuck, 80 columns", "2.1.332/sib-sdk", 19, 80, false},
		{"unheard results, 120 columns in colour", "2.1.220/sib-sdk", 21, 120, true},
		{"an idle teammate, 100 columns", "2.1.332/team-tui", 13, 100, false},
		{"killed at the final response, 80 columns", "2.1.332/kinds-sdk", -1, 80, false},
		{"nested agents at the end, a pipe", "2.1.235/nested-sdk", -1, 0, false},
	}
	for _, c := range screens {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := play(t, c.play, c.events, letThrough)
			var out bytes.Buffer
			scr := Screen{W: &out, Width: c.width, Colour: c.colour, Zone: time.UTC}
			load(t, p.now, Filter{All: true}).Print(scr, true)
			golden(t, strings.NewReplacer(" ", "_", ",", "").Replace(c.name), out.Bytes())
			for _, line := range strings.Split(out.String(), "\n") {
				if n := Width(line); c.width > 0 && n > c.width && !strings.Contains(line, "/tasks/") {
					t.Errorf("a line has %d columns: %s", n, line)
				}
			}
		})
	}
	t.Run("json", func(t *testing.T) {
		t.Parallel()
		p := play(t, "2.1.220/sib-sdk", 21, replay.Options{})
		st := load(t, p.now, Filter{All: true})
		st.StateDir = "/home/dev/.local/state/stopgate"
		data, err := st.JSON()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "status.json", data)
	})
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, got, 0o644)); err != nil { //realtime: no test looks at its age
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update writes it anew); got\n%s\nwant\n%s", path, got, want)
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

// Columns stand where they are to, whatever the script of their texts.
func TestTablesOfWideTexts(t *testing.T) {
	t.Parallel()
	rows := [][]Cell{
		{{"plain", Good}, {"1", Normal}, {"|", Normal}},
		{{"日本語の名前", Alarm}, {"22", Normal}, {"|", Normal}},
		{{"e\u0301te\u0301 \U0001f600 x", Normal}, {"", Busy}, {"|", Faint}},
		{{strings.Repeat("很长", 20), Bad}, {"333", Normal}, {"|", Normal}},
	}
	for _, width := range []int{0, 30} {
		for _, colour := range []bool{false, true} {
			var out bytes.Buffer
			Screen{W: &out, Width: width, Colour: colour}.Table([]Column{{Title: "NAME", Least: 8}, {Title: "N", Right: true}, {Title: "|"}}, rows)
			at := -1
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			for _, line := range lines {
				bar := strings.Index(line, "|")
				if bar < 0 || at >= 0 && Width(line[:bar]) != at {
					t.Errorf("width %d, colour %v: the last column is elsewhere in\n%s", width, colour, out.String())
					break
				}
				at = Width(line[:bar])
				if width > 0 && Width(line) > width {
					t.Errorf("%d columns: %s", Width(line), line)
				}
			}
			if len(lines) != 5 || strings.Contains(out.String(), "…") != (width > 0) {
				t.Errorf("width %d: %q", width, lines)
			}
		}
	}
}
