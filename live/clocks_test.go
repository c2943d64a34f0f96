//go:build live

package live

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

// clocked are sessions in which a task takes longer than something: a hold, the
// patience for it, or a clock of the client's own, scaled down. Their agents do
// the least that an agent can do: they end their turn again and again, until they
// are told that the task has ended.
var clocked = []scenario{
	{
		Name: "printed", About: "a print run whose background and foreground agents' tasks take 15 s, with a courier registered",
		Hosts: onPaper, Modes: []string{"off", "hold", "courier", "both", "installed"}, Smoke: []string{"both"},
		Scripts: func(w *world) scripts { return w.both(w.patient) },
		Play:    func(w *world) { playTimed(w, 15*time.Second) },
	},
	{
		Name: "pair", About: "a print run in which two background agents are held",
		Hosts: onPaper, Modes: []string{"off", "hold", "both", "installed"},
		Scripts: func(w *world) scripts {
			return scripts{
				lead: steps(lead, blocks{agent("a", true), agent("b", true)}),
				"a":  w.patient("a", blocks{w.shell("of-a")}),
				"b":  w.patient("b", blocks{w.shell("of-b")}),
			}
		},
		Play: func(w *world) {
			w.aloof = true
			w.prompt(model.Prompt(lead))
			w.stopped()
			w.pause(5 * time.Second)
			w.release("of-a")
			w.pause(5 * time.Second)
			w.finish()
		},
	},
	{
		Name: "long", About: "a task that takes longer than three holds of 4 s; its agents only end their turns",
		Hosts: everywhere, Modes: holding, Smoke: []string{"hold"}, Env: []string{inFront},
		Register: briefly("--hold", "4s"), Install: []string{"--hold", "4s"}, Hold: 4 * time.Second, Codes: []string{holdOver, taskEnded},
		Scripts: func(w *world) scripts { return w.both(w.patient) },
		Play:    func(w *world) { playLong(w, 3, heldFor) },
		Check:   func(w *world) { checkLong(w, 3) },
	},
	{
		Name: "longteam", About: "the same of a teammate",
		Hosts: terminal, Modes: holding, Env: teamMode, Team: true,
		Register: briefly("--hold", "4s"), Install: []string{"--hold", "4s"}, Hold: 4 * time.Second, Codes: []string{holdOver, taskEnded},
		Scripts: func(w *world) scripts { return w.mate(w.patient) },
		Play:    func(w *world) { playLong(w, 3, heldFor) },
		Check:   func(w *world) { checkLong(w, 3) },
	},
	{
		Name: "longwait", About: "the stall limit of 15 s; a task that takes longer, of agents that run the offered `hookctl wait`",
		Hosts: everywhere, Modes: []string{"both", "installed"}, Env: []string{inFront, milliseconds(stallEnv, 15*time.Second)},
		Hold: 5 * time.Second, Codes: []string{holdOver}, Limit: 2 * time.Minute,
		Scripts: func(w *world) scripts { return w.both(w.diligent) },
		Play:    func(w *world) { playLong(w, 1, 20*time.Second) },
		Check: func(w *world) {
			for _, script := range []string{"back", "front"} {
				if _, ok := w.answered(script, "wait"); !ok {
					w.t.Errorf("%s did not run what it was offered", script)
				}
			}
		},
	},
	{
		Name: "stall", About: "the stall limit of 15 s; a task that takes longer than four holds of 5 s, to which a hold of 60 s is cut",
		Hosts: everywhere, Modes: holding, Env: []string{inFront, milliseconds(stallEnv, 15*time.Second)}, Limit: 2 * time.Minute,
		Hold: 5 * time.Second, Codes: []string{holdOver, taskEnded},
		Scripts: func(w *world) scripts { return w.both(w.patient) },
		Play:    func(w *world) { playLong(w, 4, heldFor) },
		Check:   func(w *world) { checkLong(w, 4) },
	},
	{
		Name: "stallteam", About: "the same of a teammate",
		Hosts: terminal, Modes: []string{"both"}, Env: append([]string{milliseconds(stallEnv, 15*time.Second)}, teamMode...), Team: true, Limit: 2 * time.Minute,
		Hold: 5 * time.Second, Codes: []string{holdOver, taskEnded},
		Scripts: func(w *world) scripts { return w.mate(w.patient) },
		Play:    func(w *world) { playLong(w, 4, heldFor) },
		Check:   func(w *world) { checkLong(w, 4) },
	},
	{
		Name: "ceilinghold", About: "the print ceiling of 18 s; a background agent's task that never ends",
		Hosts: onPaper, Modes: []string{"off", "hold", "both"}, Env: []string{milliseconds(ceilingEnv, 18*time.Second)},
		Endless: []string{"own"}, Ignores: true, Codes: []string{ceilingNear}, Limit: 2 * time.Minute,
		Scripts: func(w *world) scripts {
			return scripts{
				lead:   steps(lead, blocks{agent("back", true)}),
				"back": w.patient("back", blocks{w.shell("own")}),
			}
		},
		Play: func(w *world) {
			w.aloof = true
			w.prompt(model.Prompt(lead))
			w.wait("the client ends", 100*time.Second, func() bool {
				if older(w.version, "2.1.198") && w.became("back") == reported {
					w.release("own") // which has no ceiling and waits for that too
				}
				return w.over()
			})
		},
		Check: checkCeilingHold,
	},
	{
		Name: "ceilinglead", About: "the print ceiling of 10 s; a background agent's task of 25 s, and the coordinator held for it",
		Hosts: onPaper, Modes: []string{"off", "installed"}, Env: []string{milliseconds(ceilingEnv, 10*time.Second)},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:   steps(lead, blocks{agent("back", true)}),
				"back": w.patient("back", blocks{w.shell("of-back")}),
			}
		},
		Play: func(w *world) { playTimed(w, 25*time.Second) },
	},
	{
		Name: "ceilingfront", About: "the print ceiling of 10 s; a foreground agent's task of 25 s",
		Hosts: onPaper, Modes: []string{"hold", "both", "installed"}, Env: []string{milliseconds(ceilingEnv, 10*time.Second)},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:    steps(lead, blocks{agent("front", false)}),
				"front": w.patient("front", blocks{w.shell("of-front")}),
			}
		},
		Play: func(w *world) { playTimed(w, 25*time.Second) },
	},
	{
		Name: "maxturns", About: "`--max-turns 3`: a foreground agent that is held three times, whose answers are turns of its own",
		Hosts: []client.Host{client.Print, client.SDK}, Modes: []string{"off", "both", "installed"}, Args: []string{"--max-turns", "3"},
		Register: briefly("--hold", "3s"), Install: []string{"--hold", "3s"}, Hold: 3 * time.Second, Codes: []string{holdOver, taskEnded},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:    steps(lead, blocks{agent("front", false)}),
				"front": w.patient("front", blocks{w.shell("of-front")}),
			}
		},
		Play: func(w *world) {
			w.aloof = true
			w.prompt(model.Prompt(lead))
			w.stopped()
			if !w.mode.Holds {
				w.quiet(parked)
			}
			w.waitOr("asked again", 30*time.Second, func() bool { return w.over() || !w.mode.Holds || w.honoured("front") >= 3 }, func() {})
			w.finish()
		},
	},
	{
		Name: "patience", About: "a task that takes longer than the patience of 7 s, in holds of 3 s",
		Hosts: everywhere, Modes: holding, Ignores: true, Env: []string{inFront},
		Register: briefly("--hold", "3s", "--patience", "7s"), Install: []string{"--hold", "3s", "--patience", "7s"},
		Hold: 3 * time.Second, Codes: []string{holdOver, patienceOver},
		Scripts: func(w *world) scripts { return w.both(w.patient) },
		Play:    playPatience,
		Check:   func(w *world) { checkPatience(w, "back", "front") },
	},
	{
		Name: "patienceteam", About: "the same of a teammate",
		Hosts: terminal, Modes: []string{"both", "installed"}, Ignores: true, Env: teamMode, Team: true,
		Register: briefly("--hold", "3s", "--patience", "7s"), Install: []string{"--hold", "3s", "--patience", "7s"},
		Hold: 3 * time.Second, Codes: []string{holdOver, patienceOver},
		Scripts: func(w *world) scripts { return w.mate(w.patient) },
		Play:    playPatience,
		Check:   func(w *world) { checkPatience(w, "mate") },
	},
}

