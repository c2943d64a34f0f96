//go:build live

package live

import (
	"strings"
	"time"

	"stopgate/live/model"
)

// messages are sessions in which somebody writes to an agent that is held.
var messages = []scenario{
	{
		Name: "message", About: "the coordinator writes to a teammate that is held", Hosts: terminal, Team: true,
		Modes: []string{"hold", "both"}, Codes: []string{messageWaits, taskEnded},
		Env: []string{"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1"},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     w.leading(w.teammate()),
				"mate":   w.reading("mate", w.obeying("mate", blocks{w.shell("of-mate")})),
				"writer": writer(func() string { return "ping" }),
			}
		},
		Play: func(w *world) { playMessage(w, "mate") },
	},
	{
		Name: "messagebg", About: "the coordinator writes to a background agent that is held", Hosts: talking, Since: "2.1.198",
		Modes: []string{"hold", "both"}, Codes: []string{messageWaits, taskEnded},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", true)}),
				"leaver": w.reading("leaver", w.obeying("leaver", blocks{w.shell("own")})),
				"writer": writer(func() string { k, _ := w.server.Task("leaver"); return k.ID }),
			}
		},
		Play: func(w *world) { playMessage(w, "leaver") },
	},
}

// letter is what a writer writes.
const letter = "LETTER-4711: please look at this"

// writer is the coordinator again, as it writes to an agent.
func writer(to func() string) model.Script {
	return func(turn int, r model.Request) blocks {
		if turn > 0 {
			return says("writer", "has written %d", turn)
		}
		return blocks{model.Use("SendMessage", map[string]any{"to": to(), "summary": "a letter", "message": letter})}
	}
}

// reading is an agent that does what a block says of a message that waits: a
// teammate ends its turn, another agent goes on.
func (w *world) reading(name string, s model.Script) model.Script {
	return func(turn int, r model.Request) blocks {
		_, waited := r.Results()["await"]
		switch has := strings.Contains(r.NewText(), letter); {
		case has && !waited:
			return blocks{w.await(name)}
		case !has && w.scenario.Team && strings.Contains(r.Feedback(), aMessage):
			return says(name, "ends its turn to read the message")
		}
		return s(turn, r)
	}
}

// playMessage writes to an agent that is held: it reads the message at once, and
// its task goes on.
func playMessage(w *world, script string) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.held(script)
	time.Sleep(heldFor)
	before := len(w.server.Of(script))
	w.prompt(model.Prompt("writer"))
	var sent, asked, read time.Time
	w.wait("the message is read", 30*time.Second, func() bool {
		for _, a := range w.server.Of("writer") {
			if _, ok := a.Request.Results()["SendMessage"]; ok && sent.IsZero() {
				sent = a.At
			}
		}
		for i, a := range w.server.Of(script) {
			if i >= before && asked.IsZero() {
				asked = a.At
			}
			if read.IsZero() && strings.Contains(a.Request.AllText(), letter) {
				read = a.At
			}
		}
		return !sent.IsZero() && !read.IsZero()
	})
	w.t.Logf("%s was asked again %s after the message was sent and had it after %s", script,
		asked.Sub(sent).Round(10*time.Millisecond), read.Sub(sent).Round(10*time.Millisecond))
	if took := read.Sub(sent); took > time.Duration(float64(2*time.Second)*slowness()) {
		w.t.Errorf("the message was read after %s", took)
	}
	w.aloof = false
	// On the oldest client a teammate's shell ends with its turn.
	w.scenario.Ignores = w.scenario.Team && older(w.version, "2.1.198")
	w.quiet(parked)
	for _, k := range w.shells() {
		w.release(k.Label)
	}
	w.noticed()
	w.arrived()
	w.carried()
	w.quiet(settled)
}
