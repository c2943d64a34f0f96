package telemetry

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/clocks"
	"stopgate/pkg/ledger"
	"stopgate/pkg/otlp"
	"stopgate/pkg/replay/replaytest"
	"stopgate/pkg/status"
)

const captures = "../replay/testdata/captures"

// recorded is what is known of a recorded session in the end.
func recorded(t *testing.T, folder string) Known {
	t.Helper()
	rec, play := replaytest.Played(t, folder)
	k := Known{Over: true, Now: play.Clock().Now(), Version: rec.Version()}
	var err error
	if k.Snapshot, err = ledger.ReadFile(t.Context(), play.State.Stores()[0]); err != nil {
		t.Fatal(err)
	}
	src := status.Source{Dir: play.State, Files: play.Files, Now: k.Now, Env: func(string) string { return "" }}
	k.Status, _ = src.Session(t.Context(), k.Snapshot, false)
	return k
}

func folders(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(captures + "/*/*")
	if err != nil || len(all) < 20 {
		t.Fatal(all, err)
	}
	return all
}

const many = 100_000

// Of every recorded session: one tree under the session's span, each span within
// sensible times, each id once, each link to a span that is there.
func TestEveryRecordedSessionIsOneTree(t *testing.T) {
	t.Parallel()
	for _, folder := range folders(t) {
		t.Run(strings.TrimPrefix(folder, captures+"/"), func(t *testing.T) {
			t.Parallel()
			k := recorded(t, folder)
			told, done, more := Teller{}.Tell(k, Done{}, many)
			if more || !done.Session {
				t.Fatalf("not all was told: %+v", done)
			}
			spans := map[string]otlp.Span{}
			for _, span := range told.Spans {
				id := string(span.SpanID)
				if _, twice := spans[id]; twice || len(id) != spanBytes || string(span.TraceID) != string(TraceID(k.Snapshot.Session.ID)) {
					t.Errorf("%+v", span)
				}
				spans[id] = span
			}
			for _, span := range told.Spans {
				if span.Start == 0 || span.End < span.Start {
					t.Errorf("%s from %v to %v", span.Name, span.Start.Time(), span.End.Time())
				}
				steps, at := 0, span
				for ; len(at.ParentID) > 0 && steps < 10; steps++ {
					at = spans[string(at.ParentID)]
				}
				if at.Name != spanSession {
					t.Errorf("%s hangs under nothing", span.Name)
				}
				for _, link := range span.Links {
					if _, ok := spans[string(link.SpanID)]; !ok {
						t.Errorf("%s leads to nothing", span.Name)
					}
				}
			}
			for _, record := range told.Logs {
				if _, ok := spans[string(record.SpanID)]; !ok {
					t.Errorf("%+v belongs to no span", record)
				}
			}
			if again, _, _ := (Teller{}).Tell(k, done, many); again.Len() > 0 || len(again.Measures) > 0 {
				t.Errorf("told again: %+v", again)
			}
		})
	}
}

// Told in small pieces it is the same as told at once.
func TestToldInPieces(t *testing.T) {
	t.Parallel()
	k := recorded(t, captures+"/2.1.332/fg-sdk")
	whole, _, _ := Teller{}.Tell(k, Done{}, many)
	var pieces Telling
	done, more := Done{}, true
	for more {
		var piece Telling
		if piece, done, more = (Teller{}).Tell(k, done, 1); piece.Len() > 4 {
			t.Errorf("%d at a time", piece.Len())
		}
		pieces.Spans, pieces.Logs = append(pieces.Spans, piece.Spans...), append(pieces.Logs, piece.Logs...)
		pieces.Measures = append(pieces.Measures, piece.Measures...)
	}
	a, _ := json.Marshal(whole)
	b, _ := json.Marshal(pieces)
	if string(a) != string(b) {
		t.Errorf("%s\nin pieces %s", a, b)
	}
}

// Nothing that a person, a model or a project calls something goes out: no command,
// no description, no name, no path, no message of the recordings.
func TestNoTextGoesOut(t *testing.T) {
	t.Parallel()
	for _, folder := range folders(t) {
		k := recorded(t, folder)
		told, _, _ := Teller{}.Tell(k, Done{}, many)
		data, err := json.Marshal(told)
		if err != nil {
			t.Fatal(err)
		}
		for text := range textsOf(t, folder) {
			if strings.Contains(string(data), text) {
				t.Errorf("%s: %q is told", folder, text)
			}
		}
		if !strings.Contains(string(data), k.Snapshot.Session.ID) {
			t.Errorf("%s: no id of the session, so nothing was looked at", folder)
		}
	}
}

