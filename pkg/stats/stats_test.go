package stats

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
)

const agent = "a00000000aaaaaaaa"

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// held is a session in a folder with one stop that was held for a task, which ended
// and was handed over.
func held(folder string, at time.Time, task, kind string, length time.Duration) Session {
	return Session{
		Over: true,
		Snapshot: ledger.Snapshot{Stops: []ledger.Stop{{
			Time: at, AgentID: agent, Verdict: ledger.Block, Code: "task-ended", Own: []string{task}, Ended: []string{task}, Held: length, Duration: length + time.Second,
		}}},
		Status: status.Session{
			Cwd: folder, Last: status.Event{Time: at.Add(time.Hour)},
			Tasks: []status.Task{{ID: task, Kind: kind, Owner: agent, State: status.TaskFinished, Ended: at.Add(length)}},
		},
	}
}

// left is one whose agent was let go, whose task nobody heard of, and whose
// coordinator was woken.
func left(folder string, at time.Time) Session {
	return Session{
		Over: true,
		Snapshot: ledger.Snapshot{
			Stops:    []ledger.Stop{{Time: at, AgentID: agent, Verdict: ledger.Allow, Code: "budget-spent", Own: []string{"bleft"}, Duration: time.Second}},
			Couriers: map[string]ledger.Courier{"bleft": {Task: "bleft", AgentID: agent, At: at.Add(time.Minute)}},
		},
		Status: status.Session{Cwd: folder, Tasks: []status.Task{{ID: "bleft", Kind: "shell", Owner: agent, State: status.TaskUndelivered, Ended: at.Add(time.Minute)}}},
	}
}

func sums() Stats {
	names := map[string]string{"b1": "make test", "b2": "make test", "b3": ""}
	src := Request{Since: noon.Add(-72 * time.Hour), Now: noon, Zone: time.UTC, Command: func(_ status.Session, t status.Task) string { return names[t.ID] }}
	return src.Of([]Session{
		held("/p/one", noon.Add(-time.Hour), "b1", "shell", 5*time.Minute),
		held("/p/one", noon.Add(-25*time.Hour), "b2", "shell", 10*time.Minute),
		held("/p/two<script>", noon.Add(-26*time.Hour), "b3", "monitor", time.Minute),
		held("/p/old", noon.Add(-100*time.Hour), "b1", "shell", time.Hour), // before
		left("/p/two<script>", noon.Add(-2*time.Hour)),
	})
}

func TestSumsOfASpanOfTime(t *testing.T) {
	t.Parallel()
	s := sums()
	minutes := func(n int) Seconds { return Seconds(time.Duration(n) * time.Minute) }
	if want := (Sums{Sessions: 4, Stops: 4, Blocks: 3, Holds: 3, Held: minutes(16), Results: 3, Left: 1, Unheard: 1, Wakes: 1}); s.Total != want {
		t.Errorf("in all %+v, want %+v", s.Total, want)
	}
	if len(s.Projects) != 2 || s.Projects[0].Folder != "/p/one" || s.Projects[0].Held != minutes(15) || s.Projects[0].Sessions != 2 || s.Projects[1].Unheard != 1 {
		t.Errorf("projects %+v", s.Projects)
	}
	if len(s.Commands) != 3 || s.Commands[0] != (Command{"make test", "shell", 2, minutes(15), 2, 0, 0}) || s.Commands[1].Title() != "(monitor)" || s.Commands[2] != (Command{"", "shell", 1, 0, 0, 1, 1}) {
		t.Errorf("commands %+v", s.Commands)
	}
	var days []string
	total := Sums{}
	for _, d := range s.Days {
		days = append(days, d.Date)
		total.add(d.Sums)
	}
	total.Sessions = 4
	if strings.Join(days, " ") != "2026-03-07 2026-03-08 2026-03-09 2026-03-10" || total != s.Total || s.Days[2].Results != 2 {
		t.Errorf("days %+v", s.Days)
	}
}

// What a session that goes on has not finished may still come right.
func TestATaskThatMayStillBeHeardOf(t *testing.T) {
	t.Parallel()
	x := left("/p", noon.Add(-time.Hour))
	x.Over = false
	s := Request{Since: noon.Add(-24 * time.Hour), Now: noon, Zone: time.UTC}.Of([]Session{x})
	if s.Total.Unheard != 0 || s.Total.Stops != 1 {
		t.Errorf("%+v", s.Total)
	}
}

func TestTheFormOfJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(sums())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"held_seconds":960`, `"folder":"/p/one","sessions":2`, `"command":"make test","kind":"shell","tasks":2`, `"date":"2026-03-07"`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
	data, _ = json.Marshal(Request{Since: noon, Now: noon, Zone: time.UTC}.Of(nil))
	if !strings.Contains(string(data), `"projects":[],"commands":[],"days":[`) {
		t.Errorf("of nothing: %s", data)
	}
}

// The page holds the texts of others as texts, and nothing that is fetched or run.
func TestThePage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := sums().HTML(&b, time.UTC); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "http://", "https://", "url(h", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q stands in the page", bad)
		}
	}
	for _, want := range []string{"/p/two&lt;script&gt;", "make test", `<title>2026-03-09: 2 results</title>`, `<title>2026-03-09: held 11m00s</title>`, "default-src &#39;none&#39;"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}