var (
	onPaper  = []client.Host{client.Print}
	holding  = []string{"hold", "both", "installed"}
	teamMode = []string{"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1"}
)

// both is a coordinator with an agent in the background and one in the foreground,
// each with a task.
func (w *world) both(agents func(string, ...blocks) model.Script) scripts {
	return scripts{
		lead:    steps(lead, blocks{agent("back", true), agent("front", false)}),
		"back":  agents("back", blocks{w.shell("of-back")}),
		"front": agents("front", blocks{w.shell("of-front")}),
	}
}

// mate is a lead with a teammate that has a task.
func (w *world) mate(agents func(string, ...blocks) model.Script) scripts {
	return scripts{lead: w.leading(w.teammate("mate", "ping")), "mate": agents("mate", blocks{w.shell("of-mate")})}
}

// patient is an agent that only ends its turn, whatever it is told, until it is
// told that its tasks have ended: then it reads their output and reports.
func (w *world) patient(name string, list ...blocks) model.Script {
	plain := steps(name, list...)
	return func(turn int, r model.Request) blocks {
		if out, ok := r.Results()["read"]; ok {
			return says(name, "complete final report: %s", out)
		}
		if turn >= len(list) && (strings.Contains(r.Feedback(), untilEnded) || r.Notified()) {
			return blocks{w.read(name)}
		}
		return plain(turn, r)
	}
}

