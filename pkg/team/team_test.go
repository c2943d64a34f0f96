package team

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
)

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

func one(t *testing.T, dir string) Team {
	t.Helper()
	teams, problems := Read(dir)
	if len(teams) != 1 || len(problems) != 0 {
		t.Fatalf("%+v %v", teams, problems)
	}
	return teams[0]
}

func TestRecordedTeams(t *testing.T) {
	no := false
	tasks := []Task{{ID: "1", Subject: "build it", Status: Pending}, {ID: "2", Subject: "test it", Status: Pending}}
	for version, want := range map[string]Team{
		"2.1.150": {
			Dir: "probe", Name: "probe", LeadAgentID: "team-lead@probe",
			LeadSessionID: "a96dab22-3701-4e06-8d43-d720cfe83bf6",
			CreatedAt:     time.UnixMilli(1796044165365).UTC(),
			Members: []Member{
				{AgentID: "team-lead@probe", Name: "team-lead", AgentType: "team-lead", Model: "claude-opus-4-7[1m]", JoinedAt: time.UnixMilli(1796044165365).UTC(), Cwd: "/home/dev/proj"},
				{AgentID: "ping@probe", Name: "ping", Color: "blue", AgentType: "general-purpose", Model: "claude-opus-4-7", Backend: Tmux, PaneID: "%1", Active: &no, JoinedAt: time.UnixMilli(1796044165892).UTC(), Cwd: "/home/dev/proj"},
				{AgentID: "pong@probe", Name: "pong", Color: "green", AgentType: "general-purpose", Model: "claude-opus-4-7", Backend: Tmux, PaneID: "%2", Active: &no, JoinedAt: time.UnixMilli(1796044166041).UTC(), Cwd: "/home/dev/proj"},
			},
			Mail: map[string][]Message{
				"ping": {{From: "team-lead", Text: "@@SCRIPT matex\nwork", Type: "message", Time: at("2026-11-30T13:09:26.944Z"), Read: true}},
				"pong": {
					{From: "team-lead", Text: "@@SCRIPT matey\nwork", Type: "message", Time: at("2026-11-30T13:09:28.220Z"), Read: true},
					{From: "team-lead", Text: "hello pong, please look at task 1", Summary: "hello", Type: "message", Time: at("2026-11-30T13:09:30.451Z"), Read: true},
				},
				"team-lead": {
					{From: "ping", Text: `{"type":"idle_notification","from":"ping","timestamp":"2026-11-30T13:09:33.407Z","idleReason":"available"}`, Type: "message", Time: at("2026-11-30T13:09:33.407Z"), Read: true,
						Protocol: Protocol{Type: Idle, From: "ping", Time: at("2026-11-30T13:09:33.407Z"), Reason: "available"}},
					{From: "pong", Text: `{"type":"idle_notification","from":"pong","timestamp":"2026-11-30T13:09:33.878Z","idleReason":"available"}`, Type: "message", Time: at("2026-11-30T13:09:33.878Z"), Read: true,
						Protocol: Protocol{Type: Idle, From: "pong", Time: at("2026-11-30T13:09:33.878Z"), Reason: "available"}},
				},
			},
			Tasks: tasks,
		},
		"2.1.220": {
			Dir: "session-b03687e1", Name: "session-b03687e1", LeadAgentID: "team-lead@session-b03687e1",
			LeadSessionID: "b03687e1-91dd-414b-b686-09ee1becd874",
			CreatedAt:     time.UnixMilli(1796044159978).UTC(),
			Members: []Member{
				{AgentID: "team-lead@session-b03687e1", Name: "team-lead", AgentType: "team-lead", Backend: InProcess, JoinedAt: time.UnixMilli(1796044159978).UTC(), Cwd: "/home/dev/proj"},
				{AgentID: "ping@session-b03687e1", Name: "ping", Color: "blue", AgentType: "general-purpose", Model: "claude-opus-5", Backend: InProcess, JoinedAt: time.UnixMilli(1796044165949).UTC(), Cwd: "/home/dev/proj"},
				{AgentID: "pong@session-b03687e1", Name: "pong", Color: "green", AgentType: "general-purpose", Model: "claude-opus-5", Backend: InProcess, JoinedAt: time.UnixMilli(1796044166336).UTC(), Cwd: "/home/dev/proj"},
			},
			Mail:  map[string][]Message{"pong": {}, "team-lead": {}},
			Tasks: tasks,
		},
		"2.1.332": {
			Dir: "session-0ee47418", Name: "session-0ee47418", LeadAgentID: "team-lead@session-0ee47418",
			LeadSessionID: "0ee47418-21e9-41b7-a44f-34d11b084dad",
			LeadPID:       5417, LeadPIDSpace: "host#pid:[4026531836]", LeadStart: "328155",
			CreatedAt: time.UnixMilli(1796044158799).UTC(),
			Members: []Member{
				{AgentID: "team-lead@session-0ee47418", Name: "team-lead", AgentType: "team-lead", Backend: InProcess, JoinedAt: time.UnixMilli(1796044158799).UTC(), Cwd: "/home/dev/proj"},
				{AgentID: "ping@session-0ee47418", Name: "ping", Color: "blue", AgentType: "general-purpose", Model: "claude-opus-5-5", Backend: InProcess, JoinedAt: time.UnixMilli(1796044165774).UTC(), Cwd: "/home/dev/proj"},
				{AgentID: "pong@session-0ee47418", Name: "pong", Color: "green", AgentType: "general-purpose", Model: "claude-opus-5-5", Backend: InProcess, JoinedAt: time.UnixMilli(1796044165937).UTC(), Cwd: "/home/dev/proj"},
			},
			Mail: map[string][]Message{"pong": {}, "team-lead": {}},
		},
	} {
		t.Run(version, func(t *testing.T) {
			if got := one(t, filepath.Join("testdata", version)); !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%+v\nwant\n%+v", got, want)
			}
		})
	}
}