// textsOf are the texts of a recording that could be told by mistake.
func textsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	out := map[string]bool{"/home/dev": true, "general-purpose": true}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, line := range strings.Split(string(data), "\n") {
			for _, name := range []string{"payload.tool_input.command", "payload.tool_input.description", "payload.teammate_name", "payload.team_name", "name", "description", "payload.last_assistant_message"} {
				if text := gjson.Get(line, name).Str; len(text) > 3 {
					out[text] = true
				}
			}
			for _, task := range gjson.Get(line, "payload.background_tasks").Array() {
				for _, name := range []string{"command", "description", "name"} {
					if text := task.Get(name).Str; len(text) > 3 {
						out[text] = true
					}
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// With leave to, they do.
func TestWithCommands(t *testing.T) {
	t.Parallel()
	k := recorded(t, captures+"/2.1.332/fg-sdk")
	teller := Teller{Texts: true, Command: func(_ status.Session, task status.Task) string { return "make " + task.ID }}
	told, _, _ := teller.Tell(k, Done{}, many)
	data, _ := json.Marshal(told)
	for _, want := range []string{"make b", k.Snapshot.Session.Cwd, "general-purpose"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestWhatAnIdLooksLike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form     *regexp.Regexp
		id, want string
	}{
		{agentForm(), "a85c14a6928672ba4", "as it is"},
		{agentForm(), "main", "as it is"},
		{agentForm(), "", "as it is"},
		{agentForm(), "aping-85c14a6928672ba4", "x-"}, // a teammate's holds its name
		{agentForm(), "my secret\nproject", "x-"},
		{taskForm(), "blxqppgqo", "as it is"},
		{taskForm(), "b/home/dev/secret", "x-"},
		{sessionForm(), "65f459a2-9db1-48da-b72c-36d82e0351f5", "as it is"},
		{sessionForm(), "the-secret-session", "x-"},
		{toolForm(), "toolu_01A09q90qw90lq917835lq9", "as it is"},
		{toolForm(), "rm -rf /home", "x-"},
	} {
		got := Teller{}.id(c.form, c.id)
		if c.want == "as it is" && got != c.id || c.want == "x-" && (!strings.HasPrefix(got, "x-") || strings.Contains(got, "secret")) {
			t.Errorf("%q is told as %q", c.id, got)
		}
	}
	for _, w := range []string{"Bash(rm)", "../etc", strings.Repeat("a", 50), "UPPER", ""} {
		if got := word(codeForm(), w); got != "other" {
			t.Errorf("%q is told as %q", w, got)
		}
	}
}

// scenario is a made session: an agent with tasks, and what became of them.
func scenario() Known {
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 3, 4, s, 0, time.UTC) }
	const agent = "a00000000aaaaaaaa"
	return Known{
		Version: "2.1.332", Over: true, Now: at(59),
		Snapshot: ledger.Snapshot{
			Exists:  true,
			Session: ledger.Session{ID: "65f459a2-9db1-48da-b72c-36d82e0351f5", Begun: at(0), Ended: at(50), LastEventAt: at(50)},
			Stops: []ledger.Stop{
				{Seq: 1, Time: at(10), AgentID: agent, Verdict: ledger.Block, Code: "task-ended", Own: []string{"bhandover"}, Ended: []string{"bhandover"}, Duration: 5 * time.Second, Held: 4 * time.Second, Host: "stream", Limit: clocks.ByHold},
				{Seq: 2, Time: at(20), AgentID: agent, Verdict: ledger.Allow, Code: "budget-spent", Own: []string{"bleftover"}, Duration: time.Second},
				{Seq: 3, Time: at(21), AgentID: agent, Verdict: ledger.Block, Code: "message-waits", Own: []string{"bleftover"}, Ended: []string{"bleftover"}, Duration: time.Second, Held: time.Second},
			},
			Couriers: map[string]ledger.Courier{"bleftover": {Task: "bleftover", AgentID: agent, At: at(30)}},
		},
		Status: status.Session{
			Agents: []status.Agent{{ID: agent, Stops: 3, Own: []string{"bhandover", "bleftover"}}},
			Tasks: []status.Task{
				{ID: "bhandover", Kind: "shell", Owner: agent, State: status.TaskFinished, Launched: at(5), Ended: at(14)},
				{ID: "bleftover", Kind: "monitor", Owner: agent, State: status.TaskUndelivered, Launched: at(6), Ended: at(29)},
			},
		},
	}
}

func TestWhatIsCounted(t *testing.T) {
	t.Parallel()
	told, _, _ := Teller{}.Tell(scenario(), Done{}, many)
	got := map[string]string{}
	for _, m := range told.Measures {
		got[m.Metric.Name] += fmt.Sprint(m.Value, " ")
	}
	want := map[string]string{
		"stopgate.stops": "1 1 1 ", "stopgate.hold.duration": "4 1 ", "stopgate.hook.duration": "1 1 0 ", "stopgate.results": "1 ",
		"stopgate.tasks": "1 1 ", "stopgate.tasks.left": "1 ", "stopgate.tasks.unheard": "1 ", "stopgate.courier.wakes": "1 ", "stopgate.sessions": "1 ",
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %q, want %q", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
}

func TestTimesOfSpans(t *testing.T) {
	t.Parallel()
	k := scenario()
	k.Snapshot.Session.Begun = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) // a store can hold anything
	k.Status.Tasks[0].Ended = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
	Teller{}.Tell(k, Done{}, many) // it ends

	told, _, _ := Teller{}.Tell(scenario(), Done{}, many)
	got := map[string][]string{}
	for _, span := range told.Spans {
		got[span.Name] = append(got[span.Name], span.Start.Time().UTC().Format("05")+"-"+span.End.Time().UTC().Format("05"))
	}
	want := map[string][]string{
		"stop": {"10-15", "20-21", "21-22"}, "hold": {"11-15", "21-22"}, "task": {"05-14", "06-29"}, "courier": {"30-30"}, "invoke_agent": {"05-22"}, "session": {"00-50"},
	}
	for name := range want {
		if !slices.Equal(got[name], want[name]) {
			t.Errorf("%s: %v, want %v", name, got[name], want[name])
		}
	}
}

// What may still change is not told yet.
func TestASessionThatGoesOn(t *testing.T) {
	t.Parallel()
	k := scenario()
	k.Over = false
	told, done, _ := Teller{}.Tell(k, Done{}, many)
	if done.Session || len(done.Agents) > 0 || !done.Tasks["bhandover"] || done.Tasks["bleftover"] {
		t.Errorf("%+v", done)
	}
	for _, span := range told.Spans {
		if span.Name == spanAgent || span.Name == spanSession {
			t.Errorf("%s was told", span.Name)
		}
	}
	k.Snapshot.Session.Begun = k.Snapshot.Session.Begun.Add(time.Second) // the record was begun afresh
	again, anew, _ := Teller{}.Tell(k, done, many)
	if anew.Seq != 3 || len(anew.Wakes) != 1 || len(again.Spans) != len(told.Spans) {
		t.Errorf("%d of %d spans, %+v", len(again.Spans), len(told.Spans), anew)
	}
	first, _, _ := Teller{}.Tell(k, Done{}, many)
	if string(first.Spans[0].SpanID) == string(told.Spans[0].SpanID) {
		t.Error("a stop of another record has the id of one of this")
	}
}

// docs/telemetry.md names all that is sent, and nothing else.
func TestTheNamesAreListed(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	_, names, found := strings.Cut(string(data), "\n## Names\n")
	if !found {
		t.Fatal("no names")
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)`").FindAllStringSubmatch(names, -1) {
		listed[row[1]] = true
	}
	known := map[string]bool{}
	for _, name := range regexp.MustCompile(`(?:= |Name: +)"([a-z_.]+)"`).FindAllStringSubmatch(string(source), -1) {
		known[name[1]] = true
		if !listed[name[1]] {
			t.Errorf("%s is not listed", name[1])
		}
	}
	for name := range listed {
		if !known[name] {
			t.Errorf("%s is listed, and never sent", name)
		}
	}
	for _, m := range Metrics {
		if !strings.Contains(string(data), "| `"+m.Name+"` | "+m.Unit+" |") {
			t.Errorf("%s is listed without its unit %s", m.Name, m.Unit)
		}
	}
}
