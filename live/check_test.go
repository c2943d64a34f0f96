//go:build live

package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
	"stopgate/pkg/ledger"
)

// fate is what became of one task.
type fate struct {
	Label, Owner string
	Blocks       int    // blocked stops that named it
	End          string // finished, killed, running, or gone with the client
	Agent        bool   // its owner was told
	Coordinator  bool   // the coordinator was told
	Reported     bool   // its output reached its parent or the coordinator in its report
	Said         bool   // its output is in what the agent said at a stop
	Held         bool   // a stop was held for it
	Outcome      bool   // a block told its owner how it ended
	Woken        int    // wake-ups of the coordinator that named it
}

func (f fate) String() string {
	var words []string
	switch {
	case f.Blocks > 0 && f.Held:
		words = append(words, "held")
	case f.Blocks > 0:
		words = append(words, "blocked")
	}
	if f.Blocks > 1 {
		words[0] += " more than once"
	}
	words = append(words, f.End)
	switch {
	case f.Reported:
		words = append(words, "in the report")
	case f.Said:
		words = append(words, "in the agent's last message")
	case f.End != "finished":
	case f.Owner == lead && f.Coordinator:
		words = append(words, "told")
	case f.Agent && f.Coordinator:
		words = append(words, "agent and coordinator told")
	case f.Agent:
		words = append(words, "agent told")
	case f.Coordinator:
		words = append(words, "coordinator told")
	case f.Outcome:
		words = append(words, "agent told by the hold")
	case f.Woken > 0:
		words = append(words, "coordinator woken")
	default:
		words = append(words, "nobody told")
	}
	return f.Label + ": " + strings.Join(words, ", ")
}

// observe looks at every task while the client still runs.
func (w *world) observe() []fate {
	var out []fate
	for _, k := range w.shells() {
		if slices.Contains(w.scenario.Stopped, k.Label) {
			continue
		}
		f := fate{Label: k.Label, Owner: k.Owner}
		switch {
		case w.finished(k.Label):
			f.End = "finished"
		case w.over():
			f.End = "gone with the client"
		case w.alive(k.Label):
			f.End = "running"
		default:
			f.End = "killed"
		}
		parent, _ := w.server.Task(k.Owner)
		for _, a := range w.server.Asked() {
			if a.Ephemeral() {
				continue
			}
			text := a.Request.AllText()
			if strings.Contains(text, "<task-id>"+k.ID+"</task-id>") {
				f.Agent = f.Agent || a.Request.Script == k.Owner
				f.Coordinator = f.Coordinator || coordinates(a.Request.Script)
			}
			above := coordinates(a.Request.Script) || a.Request.Script == parent.Owner
			f.Reported = f.Reported || above && k.Owner != lead && strings.Contains(text, result(k.Label))
		}
		for _, h := range w.stops(k.Owner) {
			f.Said = f.Said || strings.Contains(h.Last, result(k.Label))
		}
		for _, st := range w.stopsSeen() {
			if reason, blocked := st.blocked(); blocked && strings.Contains(reason, k.ID) {
				f.Blocks++
			}
		}
		if w.mode.Installed {
			f.Blocks = w.blocksAsked(k.Owner, k.ID)
		}
		f.Held = w.mode.Holds && f.Blocks > 0
		f.Outcome = w.outcome(k)
		f.Woken = len(w.wakes(k.ID))
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b fate) int { return strings.Compare(a.Label, b.Label) })
	return out
}

// ending is how a block says of a task that it has ended, behind its id.
var ending = regexp.MustCompile(`^ \([^)]*\) (exited|ended|was killed)`)

// outcome tells whether a block told a task's owner how it ended.
func (w *world) outcome(k model.Task) bool {
	return k.ID != "" && slices.ContainsFunc(w.server.Of(k.Owner), func(a model.Asked) bool {
		_, rest, named := strings.Cut(a.Request.Feedback(), k.ID)
		return !a.Ephemeral() && named && ending.MatchString(rest)
	})
}