// offered is the command of a block that waits for the tasks.
var offered = regexp.MustCompile(`run ("[^"]+" wait --timeout 9m [\w -]+) \(Bash timeout 600000\)`)

// diligent is an agent that runs the command by which it is told to wait.
func (w *world) diligent(name string, list ...blocks) model.Script {
	plain := w.patient(name, list...)
	return func(turn int, r model.Request) blocks {
		if _, ok := r.Results()["wait"]; ok {
			return blocks{w.read(name)}
		}
		if m := offered.FindStringSubmatch(r.Feedback()); m != nil {
			b := model.Use("Bash", map[string]any{"command": m[1], "description": "wait", "timeout": 600000})
			b.Label = "wait"
			return blocks{b}
		}
		return plain(turn, r)
	}
}

// read shows the outputs of the script's tasks.
func (w *world) read(owner string) model.Block {
	cmd := []string{"true"}
	for _, t := range w.shells() {
		if _, out, ok := strings.Cut(t.Result, "written to: "); ok && t.Owner == owner {
			out, _, _ = strings.Cut(out, ".output")
			cmd = append(cmd, "cat "+out+".output")
		}
	}
	b := model.Use("Bash", map[string]any{"command": strings.Join(cmd, "; "), "description": "read"})
	b.Label = "read"
	return b
}

// answered is the result of a call of the script's with a label.
func (w *world) answered(script, label string) (string, bool) {
	for _, a := range w.server.Of(script) {
		if out, ok := a.Request.Results()[label]; ok {
			return out, true
		}
	}
	return "", false
}

