package statusline

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

func launched(id, owner string, at time.Time) transcript.Launch {
	return transcript.Launch{Task: id, Owner: owner, Kind: "shell", At: at}
}

// two is a session in which two agents are held for two tasks.
func two() ledger.Snapshot {
	return ledger.Snapshot{
		Exists: true,
		Agents: map[string]ledger.Agent{"a1": {ID: "a1"}, "a2": {ID: "a2"}, "a3": {ID: "a3", Started: ago(9 * time.Minute), Stopped: ago(8 * time.Minute)}},
		Launches: map[string]transcript.Launch{
			"b1": launched("b1", "a1", ago(3*time.Minute)), "b2": launched("b2", "a2", ago(40*time.Second)), "b3": launched("b3", "a3", ago(9*time.Minute)),
		},
		Holds: []ledger.Hold{{AgentID: "a1", Tasks: []string{"b1"}, Since: ago(time.Minute)}, {AgentID: "a2", Tasks: []string{"b2"}, Since: ago(time.Minute)}},
		Ends:  map[string]ledger.End{},
	}
}

func ended(at time.Time) ledger.End {
	return ledger.End{End: transcript.End{Task: "b3", Status: "completed", At: at}}
}

func TestLine(t *testing.T) {
	everybody := func(ledger.Process) bool { return true }
	for _, c := range []struct {
		name   string
		change func(*ledger.Snapshot, *Source)
		width  int
		want   string
	}{
		{"two are held", func(*ledger.Snapshot, *Source) {}, 0, "⏸ 2 held: shell b1 3m, shell b2 40s"},
		{"nothing to say", func(s *ledger.Snapshot, _ *Source) { s.Holds = nil }, 0, ""},
		{"an empty ledger", func(s *ledger.Snapshot, _ *Source) { *s = ledger.Snapshot{} }, 0, ""},
		{"a hold whose process is gone", func(_ *ledger.Snapshot, src *Source) { src.Lives = func(ledger.Process) bool { return false } }, 0, ""},
		{"both are held for one", func(s *ledger.Snapshot, _ *Source) { s.Holds[1].Tasks = []string{"b1"} }, 0, "⏸ 2 held: shell b1 3m"},
		{"a task that has ended", func(s *ledger.Snapshot, _ *Source) {
			s.Ends["b1"] = ledger.End{End: transcript.End{Task: "b1", Status: "completed", At: noon}}
		}, 0, "⏸ 2 held: shell b2 40s"},
		{"six tasks", func(s *ledger.Snapshot, _ *Source) { s.Holds[0].Tasks = []string{"b1", "b5", "b6", "b7", "b8"} }, 0, "⏸ 2 held: shell b1 3m, b5 1m, b6 1m +3"},
		{"an end that nobody heard of", func(s *ledger.Snapshot, _ *Source) { s.Ends["b3"] = ended(ago(time.Minute)) }, 0, "⏸ 2 held: shell b1 3m, shell b2 40s · 1 unheard"},
		{"only that", func(s *ledger.Snapshot, _ *Source) { s.Ends["b3"], s.Holds = ended(ago(time.Minute)), nil }, 0, "1 unheard"},
		{"an end of this moment", func(s *ledger.Snapshot, _ *Source) { s.Ends["b3"], s.Holds = ended(ago(time.Second)), nil }, 0, ""},
		{"its owner is at work", func(s *ledger.Snapshot, _ *Source) {
			s.Ends["b3"], s.Holds = ended(ago(time.Minute)), nil
			s.Agents["a3"] = ledger.Agent{ID: "a3", Started: ago(30 * time.Second), Stopped: ago(8 * time.Minute)}
		}, 0, ""},
		{"its owner was told", func(s *ledger.Snapshot, _ *Source) {
			e := ended(ago(time.Minute))
			e.Delivered, e.DeliveredTo = ago(50*time.Second), "a3"
			s.Ends["b3"], s.Holds = e, nil
		}, 0, ""},
		{"a block told it", func(s *ledger.Snapshot, _ *Source) {
			s.Ends["b3"], s.Holds, s.Told = ended(ago(time.Minute)), nil, map[string]bool{"b3": true}
		}, 0, ""},
		{"a courier told it", func(s *ledger.Snapshot, _ *Source) {
			s.Ends["b3"], s.Holds, s.Couriers = ended(ago(time.Minute)), nil, map[string]ledger.Courier{"b3": {}}
		}, 0, ""},
		{"it was released", func(s *ledger.Snapshot, _ *Source) {
			s.Ends["b3"], s.Holds, s.Released = ended(ago(time.Minute)), nil, map[string]bool{"b3": true}
		}, 0, ""},
		{"it was killed", func(s *ledger.Snapshot, _ *Source) {
			e := ended(ago(time.Minute))
			e.Status = "killed"
			s.Ends["b3"], s.Holds = e, nil
		}, 0, ""},
		{"the session is over", func(s *ledger.Snapshot, _ *Source) {
			s.Ends["b3"], s.Holds, s.Session.Ended = ended(ago(time.Minute)), nil, noon
		}, 0, ""},
		{"forty columns", func(s *ledger.Snapshot, _ *Source) { s.Ends["b3"] = ended(ago(time.Minute)) }, 40, "⏸ 2 held: shell b1 3m +1 · 1 unheard"},
		{"twenty columns", func(s *ledger.Snapshot, _ *Source) { s.Ends["b3"] = ended(ago(time.Minute)) }, 20, "⏸ 2 held · 1 unheard"},
		{"switched off", func(s *ledger.Snapshot, src *Source) { s.Holds, src.Off = nil, true }, 0, "stopgate off"},
		{"a hostile id", func(s *ledger.Snapshot, _ *Source) { s.Holds = s.Holds[:1]; s.Holds[0].Tasks = []string{"\x1b[2J\n"} }, 0, `⏸ 1 held: \x1b[2J 1m`},
	} {
		snap, src := two(), Source{Now: noon, Lives: everybody}
		c.change(&snap, &src)
		if got := src.Line(snap, c.width, false); got != c.want || c.width > 0 && view.Width(got) > c.width {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := (Source{Now: noon}).Line(two(), 0, true); !strings.Contains(got, "\x1b[") {
		t.Errorf("no colours in %q", got)
	}
}

// What a command is called stands before the line at which the ledger saw its launch.
func TestACommandIsNamedByOneLookAtItsLaunch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent-a1.jsonl")
	call := func(id, command string) string {
		words, err := json.Marshal(command)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"isSidechain":true,"agentId":"a1","type":"assistant","message":{"content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%s}}]},"timestamp":"2026-11-30T11:57:00Z"}`+"\n", id, words)
	}
	content := strings.Repeat(call("t0", "before"), 3) + call("t1", "make test\necho done") + call("t2", "\x1b[31mrm") + call("t3", strings.Repeat("x", 90))
	hosttest.Write(t, noon, path, content+"the result\n")
	for _, c := range []struct{ name, call, want string }{
		{"its call", "t1", "⏸ 1 held: make test 3m"},
		{"a text that moves a terminal", "t2", `⏸ 1 held: \x1b[31mrm 3m`},
		{"a long one", "t3", "⏸ 1 held: " + strings.Repeat("x", 27) + "… 3m"},
		{"a call that is not there", "t9", "⏸ 1 held: shell b1 3m"},
		{"no call", "", "⏸ 1 held: shell b1 3m"},
	} {
		snap := two()
		snap.Holds = snap.Holds[:1]
		l := snap.Launches["b1"]
		l.File, l.Line, l.ToolUseID = path, int64(len(content)), c.call
		snap.Launches["b1"] = l
		src := Source{Files: host.Files{}, Now: noon}
		if got := src.Line(snap, 0, false); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		// An event told of the launch: nothing of the transcript was read yet.
		l.File, l.Line = "", 0
		snap.Launches["b1"] = l
		snap.Agents["a1"] = ledger.Agent{ID: "a1", Transcript: path}
		if got := src.Line(snap, 0, false); got != c.want {
			t.Errorf("%s, told by an event: %q, want %q", c.name, got, c.want)
		}
		if src.NoText = true; src.Line(snap, 0, false) != "⏸ 1 held: shell b1 3m" {
			t.Errorf("%s: words in spite of --no-text", c.name)
		}
	}
}
