package handler

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"
	"time"

	"stopgate/pkg/attribute"
	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/fate"
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

// messageMargin is how long before the hook's start a message may have been sent
// that the agent has not read: the client fires the event a little earlier.
const messageMargin = 250 * time.Millisecond

// mtimeGrain is how far apart two writes are that a file's time tells apart.
const mtimeGrain = 20 * time.Millisecond

// hold waits for the tasks that a decision named, with nothing open and nothing
// charged, and answers with what became of them.
func (r *run) hold(found attribute.Result) []byte {
	live := r.liveness()
	defer live.close()
	watch := r.watch(r.out.Decision.Tasks, found, live)
	watch.Until, watch.Self = r.began.Add(r.limit.For), r.e.AgentID
	watch.Paths = append(watch.Paths, r.agentTranscript())
	watch.Cancelled = func() string {
		note := live.cancelled()
		if note == "" && r.agreedToEnd() {
			note = becauseAgreed // it stood there later than the stop (docs/client.md: messages)
		}
		return note
	}
	r.mail(watch)
	if live.told {
		watch.Near = r.near()
	}
	if r.background {
		watch.Quiet = r.clocks.Quiet()
		watch.Patient = func() bool { return r.coordinatorHeld(live.snap) }
	}
	return r.finish(watch, live)
}

// coordinatorHeld tells whether the coordinator's own stop is held, so that the
// print ceiling has not begun (docs/client.md: the coordinator's stop).
func (r *run) coordinatorHeld(snap ledger.Snapshot) bool {
	return slices.ContainsFunc(snap.Holds, func(h ledger.Hold) bool { return h.AgentID == transcript.Main && h.Lives(r.h) })
}

// finish waits, and answers a claimed stop with what came of it.
func (r *run) finish(watch *wait.Wait, live *liveness) []byte {
	out := &r.out
	looks := r.looks(out.Decision.Tasks, live)
	watch.LetGo, watch.Opinion, watch.Due = looks.letGo, looks.opinion, func() time.Time { return earlier(looks.due(), live.again) }
	r.pause()
	result := watch.Run(live.ctx)
	r.resume()

	held := r.h.Clock.Now().Sub(r.began)
	facts := gate.HoldFacts{
		Disabled:     result.Note == becauseOff,
		SessionOver:  result.Why == wait.Cancelled && !slices.Contains([]string{becauseOff, becauseStuck, becauseAgreed}, result.Note),
		Stuck:        result.Note == becauseStuck,
		AgentStopped: result.Why == wait.SelfStopped || result.Note == becauseAgreed,
		Released:     len(result.Outcomes) == 0,
		Message:      result.Why == wait.Messaged,
		Teammate:     r.isTeammate(),
		CeilingNear:  result.Why == wait.Quieted,
		Last:         out.Decision.Last,
		Tasks:        tasksAfter(out.Decision.Tasks, result.Outcomes, r.h.Clock.Now()),
		Policy:       r.spend(),
	}
	facts.Tasks = append(facts.Tasks, looks.idle()...)
	facts.Released = len(facts.Tasks) == 0
	if r.p.Mode == policy.Lead {
		facts.Tasks = withTeammates(facts.Tasks, out.Decision.Tasks)
		facts.Released = len(facts.Tasks) == 0
	}
	for i := range facts.Tasks {
		facts.Tasks[i].Waited += held
	}
	var d gate.Decision
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	err := ledger.Update(ctx, r.dir, r.e.SessionID, r.h.Clock.Now(), func(tx *ledger.Tx) error {
		tx.Merge(ledger.Learned{
			Ends:       result.Ends,
			Deliveries: result.Deliveries,
			Cursors:    map[string]transcript.Step{r.e.TranscriptPath: result.Cursor},
		})
		after := facts
		row, claimed := tx.HoldOf(r.e.AgentID)
		if claimed && (row.Over || !r.holds(row)) || r.charged(tx, out.Decision.Tasks) {
			// Another process has taken over what this one holds for: it claimed
			// the stop later, or has answered it.
			after.SessionOver, result.Note = true, becauseSuperseded
		}
		d = gate.AfterHold(after)
		if claimed && r.holds(row) {
			tx.EndHold(row)
		}
		r.reap(tx)
		r.noteEnds(tx, result.Ends)
		r.noteOutcomes(tx, out.Decision.Tasks, result.Outcomes)
		stop := r.recordStop(tx, looks.after(out.Facts, d), d, held)
		stop.Held, stop.Limit, stop.Left, stop.Host = held, r.limit.By, d.Left, string(r.clocks.Kind)
		for _, t := range facts.Tasks {
			if t.Fate.Over() {
				stop.Ended = append(stop.Ended, t.ID)
			}
		}
		stop.Note = result.Note
		tx.AddStop(stop)
		if r.p.Mode == policy.Lead {
			tx.Session.Lead.Waited += held
		}
		r.answered(tx)
		return nil
	})
	out.Decision, out.Held = d, held
	r.tell = r.tell || d.Last || d.Code == gate.StuckWork
	if err != nil {
		// What was held for cannot be charged, so it is not told either.
		out.Err = err
		out.Decision = gate.Decision{Code: gate.NoStore}
	}
	return r.answer()
}