// agents are the scripts that agents play.
func (w *world) agents() []string {
	var out []string
	for name := range w.scripts {
		if !coordinates(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// stopped waits until every agent has ended a turn.
func (w *world) stopped() {
	w.t.Helper()
	w.wait("every agent ends its turn", 40*time.Second, func() bool {
		return w.over() || !slices.ContainsFunc(w.agents(), func(name string) bool { return len(w.stops(name)) == 0 })
	})
}

// pause lets time pass, unless the client ends.
func (w *world) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-w.session.Done():
	}
}

// finish lets every task end and waits for what comes of it.
func (w *world) finish() {
	w.t.Helper()
	for _, k := range w.shells() {
		w.release(k.Label)
	}
	w.noticed()
	w.waitOr("no stop is held", 30*time.Second, func() bool { return w.over() || len(w.heldNow()) == 0 }, func() {})
	w.arrived()
	if w.host == client.Print {
		w.waitOr("the run ends", 30*time.Second, w.over, func() {})
	}
	w.quiet(settled)
	if w.mode.Courier {
		w.carried()
		w.quiet(settled)
	}
}

// playTimed lets the tasks end a while after their agents ended their turns.
func playTimed(w *world, after time.Duration) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.stopped()
	w.pause(after)
	w.finish()
}

// playLong lets the tasks end a while after every agent has been asked again so
// many times.
func playLong(w *world, holds int, more time.Duration) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.wait("every agent is asked again and again", 80*time.Second, func() bool {
		return !slices.ContainsFunc(w.agents(), func(name string) bool { return w.honoured(name) < holds })
	})
	w.pause(more)
	w.finish()
}

// checkLong: nothing but holds that were over came before the outcome.
func checkLong(w *world, holds int) {
	for agent, codes := range w.blockCodes() {
		over, rest := 0, codes
		for len(rest) > 0 && rest[0] == holdOver {
			over, rest = over+1, rest[1:]
		}
		if over < holds || !slices.Equal(rest, []string{taskEnded}) {
			w.t.Errorf("the stops of %s were blocked as %v", agent, codes)
		}
	}
	for _, script := range w.agents() {
		if was := w.became(script); was != reported && !w.scenario.Team {
			w.t.Errorf("%s was %s", script, was)
		}
	}
}

// playPatience lets the tasks end when their agents have been let go.
func playPatience(w *world) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.wait("every agent is let go", 60*time.Second, func() bool {
		if w.over() {
			return true
		}
		spent := 0
		for _, st := range w.recordedStops() {
			if st.Code == budgetSpent {
				spent++
			}
		}
		return spent >= len(w.agents())
	})
	w.quiet(parked)
	w.finish()
}

// checkPatience: the holds came to the patience, the agent was told so once and
// then let go.
func checkPatience(w *world, scripts ...string) {
	for _, script := range scripts {
		var codes []string
		held := time.Duration(0)
		for _, st := range w.recordedStops() {
			if st.Agent == w.agentID(script) {
				codes = append(codes, st.Code)
				held += time.Duration(st.Held) * time.Millisecond
			}
		}
		want := []string{holdOver, holdOver, patienceOver, budgetSpent}
		if len(codes) < len(want) || !slices.Equal(codes[:len(want)], want) {
			w.t.Errorf("the stops of %s were answered as %v, want %v first", script, codes, want)
		}
		if limit := 7*time.Second + time.Duration(float64(3*time.Second)*slowness()); held < 7*time.Second-time.Second/2 || held > limit {
			w.t.Errorf("%s was held for %s in all", script, held)
		}
	}
}

// checkCeilingHold: the agent's report reaches the coordinator before the run is
// over, with what was known (docs/client.md: the client's clocks).
func checkCeilingHold(w *world) {
	if was := w.became("back"); was != reported {
		w.t.Errorf("the agent was %s", was)
	}
	results := w.session.Results()
	if len(results) != 1 || !strings.Contains(results[0], "was notified") {
		w.t.Errorf("the run's result is %q, not what the coordinator said of the report", results)
	}
	if !w.mode.Holds {
		return
	}
	for agent, codes := range w.blockCodes() {
		if !slices.Equal(codes, []string{ceilingNear}) {
			w.t.Errorf("the stops of %s were blocked as %v", agent, codes)
		}
	}
	w.t.Log(fmt.Sprint("the client ended after ", w.gone.Load().Sub(w.server.Asked()[0].At).Round(100*time.Millisecond)))
}
