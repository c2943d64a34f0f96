package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/replay"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/status/statustest"
	"stopgate/pkg/team"
	"stopgate/pkg/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

// play plays the first events of a recording, and says below which folder.
func play(t *testing.T, name string, events int, o replay.Options) (src status.Source, root string) {
	t.Helper()
	root = t.TempDir()
	p := statustest.Play(t, root, name, events, o)
	return status.Source{Dir: p.State, Files: p.Files, Now: p.Clock().Now(), Env: func(string) string { return "" }}, root
}

func load(t *testing.T, src status.Source) status.Status {
	t.Helper()
	st, err := src.Load(context.Background(), status.Filter{All: true})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// at is what a state folder shows at noon.
func at(dir state.Dir) status.Source {
	return status.Source{Dir: dir, Now: statustest.Noon, Env: func(string) string { return "" }}
}

const sessionA = "11111111-aaaa-bbbb-cccc-000000000001"

// Names, paths and ids of somebody else cannot steer a terminal.
func TestHostileTextsArePrintedSafely(t *testing.T) {
	t.Parallel()
	evil := "x\x1b[2J\r\n\u202egnp.exe\u2066\u009b31m\a\u200b\x00\xff\U000e0041end"
	dir := state.At(t.TempDir())
	statustest.Put(t, dir, sessionA, func(tx *ledger.Tx) {
		a := tx.Touch(evil, evil, "")
		a.Name, a.Team, a.Stopped, a.Started = evil, evil, statustest.Ago(time.Minute), statustest.Ago(time.Hour)
		tx.PutAgent(a)
		tx.Session.Cwd, tx.Session.Transcript, tx.Session.LastEvent = evil, evil, evil
		tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: evil, Owner: evil, Kind: evil, Output: evil, Evidence: transcript.PostToolUse}}})
		tx.AddAct(ledger.Act{Deed: ledger.Deed(evil), AgentID: evil, Type: evil, Tasks: []string{evil}, Note: evil})
		tx.AddStop(ledger.Stop{AgentID: evil, Type: evil, Verdict: evil, Code: evil, Own: []string{evil}, Note: evil})
	})
	st := load(t, at(dir))
	var out bytes.Buffer
	for _, width := range []int{0, 80} {
		Sessions(Screen{W: &out, Width: width}, st)
		Overview(Screen{W: &out, Width: width}, st, Options{Ended: true})
	}
	for _, width := range []int{0, 80} {
		(&Log{Screen: Screen{W: &out, Width: width}, Faces: func(string, string) string { return evil }}).Print(st.Log(), statustest.Noon)
	}
	for _, e := range st.Log() {
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

// Names of members, tasks and colours cannot steer a terminal.
func TestHostileTeamsArePrintedSafely(t *testing.T) {
	t.Parallel()
	dir, config := statustest.TeamMate(t, nil)
	src := at(dir)
	evil := `x\u001b[2J\r\n\u202egnp\u0007`
	hosttest.Write(t, statustest.Noon, filepath.Join(config, "teams", "session-8747d493", "config.json"),
		strings.ReplaceAll(`{"name":"EVIL","leadSessionId":"`+statustest.Session332+`","leadAgentId":"EVIL","members":[{"name":"EVIL","agentId":"EVIL@x","color":"EVIL","backendType":"EVIL","tmuxPaneId":"EVIL"},{"name":"p","backendType":"tmux","tmuxPaneId":"%EVIL"}]}`, "EVIL", evil))
	hosttest.Write(t, statustest.Noon, filepath.Join(config, "tasks", "session-8747d493", "1.json"), strings.ReplaceAll(`{"id":"EVIL","subject":"EVIL","status":"EVIL","owner":"EVIL","blockedBy":["EVIL"]}`, "EVIL", evil))
	src.Here, src.Alive = func(string) bool { return true }, func(int) bool { return false }
	st := load(t, src)
	var out bytes.Buffer
	for _, width := range []int{0, 80} {
		Sessions(Screen{W: &out, Width: width}, st)
		Overview(Screen{W: &out, Width: width}, st, Options{Ended: true})
	}
	if err := st.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if r < ' ' && r != '\n' || r == '\u202e' || r == 0x7f {
			t.Errorf("%U was printed", r)
		}
	}
	if !strings.Contains(out.String(), `x\x1b[2J`) {
		t.Errorf("the name is not shown:\n%s", out.String())
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
			p, _ := play(t, c.play, c.events, statustest.LetThrough)
			var out bytes.Buffer
			scr := Screen{W: &out, Width: c.width, Colour: c.colour, Zone: time.UTC}
			Sessions(scr, load(t, p))
			golden(t, strings.NewReplacer(" ", "_", ",", "").Replace(c.name), out.Bytes())
			for _, line := range strings.Split(out.String(), "\n") {
				if n := Width(line); c.width > 0 && n > c.width && !strings.Contains(line, "/tasks/") {
					t.Errorf("a line has %d columns: %s", n, line)
				}
			}
		})
	}
}