// answered notes when a held stop was answered: an equal one that comes later is the
// agent's next.
func (r *run) answered(tx *ledger.Tx) {
	if agent, ok := tx.Agent(r.e.AgentID); ok {
		agent.Answered = r.h.Clock.Now()
		tx.PutAgent(agent)
	}
}

// charged tells whether another process has charged one of the tasks meanwhile.
func (r *run) charged(tx *ledger.Tx, tasks []gate.Task) bool {
	return slices.ContainsFunc(tasks, func(t gate.Task) bool { return tx.Charged(r.row(t.ID)).Blocks > t.Charged })
}

// row is the key of what a task has cost: the coordinator has its own.
func (r *run) row(task string) string {
	if r.p.Mode == policy.Lead {
		return leadRow + task
	}
	return task
}

// claim records that this process holds the stop.
func (r *run) claim(tx *ledger.Tx, d gate.Decision) {
	h := ledger.Hold{
		AgentID: r.e.AgentID, Type: r.e.AgentType, Since: r.began, Until: r.began.Add(r.limit.For),
		Tasks: ids(d.Tasks), Limit: r.limit.By, Left: d.Left, Host: string(r.clocks.Kind), Process: r.process(),
	}
	h.Seq = tx.AddAct(ledger.Act{Deed: ledger.Held, AgentID: h.AgentID, Type: h.Type, Tasks: h.Tasks, Until: h.Until, Note: "limited by " + h.Limit})
	tx.PutHold(h)
	agent := tx.Touch(r.e.AgentID, r.e.AgentType, r.agentTranscript())
	agent.LastSum, agent.LastSumAt = agentSum(r.e), r.began
	tx.PutAgent(agent)
	r.touchSession(tx)
}

// process is this process as the ledger keeps it.
func (r *run) process() ledger.Process {
	p := ledger.Process{PID: r.h.PID}
	if r.h.Started != nil {
		p.Started, _ = r.h.Started(r.h.PID)
	}
	return p
}

// holds tells whether a recorded hold is this one.
func (r *run) holds(h ledger.Hold) bool { return h.PID == r.h.PID && h.Since.Equal(r.began) }

// reap records the holds and couriers that were ended from outside, by a signal, the
// entry's timeout or with the client. Nothing of them was answered or charged, so the
// agent's next stop is guarded as if they had not been.
func (r *run) reap(tx *ledger.Tx) {
	lives := func(p ledger.Process) bool { return p.Lives(r.h) }
	for _, w := range tx.LostWatches(lives) {
		tx.AddAct(ledger.Act{Deed: ledger.Fell, AgentID: w.AgentID, Tasks: w.Tasks, Note: becauseLost})
	}
	for _, h := range tx.Lost(lives) {
		r.tell = true
		agent, ok := tx.Agent(h.AgentID)
		if !ok {
			agent = ledger.Agent{ID: h.AgentID, First: h.Since, Type: h.Type}
		}
		agent.Stops++
		if h.Since.After(agent.Stopped) {
			agent.Stopped = h.Since
		}
		tx.PutAgent(agent)
		tx.AddStop(ledger.Stop{
			Time: h.Since, AgentID: h.AgentID, Type: h.Type, Verdict: ledger.Allow, Code: string(gate.HoldLost),
			Own: h.Tasks, Listed: h.Tasks, Policy: r.p.Flags(), Limit: h.Limit, Host: h.Host, Note: becauseLost,
		})
	}
}

