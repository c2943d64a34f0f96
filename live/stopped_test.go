//go:build live

package live

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"stopgate/live/model"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// taken are sessions in which something is taken from under a hold: the agent, its
// task, or the hook itself.
var taken = []scenario{
	{
		Name: "agentstopped", About: "TaskStop of a background agent that is held", Hosts: talking,
		Modes: holding, Ignores: true, Broken: true,
		Scripts: func(w *world) scripts {
			return scripts{
				lead:      steps(lead, blocks{agent("leaver", true)}),
				"leaver":  w.patient("leaver", blocks{w.shell("own")}),
				"stopper": w.stopper("leaver"),
			}
		},
		Play:  func(w *world) { playTaken(w, "leaver", func() { w.prompt(model.Prompt("stopper")) }) },
		Check: func(w *world) { checkSilent(w, "leaver", agentStopped, holdLost) },
	},
	{
		Name: "taskstopped", About: "TaskStop of the task that a background agent is held for", Hosts: talking,
		Modes: holding, Ignores: true, Broken: true,
		Scripts: func(w *world) scripts {
			return scripts{
				lead:      steps(lead, blocks{agent("leaver", true)}),
				"leaver":  w.patient("leaver", blocks{w.shell("own")}),
				"stopper": w.stopper("own"),
			}
		},
		Play: func(w *world) { playTaken(w, "leaver", func() { w.prompt(model.Prompt("stopper")) }) },
	},
	{
		Name: "shutdown", About: "a held teammate is asked to shut down, and agrees", Hosts: terminal, Team: true, Env: teamMode,
		Modes: []string{"off", "hold", "both", "installed"}, Ignores: true, Broken: true, Codes: []string{messageWaits},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     w.leading(w.teammate("mate", "ping")),
				"mate":   w.agreeing("mate", blocks{w.shell("of-mate")}),
				"writer": asker("ping"),
			}
		},
		Play:  playShutdown,
		Check: checkShutdown,
	},
	{
		Name: "lost", About: "kill -9 of the hook that holds; the agent is then written to", Hosts: talking, Since: "2.1.198",
		Modes: holding, Codes: []string{taskEnded},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", true)}),
				"leaver": w.reading("leaver", blocks{w.shell("own")}),
				"writer": writer(func() string { k, _ := w.server.Task("leaver"); return k.ID }),
			}
		},
		Play: func(w *world) {
			playLost(w, "leaver")
			w.prompt(model.Prompt("writer"))
			w.wait("the agent goes on", 20*time.Second, func() bool { return w.given("leaver", letter) })
			w.held("leaver")
			time.Sleep(heldFor)
			w.aloof = false
			w.quiet(parked)
			w.finish()
		},
		Check: func(w *world) { checkLost(w, holdLost, taskEnded) },
	},
	{
		Name: "lostfront", About: "kill -9 of the hook that holds a foreground agent", Hosts: everywhere, Env: []string{inFront},
		Modes: holding, Ignores: true, Broken: true,
		Scripts: func(w *world) scripts {
			return scripts{
				lead:    steps(lead, blocks{agent("front", false)}),
				"front": w.patient("front", blocks{w.shell("own")}),
			}
		},
		Play: func(w *world) {
			playLost(w, "front")
			w.wait("the coordinator gets the report", 20*time.Second, func() bool { return w.over() || w.became("front") == reported })
			w.quiet(settled)
		},
		Check: func(w *world) { checkLost(w, holdLost) },
	},
}

// stopper is the coordinator again, as it stops a task or an agent.
func (w *world) stopper(label string) model.Script {
	return func(turn int, _ model.Request) blocks {
		if turn > 0 {
			return says("stopper", "has stopped %d", turn)
		}
		k, _ := w.server.Task(label)
		return blocks{model.Use("TaskStop", map[string]any{"task_id": k.ID})}
	}
}

// asker is the coordinator again, as it asks a teammate to shut down.
func asker(name string) model.Script {
	return func(turn int, _ model.Request) blocks {
		if turn > 0 {
			return says("writer", "has asked %d", turn)
		}
		return blocks{model.Use("SendMessage", map[string]any{"to": name, "message": map[string]any{"type": "shutdown_request", "reason": "done"}})}
	}
}

var requestID = regexp.MustCompile(`request_?[iI]d\W+([\w@.:-]+)`)

