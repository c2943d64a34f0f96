package handler

import (
	"context"
	"os"
	"slices"
	"strconv"
	"time"

	"stopgate/pkg/attribute"
	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/policy"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
	"stopgate/pkg/wait"
)

// startMargin is how much later than its stop an agent's start must be recorded to
// be a new one: the two hooks run beside each other.
const startMargin = time.Second

// envClient is the client's process id in the hook's environment
// (docs/client.md: the hook contract).
const envClient = "CLAUDE_PID"

// messageMargin is how long before the hook's start a message may have been sent
// that the agent has not read: the client fires the event a little earlier.
const messageMargin = 250 * time.Millisecond

// hold waits for the tasks that a decision named, with nothing open and nothing
// charged, and answers with what became of them.
func (r *run) hold(out Outcome, found attribute.Result) (Outcome, []byte) {
	watch := r.watch(out.Decision.Tasks, found, r.liveness())
	r.pause()
	result := watch.Run(context.Background())
	r.resume()

	facts := gate.HoldFacts{
		Disabled:    result.Note == becauseOff,
		SessionOver: result.Why == wait.Cancelled && result.Note != becauseOff,
		Released:    len(result.Outcomes) == 0,
		Message:     result.Why == wait.Messaged,
		Last:        out.Decision.Last,
		Tasks:       tasksAfter(out.Decision.Tasks, result.Outcomes, r.h.Clock.Now()),
	}
	held := r.h.Clock.Now().Sub(r.began)
	var d gate.Decision
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	err := ledger.Update(ctx, r.dir, r.e.SessionID, r.began, func(tx *ledger.Tx) error {
		tx.Merge(ledger.Learned{
			Ends:       result.Ends,
			Deliveries: result.Deliveries,
			Cursors:    map[string]transcript.Step{r.e.TranscriptPath: result.Cursor},
		})
		after := facts
		if r.overtaken(tx, out.Decision.Tasks) {
			after.SessionOver, result.Note = true, becauseSuperseded
		}
		d = gate.AfterHold(after)
		if r.holds(tx.HoldOf(r.e.AgentID)) {
			tx.DropHold(r.e.AgentID)
		}
		stop := r.recordStop(tx, out.Facts, d, agentSum(r.e))
		stop.Held = held
		for _, t := range facts.Tasks {
			if t.Ending != nil {
				stop.Ended = append(stop.Ended, t.ID)
			}
		}
		stop.Note = result.Note
		tx.AddStop(stop)
		return nil
	})
	out.Decision, out.Held = d, held
	if err != nil {
		// What was held for cannot be charged, so it is not told either.
		out.Err = err
		out.Decision = gate.Decision{Code: gate.NoStore}
	}
	return r.answer(out)
}

// overtaken tells whether another process has taken over what this one holds for:
// it claimed the agent's stop after this one did, or has answered it already.
func (r *run) overtaken(tx *ledger.Tx, tasks []gate.Task) bool {
	h, claimed := tx.HoldOf(r.e.AgentID)
	return claimed && !r.holds(h, true) ||
		slices.ContainsFunc(tasks, func(t gate.Task) bool { return tx.Charged(t.ID) > t.Charged })
}

// claim records that this process holds the stop.
func (r *run) claim(tx *ledger.Tx, d gate.Decision) {
	h := ledger.Hold{AgentID: r.e.AgentID, Since: r.began, Until: r.began.Add(r.p.Hold), PID: r.h.PID}
	for _, t := range d.Tasks {
		h.Tasks = append(h.Tasks, t.ID)
	}
	tx.PutHold(h)
	agent := tx.Touch(r.e.AgentID, r.e.AgentType, r.e.AgentTranscript)
	agent.LastSum, agent.LastSumAt = agentSum(r.e), r.began
	tx.PutAgent(agent)
	r.touchSession(tx)
}

// holds tells whether a recorded hold is this one.
func (r *run) holds(h ledger.Hold, ok bool) bool {
	return ok && h.PID == r.h.PID && h.Since.Equal(r.began)
}

// Why a wait is cancelled.
const (
	becauseOff        = "switched off"
	becauseGone       = "client gone"
	becauseEnded      = "session ended"
	becauseSuperseded = "agent went on"
)

