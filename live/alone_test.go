//go:build live

package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

// The client's own clocks, tried without stopgate: a hook of ours stands in its
// place. Each of these names the fact that it goes red for, a heading of
// docs/client.md.

// Variables that set the client's clocks, in milliseconds.
const (
	stallEnv   = "CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS"
	ceilingEnv = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS"
)

func milliseconds(name string, d time.Duration) string {
	return fmt.Sprintf("%s=%d", name, d.Milliseconds())
}

// inFront: an Agent asked for in the foreground is there in the terminal too
// (docs/client.md: launches).
const inFront = "CLAUDE_CODE_FORK_SUBAGENT=0"

var onlyAlone = []string{"alone"}

var alone = []scenario{
	{
		Name: "stalled", About: "the stall limit: a hook of 25 s under a limit of 15 s; beside it a foreground command of 25 s",
		Hosts: talking, Modes: onlyAlone, Limit: 2 * time.Minute, Endless: []string{"of-back", "of-front"},
		Env:      []string{milliseconds(stallEnv, 15*time.Second), inFront},
		Register: stubs(stub{Sleep: 25 * time.Second, Block: goOn, Times: 1, Only: []string{"back", "front"}}),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("back", true), agent("worker", true), agent("front", false)}),
				"back":   steps("back", blocks{w.shell("of-back")}),
				"front":  steps("front", blocks{w.shell("of-front")}),
				"worker": steps("worker", blocks{work(25)}),
			}
		},
		Cell: func(w *world) string {
			return fmt.Sprintf("back: %s; front: %s; worker: %s", w.became("back"), w.became("front"), w.became("worker"))
		},
		Check: checkStalled,
	},
	{
		Name: "inarow", About: "the stall limit: four holds of 8 s in a row, each ended by a block, under a limit of 15 s",
		Hosts: talking, Modes: onlyAlone, Limit: 2 * time.Minute, Endless: []string{"of-back", "of-front"},
		Env:      []string{milliseconds(stallEnv, 15*time.Second), inFront},
		Register: stubs(stub{Sleep: 8 * time.Second, Block: goOn, Times: 4}),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:    steps(lead, blocks{agent("back", true), agent("front", false)}),
				"back":  steps("back", blocks{w.shell("of-back")}),
				"front": steps("front", blocks{w.shell("of-front")}),
			}
		},
		Cell: func(w *world) string {
			return fmt.Sprintf("back: %s; front: %s", w.became("back"), w.became("front"))
		},
		Check: func(w *world) {
			for _, script := range []string{"back", "front"} {
				if was := w.became(script); was != reported || w.honoured(script) != 4 {
					w.t.Errorf("%s went on %d times of 4 and was then %s", script, w.honoured(script), was)
				}
			}
		},
	},
	{
		Name: "ceiling", About: "the print ceiling of 12 s: a hook that holds a background agent for 40 s",
		Hosts: []client.Host{client.Print}, Modes: onlyAlone, Limit: 2 * time.Minute,
		Configured: []string{milliseconds(ceilingEnv, 12*time.Second)},
		Register:   stubs(stub{Sleep: 40 * time.Second, Block: goOn, Times: 1}),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:   steps(lead, blocks{agent("back", true)}),
				"back": steps("back", blocks{w.shell("own")}),
			}
		},
		Play: func(w *world) {
			w.prompt(model.Prompt(lead))
			w.wait("the client ends", 100*time.Second, func() bool {
				if w.became("back") == reported {
					w.release("own") // the oldest client waits for that too
				}
				return w.over()
			})
		},
		Cell: func(w *world) string {
			if w.became("back") == reported {
				return "waited for"
			}
			return "ended at the ceiling, without the report"
		},
		Check: checkCeiling,
	},
	{
		Name: "capped", About: "the cap: a hook that blocks always, an agent that answers in words and one that calls a tool",
		Hosts: []client.Host{client.SDK}, Modes: onlyAlone, Turns: 40,
		Register: stubs(stub{Block: goOn, Times: capTries}),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("talker", true), agent("worker", false)}),
				"talker": steps("talker"),
				"worker": working("worker"),
			}
		},
		Cell: func(w *world) string {
			return fmt.Sprintf("talker: %d blocks of %d honoured; worker: %d", w.honoured("talker"), capTries, w.honoured("worker"))
		},
		Check: func(w *world) {
			if n := w.honoured("talker"); n != blockCap {
				w.t.Errorf("%d blocks in a row were honoured, not %d", n, blockCap)
			}
			if n := w.honoured("worker"); n != capTries {
				w.t.Errorf("%d blocks with a tool call between were honoured, not all %d", n, capTries)
			}
		},
	},
	{
		Name: "rewake", About: "asyncRewake: a hook of 6 s beside the stop that ends with exit code 2",
		Hosts: everywhere, Modes: onlyAlone, Env: []string{inFront},
		Register: stubs(stub{Sleep: rewakeAfter, Wake: rewakeWords, Times: 1}),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:    steps(lead, blocks{agent("back", true), agent("front", false)}),
				"back":  steps("back", blocks{work(0.1)}),
				"front": steps("front", blocks{work(0.1)}),
			}
		},
		Cell: func(w *world) string {
			if w.given("back", rewakeWords) || w.given("front", rewakeWords) {
				return "a block: the stop waits, the agent is told"
			}
			return "beside: the stop does not wait, the coordinator is told"
		},
		Check: checkRewake,
	},
}