// The screens of teams, as golden files.
func TestTeamScreens(t *testing.T) {
	t.Parallel()
	const dir = "session-8747d493"
	busy := map[string]string{
		"teams/" + dir + "/inboxes/pong.json":   "[" + statustest.Mail("team-lead", team.ShutdownRequest, time.Date(2026, 11, 30, 12, 40, 0, 0, time.UTC)) + `,{"from":"ping","text":"are you there?","read":false}]`,
		"tasks/" + dir + "/1.json":              `{"id":"1","subject":"build it","status":"in_progress","owner":"ping","blocks":["2"]}`,
		"tasks/" + dir + "/2.json":              `{"id":"2","subject":"test it on every system that we say we support, and on the ones we do not","status":"pending","owner":"pong","blockedBy":["1"]}`,
		"tasks/" + dir + "/3.json":              `{"id":"3","subject":"write it down","status":"pending"}`,
		"teams/" + dir + "/inboxes/ignored.txt": "no mail",
	}
	screens := []struct {
		name, play string
		events     int
		snapshot   string
		session    string
		files      map[string]string
		width      int
		colour     bool
		dead       bool
	}{
		{"a team at work, 80 columns", "2.1.332/team-tui", 13, "2.1.332", statustest.Session332, busy, 80, false, false},
		{"a team at work, 120 columns in colour", "2.1.332/team-tui", 13, "2.1.332", statustest.Session332, busy, 120, true, false},
		{"a team in panes, 80 columns", "2.1.235/team-tui", 13, "2.1.150", statustest.Session235, nil, 80, false, false},
		{"a team in panes, a pipe", "2.1.235/team-tui", 13, "2.1.150", statustest.Session235, nil, 0, false, false},
		{"a team without its lead, 80 columns", "2.1.332/team-tui", 13, "2.1.332", statustest.Session332, nil, 80, false, true},
		{"an older team at its end, 120 columns", "2.1.220/team-tui", -1, "2.1.220", statustest.Session220, nil, 120, false, false},
	}
	for _, c := range screens {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, root := play(t, c.play, c.events, statustest.LetThrough)
			config := filepath.Join(root, "claude")
			statustest.Join(t, config, c.snapshot, c.session)
			for name, content := range c.files {
				hosttest.Write(t, statustest.Noon, filepath.Join(config, filepath.FromSlash(name)), content)
			}
			p.Here, p.Alive = func(string) bool { return true }, func(int) bool { return !c.dead }
			var out bytes.Buffer
			scr := Screen{W: &out, Width: c.width, Colour: c.colour, Zone: time.UTC}
			Sessions(scr, load(t, p))
			golden(t, strings.NewReplacer(" ", "_", ",", "").Replace(c.name), out.Bytes())
			for _, line := range strings.Split(out.String(), "\n") {
				if n := Width(line); c.width > 0 && n > c.width && !strings.Contains(line, "/tasks/") {
					t.Errorf("a line has %d columns: %s", n, line)
				}
			}
		})
	}
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
