package status

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/status/statustest"
	"stopgate/pkg/team"
	"stopgate/pkg/transcript"
)

// The table of docs/status.md: who is stuck, and by what.
func TestWhoIsStuck(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		plight
		why    Why
		advice string // a part of it
	}{
		{"at work", plight{state: AgentRunning}, "", ""},
		{"stopped and nothing open", plight{state: AgentStopped}, "", ""},
		{"stopped, own work runs", plight{state: AgentStopped, runs: []string{"b1"}}, WhyOwnWork, "waits for own work, b1"},
		{"idle, own work runs", plight{state: AgentIdle, runs: []string{"b1"}}, WhyOwnWork, "is idle"},
		{"stopped, own work ended unheard", plight{state: AgentStopped, unheard: []string{"b1"}}, WhyUnheard, "never heard of the end of b1: send"},
		{"idle, own work ended unheard, more runs", plight{state: AgentIdle, unheard: []string{"b1"}, runs: []string{"b2"}}, WhyUnheard, "b1: send"},
		{"unheard, the coordinator was woken", plight{state: AgentIdle, unheard: []string{"b1"}, told: true}, WhyUnheard, "the coordinator was woken"},
		{"at work beside own work", plight{state: AgentRunning, runs: []string{"b1"}, unheard: []string{"b2"}}, "", ""},
		{"ended with own work open", plight{state: AgentEnded, runs: []string{"b1"}}, "", ""},
		{"many tasks", plight{state: AgentStopped, runs: []string{"b1", "b2", "b3", "b4", "b5"}}, WhyOwnWork, "b1, b2, b3 and 2 more"},

		{"a call unanswered for ten minutes", plight{state: AgentRunning, waits: []string{"Bash"}, silent: 10 * time.Minute}, WhyNoAnswer, "the answer of Bash and has written nothing for 10m"},
		{"a call unanswered for less", plight{state: AgentRunning, waits: []string{"Bash"}, silent: 10*time.Minute - time.Second}, "", ""},
		{"silent for an hour, nothing unanswered", plight{state: AgentRunning, silent: time.Hour}, "", ""},
		{"unanswered and asked to shut down", plight{state: AgentRunning, waits: []string{"Bash", "Read"}, silent: time.Hour, asked: true, askedFor: time.Hour}, WhyNoAnswer, "Bash, Read"},
		{"unanswered, but it has stopped", plight{state: AgentStopped, waits: []string{"Bash"}, silent: time.Hour}, "", ""},

		{"asked to shut down and at work", plight{state: AgentRunning, asked: true, askedFor: 5 * time.Minute}, WhyShutdown, "asked to shut down 5m00s ago and is still running"},
		{"asked to shut down and idle", plight{state: AgentIdle, asked: true, askedFor: 5 * time.Minute}, WhyShutdown, "still idle"},
		{"asked a moment ago", plight{state: AgentIdle, asked: true, askedFor: 59 * time.Second}, "", ""},
		{"asked, nobody knows when", plight{state: AgentIdle, asked: true, askedFor: -1}, WhyShutdown, "to shut down and is still"},
		{"asked, with own work open", plight{state: AgentIdle, asked: true, askedFor: time.Hour, runs: []string{"b1"}}, WhyShutdown, ""},
		{"asked, and ended", plight{state: AgentEnded, asked: true, askedFor: time.Hour}, "", ""},
		{"asked, its state unknown", plight{asked: true, askedFor: time.Hour}, WhyShutdown, "has not agreed"},
		{"its state unknown, own work runs", plight{runs: []string{"b1"}, owed: []string{"team task 1"}, rested: time.Hour}, "", ""},

		{"idle for long on a begun team task", plight{state: AgentIdle, owed: []string{"team task 1"}, rested: 10 * time.Minute}, WhyTeamTask, "idle for 10m00s with team task 1 in progress"},
		{"idle for a moment on a begun team task", plight{state: AgentIdle, owed: []string{"team task 1"}, rested: time.Minute}, "", ""},
		{"own work before the team's", plight{state: AgentIdle, owed: []string{"team task 1"}, rested: time.Hour, runs: []string{"b1"}}, WhyOwnWork, ""},
	}
	for _, r := range rows {
		r.who = "ping"
		why, advice := r.verdict()
		if why != r.why || !strings.Contains(advice, r.advice) || (why == "") != (advice == "") || strings.Contains(advice, "\n") {
			t.Errorf("%s: %q, %q; want %q, %q", r.name, why, advice, r.why, r.advice)
		}
		if why != "" && !strings.HasPrefix(advice, "ping ") {
			t.Errorf("%s: the advice does not say who: %q", r.name, advice)
		}
	}
}