func TestRecordedTeamAnswersQuestions(t *testing.T) {
	team := one(t, filepath.Join("testdata", "2.1.150"))
	if got := ForSession([]Team{team}, "a96dab22-3701-4e06-8d43-d720cfe83bf6"); len(got) != 1 {
		t.Errorf("%v", got)
	}
	ping, ok := team.Member("", "ping")
	if !ok || !ping.Separate() || team.IsLead(ping) || !team.IsLead(team.Members[0]) || team.Members[0].Separate() {
		t.Errorf("%+v", ping)
	}
	if got := team.IdleSince("pong"); !got.Equal(at("2026-11-30T13:09:33.878Z")) {
		t.Errorf("%v", got)
	}
	if got := team.IdleSince("team-lead"); !got.IsZero() {
		t.Errorf("%v", got)
	}
	if n := team.Unread("pong"); n != 0 {
		t.Errorf("%d", n)
	}
	if got := team.OpenTasks(""); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestNameOf(t *testing.T) {
	for id, want := range map[string]string{
		"aping-4976bb1b79928c86":     "ping",
		"aa-b-c-d5c308e2b71b3fea":    "a-b-c",
		"aping-d5c308e2b71b3fea":     "ping",
		"a162675bfb4242500":          "", // up to 2.1.150, and agents without a name
		"ping@probe":                 "",
		"":                           "",
		"a-d5c308e2b71b3fea":         "",
		"aping-":                     "",
		"aping-xyz":                  "",
		"agent-reviewer":             "",
		"bping-4976bb1b79928c86":     "",
		"aпинг-4976bb1b79928c86":     "пинг",
		"aping-4976bb1b79928c86\nxx": "",
	} {
		if got := NameOf(id); got != want {
			t.Errorf("%q: %q", id, got)
		}
	}
}

func TestMember(t *testing.T) {
	team := Team{Members: []Member{{AgentID: "team-lead@x", Name: "team-lead"}, {AgentID: "ping@x", Name: "ping"}, {AgentID: "my mate@x", Name: "my mate"}}}
	for _, tt := range []struct{ name, id, meta, want string }{
		{"in-process id", "aping-4976bb1b79928c86", "", "ping"},
		{"older id with the meta file's name", "a162675bfb4242500", "ping", "ping"},
		{"older id alone", "a162675bfb4242500", "", ""},
		{"id of the file", "ping@x", "", "ping"},
		{"name in place of an id", "ping", "", "ping"},
		{"name made fit for an id", "amy-mate-4976bb1b79928c86", "", "my mate"},
		{"somebody else's", "apong-4976bb1b79928c86", "", ""},
		{"nothing", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, ok := team.Member(tt.id, tt.meta)
			if m.Name != tt.want || ok != (tt.want != "") {
				t.Errorf("%+v %v", m, ok)
			}
		})
	}
}

func TestForSession(t *testing.T) {
	teams := []Team{{Name: "a", LeadSessionID: "1"}, {Name: "b"}, {Name: "c", LeadSessionID: "1"}}
	if got := ForSession(teams, "1"); len(got) != 2 || got[1].Name != "c" {
		t.Errorf("%v", got)
	}
	if got := ForSession(teams, ""); got != nil {
		t.Errorf("%v", got)
	}
}