// Why a wait is cancelled.
const (
	becauseOff        = "switched off"
	becauseGone       = "client gone"
	becauseEnded      = "session ended"
	becauseSuperseded = "agent went on"
	becauseAgreed     = "agreed to its shutdown"
	becauseLost       = "ended from outside"
)

// watch is the wait for a stop's own tasks, as long as live says so.
func (r *run) watch(tasks []gate.Task, found attribute.Result, live *liveness) *wait.Wait {
	w := &wait.Wait{
		Files: r.h.Files,
		Held:  r.h.Held,
		Clock: r.h.Clock,
		Main:  r.e.TranscriptPath,
		From:  found.Cursor(r.e.TranscriptPath),
		Since: r.began.Add(-messageMargin),
		Watch: r.h.Watch,
	}
	for _, t := range tasks {
		w.Tasks = append(w.Tasks, r.waitTask(t))
	}
	live.refresh()
	if at := live.snap.Agents[r.e.AgentID].Started; at.After(w.Since) && !at.After(r.began) {
		w.Since = at // a message that woke the agent was read
	}
	w.Cancelled, w.Excused = live.cancelled, live.excused
	w.Known, w.List = live.ends(), live.list
	names := r.names()
	w.Message = func(m transcript.Message) bool { return slices.Contains(names, m.To) }
	return w
}