// delivered tells whether a task's output got where it should. A monitor has no
// output file to report from: its events are its output, and they come as
// notifications.
func (w *world) delivered(f fate) bool {
	k, _ := w.server.Task(f.Label)
	return f.Reported || f.Said && w.scenario.Team || f.Agent && k.Tool == "Monitor"
}

// arrived waits for what must come: the outputs of the tasks that an obedient
// agent was blocked for, and the ends of the coordinator's own tasks. Whether it
// came is for check to say.
func (w *world) arrived() {
	w.t.Helper()
	w.waitOr("reports and notifications arrive", 20*time.Second, func() bool {
		for _, f := range w.observe() {
			if f.Blocks > 0 && !w.scenario.Ignores && !w.delivered(f) ||
				f.Owner == lead && f.End == "finished" && !f.Coordinator {
				return w.over()
			}
		}
		return true
	}, func() {})
}

// describe is what the session showed, for the table.
func (w *world) describe() string {
	if w.scenario.Cell != nil {
		return w.scenario.Cell(w)
	}
	return strings.Join(w.fateWords(), "; ")
}

func (w *world) fateWords() []string {
	var parts []string
	for _, f := range w.fates {
		parts = append(parts, f.String())
	}
	return parts
}

// stop is one SubagentStop as the client made it: where the hook is registered
// twice, two runs saw it.
type stop struct {
	happening
	runs []happening
}

func (s stop) blocked() (string, bool) {
	for _, h := range s.runs {
		if reason, blocked := h.Blocked(); blocked {
			return reason, true
		}
	}
	return "", false
}

// interrupted: no run of the hook came to its end.
func (s stop) interrupted() bool {
	for _, h := range s.runs {
		if h.Ended != nil && h.Ended.Signal == "" {
			return false
		}
	}
	return true
}

func (w *world) stopsSeen() []stop {
	var out []stop
next:
	for _, h := range w.record.All() {
		if h.Event != "SubagentStop" || h.Entry == courierName {
			continue
		}
		for i := range out {
			if bytes.Equal(out[i].Payload, h.Payload) && h.At.Sub(out[i].At) < time.Second && out[i].Entry != h.Entry {
				out[i].runs = append(out[i].runs, h)
				continue next
			}
		}
		out = append(out, stop{h, []happening{h}})
	}
	return out
}

// check holds a finished session against what is always true.
func (w *world) check() {
	w.t.Helper()
	for _, o := range w.server.Odd() {
		w.t.Errorf("the script could not go on: %s", o)
	}
	limit := w.scenario.Turns
	if limit == 0 {
		limit = 12
	}
	for name := range w.scripts {
		n := w.asked(name)
		if n > limit {
			w.t.Errorf("%s was asked %d times: a loop", name, n)
		}
		if n == 0 && !w.server.Lacks(name) && !w.cutShort {
			w.t.Errorf("%s was never asked", name)
		}
	}
	if !w.mode.Installed {
		w.checkFacts()
	}
	switch {
	case w.mode.Blocks:
		w.checkGate()
	case !w.mode.Alone:
		for _, s := range w.stopsSeen() {
			if _, blocked := s.blocked(); blocked {
				w.t.Errorf("a stop was blocked without the gate")
			}
		}
	}
	for _, l := range w.left {
		if w.isHook(l) {
			w.t.Errorf("a hook outlived the session: %s", l)
		}
	}
	if w.mode.Holds {
		w.checkHolds()
	}
	if w.mode.Courier {
		w.checkCouriers()
	}
	if w.scenario.Check != nil {
		w.scenario.Check(w)
	}
	w.t.Log(w.cell)
	if !w.t.Failed() {
		note(w)
	}
}