// watch is the wait for a stop's own tasks, as long as live says so.
func (r *run) watch(tasks []gate.Task, found attribute.Result, live *liveness) *wait.Wait {
	w := &wait.Wait{
		Files: r.h.Files,
		Clock: r.h.Clock,
		Main:  r.e.TranscriptPath,
		From:  found.Cursor(r.e.TranscriptPath),
		Until: r.began.Add(r.p.Hold),
		Since: r.began.Add(-messageMargin),
	}
	for _, t := range tasks {
		w.Tasks = append(w.Tasks, r.waitTask(t))
	}
	w.Cancelled, w.Excused = live.cancelled, live.excused
	w.Known = live.ends()
	names := r.names()
	w.Message = func(m transcript.Message) bool { return slices.Contains(names, m.To) }
	return w
}

func (r *run) waitTask(t gate.Task) wait.Task {
	task := wait.Task{ID: t.ID, Kind: t.Kind, Output: t.Output}
	if t.Kind == event.TypeSubagent {
		// An agent may have ended before, in an earlier life.
		task.Since = r.began.Add(-time.Second)
	}
	return task
}

// names are what a message to this agent may be addressed to.
func (r *run) names() []string {
	names := []string{r.e.AgentID, "*"}
	meta := r.meta()
	if meta.Name == "" && meta.Description == "" && meta.AgentType != "" {
		// A teammate of 2.1.150: its file holds its name as its type, no more.
		return append(names, meta.AgentType)
	}
	if meta.Name == "" {
		return names
	}
	return append(names, meta.Name, meta.Name+"@"+meta.TeamName)
}

func (r *run) liveness() *liveness {
	live := &liveness{r: r, parent: r.h.Parent()}
	live.client, _ = strconv.Atoi(r.h.Env(envClient)) // without it the parent alone tells
	return live
}

// liveness watches whether anybody still waits for the hook's answer.
type liveness struct {
	r        *run
	parent   int
	client   int
	modified time.Time
	size     int64
	snap     ledger.Snapshot
}

func (l *liveness) cancelled() string {
	h := l.r.h
	switch {
	case h.Parent() != l.parent, l.client > 0 && !h.Alive(l.client):
		return becauseGone
	case state.Off(h.Env, l.r.dir, l.r.e.SessionID, h.Clock.Now()):
		return becauseOff
	}
	l.refresh()
	if l.snap.Session.Ended.After(l.r.began) {
		return becauseEnded
	}
	if l.snap.Agents[l.r.e.AgentID].Started.After(l.r.began.Add(startMargin)) || l.superseded() {
		return becauseSuperseded
	}
	return ""
}

// superseded tells whether another process holds a later stop of the agent.
func (l *liveness) superseded() bool {
	if l.r.p.Mode != policy.Gate {
		return false
	}
	for _, h := range l.snap.Holds {
		if h.AgentID == l.r.e.AgentID && !l.r.holds(h, true) {
			return h.Since.After(l.r.began)
		}
	}
	return false
}

func (l *liveness) excused(task string) bool { return l.snap.Released[task] }

// refresh reads the ledger again where it was written since: a short look, not
// an open store.
func (l *liveness) refresh() {
	info, err := os.Stat(l.r.dir.Store(l.r.e.SessionID))
	if err != nil || info.ModTime().Equal(l.modified) && info.Size() == l.size {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	snap, err := ledger.Read(ctx, l.r.dir, l.r.e.SessionID, l.r.ids())
	if err != nil {
		return // busy or broken: what was known stands
	}
	l.snap, l.modified, l.size = snap, info.ModTime(), info.Size()
}

// ends are the ends that the ledger knows already: the coordinator's transcript
// may have been read beyond them.
func (l *liveness) ends() []transcript.End {
	l.refresh()
	var out []transcript.End
	for _, e := range l.snap.Ends {
		out = append(out, e.End)
	}
	return out
}

// tasksAfter joins the tasks with their outcomes; excused ones are left out.
func tasksAfter(tasks []gate.Task, outcomes []wait.Outcome, now time.Time) []gate.Task {
	var out []gate.Task
	for _, t := range tasks {
		at := slices.IndexFunc(outcomes, func(o wait.Outcome) bool { return o.Task == t.ID })
		if at < 0 {
			continue
		}
		o := outcomes[at]
		if t.Output == "" {
			t.Output = o.Output
		}
		if o.Done() {
			t.Ending = &gate.Ending{
				Killed: o.How == wait.Killed, Exited: o.How == wait.Exited, ExitCode: o.ExitCode, Size: o.Size,
			}
			if !t.Since.IsZero() && o.At.After(t.Since) {
				t.Ending.After = o.At.Sub(t.Since)
			}
		} else if !t.Since.IsZero() {
			t.Running = max(0, now.Sub(t.Since))
		}
		out = append(out, t)
	}
	return out
}