func (r *run) waitTask(t gate.Task) wait.Task {
	task := wait.Task{ID: t.ID, Kind: t.Kind, Output: t.Output, Launched: t.Since}
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

// mail says where messages to the held agent can be seen: in the transcripts of
// those beside it, and in its inbox where it is a teammate (docs/client.md:
// messages).
func (r *run) mail(w *wait.Wait) {
	own, main := r.agentTranscript(), r.e.TranscriptPath
	agents := transcript.Lister{Files: r.h.Files, Dir: transcript.AgentsDir(main)}
	w.Senders = func() []string {
		return slices.DeleteFunc(slices.Clone(agents.List()), func(path string) bool { return path == own })
	}
	meta := r.meta()
	if inbox := transcript.InboxPath(main, meta.TeamName, meta.Name); inbox != "" {
		w.Inboxes = []string{inbox}
	}
}

// isTeammate tells an in-process teammate.
func (r *run) isTeammate() bool { return ofTeam(r.meta()) }

// ofTeam tells the meta file of a teammate. That of one of 2.1.150 holds its name as
// its type, and no more.
func ofTeam(meta transcript.AgentMeta) bool {
	return meta.Teammate || meta.TeamName != "" || meta.Name == "" && meta.Description == "" && meta.AgentType != ""
}

// liveness begins to watch whether anybody still waits for the answer.
func (r *run) liveness() *liveness {
	live := &liveness{r: r, parent: r.h.Parent(), client: r.clocks.Client}
	if live.client == 0 && r.h.Ancestors == nil {
		// Nothing tells the ancestors: the variable alone names the client. It says
		// nothing where it names no living process now.
		if pid, _ := strconv.Atoi(r.h.Env(clocks.EnvClient)); pid > 0 && r.h.Alive(pid) {
			live.client = pid
		}
	}
	live.ctx, live.close = context.WithCancel(context.Background())
	if r.h.Gone != nil {
		processes := []int{live.parent}
		if live.client > 0 && live.client != live.parent {
			processes = append(processes, live.client)
		}
		live.ctx, live.told = r.h.Gone(live.ctx, processes...)
	}
	return live
}

// busyAgain is how soon a ledger that was busy at a look is asked anew.
const busyAgain = time.Second

// earlier is the earlier of two times, of which a zero one is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// near is what tells, beside the files of the wait, whether a stop is still to be held:
// the session's record, the off switches, and where other agents write.
func (r *run) near() []string {
	agents := transcript.AgentsDir(r.e.TranscriptPath)
	return []string{r.dir.Store(r.e.SessionID), r.dir.Path(), agents, transcript.WorkflowsDir(agents)}
}

// liveness watches whether anybody still waits for the hook's answer.
type liveness struct {
	r        *run
	parent   int
	client   int
	modified time.Time
	size     int64
	snap     ledger.Snapshot
	first    ledger.Snapshot // at the first look
	also     []string        // further ids that the ledger is asked about
	again    time.Time       // when the ledger is asked anew, which was busy; zero for not
	// ctx is done once the kernel tells that nobody waits; told, that it does tell.
	ctx   context.Context
	told  bool
	close context.CancelFunc
}

func (l *liveness) cancelled() string {
	h := l.r.h
	switch {
	case l.ctx.Err() != nil, h.Parent() != l.parent, l.client > 0 && !h.Alive(l.client), h.HungUp != nil && h.HungUp():
		return becauseGone
	case state.Off(h.Env, l.r.dir, l.r.e.SessionID, h.Clock.Now()):
		return becauseOff
	}
	l.refresh()
	if s := l.snap.Session; l.since(s.Ended, l.first.Session.Ended, 0) && (s.EndedBy == 0 || l.client == 0 || s.EndedBy == l.client) {
		return becauseEnded
	}
	agent := l.r.e.AgentID
	if l.since(l.snap.Agents[agent].Started, l.first.Agents[agent].Started, startMargin) || l.superseded() {
		return becauseSuperseded
	}
	return ""
}

// since tells whether what is recorded at a time came after the stop, by more than
// margin. Where the clock was set back that time lies before the stop, but was not
// there at the first look; and what was there then, at a time that is yet to come,
// came before the stop.
func (l *liveness) since(at, first time.Time, margin time.Duration) bool {
	switch {
	case at.IsZero():
		return false
	case at.Equal(first):
		return at.After(l.r.began.Add(margin)) && l.r.overtaken(at)
	}
	return at.After(l.r.began.Add(margin)) || at.Before(l.r.began.Add(-margin))
}

// superseded tells whether another process has the agent now: it holds a later
// stop of it or, beside a courier, is a later courier. Each row is the latest one's.
func (l *liveness) superseded() bool {
	if l.r.p.Mode == policy.Courier {
		w, ok := l.snap.Watches[l.r.e.AgentID]
		return ok && w.Lives(l.r.h) && l.since(w.At, l.first.Watches[l.r.e.AgentID].At, 0)
	}
	return slices.ContainsFunc(l.snap.Holds, func(h ledger.Hold) bool {
		return h.AgentID == l.r.e.AgentID && !l.r.holds(h)
	})
}

// excused tells that a person released a task, or that it was seen to serve: it is
// known to the gate, and a courier waits beside it.
func (l *liveness) excused(task string) bool {
	return l.snap.Released[task] || l.r.p.Mode == policy.Courier && l.snap.Worth[task].Does == string(gate.Serves)
}

// refresh reads the ledger again where it was written since: a short look, not
// an open store.
func (l *liveness) refresh() {
	info, err := os.Stat(l.r.dir.Store(l.r.e.SessionID))
	if err != nil || info.ModTime().Equal(l.modified) && info.Size() == l.size {
		return
	}
	looked := info.ModTime()
	if time.Since(looked) < mtimeGrain {
		looked = time.Time{} // it can be written again without looking so
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	snap, err := ledger.Read(ctx, l.r.dir, l.r.e.SessionID, append(l.r.ids(), l.also...))
	l.again = time.Time{}
	if err != nil {
		l.again = l.r.h.Clock.Now().Add(busyAgain)
		return // busy or broken: what was known stands
	}
	if l.first.Session.ID == "" {
		l.first = snap
	}
	l.snap, l.modified, l.size = snap, looked, info.Size()
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

// list is the last list of the session's unfinished tasks. It is what a look asks for
// first, and the rest of that look goes by the same reading: what woke it may be told but
// once.
func (l *liveness) list() fate.List {
	l.refresh()
	return l.snap.Session.List()
}

// tasksAfter joins the tasks with their outcomes; excused ones are left out.
func tasksAfter(tasks []gate.Task, outcomes []fate.Fate, now time.Time) []gate.Task {
	var out []gate.Task
	for _, t := range tasks {
		at := slices.IndexFunc(outcomes, func(o fate.Fate) bool { return o.Task == t.ID })
		if at < 0 {
			continue
		}
		t.Fate = outcomes[at]
		t.Output = cmp.Or(t.Output, t.Fate.Output)
		if !t.Fate.Over() && !t.Since.IsZero() {
			t.Running = max(0, now.Sub(t.Since))
		}
		out = append(out, t)
	}
	return out
}