func TestLeadStates(t *testing.T) {
	t.Parallel()
	hour, minute := ago(2*time.Hour), ago(time.Minute)
	rows := []struct {
		name string
		leadFacts
		want LeadState
		why  string
	}{
		{"its process lives", leadFacts{pid: 5417, here: true, alive: true}, LeadPresent, ""},
		{"its process lives, its session is quiet", leadFacts{pid: 5417, here: true, alive: true, heard: hour}, LeadPresent, ""},
		{"its process lives, its session ended and another began", leadFacts{pid: 5417, here: true, alive: true, ended: hour, heard: hour}, LeadPresent, ""},
		{"its process is dead", leadFacts{pid: 5417, here: true, heard: minute}, LeadGone, "process 5417 does not run any more"},
		{"a pid of another machine or container", leadFacts{pid: 5417, heard: minute}, LeadPresent, ""},
		{"a pid of another machine, quiet", leadFacts{pid: 5417, heard: hour}, LeadQuiet, "quiet for 2h"},
		{"its session ended", leadFacts{ended: hour, heard: hour}, LeadGone, "its session ended 2h"},
		{"its session was heard of just now", leadFacts{heard: minute}, LeadPresent, ""},
		{"its session is quiet", leadFacts{heard: hour}, LeadQuiet, "quiet for 2h"},
		{"no trace of its session", leadFacts{created: hour}, LeadGone, "no transcript"},
		{"no trace of its session yet", leadFacts{created: minute}, LeadPresent, ""},
	}
	for _, r := range rows {
		if got, why := leadVerdict(r.leadFacts, noon); got != r.want || !strings.Contains(why, r.why) || (got == LeadPresent) != (why == "") {
			t.Errorf("%s: %s, %q; want %s, %q", r.name, got, why, r.want, r.why)
		}
	}
}

