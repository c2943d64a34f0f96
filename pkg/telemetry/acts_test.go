package telemetry

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
)

// declared are the words that a package's sources declare by this pattern.
func declared(t *testing.T, files, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(files)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(data), -1) {
			words = append(words, m[1])
		}
	}
	return words
}

func telemetryDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Whatever the ledger can hold is told: a new act, rule, limit, kind of host or reason
// has its word here and in the documentation.
func TestAllThatTheLedgerHoldsIsTold(t *testing.T) {
	t.Parallel()
	acts := declared(t, "../ledger/act.go", `Deed += "([^"]*)"|Deed = "([^"]*)"`)
	if len(acts) != len(deeds) || len(acts) < 8 {
		t.Errorf("acts %q, told %d", acts, len(deeds))
	}
	for _, act := range acts {
		d, ok := deeds[ledger.Deed(act)]
		if !ok || d.event == "" && d.ends == "" {
			t.Errorf("act %q is not told", act)
		}
	}
	status := telemetryDoc(t, "status.md")
	codes := declared(t, "../gate/*.go", `Code = "([^"]*)"`)
	if len(codes) < 29 {
		t.Errorf("codes %q", codes)
	}
	unrecorded := []string{"ephemeral", "duplicate", "no-session"}
	for _, code := range codes {
		if word(codeForm(), code) != code {
			t.Errorf("code %q is told as %q", code, word(codeForm(), code))
		}
		if !strings.Contains(status, "| `"+code+"` |") && !slices.Contains(unrecorded, code) {
			t.Errorf("code %q is told, and not in docs/status.md", code)
		}
	}
	limited := declared(t, "../clocks/*.go", `By[A-Z]\w+ += "([^"]*)"`)
	hosts := declared(t, "../clocks/*.go", `Kind = "([^"]+)"`)
	if len(limited) < 4 || len(hosts) < 3 {
		t.Errorf("limits %q, hosts %q", limited, hosts)
	}
	for _, by := range limited {
		if limitOf(by) == "other" {
			t.Errorf("limit %q is not told", by)
		}
	}
	for _, host := range hosts {
		if word(codeForm(), host) != host {
			t.Errorf("host %q is told as %q", host, word(codeForm(), host))
		}
	}
	notes := append(declared(t, "../handler/*.go", `because[A-Z]\w+ += "([^"]*)"`), declared(t, "../handler/courier.go", `why[^=\n]* = "([^"]+)"`)...)
	notes = append(notes, declared(t, "../wait/wait.go", `Why = "([^"]*)"`)...)
	if len(notes) < 14 {
		t.Errorf("notes %q", notes)
	}
	for _, note := range notes {
		if got := reason(note); got == "other" || word(codeForm(), got) != got {
			t.Errorf("a courier that left because of %q is told as %q", note, got)
		}
	}
}

// withActs is the made session, with acts between its stops.
func withActs() Known {
	k := scenario()
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 3, 4, s, 0, time.UTC) }
	const agent = "a00000000aaaaaaaa"
	tasks := []string{"bleftover"}
	for i := range k.Snapshot.Stops {
		k.Snapshot.Stops[i].Seq = uint64([]int{2, 3, 4}[i])
	}
	k.Snapshot.Acts = []ledger.Act{
		{Seq: 1, Time: at(11), Deed: ledger.Held, AgentID: agent, Tasks: []string{"bhandover"}, Until: at(41), Note: "limited by patience"},
		{Seq: 5, Time: at(22), Deed: ledger.Stood, AgentID: agent, Tasks: tasks, Until: at(42)},
		{Seq: 6, Time: at(24), Deed: ledger.Stood, AgentID: agent, Tasks: tasks, Until: at(44)},
		{Seq: 7, Time: at(25), Deed: ledger.Left, AgentID: agent, Note: gaveWay},
		{Seq: 8, Time: at(30), Deed: ledger.Woke, AgentID: agent, Tasks: tasks},
		{Seq: 9, Time: at(31), Deed: ledger.Fell, AgentID: agent, Tasks: tasks, Note: "ended from outside"},
		{Seq: 10, Time: at(32), Deed: ledger.Released, Tasks: tasks},
		{Seq: 11, Time: at(33), Deed: ledger.SwitchedOff, Until: at(43)},
		{Seq: 12, Time: at(34), Deed: "of a newer version"},
		{Seq: 13, Time: at(35), Deed: ledger.SwitchedOn},
	}
	return k
}