func TestTasks(t *testing.T) {
	team := Team{Tasks: []Task{
		{ID: "1", Status: Pending, Owner: "ping"},
		{ID: "2", Status: InProgress, Owner: "ping@x", BlockedBy: []string{"1", "3", "9"}},
		{ID: "3", Status: Completed, Owner: "ping", Blocks: []string{"2"}},
		{ID: "4", Status: "strange", Blocks: []string{"2", "4"}},
		{ID: "5", Status: Pending, Owner: "ping", Internal: true},
		{ID: "6", Status: Deleted, Owner: "ping"},
		{ID: "7", Owner: "pinger"},
	}}
	ids := func(all []Task) string {
		var s []string
		for _, t := range all {
			s = append(s, t.ID)
		}
		return strings.Join(s, " ")
	}
	if got := ids(team.OpenTasks("ping")); got != "1 2" {
		t.Errorf("%s", got)
	}
	if got := ids(team.OpenTasks("")); got != "4" {
		t.Errorf("%s", got)
	}
	if got := ids(team.Blockers(team.Tasks[1])); got != "1 4" {
		t.Errorf("%s", got)
	}
	if got := ids(team.Blockers(team.Tasks[3])); got != "" {
		t.Errorf("%s", got)
	}
}

func TestMail(t *testing.T) {
	request := func(s string) Message {
		return Message{From: "team-lead", Time: at(s), Protocol: Protocol{Type: ShutdownRequest, From: "team-lead"}}
	}
	answer := func(kind, s string) Message {
		return Message{From: "my mate", Read: true, Protocol: Protocol{Type: kind, From: "my mate", Time: at(s)}}
	}
	for _, tt := range []struct {
		name        string
		mate, lead  []Message
		unread      int
		asked, idle string
	}{
		{"nothing", nil, nil, 0, "", ""},
		{"two unread", []Message{{}, {Read: true}, {}}, nil, 2, "", ""},
		{"asked twice", []Message{request("2026-01-01T00:00:02Z"), request("2026-01-01T00:00:01Z")}, nil, 2, "2026-01-01T00:00:02Z", ""},
		{"agreed", []Message{request("2026-01-01T00:00:02Z")}, []Message{answer(ShutdownApproved, "2026-01-01T00:00:03Z")}, 1, "2026-01-01T00:00:02Z", ""},
		{"refused", []Message{request("2026-01-01T00:00:02Z")}, []Message{answer(ShutdownRejected, "2026-01-01T00:00:03Z")}, 1, "", ""},
		{"refused, then asked again", []Message{request("2026-01-01T00:00:04Z")}, []Message{answer(ShutdownRejected, "2026-01-01T00:00:03Z")}, 1, "2026-01-01T00:00:04Z", ""},
		{"idle twice", nil, []Message{answer(Idle, "2026-01-01T00:00:09Z"), answer(Idle, "2026-01-01T00:00:03Z"), {Protocol: Protocol{Type: Idle, From: "other", Time: at("2027-01-01T00:00:00Z")}}}, 0, "", "2026-01-01T00:00:09Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			team := Team{Mail: map[string][]Message{"my-mate": tt.mate, "team-lead": tt.lead}}
			if got := team.Unread("my mate"); got != tt.unread {
				t.Errorf("unread %d", got)
			}
			asked, ok := team.ShutdownAsked("my mate")
			if ok != (tt.asked != "") || (ok && !asked.Equal(at(tt.asked))) {
				t.Errorf("asked %v %v", asked, ok)
			}
			idle := team.IdleSince("my mate")
			if idle.IsZero() != (tt.idle == "") || (tt.idle != "" && !idle.Equal(at(tt.idle))) {
				t.Errorf("idle %v", idle)
			}
		})
	}
}

// layout writes files; a name that ends in / is a folder.
func layout(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		hosttest.Write(t, at("2026-11-30T12:00:00Z"), path, text)
	}
}

func TestAbsenceIsNothing(t *testing.T) {
	dir := t.TempDir()
	for _, config := range []string{dir, filepath.Join(dir, "nowhere")} {
		if teams, problems := Read(config); teams != nil || problems != nil {
			t.Errorf("%v %v", teams, problems)
		}
	}
	layout(t, dir, map[string]string{"teams/empty/": "", "teams/file": "x", "tasks/other/1.json": "{}", "teams/left/inboxes/a.json": "[]"})
	teams, problems := Read(dir)
	if len(teams) != 1 || teams[0].Name != "left" || problems != nil {
		t.Errorf("%v %v", teams, problems)
	}
}

