//go:build live

package live

import (
	"fmt"
	"strings"
)

// counted is how often everybody is asked, and how many reports the coordinator
// gets, with and without stopgate.
var counted = []scenario{
	{
		Name: "once", About: "how often it is told: agents that read the output before they report, and one (wordy) that answers a block in words",
		Hosts: everywhere, Modes: []string{"off", "hold", "both", "installed"}, Since: "2.1.245", Env: []string{inFront}, Ignores: true,
		Scripts: func(w *world) scripts {
			return scripts{
				lead:    steps(lead, blocks{agent("back", true), agent("wordy", true), agent("front", false)}),
				"back":  w.patient("back", blocks{w.shell("of-back")}),
				"front": w.patient("front", blocks{w.shell("of-front")}),
				"wordy": steps("wordy", blocks{w.shell("of-wordy")}),
			}
		},
		Cell:  func(w *world) string { return w.told() },
		Check: checkOnce,
	},
}

// told is how often an agent was asked and how many reports of it the coordinator
// got.
func (w *world) told() string {
	var parts []string
	for _, script := range w.agents() {
		part := fmt.Sprintf("%s: %s, %s", script, count(w.asked(script), "turn"), count(w.reports(script), "report"))
		if !w.complete(script) {
			part += ", without the result"
		}
		parts = append(parts, part)
	}
	return strings.Join(append(parts, "coordinator: "+count(w.asked(lead), "turn")), "; ")
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

func (w *world) asked(script string) int {
	n := 0
	for _, a := range w.server.Of(script) {
		if !a.Ephemeral() {
			n++
		}
	}
	return n
}

// reports is how many reports of an agent the coordinator got.
func (w *world) reports(script string) int {
	k, _ := w.server.Task(script)
	n := len(w.notices(k.ID))
	if strings.Contains(k.Result, script+": ") {
		n++ // the result of the call
	}
	return n
}

// complete tells whether one of them held the result of the agent's task.
func (w *world) complete(script string) bool {
	for _, f := range w.fates {
		if f.Owner == script {
			return f.Reported
		}
	}
	return false
}

// checkOnce: an agent that reads the output before it reports does so once, with
// the result (docs/client.md: ends).
func checkOnce(w *world) {
	if !w.mode.Holds {
		return
	}
	for _, script := range []string{"back", "front"} {
		if n := w.reports(script); n != 1 || !w.complete(script) {
			w.t.Errorf("%s reported %d times, complete %v", script, n, w.complete(script))
		}
	}
}