// Where there is no hook event of a shutdown, the mail tells.
func TestAShutdownEndsATeammate(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		life
		want AgentState
	}{
		{"it agreed and went", life{teammate: true, started: ago(time.Hour), agreed: ago(10 * time.Minute), stopped: ago(10*time.Minute - time.Second)}, AgentEnded},
		{"it agreed and still ends turns", life{teammate: true, started: ago(time.Hour), agreed: ago(10 * time.Minute), stopped: ago(time.Minute)}, AgentIdle},
		{"it agreed and was started again", life{teammate: true, started: ago(5 * time.Minute), agreed: ago(10 * time.Minute), stopped: ago(20 * time.Minute)}, AgentRunning},
		{"it did not agree", life{teammate: true, started: ago(time.Hour), stopped: ago(time.Minute)}, AgentIdle},
	}
	for _, r := range rows {
		if got, _ := agentVerdict(r.life); got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// members are a team's members by name: how each runs, its state, and whether it
// is stuck.
func members(s Session, i int) string {
	var out []string
	for _, m := range s.Teams[i].Members {
		text := m.Name + " " + cmp.Or(m.Color, "-") + " " + cmp.Or(string(m.State), "unknown")
		switch {
		case m.Lead:
			text += " lead"
		case m.Separate:
			text += " in " + m.Backend + " " + m.Pane
		case m.AgentID != "":
			text += " as " + m.AgentID
		}
		if m.Stuck {
			text += " stuck by " + string(m.Why)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// The teams of the snapshots beside the recorded sessions of a team.
func TestTeamsOfRecordedSessions(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, play string
		events     int
		snapshot   string
		session    string
		want       []string
	}{
		{"2.1.332, its files beside it", "2.1.332/team-tui", 13, "2.1.332", statustest.Session332, []string{
			"team-lead - unknown lead; ping blue idle as aping-4976bb1b79928c86 stuck by own-work; pong green unknown"}},
		{"2.1.220, its files beside it", "2.1.220/team-tui", 13, "2.1.220", statustest.Session220, []string{
			"team-lead - unknown lead; ping blue idle as aping-d5c308e2b71b3fea stuck by own-work; pong green unknown"}},
		{"no files at all", "2.1.332/team-tui", 13, "", statustest.Session332, []string{
			"ping blue idle as aping-4976bb1b79928c86 stuck by own-work"}},
		{"members in panes of their own", "2.1.235/team-tui", 13, "2.1.150", statustest.Session235, []string{
			"team-lead - unknown lead; ping blue idle in tmux %1; pong green idle in tmux %2",
			"ping blue idle as aping-1c0e1968f0d0a888 stuck by own-work"}},
		{"a team of another session", "2.1.332/team-tui", 13, "2.1.332", sessionA, []string{
			"ping blue idle as aping-4976bb1b79928c86 stuck by own-work"}},
		{"at the session's end", "2.1.332/team-tui", -1, "2.1.332", statustest.Session332, []string{
			"team-lead - ended lead; ping blue ended as aping-4976bb1b79928c86; pong green ended"}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p := play(t, r.play, r.events, letThrough)
			if r.snapshot != "" {
				statustest.Join(t, filepath.Join(p.root, "claude"), r.snapshot, r.session)
			}
			s := p.session(t)
			if len(s.Teams) != len(r.want) {
				t.Fatalf("%d teams: %+v", len(s.Teams), s.Teams)
			}
			for i, want := range r.want {
				if got := members(s, i); got != want {
					t.Errorf("team %d: %s\nwant %s", i, got, want)
				}
			}
			for _, a := range s.Agents {
				if strings.HasPrefix(a.ID, "aping") && (a.Name != "ping" && a.Type != "ping" || a.Color != "blue" || !strings.HasPrefix(a.Team, "session-")) {
					t.Errorf("the agent is %+v", a)
				}
			}
		})
	}
}

// teamMate is a session that leads the team of a snapshot, with ping as an agent
// that ended a turn an hour before noon.
func teamMate(t *testing.T, change func(tx *ledger.Tx, a *ledger.Agent)) (Source, string) {
	t.Helper()
	dir, config := statustest.TeamMate(t, change)
	return Source{Dir: dir, Now: noon, Env: func(string) string { return "" }}, config
}

func TestMailAndTasksOfAMember(t *testing.T) {
	t.Parallel()
	const teamDir, tasks = "teams/session-8747d493", "tasks/session-8747d493"
	rows := []struct {
		name  string
		files map[string]string
		state AgentState
		why   Why
		check func(Team, Member) bool
	}{
		{"nothing but the snapshot", nil, AgentIdle, "", func(_ Team, m Member) bool {
			return m.Since.Equal(ago(time.Hour).Add(time.Second)) && m.Unread == 0
		}},
		{"it says itself that it is idle", map[string]string{teamDir + "/inboxes/team-lead.json": "[" + statustest.Mail("ping", team.Idle, ago(30*time.Minute)) + "]"}, AgentIdle, "", func(t Team, m Member) bool {
			return m.Since.Equal(ago(30*time.Minute)) && t.Members[0].Unread == 1
		}},
		{"mail that it has not read", map[string]string{teamDir + "/inboxes/ping.json": `[{"from":"pong","text":"hello","read":false},{"from":"pong","text":"hi","read":true}]`}, AgentIdle, "", func(_ Team, m Member) bool {
			return m.Unread == 1
		}},
		{"asked to shut down", map[string]string{teamDir + "/inboxes/ping.json": "[" + statustest.Mail("team-lead", team.ShutdownRequest, ago(5*time.Minute)) + "]"}, AgentIdle, WhyShutdown, func(_ Team, m Member) bool {
			return m.Asked.Equal(ago(5 * time.Minute))
		}},
		{"asked and refused", map[string]string{
			teamDir + "/inboxes/ping.json":      "[" + statustest.Mail("team-lead", team.ShutdownRequest, ago(5*time.Minute)) + "]",
			teamDir + "/inboxes/team-lead.json": "[" + statustest.Mail("ping", team.ShutdownRejected, ago(4*time.Minute)) + "]"}, AgentIdle, "", nil},
		{"asked and agreed", map[string]string{
			teamDir + "/inboxes/ping.json":      "[" + statustest.Mail("team-lead", team.ShutdownRequest, ago(5*time.Minute)) + "]",
			teamDir + "/inboxes/team-lead.json": "[" + statustest.Mail("ping", team.ShutdownApproved, ago(4*time.Minute)) + "]"}, AgentEnded, "", nil},
		{"asked, agreed and idle again", map[string]string{
			teamDir + "/inboxes/ping.json":      "[" + statustest.Mail("team-lead", team.ShutdownRequest, ago(20*time.Minute)) + "]",
			teamDir + "/inboxes/team-lead.json": "[" + statustest.Mail("ping", team.ShutdownApproved, ago(19*time.Minute)) + "," + statustest.Mail("ping", team.Idle, ago(5*time.Minute)) + "]"}, AgentIdle, WhyShutdown, nil},
		{"a team task that it began", map[string]string{tasks + "/1.json": `{"id":"1","subject":"build it","status":"in_progress","owner":"ping"}`}, AgentIdle, WhyTeamTask, nil},
		{"a team task that waits for another", map[string]string{
			tasks + "/1.json": `{"id":"1","subject":"build it","status":"pending","blocks":["2"]}`,
			tasks + "/2.json": `{"id":"2","subject":"test it","status":"in_progress","owner":"ping@session-8747d493"}`,
			tasks + "/3.json": `{"id":"3","subject":"ping","status":"pending","metadata":{"_internal":true}}`,
			tasks + "/4.json": `{"id":"4","subject":"done","status":"completed","owner":"ping"}`}, AgentIdle, "", func(t Team, _ Member) bool {
			return len(t.Tasks) == 2 && t.Tasks[1].Owner == "ping@session-8747d493" && len(t.Tasks[1].WaitsFor) == 1 && t.Tasks[1].WaitsFor[0] == "1"
		}},
		{"a team task not begun", map[string]string{tasks + "/1.json": `{"id":"1","status":"pending","owner":"ping"}`}, AgentIdle, "", nil},
	}
	for _, r := range rows {
		src, config := teamMate(t, nil)
		for name, content := range r.files {
			hosttest.Write(t, noon, filepath.Join(config, filepath.FromSlash(name)), content)
		}
		s := load(t, src, Filter{All: true}).Sessions[0]
		ping := s.Teams[0].Members[1]
		if ping.State != r.state || ping.Why != r.why || r.check != nil && !r.check(s.Teams[0], ping) {
			t.Errorf("%s: %+v\nof %+v", r.name, ping, s.Teams[0])
		}
		if a, _ := s.Agent(ping.AgentID); a.State != ping.State || a.Why != ping.Why || a.Advice != ping.Advice {
			t.Errorf("%s: as an agent it is %+v", r.name, a)
		}
	}
}

// An unanswered call and no growth for ten minutes.
func TestSilentAgents(t *testing.T) {
	t.Parallel()
	call := func(tool string) string {
		return `{"type":"assistant","agentId":"a1","timestamp":"` + ago(20*time.Minute).Format(time.RFC3339) + `","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"` + tool + `","input":{}}]}}` + "\n"
	}
	answer := `{"type":"user","agentId":"a1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}` + "\n"
	rows := []struct {
		name, lines    string
		written, child time.Time
		stopped        bool
		why            Why
	}{
		{"a command that does not end", call("Bash"), ago(20 * time.Minute), time.Time{}, false, WhyNoAnswer},
		{"the file grew since", call("Bash"), ago(time.Minute), time.Time{}, false, ""},
		{"answered, and silent since", call("Bash") + answer, ago(20 * time.Minute), time.Time{}, false, ""},
		{"it stopped since", call("Bash"), ago(20 * time.Minute), time.Time{}, true, ""},
		{"its child works", call("Agent"), ago(20 * time.Minute), ago(time.Minute), false, ""},
		{"its child is silent too", call("Agent"), ago(20 * time.Minute), ago(15 * time.Minute), false, WhyNoAnswer},
		{"a file of the future says nothing", call("Bash"), noon.Add(time.Hour), time.Time{}, false, WhyNoAnswer},
		{"no transcript", "", time.Time{}, time.Time{}, false, ""},
	}
	for _, r := range rows {
		dir := t.TempDir()
		src := written(t, sessionA, func(tx *ledger.Tx) {
			tx.Session.Transcript = filepath.Join(dir, sessionA+".jsonl")
			a := tx.Touch("a1", "builder", "")
			a.Started = ago(time.Hour)
			if r.stopped {
				a.Stopped = ago(time.Minute)
			}
			tx.PutAgent(a)
		})
		for id, at := range map[string]time.Time{"a1": r.written, "a2": r.child} {
			if !at.IsZero() {
				path := filepath.Join(dir, sessionA, "subagents", "agent-"+id+".jsonl")
				hosttest.Write(t, at, path, r.lines)
			}
		}
		s := load(t, src, Filter{All: true}).Sessions[0]
		if a, _ := s.Agent("a1"); a.Why != r.why || a.Stuck != (r.why != "") {
			t.Errorf("%s: %q, %q", r.name, a.Why, a.Advice)
		}
	}
}

func TestATeamWithoutItsLead(t *testing.T) {
	t.Parallel()
	process := map[int]bool{5417: true}
	here := func(space string) bool { return space == "host#pid:[4026531836]" }
	rows := []struct {
		name  string
		set   func(*Source)
		lead  LeadState
		state AgentState
	}{
		{"pids that mean nothing here", func(s *Source) { s.Here = func(string) bool { return false } }, LeadPresent, AgentIdle},
		{"its process lives", func(s *Source) {}, LeadPresent, AgentIdle},
		{"its process is dead", func(s *Source) { s.Alive = func(int) bool { return false } }, LeadGone, AgentEnded},
		{"its pid is another process by now", func(s *Source) { s.StartOf = func(int) string { return "999999" } }, LeadGone, AgentEnded},
	}
	for _, r := range rows {
		src, config := teamMate(t, func(tx *ledger.Tx, _ *ledger.Agent) {
			tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: "b1", Owner: "aping-4976bb1b79928c86", Kind: "shell", At: ago(70 * time.Minute), Evidence: transcript.PostToolUse}}})
		})
		src.Here, src.Alive, src.StartOf = here, func(pid int) bool { return process[pid] }, func(int) string { return "328155" }
		r.set(&src)
		s := load(t, src, Filter{All: true}).Sessions[0]
		got := s.Teams[0]
		if got.Lead != r.lead || got.Members[1].State != r.state || got.Members[1].Stuck != (r.state == AgentIdle) {
			t.Errorf("%s: %+v", r.name, got)
		}
		if gone := r.lead == LeadGone; gone != strings.Contains(got.Advice, filepath.Join(config, "teams", "session-8747d493")) {
			t.Errorf("%s: the advice is %q", r.name, got.Advice)
		}
	}
}