// checkGate holds every stop against the rule: it is blocked if and only if the
// agent has a task of its own that was not given up. Whose a task is, the model
// server knows.
func (w *world) checkGate() {
	w.t.Helper()
	owner := map[string]model.Task{}
	for _, k := range w.server.Tasks() {
		owner[k.ID] = k
	}
	codes, passes := w.blockCodes(), w.codes(ledger.Allow)
	done := map[string]bool{}
	for _, s := range w.stopsSeen() {
		w.checkRuns(s)
		reason, blocked := s.blocked()
		if w.ephemeral(s.happening) {
			if blocked {
				w.t.Errorf("an ephemeral event was blocked: %s", reason)
			}
			continue
		}
		who := speaker(s.Last)
		var due []string
		for _, k := range s.Tasks {
			if known, ok := owner[k.ID]; ok && known.Owner == who && !done[k.ID] {
				due = append(due, k.ID)
			}
		}
		for id, k := range owner {
			if blocked && k.Owner != who && id != "" && strings.Contains(reason, id) {
				w.t.Errorf("%s was blocked for %s, which is of %s", who, id, k.Owner)
			}
		}
		pass := ""
		if !blocked && !s.interrupted() {
			pass = pop(passes, s.Agent)
		}
		switch {
		case s.interrupted():
		case blocked && len(due) == 0:
			w.t.Errorf("%s was blocked without a task to block for: %s", who, reason)
		case !blocked && len(due) > 0 && !w.scenario.Broken && pass != messageWaits: // it reads its mail
			w.t.Errorf("%s was let go with %v running", who, due)
		}
		if !blocked {
			continue
		}
		code := pop(codes, s.Agent)
		for _, id := range due {
			if !strings.Contains(reason, id) {
				w.t.Errorf("the reason given to %s does not name %s", who, id)
			}
			done[id] = givenUp(code)
		}
		w.checkTold(who, reason, s.runs[0].Ended.At)
	}
	w.checkAsked()
	for _, f := range w.fates {
		if f.Owner == lead && f.Blocks > 0 {
			if !w.unattended() {
				w.t.Errorf("somebody was blocked for the coordinator's %s", f.Label)
			}
			continue
		}
		if f.Blocks > 0 && !w.scenario.Ignores && !w.delivered(f) {
			w.t.Errorf("the result of %s is not in the final report", f.Label)
		}
	}
	w.checkStatus()
}

// unattended tells whether the coordinator's own stop is held, for its agents and
// its own tasks.
func (w *world) unattended() bool {
	return w.mode.Installed && (w.host == client.Print || slices.Contains(w.scenario.Install, "always"))
}

// givenUp tells whether a stop is let through that follows a block by this rule.
func givenUp(code string) bool { return code != holdOver && code != messageWaits }

// blockCodes are the rules by which the stops of each agent were blocked.
func (w *world) blockCodes() map[string][]string { return w.codes(ledger.Block) }

// codes are the rules by which the stops of each agent were answered with a
// verdict.
func (w *world) codes(verdict string) map[string][]string {
	out := map[string][]string{}
	for _, st := range w.recordedStops() {
		if st.Verdict == verdict {
			out[st.Agent] = append(out[st.Agent], st.Code)
		}
	}
	return out
}

// recordedStops are the agents' stops as hookctl tells them. The coordinator's are
// held by rules of their own: see lead_test.go.
func (w *world) recordedStops() []statusStop {
	s, err := w.status()
	if err != nil || len(s.Sessions) != 1 {
		return nil // checkStatus says so
	}
	return slices.DeleteFunc(s.Sessions[0].Stops, func(st statusStop) bool { return st.Agent == coordinator })
}

// coordinator is the agent id under which hookctl tells the coordinator's own stops.
const coordinator = "main"

// pop takes the first of an agent's codes.
func pop(codes map[string][]string, agent string) string {
	left := codes[agent]
	if len(left) == 0 {
		return ""
	}
	codes[agent] = left[1:]
	return left[0]
}

// checkRuns: the hook exits with 0, says nothing but a block, and is quick.
func (w *world) checkRuns(s stop) {
	w.t.Helper()
	for _, h := range s.runs {
		if h.Ended == nil || h.Ended.Signal != "" {
			continue // interrupted, which is the scenario's to judge
		}
		if h.Ended.Exit != 0 || h.Ended.Stderr != "" {
			w.t.Errorf("hook exited with %d: %s", h.Ended.Exit, h.Ended.Stderr)
		}
		if h.Ended.Took > 3*time.Second && !w.mode.Holds { // a hold: see checkHolds
			w.t.Errorf("hook took %s", h.Ended.Took)
		}
		if _, blocked := h.Blocked(); !blocked && h.Ended.Stdout != "" {
			w.t.Errorf("hook printed without blocking: %q", h.Ended.Stdout)
		}
	}
}

