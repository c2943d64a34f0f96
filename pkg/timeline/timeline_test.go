package timeline

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
)

func lane(t *testing.T, line Timeline, id string) Lane {
	t.Helper()
	for _, l := range line.Lanes {
		if l.ID == id {
			return l
		}
	}
	t.Fatalf("no lane %q", id)
	return Lane{}
}

func texts(marks []Mark) string {
	var out []string
	for _, m := range marks {
		out = append(out, string(m.Kind)+" "+m.At.Format("04:05")+" "+m.Text)
	}
	return strings.Join(out, "\n")
}

func doing(spans []Phase) string {
	var out []string
	for _, s := range spans {
		out = append(out, string(s.Doing)+" "+s.From.Format("04:05")+"-"+s.Until.Format("04:05"))
	}
	return strings.Join(out, ", ")
}

func TestEachAgentStandsBelowItsLauncher(t *testing.T) {
	line := Build(story())
	var got []string
	for _, l := range line.Lanes {
		got = append(got, strings.Repeat(">", l.Depth)+l.ID)
	}
	if want := "main >a1 >>a3 >a2 >a4"; strings.Join(got, " ") != want {
		t.Errorf("lanes %v, want %s", got, want)
	}
}

func TestAgentsThatLaunchedEachOtherAreStillShown(t *testing.T) {
	r := Record{Now: at(60), Session: status.Session{ID: "s", Begun: noon, Agents: []status.Agent{
		{ID: "a1", Parent: "a2"}, {ID: "a2", Parent: "a1"}, {ID: "a3", Parent: "a3"}, {ID: "a4", Parent: "gone"},
	}}}
	if got := len(Build(r).Lanes); got != 5 {
		t.Errorf("%d lanes, want the coordinator's and four", got)
	}
}

func TestWhatAnAgentDidHasNoGapAndNoOverlap(t *testing.T) {
	for _, r := range []Record{story(), crowd(20)} {
		for _, l := range Build(r).Lanes {
			at := l.From
			for _, s := range l.Spans {
				if !s.From.Equal(at) || !s.Until.After(s.From) {
					t.Fatalf("lane %s: %s", l.ID, doing(l.Spans))
				}
				at = s.Until
			}
			if len(l.Spans) > 0 && !at.Equal(l.Until) {
				t.Errorf("lane %s ends at %v, its spans at %v", l.ID, l.Until, at)
			}
		}
	}
}

func TestAHoldLiesOverWhatTheTranscriptTells(t *testing.T) {
	got := doing(lane(t, Build(story()), "a4").Spans)
	if want := "working 02:20-02:28, waiting 02:28-02:30, working 02:30-02:50, held 02:50-08:00, working 08:00-08:20, idle 08:20-12:00"; got != want {
		t.Errorf("a4: %s\nwant %s", got, want)
	}
	if l := lane(t, Build(story()), "a1"); l.Spans[len(l.Spans)-1].Doing != Held || !l.Deadline.Equal(at(900)) {
		t.Errorf("a1 is not held at the end: %s, until %v", doing(l.Spans), l.Deadline)
	}
}

