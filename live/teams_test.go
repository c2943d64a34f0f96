//go:build live

package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stopgate/live/model"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

// teams are sessions whose coordinator leads a team of mates of the client's own
// process, which only a terminal has, and is held on purpose.
var teams = []scenario{
	{
		Name: "teamlead", About: "a lead that is held (`--lead always`) for a mate with a task, beside one that is idle and one that agrees to shut down",
		Hosts: terminal, Team: true, Env: teamMode, Since: "2.1.198",
		Modes: []string{"off", "installed"}, Install: []string{"--lead", "always"},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     w.teamLead(w.teammate("mate", "ping"), w.teammate("idle", "pong"), w.teammate("leaver", "pang")),
				"mate":   w.patient("mate", blocks{w.shell("of-mate")}),
				"idle":   steps("idle", blocks{work(0.1)}),
				"leaver": w.agreeing("leaver", blocks{work(0.1)}),
			}
		},
		Play: func(w *world) {
			w.aloof = true
			w.prompt(model.Prompt(lead))
			w.wait("a mate agrees to shut down", 40*time.Second, func() bool { return w.agreed("leaver") })
			if w.mode.Installed {
				w.wait("the lead is held", 20*time.Second, func() bool { return w.leadHeld() })
				w.held("mate")
			} else {
				w.stopped()
			}
			time.Sleep(heldFor)
			w.release("of-mate")
			if w.mode.Installed {
				w.wait("the lead answers", 30*time.Second, func() bool { return strings.Contains(w.lastOf(lead), hasWaited) })
			}
			w.quiet(settled)
		},
		Cell: func(w *world) string {
			if w.mode.Installed {
				return fmt.Sprintf("%s; lead: held, %s", strings.Join(w.fateWords(), "; "), count(w.honoured(lead), "block"))
			}
			return strings.Join(w.fateWords(), "; ")
		},
		Check: func(w *world) {
			if !w.mode.Installed {
				return
			}
			if n := w.honoured(lead); n != 1 || !w.given(lead, oneTool) {
				w.t.Errorf("the lead was blocked %d times, not once", n)
			}
		},
	},
}

// hasWaited is what a lead says that was held and has done what it was asked for.
const hasWaited = "has waited"

// teamLead launches its mates, asks the one called leaver to shut down once that is
// idle, ends its turn, and answers when it was held.
func (w *world) teamLead(mates ...model.Block) model.Script {
	launch := w.leading(mates...)
	return func(turn int, r model.Request) blocks {
		_, leaves := w.scripts["leaver"]
		launched := r.Used("Agent") || r.Used("Task")
		switch {
		case strings.Contains(r.Feedback(), oneTool):
			return blocks{work(0.2)}
		case strings.Contains(r.AllText(), oneTool):
			return says(lead, hasWaited)
		case leaves && launched && !r.Used("SendMessage") && len(w.server.Of("leaver")) > 1:
			return asker("pang")(0, r)
		case leaves && launched && !r.Used("SendMessage"):
			return blocks{work(1)}
		}
		return launch(turn, r)
	}
}

// leadHeld tells whether the coordinator's stop is held.
func (w *world) leadHeld() bool {
	ctx, cancel := context.WithTimeout(w.ctx, 500*time.Millisecond)
	defer cancel()
	snap, err := ledger.Read(ctx, state.At(w.state()), w.sessionID(), nil)
	if err != nil {
		return false // busy; asked again soon
	}
	for _, h := range snap.Holds {
		if h.AgentID == transcript.Main {
			return true
		}
	}
	return false
}

// lastOf is the text of a script's last answer.
func (w *world) lastOf(script string) string {
	said := ""
	for _, a := range w.server.Of(script) {
		if a.Ephemeral() {
			continue
		}
		said = ""
		for _, b := range a.Answer {
			said += b.Text
		}
	}
	return said
}
