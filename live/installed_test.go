//go:build live

package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// In the mode installed nothing is recorded: what happens is known from what the
// model was asked, from the ledger, and from what hookctl says.

// turnEnds are the ends of the turns of the agent that plays a script, in the
// place of its stops.
func (w *world) turnEnds(script string) []happening {
	var out []happening
	for _, a := range w.server.Of(script) {
		if a.Ephemeral() || slices.ContainsFunc(a.Answer, isCall) {
			continue
		}
		h := happening{line: line{At: a.At, Meta: true}, Event: "SubagentStop", Session: a.Request.Session, Agent: w.agentID(script)}
		for _, b := range a.Answer {
			h.Last += b.Text
		}
		out = append(out, h)
	}
	return out
}

// agentID is the id of the agent that plays a script: what the client says at
// its requests or, for a teammate, what hookctl knows under its name.
func (w *world) agentID(script string) string {
	said := ""
	for _, a := range w.server.Of(script) {
		said = cmp.Or(a.Request.Agent, said)
	}
	name, _, mate := strings.Cut(said, "@")
	if !mate {
		return said
	}
	s, err := w.status()
	if err != nil || len(s.Sessions) != 1 {
		return ""
	}
	for _, a := range s.Sessions[0].Agents {
		if a.Name == name || a.Type == name {
			return a.ID
		}
	}
	return ""
}

// holdsNow are the holds of the ledger whose process lives, as if they had been
// recorded.
func (w *world) holdsNow() []happening {
	session := w.sessionID()
	if session == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(w.ctx, 500*time.Millisecond)
	defer cancel()
	snap, err := ledger.Read(ctx, state.At(w.state()), session, nil)
	if err != nil {
		return nil // busy; asked again soon
	}
	var out []happening
	for _, hold := range snap.Holds {
		if !w.holdLives(hold.PID) {
			continue
		}
		for name := range w.scripts {
			if !coordinates(name) && w.agentID(name) == hold.AgentID {
				out = append(out, happening{line: line{At: hold.Since, Run: fmt.Sprint(hold.PID, hold.Since), Meta: true},
					Event: "SubagentStop", Session: session, Agent: hold.AgentID, Last: name + ": "})
			}
		}
	}
	return out
}

// blocksAsked is how often the owner of a task was asked again with a reason
// that names the task. An agent that is woken before its last answer is on disk is
// asked the same once more.
func (w *world) blocksAsked(owner, id string) int {
	turns := map[int]bool{}
	for _, a := range w.server.Of(owner) {
		if !a.Ephemeral() && strings.Contains(a.Request.Feedback(), id) {
			turns[a.Request.Turn] = true
		}
	}
	return len(turns)
}

// checkAsked: nobody was blocked for a task of somebody else.
func (w *world) checkAsked() {
	w.t.Helper()
	for _, a := range w.server.Asked() {
		told := a.Request.Feedback()
		for _, k := range w.server.Tasks() {
			if told != "" && k.ID != "" && strings.Contains(told, k.ID) && k.Owner != a.Request.Script {
				w.t.Errorf("%s was blocked for %s, which is of %s", a.Request.Script, k.ID, k.Owner)
			}
		}
	}
}