// agreeing is a teammate that reads what it is written and agrees to shut down.
func (w *world) agreeing(name string, list ...blocks) model.Script {
	plain := w.reading(name, list...)
	return func(turn int, r model.Request) blocks {
		if m := requestID.FindStringSubmatch(r.NewText()); m != nil && strings.Contains(r.NewText(), "shutdown_request") {
			return blocks{model.Use("SendMessage", map[string]any{"to": "team-lead",
				"message": map[string]any{"type": "shutdown_response", "request_id": m[1], "approve": true}})}
		}
		return plain(turn, r)
	}
}

// playShutdown asks a held teammate to shut down and waits until it has.
func playShutdown(w *world) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.stopped()
	if w.mode.Holds {
		w.held("mate")
	}
	time.Sleep(heldFor)
	w.prompt(model.Prompt("writer"))
	w.wait("the teammate agrees", 20*time.Second, func() bool { return w.agreed("mate") })
	w.wait("nobody is held", 15*time.Second, func() bool { return len(w.heldNow()) == 0 })
	w.quiet(settled)
	for _, k := range w.shells() {
		w.release(k.Label)
	}
	time.Sleep(courierGrace)
	w.quiet(settled)
}

// agreed tells whether a teammate has sent that it agrees.
func (w *world) agreed(mate string) bool {
	return slices.ContainsFunc(w.server.Of(mate), func(a model.Asked) bool { return slices.ContainsFunc(a.Answer, isLast) })
}

// isLast tells a call after which its agent is never asked again.
func isLast(b model.Block) bool { return strings.Contains(string(b.Input), "shutdown_response") }

// checkShutdown: nobody is woken for a teammate that agreed to end.
func checkShutdown(w *world) {
	for _, k := range w.shells() {
		if n := len(w.wakes(k.ID)); n > 0 {
			w.t.Errorf("the coordinator was woken %d times for %s", n, k.Label)
		}
	}
}

// playTaken holds an agent, takes something away and waits until nobody is held.
// Then the task is let go, if it still runs, and nobody must be woken for it.
func playTaken(w *world, script string, take func()) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.held(script)
	time.Sleep(heldFor)
	take()
	began := time.Now()
	w.wait("the hold ends", 15*time.Second, func() bool { return len(w.heldNow()) == 0 && len(w.hooks(false)) == 0 })
	took := time.Since(began)
	w.t.Logf("the hold ended %s after the coordinator began", took.Round(10*time.Millisecond))
	if took > time.Duration(float64(4*time.Second)*slowness()) {
		w.t.Errorf("the hold ended only after %s", took)
	}
	w.quiet(settled)
	for _, k := range w.shells() {
		w.release(k.Label)
	}
	time.Sleep(courierGrace) // a courier gives the client 5 s
	w.quiet(settled)
}

// courierGrace is longer than a courier hesitates before it wakes.
const courierGrace = 8 * time.Second

// checkSilent: the agent was not asked again, nobody was woken, and its stop is
// recorded by one of the codes.
func checkSilent(w *world, script string, codes ...string) {
	if n := w.honoured(script); n > 0 {
		w.t.Errorf("%s was asked again %d times", script, n)
	}
	stops := w.recordedStops()
	if len(stops) != 1 || !slices.Contains(codes, stops[0].Code) {
		w.t.Errorf("recorded as %+v, not as one of %v", stops, codes)
	}
}

// playLost kills the hook that holds: the agent's stop goes through. What it was is
// found at the session's next event.
func playLost(w *world, script string) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.held(script)
	time.Sleep(heldFor)
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	snap, err := ledger.Read(ctx, state.At(w.state()), w.sessionID(), nil)
	if err != nil || len(snap.Holds) != 1 {
		w.t.Fatalf("%d holds, %v", len(snap.Holds), err)
	}
	if err := syscall.Kill(snap.Holds[0].PID, syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
	w.waitOr("nobody is held", 10*time.Second, func() bool { return len(w.heldNow()) == 0 }, func() {})
	w.quiet(settled)
}

// checkLost: the stops are recorded with these codes first. A session can be over
// before an event comes that records them: then status says what it was.
func checkLost(w *world, want ...string) {
	var codes []string
	for _, st := range w.recordedStops() {
		codes = append(codes, st.Code)
	}
	if codes == nil {
		if s, err := w.status(); err != nil || len(s.Sessions) != 1 || len(s.Sessions[0].Agents) != 1 || s.Sessions[0].Agents[0].Why != holdLost {
			w.t.Errorf("no stop is recorded, and status says %+v, %v", s.Sessions, err)
		}
		return
	}
	if len(codes) < len(want) || !slices.Equal(codes[:len(want)], want) {
		w.t.Errorf("stops recorded as %v, want %v first", codes, want)
	}
}