// Teams of sessions that no hook ever saw: only those that are left over, and
// only where they are asked for.
func TestLeftoverTeams(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	config := filepath.Join(home, ".claude")
	statustest.Join(t, config, "2.1.220", statustest.Session220)
	statustest.Join(t, config, "2.1.150", statustest.Session235)
	src := Source{Dir: state.At(t.TempDir()), Now: noon.Add(12 * time.Hour), Env: func(name string) string {
		return map[string]string{"HOME": home}[name]
	}}
	names := func(f Filter) string {
		var all []string
		for _, t := range load(t, src, f).Teams {
			all = append(all, t.Name)
		}
		return strings.Join(all, " ")
	}
	for name, r := range map[string]struct {
		f    Filter
		want string
	}{
		"all":              {Filter{All: true}, "probe session-04d0a712"},
		"its folder":       {Filter{Folder: "/home/dev/proj"}, "probe session-04d0a712"},
		"another folder":   {Filter{Folder: "/srv"}, ""},
		"one session only": {Filter{Session: ""}, ""},
	} {
		if got := names(r.f); got != r.want {
			t.Errorf("%s: %q, want %q", name, got, r.want)
		}
	}
	hosttest.Write(t, src.Now.Add(-time.Minute), filepath.Join(config, "projects", "-p", statustest.Session235+".jsonl"), "{}\n")
	if got := names(Filter{All: true}); got != "session-04d0a712" {
		t.Errorf("a lead that has left a transcript: %q", got)
	}
	statustest.Put(t, src.Dir, statustest.Session220, func(tx *ledger.Tx) { tx.Session.Cwd = "/elsewhere" })
	if got := names(Filter{Folder: "/home/dev/proj"}); got != "" {
		t.Errorf("a lead that was recorded: %q", got)
	}
	src.Env = func(name string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "other")}[name]
	}
	if got := names(Filter{All: true}); got != "" {
		t.Errorf("in another configuration folder: %q", got)
	}
}