func TestDoingsOfATurn(t *testing.T) {
	for _, c := range []struct {
		name    string
		moments []transcript.Moment
		want    string
	}{
		{"nothing is known", nil, "idle 00:00-01:00"},
		{"a tool answers", []transcript.Moment{prompted(10), called(20, "x", "Bash", ""), answers(30, "x"), rested(40)}, "idle 00:00-00:10, working 00:10-00:20, waiting 00:20-00:30, working 00:30-00:40, idle 00:40-01:00"},
		{"two tools at once", []transcript.Moment{prompted(0), called(10, "x", "Bash", ""), called(10, "y", "Read", ""), answers(20, "y"), answers(30, "x"), rested(40)}, "working 00:00-00:10, waiting 00:10-00:30, working 00:30-00:40, idle 00:40-01:00"},
		{"a tool never answers", []transcript.Moment{prompted(0), called(10, "x", "Bash", "")}, "working 00:00-00:10, waiting 00:10-01:00"},
		{"an interrupt leaves a tool without an answer", []transcript.Moment{prompted(0), called(10, "x", "Bash", ""), rested(20), prompted(30), rested(40)}, "working 00:00-00:10, waiting 00:10-00:20, idle 00:20-00:30, working 00:30-00:40, idle 00:40-01:00"},
		{"the lines are out of order", []transcript.Moment{rested(40), prompted(10)}, "idle 00:00-00:10, working 00:10-00:40, idle 00:40-01:00"},
		{"before and behind the life", []transcript.Moment{prompted(-10), rested(90)}, "working 00:00-01:00"},
	} {
		spans := doings(c.moments, noon, at(60))
		merged := spans[:0]
		for _, s := range spans { // what is waited for may change in a wait
			if n := len(merged); n > 0 && merged[n-1].Doing == s.Doing {
				merged[n-1].Until = s.Until
				continue
			}
			merged = append(merged, s)
		}
		if got := doing(merged); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestWhoHeardOfAnEnd(t *testing.T) {
	line := Build(story())
	a1, a2, a3, a4 := lane(t, line, "a1"), lane(t, line, "a2"), lane(t, line, "a3"), lane(t, line, "a4")
	tell := func(task Task) string {
		var out []string
		for _, n := range task.News {
			out = append(out, n.To+" by the "+string(n.By)+" at "+n.At.Format("04:05"))
		}
		return strings.Join(out, ", ")
	}
	for _, c := range []struct{ name, got, want string }{
		{"the gate told its owner first, the client again", tell(a1.Tasks[0]), "a1 by the gate at 04:10"},
		{"the gate told a teammate", tell(a4.Tasks[0]), "a4 by the gate at 08:00"},
		{"a courier told the coordinator", tell(a3.Tasks[0]), "main by the courier at 03:20"},
		{"an agent's end", tell(*a3.Self), "a1 by the client at 04:22"},
		{"nobody", tell(a2.Tasks[1]), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	if !a2.Tasks[1].Unheard || a2.Tasks[0].Unheard {
		t.Error("only the end that nobody heard of is marked so, not the killed task's")
	}
}

func TestMarks(t *testing.T) {
	line := Build(story())
	for id, want := range map[string]string{
		"main": "wake 03:20 woken by the courier: the end of psql -f slow.sql of find slow queries\nrelease 05:20 a person released npm run dev\nmessage 06:40 message to reviewer\noff 11:30 switched off: every stop is let through",
		"a1":   "block 04:10 stop 1 blocked: task-ended, held 2m30s, own make test, told of the end of make test",
		"a4":   "message 06:40 message from main\nblock 08:00 stop 3 blocked: task-ended, held 5m10s, own go test -race ./..., told of the end of go test -race ./...\nallow 08:20 stop 5 allowed: no-tasks",
	} {
		if got := texts(lane(t, line, id).Marks); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", id, got, want)
		}
	}
}

func TestAWakeIsATurnThatNewsBegan(t *testing.T) {
	r := Record{Now: at(60), Session: status.Session{ID: "s", Begun: noon, Agents: []status.Agent{{ID: "a1"}}, Tasks: []status.Task{
		{ID: "b1", Owner: "a1", State: status.TaskFinished, Launched: at(1), Ended: at(20)},
	}}}
	r.News = map[string][]transcript.Delivery{"b1": {{Task: "b1", To: "a1", At: at(21)}}}
	for _, c := range []struct {
		name    string
		moments []transcript.Moment
		stops   []ledger.Stop
		want    int
	}{
		{"it rested", []transcript.Moment{prompted(0), rested(10), prompted(21)}, nil, 1},
		{"it was at work", []transcript.Moment{prompted(0), called(15, "x", "Read", ""), prompted(21)}, nil, 0},
		{"a block began the turn", []transcript.Moment{prompted(0), rested(10), prompted(21)}, []ledger.Stop{{Seq: 1, AgentID: "a1", Time: at(10), Duration: 11 * time.Second, Verdict: ledger.Block}}, 0},
	} {
		r.Moments = map[string][]transcript.Moment{"a1": c.moments}
		r.Session.Stops = c.stops
		got := 0
		for _, m := range lane(t, Build(r), "a1").Marks {
			if m.Kind == MarkWake {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d wakes, want %d", c.name, got, c.want)
		}
	}
}

func TestTotals(t *testing.T) {
	got := Build(story()).Totals
	want := Totals{Agents: 4, Tasks: 7, Stops: 5, Holds: 3, Waited: 660 * time.Second, HeldNow: 1, Saved: 2, Blocks: 2, Wakes: 1, Turns: 3, Unheard: 1, Stuck: 1}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// What the client does with an agent's task without a gate decides whether its
// result was saved (docs/client.md: what becomes of an own task without the gate).
func TestWhatAStopWithoutTheGateLoses(t *testing.T) {
	for _, c := range []struct {
		name  string
		place Place
		want  bool
	}{
		{"a foreground agent, oldest", Place{Client: "2.1.150", Host: "stream"}, true},
		{"a foreground agent, newest", Place{Client: "2.1.332", Host: "terminal"}, true},
		{"a background agent, terminal, 2.1.235", Place{Client: "2.1.235", Background: true, Host: "terminal"}, true},
		{"a background agent, terminal, 2.1.300", Place{Client: "2.1.300", Background: true, Host: "terminal"}, false},
		{"a background agent, stream, 2.1.220", Place{Client: "2.1.220", Background: true, Host: "stream"}, true},
		{"a background agent, stream, 2.1.235", Place{Client: "2.1.235", Background: true, Host: "stream"}, false},
		{"a background agent, print", Place{Client: "2.1.332", Background: true, Host: "print"}, true},
		{"a teammate", Place{Client: "2.1.332", Background: true, Teammate: true, Host: "terminal"}, true},
		{"a client that nobody knows", Place{Client: "3.0.0", Background: true, Host: "terminal"}, false},
	} {
		if got := c.place.Lost(); got != c.want {
			t.Errorf("%s: lost is %v", c.name, got)
		}
	}
}

func TestASessionThatDiedQuietlyEndsWhereItWasLastHeardOf(t *testing.T) {
	r := story()
	r.Session.Agents[0].Hold = nil
	r.Session.Agents[0].State = status.AgentStopped
	r.Now = at(3 * 86400)
	if line := Build(r); line.Until.After(at(720)) {
		t.Errorf("the axis goes on until %v", line.Until)
	}
}

func TestTheCoordinatorsYearsBeforeTheRecordAreNotShown(t *testing.T) {
	r := story()
	r.Moments["main"] = append([]transcript.Moment{prompted(-90 * 86400), rested(-89 * 86400), prompted(-30)}, r.Moments["main"]...)
	if line := Build(r); !line.From.Equal(at(-30)) {
		t.Errorf("the axis begins at %v, want where the turn began in which the record did", line.From)
	}
}

func TestWithoutTextsNoWordOfAnybodyIsLeft(t *testing.T) {
	r := story()
	r.NoText = true
	line := Build(r)
	whole := string(page(t, line.In(time.UTC)))
	for _, word := range []string{"make test", "vite", "slow", "psql", "run the tests", "build the shop", "reviewer", "npm"} {
		if strings.Contains(whole, word) {
			t.Errorf("%q is still there", word)
		}
	}
}

func TestOfARecordedSession(t *testing.T) {
	line := recorded(t, "2.1.332/sib-sdk")
	if got := doing(lane(t, line, "aafe2df7955317069").Spans); !strings.HasPrefix(got, "working 45:15-45:16, waiting 45:16-45:16") || !strings.Contains(got, "waiting 45:23-45:26, working 45:26-45:26, idle 45:26-45:56, working 45:56-45:56") {
		t.Errorf("agent B: %s", got)
	}
	a := lane(t, line, "a85c14a6928672ba4")
	if len(a.Tasks) != 1 || a.Tasks[0].Text != "sleep 20; echo DONEA" || *a.Tasks[0].Exit != 0 || len(a.Tasks[0].News) != 1 || a.Tasks[0].News[0].To != a.ID {
		t.Errorf("agent A's task: %+v", a.Tasks)
	}
	if !slices.ContainsFunc(a.Marks, func(m Mark) bool { return m.Kind == MarkBlock && m.Stop == 1 }) {
		t.Errorf("agent A's marks: %s", texts(a.Marks))
	}
}

// An agent that was woken before has been told of another end of its task, and of this one
// of nothing.
func TestNewsOfAnEarlierEndIsNoNewsOfThisOne(t *testing.T) {
	r := Record{Now: at(60), Session: status.Session{ID: "s", Begun: noon, Agents: []status.Agent{{ID: "a1"}}, Tasks: []status.Task{
		{ID: "b1", Owner: "a1", State: status.TaskUndelivered, Launched: at(1), Ended: at(40)},
	}}, Moments: map[string][]transcript.Moment{"a1": {prompted(0), rested(50)}}}
	r.News = map[string][]transcript.Delivery{"b1": {{Task: "b1", To: "a1", At: at(21)}}}
	if task := lane(t, Build(r), "a1").Tasks[0]; len(task.News) != 0 || !task.Unheard {
		t.Errorf("news %v, unheard %v", task.News, task.Unheard)
	}
}

// What a person excused need not be heard of.
func TestAnExcusedTaskIsNotMissed(t *testing.T) {
	r := Record{Now: at(60), Session: status.Session{ID: "s", Begun: noon, Agents: []status.Agent{{ID: "a1"}}, Tasks: []status.Task{
		{ID: "b1", Owner: "a1", State: status.TaskUndelivered, Launched: at(1), Ended: at(40), Released: true},
		{ID: "b2", Owner: "a1", State: status.TaskUndelivered, Launched: at(1), Ended: at(40)},
	}}}
	if got := Build(r).Totals.Unheard; got != 1 {
		t.Errorf("%d ends count as unheard, want that of b2 alone", got)
	}
}

// A hold may end hours after what was seen: its deadline is shown as far as it does not
// take the picture.
func TestAFarDeadlineLeavesRoomForWhatWas(t *testing.T) {
	r := story()
	r.Session.Agents[0].Hold.Until = at(100_000)
	line := Build(r)
	if was := r.Now.Sub(line.From); line.Until.Sub(line.From) > was*3/2 || !line.Until.After(r.Now) {
		t.Errorf("the axis goes from %v to %v, and now is %v", line.From, line.Until, r.Now)
	}
}

// A result is saved where the owner's stop was kept for it, the client would have lost it,
// and the owner worked on with it.
func TestWhatCountsAsSaved(t *testing.T) {
	for _, c := range []struct {
		name   string
		client string
		host   string
		change func(*Record)
		want   bool
	}{
		{"a background agent on an older client", "2.1.220", "stream", func(*Record) {}, true},
		{"one whose client would have told it", "2.1.332", "stream", func(*Record) {}, false},
		{"one that never worked on", "2.1.220", "stream", func(r *Record) { r.Moments["a1"] = r.Moments["a1"][:2] }, false},
		{"one whose stop was kept for another task", "2.1.220", "stream", func(r *Record) { r.Session.Stops[0].Own = []string{"b9"} }, false},
		{"one whose stop was let through", "2.1.220", "stream", func(r *Record) {
			r.Session.Stops[0].Verdict, r.Session.Stops[0].Held = ledger.Allow, 0
		}, false},
		{"a task that was killed", "2.1.220", "stream", func(r *Record) { r.Session.Tasks[1].State = status.TaskKilled }, false},
		{"a foreground agent on any client", "2.1.332", "terminal", func(r *Record) { r.Session.Tasks = r.Session.Tasks[1:] }, true},
	} {
		r := Record{Now: at(90), Client: c.client, Session: status.Session{ID: "s", Begun: noon, Agents: []status.Agent{{ID: "a1"}}, Tasks: []status.Task{
			{ID: "a1", Owner: transcript.Main, Kind: "subagent", State: status.TaskFinished, Launched: at(0), Ended: at(80)},
			{ID: "b1", Owner: "a1", Kind: "shell", State: status.TaskFinished, Launched: at(1), Ended: at(40)},
		}, Stops: []ledger.Stop{{Seq: 1, AgentID: "a1", Time: at(10), Duration: 31 * time.Second, Held: 30 * time.Second, Verdict: ledger.Block, Own: []string{"b1"}, Host: c.host}}},
			Moments: map[string][]transcript.Moment{"a1": {prompted(0), rested(10), prompted(41), rested(60)}}}
		c.change(&r)
		tasks := lane(t, Build(r), "a1").Tasks
		if len(tasks) != 1 || tasks[0].Saved != c.want {
			t.Errorf("%s: %+v, want saved %v", c.name, tasks, c.want)
		}
	}
}
