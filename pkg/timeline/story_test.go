package timeline

import (
	"fmt"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// at is so many seconds after noon.
func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

func zero() *int { n := 0; return &n }

func code(n int) *int { return &n }

func prompted(s float64) transcript.Moment {
	return transcript.Moment{Kind: transcript.Prompted, At: at(s)}
}

func rested(s float64) transcript.Moment {
	return transcript.Moment{Kind: transcript.Rested, At: at(s)}
}

func called(s float64, id, tool, text string) transcript.Moment {
	return transcript.Moment{Kind: transcript.Called, At: at(s), Call: id, Tool: tool, Text: text}
}

func answers(s float64, id string) transcript.Moment {
	return transcript.Moment{Kind: transcript.Answered, At: at(s), Call: id}
}

// story is a session in which everything happens that a timeline can show, at
// twelve minutes past noon: a held agent with a child of its own, a teammate with a
// message, an end that nobody heard, a courier, a release and the switch.
func story() Record {
	s := status.Session{
		ID: "5f0c2b1e-story", Cwd: "/home/dev/shop", Begun: at(0), Last: status.Event{Name: "SubagentStop", Time: at(700)},
		Agents: []status.Agent{
			{ID: "a1", Type: "general-purpose", Description: "run the tests", State: status.AgentRunning, Hold: &ledger.Hold{AgentID: "a1", Tasks: []string{"b1"}, Since: at(520), Until: at(900)}},
			{ID: "a2", Type: "general-purpose", Description: "build the shop", State: status.AgentStopped, Stuck: true, Why: status.WhyUnheard, Advice: "build the shop never heard of the end of b3: send it a message, and it goes on with the result"},
			{ID: "a3", Type: "explore", Description: "find slow queries", Parent: "a1", State: status.AgentEnded},
			{ID: "a4", Type: "reviewer", Name: "reviewer", Team: "shop", State: status.AgentIdle},
		},
		Tasks: []status.Task{
			{ID: "a1", Kind: "subagent", Owner: "main", State: status.TaskRunning, Launched: at(20), ToolUse: "m1"},
			{ID: "a2", Kind: "subagent", Owner: "main", State: status.TaskRunning, Launched: at(25), ToolUse: "m2"},
			{ID: "a3", Kind: "subagent", Owner: "a1", State: status.TaskFinished, Launched: at(60), Ended: at(210), ToolUse: "t0"},
			{ID: "b0", Kind: "shell", Owner: "a1", State: status.TaskFinished, ExitCode: code(2), Launched: at(45), Ended: at(250), ToolUse: "t1"},
			{ID: "b1", Kind: "shell", Owner: "a1", State: status.TaskRunning, Launched: at(300), ToolUse: "t2"},
			{ID: "b2", Kind: "shell", Owner: "a2", State: status.TaskKilled, Launched: at(50), Ended: at(130), ToolUse: "t3"},
			{ID: "b3", Kind: "shell", Owner: "a2", State: status.TaskUndelivered, ExitCode: zero(), Launched: at(70), Ended: at(420), ToolUse: "t4"},
			{ID: "b4", Kind: "shell", Owner: "a4", State: status.TaskFinished, ExitCode: zero(), Launched: at(150), Ended: at(480), ToolUse: "t5"},
			{ID: "b5", Kind: "shell", Owner: "main", State: status.TaskRunning, Launched: at(30), Released: true, ToolUse: "m3"},
			{ID: "b6", Kind: "shell", Owner: "a3", State: status.TaskFinished, ExitCode: zero(), Launched: at(80), Ended: at(190), ToolUse: "t6", Courier: at(200)},
		},
		Stops: []ledger.Stop{
			{Seq: 1, AgentID: "a1", Time: at(100), Duration: 150 * time.Second, Held: 150 * time.Second, Verdict: ledger.Block, Code: "task-ended", Own: []string{"b0"}, Ended: []string{"b0"}, Host: "stream"},
			{Seq: 2, AgentID: "a2", Time: at(140), Verdict: ledger.Allow, Code: "budget-spent", Own: []string{"b3"}},
			{Seq: 3, AgentID: "a4", Time: at(170), Duration: 310 * time.Second, Held: 310 * time.Second, Verdict: ledger.Block, Code: "task-ended", Own: []string{"b4"}, Ended: []string{"b4"}, Host: "terminal"},
			{Seq: 4, AgentID: "a3", Time: at(210), Verdict: ledger.Allow, Code: "no-tasks"},
			{Seq: 5, AgentID: "a4", Time: at(500), Verdict: ledger.Allow, Code: "no-tasks"},
		},
	}
	return Record{
		Session: s, Now: at(720), Client: "2.1.220",
		Moments: map[string][]transcript.Moment{
			"main": {
				prompted(2), called(18, "m1", "Agent", "run the tests"), answers(20, "m1"), called(23, "m2", "Agent", "build the shop"), answers(25, "m2"),
				called(28, "m3", "Bash", "npm run dev"), answers(30, "m3"), rested(36), prompted(200), rested(212),
				{Kind: transcript.Called, At: at(400), Call: "m5", Tool: "SendMessage", To: "reviewer"}, rested(404),
			},
			"a1": {
				prompted(21), called(40, "t1", "Bash", "make test"), answers(45, "t1"), called(58, "t0", "Agent", "find slow queries"), answers(60, "t0"), rested(100),
				prompted(250), called(262, "t7", "Read", "/tmp/b0.output"), answers(263, "t7"), called(295, "t2", "Bash", "make test VERBOSE=1 | tee /tmp/log"), answers(300, "t2"),
				called(310, "t8", "Bash", "grep -c FAIL /tmp/log"), answers(480, "t8"), rested(520),
			},
			"a2": {prompted(26), called(48, "t3", "Bash", "vite build --watch"), answers(50, "t3"), called(66, "t4", "Bash", "vite build"), answers(70, "t4"), rested(140)},
			"a3": {prompted(61), called(78, "t6", "Bash", "psql -f slow.sql"), answers(80, "t6"), called(90, "t9", "Read", "slow.sql"), answers(95, "t9"), rested(210)},
			"a4": {prompted(140), called(148, "t5", "Bash", "go test -race ./..."), answers(150, "t5"), rested(170), prompted(480), rested(500)},
		},
		News: map[string][]transcript.Delivery{
			"a3": {{Task: "a3", To: "a1", At: at(262)}},
			"b0": {{Task: "b0", To: "a1", At: at(262)}},
		},
		Acts: []ledger.Act{
			{Seq: 6, Deed: ledger.Released, Time: at(320), Tasks: []string{"b5"}},
			{Seq: 7, Deed: ledger.SwitchedOff, Time: at(690)},
		},
	}
}

// crowd is a session of hours with so many agents, each with tasks and stops.
func crowd(agents int) Record {
	const hours = 4
	r := Record{Now: noon.Add(hours * time.Hour), Client: "2.1.332", Moments: map[string][]transcript.Moment{}, News: map[string][]transcript.Delivery{}}
	s := &r.Session
	s.ID, s.Cwd, s.Begun, s.Last = "c0ffee00-crowd", "/home/dev/shop", noon, status.Event{Name: "SubagentStop", Time: r.Now}
	seq := uint64(0)
	for i := range agents {
		id := fmt.Sprintf("a%03d", i)
		begin := float64(i) * hours * 3600 * 0.8 / float64(agents)
		s.Agents = append(s.Agents, status.Agent{ID: id, Type: "general-purpose", Description: fmt.Sprintf("piece %d of the work", i), State: status.AgentEnded})
		s.Tasks = append(s.Tasks, status.Task{ID: id, Kind: "subagent", Owner: "main", State: status.TaskFinished, Launched: at(begin), Ended: at(begin + 1500)})
		moments := []transcript.Moment{prompted(begin)}
		for n := range 60 {
			call := fmt.Sprintf("c%d", n)
			moments = append(moments, called(begin+float64(n)*20+3, call, "Bash", "grep -rn pattern ./src"), answers(begin+float64(n)*20+9, call))
		}
		for n := range 3 {
			task, call, begun := fmt.Sprintf("b%03d%d", i, n), fmt.Sprintf("l%d", n), begin+float64(n)*300
			moments = append(moments, called(begun, call, "Bash", fmt.Sprintf("make test PACKAGE=%d", n)), answers(begun+1, call))
			s.Tasks = append(s.Tasks, status.Task{ID: task, Kind: "shell", Owner: id, State: status.TaskFinished, ExitCode: zero(), Launched: at(begun + 1), Ended: at(begun + 500), ToolUse: call})
			seq++
			s.Stops = append(s.Stops, ledger.Stop{Seq: seq, AgentID: id, Time: at(begun + 100), Duration: 400 * time.Second, Held: 400 * time.Second, Verdict: ledger.Block, Code: "task-ended", Own: []string{task}, Ended: []string{task}})
		}
		r.Moments[id] = append(moments, rested(begin+1400))
	}
	return r
}
