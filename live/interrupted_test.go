//go:build live

package live

import (
	"slices"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

// interrupted are sessions in which something ends while an agent is held.
var interrupted = []scenario{
	{
		Name: "esc", About: "Esc while the hook runs", Hosts: terminal, Env: []string{"CLAUDE_CODE_FORK_SUBAGENT=0"}, Modes: []string{"gate"}, Ignores: true,
		Register: func(entries []entry) []entry {
			for i := range entries {
				if entries[i].Event == "SubagentStop" {
					entries[i].Delay = 5 * time.Second
				}
			}
			return entries
		},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", false)}),
				"leaver": steps("leaver", blocks{w.shell("own")}),
				"second": steps("second", says("second", "still here")),
			}
		},
		Play: playEsc,
	},
	{
		Name: "escheld", About: "Esc while a foreground agent is held", Hosts: terminal, Env: []string{"CLAUDE_CODE_FORK_SUBAGENT=0"},
		Modes: []string{"hold"}, Ignores: true, Broken: true,
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", false)}),
				"leaver": steps("leaver", blocks{w.shell("own")}),
				"second": steps("second", says("second", "still here")),
			}
		},
		Play: playEsc,
	},
	{
		Name: "exit", About: "the session is ended while a background agent is held", Hosts: talking,
		Modes: []string{"hold", "both"}, Ignores: true, Broken: true,
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", true)}),
				"leaver": w.obeying("leaver", blocks{w.shell("own")}),
			}
		},
		Play: func(w *world) { playEnd(w, "leaver", func() string { return w.session.End() }) },
	},
	{
		Name: "crash", About: "the client is killed while a background agent is held", Hosts: talking,
		Modes: []string{"hold", "both"}, Ignores: true, Broken: true,
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", true)}),
				"leaver": w.obeying("leaver", blocks{w.shell("own")}),
			}
		},
		Play: func(w *world) { playEnd(w, "leaver", w.session.Crash) },
	},
	{
		Name: "teamexit", About: "the session is ended while a teammate is held", Hosts: terminal, Team: true,
		Modes: []string{"hold", "both"}, Ignores: true, Broken: true,
		Env: teamMode,
		Scripts: func(w *world) scripts {
			return scripts{lead: w.leading(w.teammate("mate", "ping")), "mate": w.obeying("mate", blocks{w.shell("of-mate")})}
		},
		Play: func(w *world) { playEnd(w, "mate", func() string { return w.session.End() }) },
	},
}

func playEsc(w *world) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	first := func() (happening, bool) {
		for _, h := range w.record.All() {
			if h.Event == "SubagentStop" && !w.ephemeral(h) {
				return h, true
			}
		}
		return happening{}, false
	}
	w.wait("the hook runs", 20*time.Second, func() bool { _, ok := first(); return ok })
	if w.mode.Holds {
		w.held("leaver")
	}
	_ = w.session.Press(client.Esc)
	pressed := time.Now()
	w.wait("no hook runs any more", 10*time.Second, func() bool { return len(w.hooks(true)) == 0 })
	took := time.Since(pressed)
	h, _ := first()
	background := slices.ContainsFunc(h.Tasks, func(k task) bool { return k.ID == h.Agent })
	how := "killed" // with the recorder, which left no word
	if h.Ended != nil {
		how = h.Ended.Signal
	}
	w.t.Logf("Esc: agent in the background %v, its hook ended %q after %s", background, how, took.Round(10*time.Millisecond))
	if !background && (how == "" || took > 2*time.Second) {
		w.t.Errorf("the hook of a foreground agent lived for %s after Esc (signal %q)", took, how)
	}
	if background && how != "" {
		w.t.Errorf("Esc ended the hook of a background agent: %s", how)
	}
	// An answer that nobody saw must not be charged: the next prompt finds a
	// session that works.
	w.prompt(model.Prompt("second"))
	w.wait("the session goes on", 15*time.Second, func() bool {
		for _, h := range w.record.All() {
			if h.Event == "Stop" && speaker(h.Last) == "second" {
				return true
			}
		}
		return false
	})
}

// playEnd ends the client while an agent is held, one way or another, and sees
// how long our hooks outlive it. What the hold promised is not charged.
func playEnd(w *world, script string, end func() string) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.held(script)
	time.Sleep(heldFor)
	w.ended = end()
	w.goodbye()
	if left := w.hooks(true); len(left) > 0 {
		w.t.Errorf("outlived the client (%s): %q", w.ended, left)
	}
	for _, st := range w.stopsSeen() {
		if reason, blocked := st.blocked(); blocked {
			w.t.Errorf("a stop was blocked: %s", reason)
		}
	}
}
