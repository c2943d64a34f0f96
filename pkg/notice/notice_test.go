package notice

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// waiting is a session whose agent was let go while its task runs.
func waiting() status.Session {
	return status.Session{
		ID:     "s1",
		Agents: []status.Agent{{ID: "a1", Name: "builder", State: status.AgentRunning, Own: []string{"b1", "b2"}}},
		Tasks:  []status.Task{{ID: "b1", Owner: "a1", State: status.TaskRunning}, {ID: "b2", Owner: "a1", State: status.TaskFinished}},
		Stops: []ledger.Stop{{
			Seq: 7, Time: noon.Add(-9 * time.Minute), Duration: 8 * time.Minute, AgentID: "a1", Code: string(gate.PatienceOver), Own: []string{"b1", "b2"}, Ended: []string{"b2"},
		}},
	}
}

func TestWhatIsWorthANotice(t *testing.T) {
	t.Parallel()
	stuck := func(why status.Why) func(*status.Session) {
		return func(s *status.Session) {
			s.Stops = nil
			s.Agents[0].State, s.Agents[0].Stuck, s.Agents[0].Why, s.Agents[0].Advice = status.AgentStopped, true, why, "builder never heard of the end of b2: send it a message"
		}
	}
	for _, c := range []struct {
		name   string
		change func(*status.Session)
		want   string
	}{
		{"the patience is used up", func(*status.Session) {}, "let-go|stopgate: builder is let go without its task|still running: b1; the patience for it is used up"},
		{"the run is about to end", func(s *status.Session) { s.Stops[0].Code = string(gate.CeilingNear) }, "let-go|stopgate: builder is let go without its task|still running: b1; the run is about to end"},
		{"of the coordinator", func(s *status.Session) { s.Stops[0].AgentID = "main" }, "let-go|stopgate: the coordinator is let go without its task|still running: b1; the patience for it is used up"},
		{"one hold of several", func(s *status.Session) { s.Stops[0].Code = string(gate.HoldOver) }, ""},
		{"an hour ago", func(s *status.Session) { s.Stops[0].Time = noon.Add(-time.Hour) }, ""},
		{"its task has ended since", func(s *status.Session) { s.Tasks[0].State = status.TaskFinished }, ""},
		{"its task was released since", func(s *status.Session) { s.Tasks[0].Released = true }, ""},
		{"a session that is over", func(s *status.Session) { s.Ended = noon }, ""},
		{"a session that is switched off", func(s *status.Session) { s.Off = true }, ""},
		{"an end that nobody heard of", stuck(status.WhyUnheard), "stuck|stopgate: builder needs somebody|builder never heard of the end of b2: send it a message"},
		{"no answer for long", stuck(status.WhyNoAnswer), "stuck|stopgate: builder needs somebody|builder never heard of the end of b2: send it a message"},
		{"own work that a courier waits for", stuck(status.WhyOwnWork), ""},
		{"own work that nobody waits for", func(s *status.Session) {
			stuck(status.WhyOwnWork)(s)
			s.Acts = []ledger.Act{{Seq: 9, Deed: ledger.Left, AgentID: "a1", Time: noon, Note: ledger.NoteTimeOver}}
		}, "let-go|stopgate: builder is let go without its task|still running: b1; the courier's time is over, and nobody will tell of its end"},
		{"a courier that was not needed", func(s *status.Session) {
			stuck(status.WhyOwnWork)(s)
			s.Acts = []ledger.Act{{Seq: 9, Deed: ledger.Left, AgentID: "a1", Time: noon, Note: "nothing to tell"}}
		}, ""},
		{"a hostile name", func(s *status.Session) {
			stuck(status.WhyUnheard)(s)
			s.Agents[0].Name, s.Agents[0].Advice = "--\x1b]0;x\a-\u202erm", "- \x1b[2J\nrm -rf\x00"
		}, `stuck|stopgate: --\x1b]0;x\x07-\u202erm needs somebody|\x1b[2J\nrm -rf\x00`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := waiting()
			c.change(&s)
			var got []string
			for _, n := range Of(s, noon) {
				got = append(got, fmt.Sprintf("%s|%s|%s", n.Kind, n.Title, n.Text))
			}
			if strings.Join(got, "\n") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// The same thing has one key however often it is looked at; a later one has another.
func TestANoticeIsOfOneThing(t *testing.T) {
	t.Parallel()
	s := waiting()
	s.Agents[0].Stuck, s.Agents[0].Why, s.Agents[0].Since = true, status.WhyUnheard, noon.Add(-time.Minute)
	first, again := Of(s, noon), Of(s, noon.Add(time.Minute))
	s.Agents[0].Stops, s.Agents[0].Since = s.Agents[0].Stops+1, noon
	later := Of(s, noon.Add(time.Minute))
	if len(first) != 2 || len(again) != 2 || first[0].Key != again[0].Key || first[1].Key != again[1].Key || first[0].Key == later[0].Key {
		t.Errorf("%+v, again %+v, later %+v", first, again, later)
	}
}

// Texts are arguments of a program, never part of a script or an option, and cannot end
// the terminal's sequence.
func TestWhatIsToldCannotBeTakenForMore(t *testing.T) {
	t.Parallel()
	n := newNotice(Stuck, "k", `"; do shell script "x`, "\x1b\\\a$(rm)\x9c")
	for system, end := range map[string][]string{"linux": {"--", n.Title, n.Text}, "darwin": {"--", n.Title, n.Text}, "freebsd": {"--", n.Title, n.Text}} {
		words := desktop(system, n)
		if len(words) < 4 || strings.Join(words[len(words)-3:], "|") != strings.Join(end, "|") {
			t.Errorf("%s: %q", system, words)
		}
		for _, word := range words[:len(words)-2] {
			if strings.Contains(word, "shell") {
				t.Errorf("%s: a text in a script: %q", system, word)
			}
		}
	}
	if desktop("windows", n) != nil {
		t.Error("a program on Windows")
	}
	var b bytes.Buffer
	if err := write(&b, n); err != nil {
		t.Fatal(err)
	}
	inner, ok := strings.CutPrefix(b.String(), "\x1b]9;")
	inner, end := strings.CutSuffix(inner, "\x1b\\\a")
	if !ok || !end || strings.ContainsFunc(inner, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
		t.Errorf("%q", b.String())
	}
}