// What is broken of a shown team is said once, of another team not at all.
func TestOddTeamFiles(t *testing.T) {
	t.Parallel()
	src, config := teamMate(t, nil)
	for name, content := range map[string]string{
		"teams/session-8747d493/inboxes/pong.json": "[{",
		"teams/another/config.json":                "no json",
		"teams/third/config.json":                  `{"leadSessionId":7,"members":[null,{"name":"ping"}]}`,
		"tasks/session-8747d493/9.json":            "[]",
	} {
		hosttest.Write(t, noon, filepath.Join(config, filepath.FromSlash(name)), content)
	}
	st := load(t, src, Filter{All: true})
	if len(st.Problems) != 2 || !strings.Contains(fmt.Sprint(st.Problems), "pong.json is no JSON") || !strings.Contains(fmt.Sprint(st.Problems), "9.json is no object") {
		t.Errorf("problems %v", st.Problems)
	}
	hosttest.Write(t, noon, filepath.Join(config, "teams", "session-8747d493", "config.json"), "torn {")
	st = load(t, src, Filter{All: true})
	if s := st.Sessions[0]; len(s.Teams) != 1 || len(s.Teams[0].Members) != 1 || s.Teams[0].Members[0].Name != "ping" {
		t.Errorf("with a broken config: %+v", s.Teams)
	}
	must(t, os.RemoveAll(filepath.Join(config, "teams")))
	hosttest.Write(t, noon, filepath.Join(config, "teams"), "a file")
	if s := load(t, src, Filter{All: true}).Sessions[0]; len(s.Teams) != 1 {
		t.Errorf("with a file in place of the folder: %+v", s.Teams)
	}
}

// Looking at teams changes nothing of them.
func TestLookingLeavesTeamsAsTheyAre(t *testing.T) {
	t.Parallel()
	src, config := teamMate(t, nil)
	before := strings.Join(tree(t, config), "\n")
	load(t, src, Filter{All: true})
	if after := strings.Join(tree(t, config), "\n"); before != after {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}
