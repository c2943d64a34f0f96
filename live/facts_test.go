//go:build live

package live

import (
	"slices"
	"strconv"
	"strings"

	"stopgate/live/client"
)

// The facts that stopgate relies on, held against every session.

func (w *world) checkFacts() {
	w.t.Helper()
	w.checkHost()
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

// checkHost: what a hook can tell of its host (docs/client.md: hosts). The
// entrypoint tells the terminal from the others, and only the client's command
// line tells streamed input.
func (w *world) checkHost() {
	want := map[client.Host]string{client.Terminal: "cli", client.Print: "sdk-cli", client.SDK: "sdk-cli"}[w.host]
	for _, h := range w.record.All() {
		if got := h.Env["CLAUDE_CODE_ENTRYPOINT"]; got != want {
			w.t.Errorf("CLAUDE_CODE_ENTRYPOINT is %q", got)
		}
		attended, said := h.Env["CLAUDE_CODE_SESSION_ATTENDED"]
		if said == older(w.version, "2.1.300") || said && (attended == "1") != (w.host == client.Terminal) {
			w.t.Errorf("CLAUDE_CODE_SESSION_ATTENDED is %q, there: %v", attended, said)
		}
		at := slices.IndexFunc(h.Parents, func(args []string) bool { return args[0] == strconv.Itoa(w.session.Pid()) })
		if at != 0 {
			w.t.Errorf("the client is not the hook's parent: %q", h.Parents)
			return
		}
		pid, said := h.Env["CLAUDE_PID"]
		if said == older(w.version, "2.1.220") || said && pid != h.Parents[0][0] {
			w.t.Errorf("CLAUDE_PID is %q, the client %s", pid, h.Parents[0][0])
		}
		if want := "claude-code_" + strings.ReplaceAll(w.version, ".", "-"); !strings.HasPrefix(h.Env["AI_AGENT"], want) {
			w.t.Errorf("AI_AGENT is %q", h.Env["AI_AGENT"])
		}
		streamed := slices.Contains(h.Parents[0], "stream-json") && slices.Contains(h.Parents[0], "--input-format")
		if streamed != (w.host == client.SDK) {
			w.t.Errorf("the client's command line: %q", h.Parents[0])
		}
	}
}