const (
	goOn = "Go on."
	// rewakeWords is what the hook beside a stop says, rewakeAfter the stop.
	rewakeWords = "REWAKE-4711: news of somebody else"
	rewakeAfter = 6 * time.Second
	// capTries is how often the hook of the cap blocks, blockCap how often the
	// client has it so (docs/client.md: the client's clocks).
	capTries = 12
	blockCap = 8
)

// What can become of an agent whose stop takes long.
const (
	reported = "reported"
	stalled  = "failed as stalled"
	cutOff   = "interrupted"
	unheard  = "never heard of"
)

// became is what the coordinator learned of an agent.
func (w *world) became(script string) string {
	k, _ := w.server.Task(script)
	if !strings.HasPrefix(k.Result, "Async agent launched") {
		switch {
		case strings.HasPrefix(k.Result, "[Request interrupted"):
			return cutOff
		case strings.Contains(k.Result, script+": "):
			return reported
		}
		return unheard
	}
	was := unheard
	for _, n := range w.notices(k.ID) {
		switch {
		case strings.Contains(n, "stalled"):
			was = stalled
		case strings.Contains(n, "<status>completed</status>"):
			was = reported
		}
	}
	return was
}

// notices are the notifications about a task that the coordinator was given.
func (w *world) notices(id string) []string {
	var out []string
	for _, a := range w.server.Of(lead) {
		if a.Ephemeral() || id == "" {
			continue
		}
		text := a.Request.NewText()
		for _, part := range strings.SplitAfter(text, "</task-notification>") {
			if at := strings.Index(part, "<task-notification>"); at >= 0 && strings.Contains(part[at:], "<task-id>"+id+"</task-id>") {
				out = append(out, part[at:])
			}
		}
	}
	return out
}

// honoured is how often an agent went on because of a block.
func (w *world) honoured(script string) int {
	n := 0
	for _, a := range w.server.Of(script) {
		if !a.Ephemeral() && a.Request.Feedback() != "" {
			n++
		}
	}
	return n
}

// given tells whether a script was given a text.
func (w *world) given(script, text string) bool {
	return slices.ContainsFunc(w.server.Of(script), func(a model.Asked) bool {
		return !a.Ephemeral() && strings.Contains(a.Request.NewText(), text)
	})
}

// checkStalled: the stall limit counts a hook as no progress, and a foreground
// command as some (docs/client.md: the client's clocks).
func checkStalled(w *world) {
	front := cutOff
	if older(w.version, "2.1.198") {
		front = reported
	}
	for script, want := range map[string]string{"back": stalled, "front": front, "worker": reported} {
		if was := w.became(script); was != want {
			w.t.Errorf("%s was %s, not %s", script, was, want)
		}
	}
	for _, f := range w.fates {
		if f.Owner == "back" && f.End != "killed" {
			w.t.Errorf("%s is %s after its agent was failed", f.Label, f.End)
		}
	}
}

// checkCeiling: a print run ends a given time after the coordinator's last turn,
// whoever still works (docs/client.md: the client's clocks).
func checkCeiling(w *world) {
	for _, h := range w.record.All() {
		if h.Env[ceilingEnv] != "12000" {
			w.t.Errorf("%s is %q for a hook, though the settings say it", ceilingEnv, h.Env[ceilingEnv])
		}
	}
	if older(w.version, "2.1.198") {
		if was := w.became("back"); was != reported {
			w.t.Errorf("the agent was %s", was)
		}
		return
	}
	asked := w.server.Of(lead)
	took := w.gone.Load().Sub(asked[len(asked)-1].At)
	if limit := 12 * time.Second; took < limit || took > limit+time.Duration(float64(3*time.Second)*slowness()) {
		w.t.Errorf("the client ended %s after the coordinator's last turn", took)
	}
	if was := w.became("back"); was != unheard {
		w.t.Errorf("the agent was %s", was)
	}
}

// checkRewake: in a print run with text input the stop waits for a hook that
// should run beside it, whose exit code 2 blocks the agent; elsewhere it does
// not, and the coordinator is told (docs/client.md: asyncRewake).
func checkRewake(w *world) {
	inside := w.host == client.Print
	for _, script := range []string{"back", "front"} {
		if told := w.given(script, rewakeWords); told != inside {
			w.t.Errorf("%s was given the words: %v", script, told)
		}
	}
	if told := w.given(lead, rewakeWords); told == inside {
		w.t.Errorf("the coordinator was given the words: %v", told)
	}
	began := w.stops("front")[0].At
	for _, a := range w.server.Of(lead) {
		if text := a.Request.AllText(); !strings.Contains(text, "front: ") {
			continue
		}
		if waited := a.At.Sub(began) >= rewakeAfter; waited != inside {
			w.t.Errorf("the report of the foreground agent came %s after its stop", a.At.Sub(began))
		}
		return
	}
	w.t.Error("the foreground agent never reported")
}
