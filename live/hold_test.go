//go:build live

package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// What is true of every session in which stops are held or a courier runs.

// heldFor is how long a stop is seen held before its tasks are let go.
const heldFor = time.Second

// Beginnings of what stopgate says, by which these tests know it.
const (
	untilEnded = "your stop was held until your own background work had ended"
	aMessage   = "a message to you waits"
	wakeWords  = "stopped while background work of its own was running"
)

// heldNow are the stops that are held now: the hook runs, and the ledger has its
// hold.
func (w *world) heldNow() []happening {
	if !w.mode.Holds {
		return nil
	}
	if w.mode.Installed {
		if time.Since(w.looked) >= 200*time.Millisecond {
			w.looked, w.heldLast = time.Now(), w.holdsNow()
		}
		return w.heldLast
	}
	var running []happening
	for _, h := range w.record.All() {
		if h.Event == "SubagentStop" && h.Entry != courierName && h.Ended == nil && h.Meta {
			running = append(running, h)
		}
	}
	if running == nil {
		return nil
	}
	if time.Since(w.looked) < 200*time.Millisecond {
		return w.heldLast
	}
	w.looked, w.heldLast = time.Now(), nil
	ctx, cancel := context.WithTimeout(w.ctx, 500*time.Millisecond)
	defer cancel()
	snap, err := ledger.Read(ctx, state.At(w.state()), w.sessionID(), nil)
	if err != nil {
		return nil // busy; asked again soon
	}
	for _, h := range running {
		for _, hold := range snap.Holds {
			if hold.AgentID == h.Agent && !hold.Since.Before(h.At) && w.holdLives(hold.PID) {
				w.heldLast = append(w.heldLast, h)
			}
		}
	}
	return w.heldLast
}

// holdLives tells whether a process is a hook that runs: ids are used again soon.
func (w *world) holdLives(pid int) bool {
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return w.isHook(string(cmdline))
}

// attending is a condition that, while it is waited for, lets the tasks of held
// agents go: a hold then ends with the outcome.
func (w *world) attending(cond func() bool) func() bool {
	return func() bool {
		if !w.aloof {
			w.attend()
		}
		return cond()
	}
}

// attend lets the own tasks of every agent go that has been held for a while,
// and sees to it that they run until then.
func (w *world) attend() {
	for _, h := range w.heldNow() {
		if w.attended[h.Run] || time.Since(h.At) < heldFor {
			continue
		}
		if w.attended == nil {
			w.attended = map[string]bool{}
			w.checkShown(h)
		}
		w.attended[h.Run] = true
		who := speaker(h.Last)
		for _, k := range w.shells() {
			if k.Owner != who || slices.Contains(w.scenario.Endless, k.Label) || slices.Contains(w.scenario.Stopped, k.Label) {
				continue
			}
			if !w.released(k.Label) && !w.alive(k.Label) {
				w.t.Errorf("%s does not run while %s is held", k.Label, who)
			}
			w.release(k.Label)
		}
	}
}

// checkShown: `hookctl status` shows who is held, and for what.
func (w *world) checkShown(h happening) {
	s, err := w.status()
	if err != nil || len(s.Sessions) != 1 {
		w.t.Errorf("hookctl status while %s is held: %d sessions, %v", h.Agent, len(s.Sessions), err)
		return
	}
	for _, a := range s.Sessions[0].Agents {
		if a.ID == h.Agent && a.Held != nil && len(a.Held.Tasks) > 0 {
			return
		}
	}
	w.t.Errorf("hookctl status does not show that %s is held", h.Agent)
}

// checkHolds: a held stop was answered with the outcome as soon as its tasks had
// ended; each task was held for once; the hook's own work stayed short.
func (w *world) checkHolds() {
	w.t.Helper()
	s, err := w.status()
	if err != nil || len(s.Sessions) != 1 {
		w.t.Errorf("hookctl status: %d sessions, %v", len(s.Sessions), err)
		return
	}
	for _, st := range w.recordedStops() {
		if work := time.Duration(st.Duration-st.Held) * time.Millisecond; work > 3*time.Second {
			w.t.Errorf("the hook worked for %s beside the hold", work)
		}
		held := time.Duration(st.Held) * time.Millisecond
		if d := w.scenario.Hold; st.Code == holdOver && (held < d-time.Second/2 || held > d+time.Duration(float64(time.Second)*slowness())) {
			w.t.Errorf("a hold of %s took %s", d, held)
		}
		if allowed := w.scenario.codes(); st.Verdict == ledger.Block && !slices.Contains(allowed, st.Code) {
			w.t.Errorf("a held stop was blocked as %s, not as one of %v", st.Code, allowed)
		}
	}
	for _, f := range w.fates {
		if f.Owner != lead && f.Blocks != 1 && !w.scenario.Broken && w.scenario.Codes == nil {
			w.t.Errorf("%d stops were blocked for %s, not one", f.Blocks, f.Label)
		}
	}
	for _, st := range w.stopsSeen() {
		if reason, blocked := st.blocked(); blocked && strings.Contains(reason, untilEnded) {
			w.checkPrompt(st, reason)
		}
	}
	w.t.Log(w.turns())
}

