//go:build live

package live

import (
	"strings"
	"time"

	"stopgate/live/model"
	"stopgate/pkg/ledger"
)

// messages are sessions in which somebody writes to an agent that is held: it
// reads and answers at once, and is then held on.
var messages = []scenario{
	{
		Name: "message", About: "the coordinator writes to a teammate that is held", Hosts: terminal, Team: true, Env: teamMode,
		Modes: holding, Codes: []string{taskEnded},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     w.leading(w.teammate("mate", "ping")),
				"mate":   w.reading("mate", blocks{w.shell("of-mate")}),
				"writer": writer(func() string { return "ping" }),
			}
		},
		Play:  func(w *world) { playMessage(w, "mate", "writer", func() { w.prompt(model.Prompt("writer")) }) },
		Check: checkMessage,
	},
	{
		Name: "matemessage", About: "a teammate writes to another that is held", Hosts: terminal, Team: true, Env: teamMode,
		Modes: holding, Codes: []string{taskEnded},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     w.leading(w.teammate("mate", "ping"), w.teammate("poster", "pong")),
				"mate":   w.reading("mate", blocks{w.shell("of-mate")}),
				"poster": steps("poster", blocks{w.until("letter")}, blocks{write("ping")}),
			}
		},
		Play:  func(w *world) { playMessage(w, "mate", "poster", func() { w.release("letter") }) },
		Check: checkMessage,
	},
	{
		Name: "messagebg", About: "the coordinator writes to a background agent that is held", Hosts: talking, Since: "2.1.198",
		Modes: holding, Codes: []string{messageWaits, taskEnded},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", true)}),
				"leaver": w.reading("leaver", blocks{w.shell("own")}),
				"writer": writer(func() string { k, _ := w.server.Task("leaver"); return k.ID }),
			}
		},
		Play:  func(w *world) { playMessage(w, "leaver", "writer", func() { w.prompt(model.Prompt("writer")) }) },
		Check: checkMessage,
	},
}

// letter is what a writer writes.
const letter = "LETTER-4711: please look at this"

func write(to string) model.Block {
	return model.Use("SendMessage", map[string]any{"to": to, "summary": "a letter", "message": letter})
}

// writer is the coordinator again, as it writes to an agent.
func writer(to func() string) model.Script {
	return func(turn int, r model.Request) blocks {
		if turn > 0 {
			return says("writer", "has written %d", turn)
		}
		return blocks{write(to())}
	}
}

// until is a foreground command that waits for a file, as long as a minute.
func (w *world) until(label string) model.Block {
	return model.Use("Bash", map[string]any{"description": "until " + label, "timeout": 90000,
		"command": "i=0; until [ -e " + w.path(label, "go") + " ] || [ $i -ge 600 ]; do sleep 0.1; i=$((i+1)); done"})
}

// reading is a patient agent that calls a tool when a block says that a message
// waits, as it says. It answers the letter with the end of its turn.
func (w *world) reading(name string, list ...blocks) model.Script {
	plain := w.patient(name, list...)
	return func(turn int, r model.Request) blocks {
		switch {
		case strings.Contains(r.NewText(), letter):
			return says(name, "has read the letter in turn %d", turn)
		case strings.Contains(r.Feedback(), aMessage):
			return blocks{work(0.1)}
		}
		return plain(turn, r)
	}
}

// playMessage writes to an agent that is held: it reads the message at once, and
// is then held on for its task.
func playMessage(w *world, script, from string, send func()) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.held(script)
	time.Sleep(heldFor)
	before := len(w.server.Of(script))
	send()
	var sent, asked, read time.Time
	w.wait("the message is read", 30*time.Second, func() bool {
		for _, a := range w.server.Of(from) {
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
	// On the oldest client a teammate's shell ends with its turn.
	if w.scenario.Ignores = w.scenario.Team && older(w.version, "2.1.198"); !w.scenario.Ignores {
		w.held(script)
		time.Sleep(heldFor)
	}
	w.aloof = false
	w.quiet(parked)
	w.finish()
}

// checkMessage: the message ended one hold and cost nothing; the outcome ended the
// next one. A teammate's stop was let through, since it reads its mail only then;
// another agent was blocked.
func checkMessage(w *world) {
	if w.scenario.Ignores {
		return
	}
	verdict := ledger.Block
	if w.scenario.Team {
		verdict = ledger.Allow
	}
	blocked := w.blockCodes()
	for agent, codes := range w.codes(verdict) {
		ended := blocked[agent]
		if len(ended) == 0 {
			continue // not the one that was held
		}
		if codes[0] != messageWaits || ended[len(ended)-1] != taskEnded {
			w.t.Errorf("stops were answered as %v and blocked as %v", codes, ended)
		}
	}
}
