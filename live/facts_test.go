//go:build live

package live

import (
	"slices"
	"strings"
)

// The facts that stopgate relies on, held against every session.

func (w *world) checkFacts() {
	w.t.Helper()
	w.checkStarts()
	w.checkTypes()
	w.checkSelf()
	w.checkLaunches()
}

// checkStarts: a real agent has a .meta.json at every stop and a start before
// it, an ephemeral event neither (docs/client.md: ephemeral events).
func (w *world) checkStarts() {
	started := map[string]bool{}
	for _, h := range w.record.All() {
		switch {
		case h.Event == "SubagentStart":
			started[h.Agent] = true
		case h.Event == "SubagentStop" && h.Meta != started[h.Agent]:
			w.t.Errorf("stop of %s: started %v, .meta.json %v", h.Agent, started[h.Agent], h.Meta)
		}
	}
}

// checkTypes: the agent_type of an ephemeral event is empty, but not in a
// session started with --agent (docs/client.md: ephemeral events).
func (w *world) checkTypes() {
	if slices.Contains(w.scenario.Args, "--agent") {
		return
	}
	for _, h := range w.ephemerals() {
		if h.AgentType == nil || *h.AgentType != "" {
			w.t.Errorf("ephemeral event with agent_type %v", h.AgentType)
		}
	}
}

// checkSelf: a background agent lists itself among the background tasks, a
// foreground one never does (docs/client.md: background_tasks).
func (w *world) checkSelf() {
	for _, k := range w.server.Tasks() {
		if !k.Agent || w.scenario.Team {
			continue
		}
		async := strings.HasPrefix(k.Result, "Async agent launched")
		for i, h := range w.stops(k.Label) {
			self := slices.ContainsFunc(h.Tasks, func(t task) bool { return t.ID == h.Agent })
			// A resumed agent runs in the background, however it began.
			if self != async && (async || i == 0) {
				w.t.Errorf("stop of %s: lists itself %v, in the background %v", k.Label, self, async)
			}
		}
	}
}

// checkLaunches: PostToolUse tells every launch, by whom, before the agent's
// stop (docs/client.md: launches).
func (w *world) checkLaunches() {
	all := w.record.All()
	for _, k := range w.shells() {
		at := slices.IndexFunc(all, func(h happening) bool { return h.Event == "PostToolUse" && h.ToolUse == k.ToolUseID })
		if at < 0 || !strings.Contains(string(all[at].Response), `"`+k.ID+`"`) {
			w.t.Errorf("no PostToolUse told that %s launched %s", k.Owner, k.ID)
			continue
		}
		if k.Owner == lead {
			if all[at].Agent != "" {
				w.t.Errorf("the coordinator's launch of %s bears the agent %s", k.ID, all[at].Agent)
			}
			continue
		}
		for i, h := range all {
			if h.Event != "SubagentStop" || w.ephemeral(h) || speaker(h.Last) != k.Owner {
				continue
			}
			// On the oldest client a message makes a new agent of a teammate.
			renewed := w.scenario.Team && older(w.version, "2.1.198")
			if h.Agent != all[at].Agent && !renewed {
				w.t.Errorf("%s was launched by %s according to PostToolUse, by %s in truth", k.ID, all[at].Agent, h.Agent)
			}
			listed := slices.ContainsFunc(h.Tasks, func(t task) bool { return t.ID == k.ID })
			if listed && i < at {
				w.t.Errorf("the stop of %s came before the PostToolUse of %s", k.Owner, k.ID)
			}
		}
	}
}