// checkPrompt: a hold ended soon after the last of its tasks.
func (w *world) checkPrompt(st stop, reason string) {
	w.t.Helper()
	limit := 3 * time.Second
	var last time.Time
	for _, k := range w.server.Tasks() {
		if !strings.Contains(reason, k.ID) {
			continue
		}
		if k.Agent {
			// Nothing says when a child agent is done for good but time.
			limit += 3 * time.Second
			for _, h := range w.stops(k.Label) {
				if h.At.Before(st.runs[0].Ended.At) && h.At.After(last) {
					last = h.At
				}
			}
		} else if info, err := os.Stat(w.path(k.Label, "done")); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	if after := st.runs[0].Ended.At.Sub(last); !last.IsZero() && after > time.Duration(float64(limit)*slowness()) {
		w.t.Errorf("a hold ended %s after the task", after)
	} else {
		w.t.Logf("%s was held for %s, until %s after the end", speaker(st.Last),
			st.runs[0].Ended.Took.Round(10*time.Millisecond), after.Round(10*time.Millisecond))
	}
}

// turns is how often each script was asked.
func (w *world) turns() string {
	var parts []string
	for name := range w.scripts {
		parts = append(parts, fmt.Sprintf("%s %d", name, w.asked(name)))
	}
	slices.Sort(parts)
	return "turns: " + strings.Join(parts, ", ")
}

// wakes are the requests in which the coordinator was woken because of a task.
func (w *world) wakes(id string) []model.Asked {
	var out []model.Asked
	for _, a := range w.server.Asked() {
		if text := a.Request.NewText(); !a.Ephemeral() && strings.Contains(text, wakeWords) && strings.Contains(text, id) {
			out = append(out, a)
		}
	}
	return out
}

// checkPrinted: in a print run, where a hook beside the stop is none, a courier
// leaves at once, and nobody ever gets its text (docs/client.md: asyncRewake).
func (w *world) checkPrinted() {
	w.t.Helper()
	if w.host != client.Print {
		return
	}
	for _, h := range w.couriers() {
		if h.Ended != nil && h.Ended.Took > time.Duration(float64(time.Second)*slowness()) {
			w.t.Errorf("a courier of a print run took %s", h.Ended.Took)
		}
	}
	for _, a := range w.server.Asked() {
		if strings.Contains(a.Request.NewText(), wakeWords) {
			w.t.Errorf("%s was given a courier's text", a.Request.Script)
		}
	}
}

func (w *world) couriers() []happening {
	var out []happening
	for _, h := range w.record.All() {
		if h.Entry == courierName {
			out = append(out, h)
		}
	}
	return out
}

// carried waits until every courier has done what it will do. One that waits for
// a task that was killed ends with the session: nothing tells it.
func (w *world) carried() {
	w.t.Helper()
	if !w.mode.Courier {
		return
	}
	w.waitOr("the couriers end", 60*time.Second, func() bool {
		if w.over() {
			return true
		}
		if w.mode.Installed {
			return !w.orphaned()
		}
		for _, h := range w.couriers() {
			if h.Ended == nil && !w.inVain(h) {
				return false
			}
		}
		return true
	}, func() { w.t.Error("a courier goes on and on") })
}

// orphaned tells whether a courier still has something to tell.
func (w *world) orphaned() bool {
	return slices.ContainsFunc(w.observe(), func(f fate) bool { return w.wanted(f) > f.Woken })
}

// inVain tells whether a courier waits for something that was killed.
func (w *world) inVain(h happening) bool {
	for _, k := range w.shells() {
		listed := slices.ContainsFunc(h.Tasks, func(t task) bool { return t.ID == k.ID })
		if listed && k.Owner == speaker(h.Last) && !w.finished(k.Label) && !w.alive(k.Label) {
			return true
		}
	}
	return false
}

// checkCouriers: the coordinator was woken exactly once for a task of an agent
// that ended and of which nobody else heard, and never for another.
func (w *world) checkCouriers() {
	w.t.Helper()
	sent := map[string]int{}
	for _, h := range w.couriers() {
		if h.Ended == nil || h.Ended.Signal != "" {
			continue // ended with the session
		}
		woke := h.Ended.Exit == 2 && strings.Contains(h.Ended.Stderr, wakeWords)
		silent := h.Ended.Exit == 0 && h.Ended.Stderr == ""
		if !woke && !silent || h.Ended.Stdout != "" {
			w.t.Errorf("a courier exited with %d: %q, %q", h.Ended.Exit, h.Ended.Stdout, h.Ended.Stderr)
		}
		if woke && w.ephemeral(h) {
			w.t.Errorf("an ephemeral event woke the coordinator: %s", h.Ended.Stderr)
		}
		for _, k := range w.server.Tasks() {
			if woke && k.ID != "" && strings.Contains(h.Ended.Stderr, k.ID+" (") {
				sent[k.ID]++
			}
		}
	}
	baseline := w.baseline()
	w.checkPrinted()
	for _, f := range w.fates {
		k, _ := w.server.Task(f.Label)
		want := w.wanted(f)
		if f.Woken != want || sent[k.ID] != want && !w.mode.Installed {
			w.t.Errorf("the coordinator was woken %d times for %s and %d messages were sent, want %d (%s)", f.Woken, f.Label, sent[k.ID], want, f)
		}
		// What the client does without stopgate must not depend on the courier, which
		// stays in no print run.
		if before, ok := baseline[f.Label]; ok && w.host != client.Print && !w.mode.Blocks && f.Owner != lead && strings.HasSuffix(before, "nobody told") != (f.Woken > 0) {
			w.t.Errorf("without the gate the table says %q, with the courier it is %q", before, f)
		}
	}
	for _, k := range w.server.Tasks() {
		if n := len(w.wakes(k.ID)); k.Agent && k.ID != "" && sent[k.ID] > 1 {
			w.t.Errorf("the coordinator was woken %d times for the agent %s", n, k.Label)
		}
	}
	if !w.mode.Holds {
		w.t.Log(w.turns())
	}
}

// wanted is how often the coordinator should be woken for a task.
func (w *world) wanted(f fate) int {
	told := f.Agent || f.Coordinator || f.Reported || f.Outcome || f.Blocks > 0 && !w.mode.Holds
	if w.host == client.Print || f.Owner == lead || f.End != "finished" || told || w.scenario.Broken {
		return 0
	}
	return 1
}

// hooks are the hooks of ours that run, without those of couriers if asked.
func (w *world) hooks(couriers bool) []string {
	var out []string
	for _, cmd := range client.Running(w.home) {
		if w.isHook(cmd) && (couriers || !strings.Contains(cmd, "courier --for")) {
			out = append(out, cmd)
		}
	}
	return out
}

// isHook tells whether a command line is a hook's.
func (w *world) isHook(cmd string) bool {
	return strings.Contains(cmd, recorderArg+" ") || under.Hook != "" && strings.HasPrefix(cmd, under.Hook) ||
		strings.HasPrefix(cmd, filepath.Join(w.home, ".local", "share", "stopgate"))
}

// goodbye waits until none of our hooks runs any more after the client's end.
func (w *world) goodbye() {
	w.t.Helper()
	began := time.Now()
	limit := time.Duration(float64(2*time.Second) * slowness())
	for len(w.hooks(true)) > 0 && time.Since(began) < limit {
		time.Sleep(20 * time.Millisecond)
	}
	if took := time.Since(began); took > 100*time.Millisecond {
		w.t.Logf("the last hook ended %s after the client, which ended %s", took.Round(10*time.Millisecond), w.ended)
	}
}

// held waits until the stop of a script is held.
func (w *world) held(script string) happening {
	w.t.Helper()
	var held happening
	w.wait(script+" is held", 40*time.Second, func() bool {
		for _, h := range w.heldNow() {
			if speaker(h.Last) == script {
				held = h
				return true
			}
		}
		return false
	})
	return held
}