func TestOddShapes(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for _, tt := range []struct {
		name     string
		files    map[string]string
		want     Team
		problems []string
	}{
		{"fields of other types", map[string]string{
			"config.json": `{"name": 7, "leadAgentId": [], "leadSessionId": null, "createdAt": "soon", "leadProcess": {"pid": "1", "pidSpace": 3, "procStart": 12},
				"members": [null, 3, [], {}, {"name": 5}, {"agentId": "a@b", "isActive": "yes", "joinedAt": -1, "color": {}, "tmuxPaneId": "%3"}]}`,
		}, Team{Name: "t", LeadStart: "12", Members: []Member{{AgentID: "a@b", Name: "a", Backend: Tmux, PaneID: "%3"}}}, nil},
		{"members and process of other types", map[string]string{"config.json": `{"members": {"name": "x"}, "leadProcess": [1], "leadSessionId": "s"}`}, Team{Name: "t", LeadSessionID: "s"}, nil},
		{"impossible numbers", map[string]string{"config.json": `{"createdAt": 1e300, "leadProcess": {"pid": 1.5}}`}, Team{Name: "t"}, nil},
		{"negative process", map[string]string{"config.json": `{"leadProcess": {"pid": -4}}`}, Team{Name: "t"}, nil},
		{"byte order mark", map[string]string{"config.json": "\ufeff{\"name\": \"x\"}"}, Team{Name: "x"}, nil},
		{"name that is a path", map[string]string{"config.json": `{"name": "../../etc"}`}, Team{Name: "../../etc"}, nil},
		{"another terminal", map[string]string{"config.json": `{"members": [{"name": "x", "backendType": "iterm2", "tmuxPaneId": "A-B"}]}`},
			Team{Name: "t", Members: []Member{{Name: "x", Backend: ITerm2, PaneID: "A-B"}}}, nil},
		{"garbage", map[string]string{
			"config.json": "{\"name\": ", "inboxes/a.json": "\x00\x00", "inboxes/b.json": "{}", "inboxes/c.json": " ", "inboxes/d.json": deep, "inboxes/e.txt": "x", "inboxes/.f.json": "x",
			"inboxes/g.json": `[{"text": "hi"}]`,
		}, Team{Name: "t", Mail: map[string][]Message{"g": {{Text: "hi"}}}},
			[]string{"config.json: is no JSON", "a.json: is no JSON", "b.json: is no list", "c.json: is empty", "d.json: is no JSON"}},
		{"config is a list", map[string]string{"config.json": "[]", "inboxes/a.json": "[]"}, Team{Name: "t", Mail: map[string][]Message{"a": {}}}, []string{"config.json: is no object"}},
		{"folders in place of files", map[string]string{"config.json/": "", "inboxes/a.json/": "", "inboxes/b.json": "[]"},
			Team{Name: "t", Mail: map[string][]Message{"b": {}}}, []string{"config.json: is no regular file", "a.json: is no regular file"}},
		{"file in place of a folder", map[string]string{"config.json": "{}", "inboxes": "x"}, Team{Name: "t"}, []string{"inboxes: "}},
		{"messages of other shapes", map[string]string{"config.json": "{}", "inboxes/a.json": `[null, "x", {"from": 1, "text": {"type": "idle_notification"}, "timestamp": 1796044165365, "read": "true"},
			{"text": "{\"type\": \"\"}"}, {"text": "{\"type\": 4}"}, {"text": "{broken"}, {"text": " {\"type\":\"task_completed\",\"taskId\":3,\"request_id\":\"r\",\"reason\":\"y\"} "}]`},
			Team{Name: "t", Mail: map[string][]Message{"a": {
				{Time: time.UnixMilli(1796044165365).UTC()}, {Text: `{"type": ""}`}, {Text: `{"type": 4}`}, {Text: "{broken"},
				{Text: ` {"type":"task_completed","taskId":3,"request_id":"r","reason":"y"} `, Protocol: Protocol{Type: "task_completed", TaskID: "3", RequestID: "r", Reason: "y"}},
			}}}, nil},
		{"tasks of other shapes", map[string]string{"config.json": "{}", "../../tasks/t/10.json": `{"id": 10, "blocks": [1, "2", null, {}], "metadata": {"_internal": true}}`,
			"../../tasks/t/9.json": `{"subject": [], "owner": null, "blockedBy": "x", "metadata": []}`, "../../tasks/t/x.json": "3", "../../tasks/t/a.json": "{}", "../../tasks/t/.lock": "", "../../tasks/t/.highwatermark": "7"},
			Team{Name: "t", Tasks: []Task{{ID: "9"}, {ID: "10", Blocks: []string{"1", "2"}, Internal: true}, {ID: "a"}}}, []string{"x.json: is no object"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			layout(t, filepath.Join(dir, "teams", "t"), tt.files)
			teams, problems := Read(dir)
			tt.want.Dir = "t"
			if len(teams) != 1 || !reflect.DeepEqual(teams[0], tt.want) {
				t.Errorf("got\n%+v\nwant\n%+v", teams, tt.want)
			}
			if len(problems) != len(tt.problems) {
				t.Fatalf("%v", problems)
			}
			for i, p := range problems {
				if !strings.Contains(p.Error(), tt.problems[i]) || !strings.HasPrefix(p.Error(), dir) {
					t.Errorf("%v", p)
				}
			}
		})
	}
}