// A record for each act, once, in the order of their numbers, with the stops.
func TestActsAreTold(t *testing.T) {
	t.Parallel()
	k := withActs()
	told, done, _ := Teller{}.Tell(k, Done{}, many)
	var events []string
	uids := map[string]bool{}
	for _, r := range told.Logs {
		events = append(events, r.Event)
		for _, a := range r.Attributes {
			if a.Key == attrRecordUID {
				uids[*a.Value.String] = true
			}
		}
	}
	want := "stopgate.hold stopgate.stop stopgate.stop stopgate.stop stopgate.courier.stood stopgate.courier.stood stopgate.courier.left " +
		"stopgate.courier.lost stopgate.release stopgate.off stopgate.on stopgate.courier"
	if got := strings.Join(events, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if len(uids) != len(told.Logs) {
		t.Errorf("%d ids of %d records", len(uids), len(told.Logs))
	}
	if done.Seq != 13 {
		t.Errorf("told up to %d", done.Seq)
	}
	if again, _, _ := (Teller{}).Tell(k, done, many); again.Len() > 0 || len(again.Measures) > 0 {
		t.Errorf("told again: %+v", again)
	}
	doc := telemetryDoc(t, "telemetry.md")
	data, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`"((?:stopgate|gen_ai)\.[a-z_.]+)"`).FindAllStringSubmatch(string(data), -1) {
		if !strings.Contains(doc, "| `"+name[1]+"` |") {
			t.Errorf("%s is sent, and not listed", name[1])
		}
	}
}

// A courier's waiting is a span from its beginning to its end, and a measure: the one
// that gave way is the earlier one, and one whose beginning is forgotten lasted nothing.
func TestACouriersWaiting(t *testing.T) {
	t.Parallel()
	told, _, _ := Teller{}.Tell(withActs(), Done{}, many)
	var spans, measures []string
	for _, span := range told.Spans {
		if span.Name == spanWait {
			spans = append(spans, span.Start.Time().UTC().Format("05")+"-"+span.End.Time().UTC().Format("05"))
			if len(span.Links) != 1 {
				t.Errorf("links to %d tasks", len(span.Links))
			}
		}
	}
	for _, m := range told.Measures {
		switch m.Metric.Name {
		case Waits.Name:
			measures = append(measures, *m.Attributes[0].Value.String+" "+time.Duration(m.Value*1e9).String())
		case Acts.Name:
			measures = append(measures, *m.Attributes[0].Value.String)
		}
	}
	if got := strings.Join(spans, " "); got != "22-25 24-30 31-31" {
		t.Errorf("spans %s", got)
	}
	if got := strings.Join(measures, ", "); got != "left 3s, woke 6s, lost 0s, release, off, on" {
		t.Errorf("measures %s", got)
	}
}

// A text in any field of an act or a stop is not told.
func TestHostileTextInEveryField(t *testing.T) {
	t.Parallel()
	const hostile = "SECRET/rm -rf ~/project\n\x1b[31m"
	k := withActs()
	for i := range k.Snapshot.Acts {
		a := &k.Snapshot.Acts[i]
		a.AgentID, a.Type, a.Note, a.Tasks = hostile, hostile, "limited by "+hostile, []string{hostile}
	}
	for i := range k.Snapshot.Stops {
		s := &k.Snapshot.Stops[i]
		s.AgentID, s.Type, s.Verdict, s.Code, s.Limit, s.Host, s.Note, s.Prompt = hostile, hostile, hostile, hostile, hostile, hostile, hostile, hostile
		s.Own, s.Listed, s.Unowned, s.Ended, s.Policy = []string{hostile}, []string{hostile}, []string{hostile}, []string{hostile}, []string{hostile}
		s.Worth = []ledger.Worth{{Task: hostile, By: hostile, Words: hostile, Does: hostile, Key: hostile}}
	}
	k.Snapshot.Couriers = map[string]ledger.Courier{hostile: {Task: hostile, AgentID: hostile}}
	r := &k.Snapshot.Session
	r.ID, r.Cwd, r.Transcript, r.AgentType, r.LastEvent, k.Version = hostile, hostile, hostile, hostile, hostile, hostile
	for i := range k.Status.Agents {
		a := &k.Status.Agents[i]
		a.ID, a.Type, a.Name, a.Team, a.Parent, a.Own = hostile, hostile, hostile, hostile, hostile, []string{hostile}
	}
	code := 1
	for i := range k.Status.Tasks {
		task := &k.Status.Tasks[i]
		task.ID, task.Kind, task.Owner, task.ToolUse, task.ExitCode = hostile, hostile, hostile, hostile, &code
	}
	for _, over := range []bool{false, true} {
		k.Over = over
		told, _, _ := Teller{Command: nil}.Tell(k, Done{}, many)
		data, err := json.Marshal(told)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"SECRET", "rm -rf", "[31m", `\u001b`} {
			if strings.Contains(string(data), part) {
				t.Errorf("%q is told in %s", part, data)
			}
		}
		if told.Len() < 5 {
			t.Errorf("only %d told", told.Len())
		}
	}
}