// checkTold looks for the reason in the agent's next request.
func (w *world) checkTold(who, reason string, after time.Time) {
	for _, a := range w.server.Of(who) {
		if a.Ephemeral() || a.At.Before(after) {
			continue
		}
		told := strings.Join(strings.Fields(a.Request.Feedback()), " ")
		if !strings.Contains(told, strings.Join(strings.Fields(reason), " ")) {
			w.t.Errorf("%s was asked again without the reason: %.300q", who, a.Request.NewText())
		}
		return
	}
	w.t.Errorf("%s was blocked and never asked again", who)
}

// checkStatus asks hookctl about the session.
func (w *world) checkStatus() {
	if under.NoHookctl != "" {
		w.t.Errorf("hookctl status: %s", under.NoHookctl)
		return
	}
	status, err := w.status()
	if err != nil {
		w.t.Errorf("hookctl status: %v", err)
		return
	}
	session := w.sessionID()
	if len(status.Sessions) != 1 || status.Sessions[0].ID != session {
		w.t.Errorf("hookctl status shows %d sessions, not %s alone", len(status.Sessions), session)
		return
	}
	said := status.Sessions[0].Tasks
	for _, f := range w.fates {
		k, _ := w.server.Task(f.Label)
		owner := "main"
		if f.Owner != lead {
			stops := w.stops(f.Owner)
			if len(stops) == 0 {
				continue // its end was never seen
			}
			owner = stops[0].Agent
		}
		i := slices.IndexFunc(said, func(t statusTask) bool { return t.ID == k.ID })
		switch {
		case i < 0:
			w.t.Errorf("hookctl status does not know %s of %s", k.ID, f.Owner)
		case said[i].Owner != owner:
			w.t.Errorf("hookctl status says %s is of %s, not of %s", k.ID, said[i].Owner, owner)
		case said[i].Blocks != f.Blocks && !w.mode.Holds:
			w.t.Errorf("hookctl status counts %d blocks for %s, not %d", said[i].Blocks, k.ID, f.Blocks)
		}
	}
}

// statusTask, statusStop and statusSession are what the checks read of
// `hookctl status --json`.
type statusTask struct {
	ID     string `json:"id"`
	Owner  string `json:"owner"`
	Blocks int    `json:"blocks"`
}

type statusStop struct {
	Agent    string `json:"agent_id"`
	Verdict  string `json:"verdict"`
	Code     string `json:"code"`
	Duration int64  `json:"duration_ms"`
	Held     int64  `json:"held_ms"`
}

type statusSession struct {
	ID     string       `json:"session_id"`
	Tasks  []statusTask `json:"tasks"`
	Stops  []statusStop `json:"stops"`
	Agents []struct {
		ID   string `json:"agent_id"`
		Name string `json:"name"`
		Type string `json:"agent_type"`
		Why  string `json:"why"`
		Held *struct {
			Tasks []string `json:"tasks"`
		} `json:"held"`
	} `json:"agents"`
}

type status struct {
	Sessions []statusSession `json:"sessions"`
}

func (w *world) sessionID() string {
	var session string
	if w.mode.Installed {
		for _, a := range w.server.Asked() {
			session = cmp.Or(session, a.Request.Session)
		}
		return session
	}
	for _, h := range w.record.All() {
		if h.Session != "" {
			session = h.Session
		}
	}
	return session
}

// status is what hookctl says of the session.
func (w *world) status() (s status, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, under.Hookctl, "status", "--json", "--session", w.sessionID())
	cmd.Env = w.asUser()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("%w: %s", err, errs.String())
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("%w: %.300s", err, out)
	}
	return s, nil
}