func TestBounds(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"teams/t/config.json": "{}", "teams/t/inboxes/big.json": "[]"}
	for i := range maxTasks + 1 {
		files[fmt.Sprintf("tasks/t/%d.json", i)] = "{}"
	}
	layout(t, dir, files)
	if err := os.Truncate(filepath.Join(dir, "teams", "t", "inboxes", "big.json"), 1<<33); err != nil {
		t.Fatal(err)
	}
	teams, problems := Read(dir)
	if len(teams) != 1 || len(teams[0].Tasks) != maxTasks || len(problems) != 2 {
		t.Errorf("%d %v", len(teams), problems)
	}
}

func TestReadingChangesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "2.1.150"))); err != nil {
		t.Fatal(err)
	}
	list := func() string {
		var b strings.Builder
		if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before := list()
	Read(dir)
	if list() != before {
		t.Error("reading changed something")
	}
}

func FuzzRead(f *testing.F) {
	for _, v := range []string{"2.1.150/teams/probe", "2.1.332/teams/session-0ee47418"} {
		config, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(v), "config.json"))
		if err != nil {
			f.Fatal(err)
		}
		inbox, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(v), "inboxes", "team-lead.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(config, inbox, []byte(`{"id": "1", "status": "pending", "owner": "ping", "blocks": ["2"], "blockedBy": [1], "metadata": {"_internal": true}}`))
	}
	f.Add([]byte("{}"), []byte(`[{"text":"{\"type\":\"shutdown_request\",\"requestId\":\"1\",\"timestamp\":5}"}]`), []byte("null"))
	f.Fuzz(func(t *testing.T, config, inbox, task []byte) {
		var team Team
		_ = team.config(config)
		_ = team.inbox("a", inbox)
		_ = team.task("1", task)
		for _, m := range team.Members {
			if m.Name == "" {
				t.Error("a member without a name")
			}
			team.Unread(m.Name)
			team.IdleSince(m.Name)
			team.ShutdownAsked(m.Name)
			if got, ok := team.Member("", m.Name); !ok || got.Name != m.Name {
				t.Errorf("member %q was not found", m.Name)
			}
		}
		for _, task := range team.Tasks {
			team.Blockers(task)
			team.OpenTasks(task.Owner)
		}
	})
}

// The lead's process as the config names it, told apart from others.
func TestProcesses(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	own, err := os.Readlink("/proc/self/ns/pid")
	linux := err == nil
	for space, want := range map[string]bool{
		host + "#" + own: true, "": false, host + ".elsewhere#" + own: false, host + "#pid:[1]": !linux, "#": false,
	} {
		if Here(space) != want {
			t.Errorf("%q is here: %v", space, !want)
		}
	}
	start := StartOf(os.Getpid())
	if linux && (start == "" || start != StartOf(os.Getpid()) || start == StartOf(1) && os.Getpid() != 1) {
		t.Errorf("this process started at %q, the first at %q", start, StartOf(1))
	}
	if StartOf(1<<30) != "" || StartOf(-1) != "" {
		t.Error("a process that is none has a start")
	}
}

func TestWhenASessionWasLastWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "projects", "-b", "s1.jsonl")
	when := at("2026-11-30T12:00:00Z")
	hosttest.Write(t, when, path, "{}\n")
	hosttest.Write(t, when, filepath.Join(dir, "s3.jsonl"), "")
	if err := os.MkdirAll(filepath.Join(dir, "projects", "-a", "s2.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, ok := SessionWritten(dir, "s1"); !ok || !got.Equal(when) {
		t.Errorf("%v, %v", got, ok)
	}
	for _, id := range []string{"s2", "s3", "", "../../s3", "none"} {
		if got, ok := SessionWritten(dir, id); ok {
			t.Errorf("%q was written at %v", id, got)
		}
	}
	if _, ok := SessionWritten(filepath.Join(dir, "missing"), "s1"); ok {
		t.Error("found in a folder that does not exist")
	}
}
