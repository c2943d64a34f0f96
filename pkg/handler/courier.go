package handler

import (
	"cmp"
	"context"
	"slices"
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

// The courier's pauses.
const (
	// courierStart lets the agent's files and records come to be, so that it can
	// be told from an ephemeral event.
	courierStart = time.Second
	// courierCatchUp bounds the wait for the agent's last message on disk.
	courierCatchUp = 3 * time.Second
	// courierPace is how often it looks: it has time, and need not be woken by
	// every line of the coordinator's as a hold is. Where nothing tells that its
	// client is gone, which it does not outlive by more than two seconds, it looks
	// more often.
	courierPace   = 5 * time.Second
	courierUntold = 1800 * time.Millisecond
	// courierEnd gives the client time to tell the news itself: to the agent after
	// the end, and to the coordinator once that has nothing else to do.
	courierEnd = 5 * time.Second
	// busyLimit is how long a turn can go without a line: the longest command in
	// the foreground takes ten minutes.
	busyLimit = 11 * time.Minute
	// courierStep is how often the courier looks meanwhile.
	courierStep = 500 * time.Millisecond
)

// courier waits beside the gate for a stopped agent's own tasks. Where these
// ended and nobody was told, it wakes the coordinator with one message, by exit
// code 2 (docs/client.md: asyncRewake). In every other case it is silent.
func (r *run) courier() string {
	out, e := &r.out, &r.e
	out.Handled = true
	if e.SessionID == "" || e.AgentID == "" || !e.RegistryGiven || len(e.Candidates()) == 0 {
		return ""
	}
	live := r.liveness()
	defer live.close()
	ctx := live.ctx
	r.pause()
	r.h.Clock.Sleep(ctx, courierStart)
	r.resume()
	if live.cancelled() != "" || r.traceless() || r.agreedToEnd() {
		return ""
	}
	tasks, found := r.courierTasks()
	if len(tasks) == 0 || out.Err != nil {
		return ""
	}
	if out.Err = r.stand(tasks); out.Err != nil {
		return "" // without a ledger nobody could tell that it was told once
	}
	why := ""
	defer func() { r.leave(why) }()
	r.pause()
	spot, acted := r.lastSpot(ctx, live)
	watch := r.watch(tasks, found, live)
	watch.Until, watch.Message, watch.Self = r.began.Add(r.p.For), nil, r.e.AgentID
	if watch.Watch, watch.Pace = nil, courierPace; !live.told {
		watch.Pace = courierUntold
	}
	var result wait.Result
	if !acted {
		result = watch.Run(ctx)
	}
	if result.Why == wait.AllEnded || result.Why == wait.Deadline {
		r.letItBeTold(ctx, live, watch.Until)
	}
	r.resume()
	if acted || r.actedSince(live, spot) {
		why = becauseSuperseded
	} else if why = live.cancelled(); why == "" && result.Why != wait.AllEnded && result.Why != wait.Deadline {
		why = cmp.Or(result.Note, string(result.Why))
	}
	if why != "" {
		return ""
	}
	tasks = slices.DeleteFunc(tasks, func(t gate.Task) bool { return live.excused(t.ID) })
	told := r.undelivered(ctx, tasks, result, live)
	if len(told) == 0 {
		if why = "nothing to tell"; result.Why == wait.Deadline {
			why, r.tell = ledger.NoteTimeOver, true
		}
		return ""
	}
	mine, err := r.claimWake(told)
	if err != nil || len(mine) == 0 {
		why, out.Err = "another courier told it", err
		return ""
	}
	who := gate.Addressee{ID: e.AgentID, Name: r.meta().Name}
	r.logger().Info("courier", "code", "courier", "tasks", len(mine))
	return gate.Wake(who, mine)
}

// stand records that this courier waits for the agent's tasks. An earlier one of
// the same agent gives way.
func (r *run) stand(tasks []gate.Task) error {
	w := ledger.Watch{AgentID: r.e.AgentID, Tasks: ids(tasks), At: r.began, Until: r.began.Add(r.p.For), Process: r.process()}
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	return ledger.Update(ctx, r.dir, r.e.SessionID, r.h.Clock.Now(), func(tx *ledger.Tx) error {
		if have, ok := tx.WatchOf(r.e.AgentID); !ok || !r.overtaken(have.At) || !have.Lives(r.h) {
			tx.PutWatch(w)
		}
		tx.AddAct(ledger.Act{Deed: ledger.Stood, AgentID: w.AgentID, Type: r.e.AgentType, Tasks: w.Tasks, Until: w.Until})
		return nil
	})
}

// leave takes that record back and notes why nobody was told; "" is for a wake, which
// is noted where it is claimed. It is for people to see, so a failure is no matter.
func (r *run) leave(why string) {
	ctx, cancel := context.WithTimeout(context.Background(), storeLimit)
	defer cancel()
	_ = ledger.Update(ctx, r.dir, r.e.SessionID, r.h.Clock.Now(), func(tx *ledger.Tx) error {
		if have, ok := tx.WatchOf(r.e.AgentID); ok && have.PID == r.h.PID && have.At.Equal(r.began) {
			tx.DropWatch(r.e.AgentID)
		}
		if why != "" {
			tx.AddAct(ledger.Act{Deed: ledger.Left, AgentID: r.e.AgentID, Type: r.e.AgentType, Note: why})
		}
		return nil
	})
}

// letItBeTold waits until the client has had its time to tell the news itself. A
// coordinator that is busy gets it with its next turn, so its last line counts.
func (r *run) letItBeTold(ctx context.Context, live *liveness, until time.Time) {
	after := r.h.Clock.Now()
	for now := after; now.Before(until.Add(courierEnd)) && live.cancelled() == ""; now = r.h.Clock.Now() {
		busy, last, ok := transcript.Turn(r.h.Files, r.e.TranscriptPath)
		if last.After(after) {
			after = last
		}
		if busy = busy && ok && now.Sub(last) < busyLimit; !busy && now.Sub(after) >= courierEnd {
			return
		}
		r.h.Clock.Sleep(ctx, courierStep)
	}
}

// courierTasks are the agent's own unfinished tasks, by the rules of the gate,
// from a decision that spends and records nothing.
func (r *run) courierTasks() ([]gate.Task, attribute.Result) {
	found := r.attribute()
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	snap, err := ledger.Read(ctx, r.dir, r.e.SessionID, r.ids())
	if err != nil {
		r.out.Err = err
		return nil, found
	}
	r.configure()
	r.limit = clocks.Limit{For: r.p.For}
	r.remember(found, func(_ event.Task, l transcript.Launch) bool { return l.Owner == r.e.AgentID })
	var own []gate.Task
	for _, t := range r.e.Candidates() {
		have, found := found.Owners[t.ID]
		l := transcript.Join(snap.Launches[t.ID], have)
		if l.Owner != r.e.AgentID || l.Resumed && !found {
			continue
		}
		before := snap.Worth[t.ID]
		if before.Does == string(gate.Idle) {
			before = ledger.Worth{} // it may end yet, and then nobody else would tell
		}
		own = append(own, r.task(t, l, ledger.Charge{}, before, snap.Released[t.ID]))
	}
	return gate.Waitable(own), found
}

// lastSpot is where the agent's last message stands in its transcript; acted is
// true when the agent has gone on already, or nobody waits for the courier.
func (r *run) lastSpot(ctx context.Context, live *liveness) (offset int64, acted bool) {
	path := r.agentTranscript()
	for began := r.h.Clock.Now(); ; r.h.Clock.Sleep(ctx, wait.Step) {
		if at, lines, found := transcript.Beyond(r.h.Files, path, r.e.LastMessage); found && r.e.LastMessageGiven {
			return at, lines > 0
		}
		if live.cancelled() != "" {
			return 0, true
		}
		if r.h.Clock.Now().Sub(began) >= courierCatchUp || !r.e.LastMessageGiven {
			// It never came: what is there now is where to count from.
			for end := int64(0); ; {
				_, _, next := transcript.Activity(r.h.Files, path, end)
				if next <= end {
					return next, false
				}
				end = next
			}
		}
	}
}

// actedSince tells whether the agent did anything after the stop.
func (r *run) actedSince(live *liveness, spot int64) bool {
	live.refresh()
	agent := live.snap.Agents[r.e.AgentID]
	newer := func(t time.Time) bool { return t.After(r.began.Add(courierStart)) }
	if newer(agent.Started) || newer(agent.Stopped) && agent.LastSum != agentSum(r.e) {
		return true
	}
	for _, h := range live.snap.Holds {
		if h.AgentID == r.e.AgentID && h.Lives(r.h) && r.h.Clock.Now().Before(h.Until) {
			return true
		}
	}
	lines, _, _ := transcript.Activity(r.h.Files, r.agentTranscript(), spot)
	return lines > 0
}

// undelivered are the tasks that ended by themselves and of whose last end nobody
// heard: neither the agent nor the coordinator.
func (r *run) undelivered(ctx context.Context, tasks []gate.Task, result wait.Result, live *liveness) []gate.Task {
	var account fate.Account
	account.Take(transcript.Batch{Ends: live.ends()})
	account.Take(transcript.Batch{Ends: result.Ends, Deliveries: result.Deliveries})
	for _, src := range []struct {
		transcript.Source
		from transcript.Cursor
	}{
		{transcript.Source{Path: r.e.TranscriptPath, Owner: transcript.Main}, result.Cursor.To},
		{transcript.Source{Path: r.agentTranscript(), Owner: r.e.AgentID}, transcript.Cursor{}},
	} {
		if b, err := transcript.Scan(ctx, r.h.Files, src.Source, src.from); err == nil {
			account.Take(b)
		}
	}
	var out []gate.Task
	for _, t := range tasksAfter(tasks, result.Outcomes, r.h.Clock.Now()) {
		if t.Fate.Over() && t.Fate.How != fate.Killed && !account.Heard(t.ID, r.e.AgentID) {
			out = append(out, t)
		}
	}
	return out
}

// ids are the tasks' ids.
func ids(tasks []gate.Task) []string {
	var out []string
	for _, t := range tasks {
		out = append(out, t.ID)
	}
	return out
}

// claimWake claims the tasks nobody told of yet; the first courier has them.
func (r *run) claimWake(tasks []gate.Task) (mine []gate.Task, err error) {
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	now := r.h.Clock.Now()
	err = ledger.Update(ctx, r.dir, r.e.SessionID, now, func(tx *ledger.Tx) error {
		mine = mine[:0]
		for _, t := range tasks {
			if _, told := tx.Courier(t.ID); told {
				continue
			}
			tx.PutCourier(ledger.Courier{Task: t.ID, AgentID: r.e.AgentID, At: now})
			mine = append(mine, t)
		}
		if len(mine) > 0 {
			tx.AddAct(ledger.Act{Deed: ledger.Woke, AgentID: r.e.AgentID, Type: r.e.AgentType, Tasks: ids(mine)})
		}
		return nil
	})
	return mine, err
}

// meta is what the agent's meta file says; zero where that cannot be read.
func (r *run) meta() transcript.AgentMeta {
	meta, _ := transcript.ReadMeta(r.h.Files, r.agentTranscript())
	return meta
}

// courierOn tells whether this event is one for a courier. Where the client waits
// for such a hook, and gives its message to the agent, none may stand.
func (r *run) courierOn() bool {
	if r.p.Mode != policy.Courier || r.e.Name != event.SubagentStop || state.Off(r.h.Env, r.dir, r.e.SessionID, r.began) {
		return false
	}
	r.clocks = clocks.Read(r.h)
	return r.clocks.Rewakes()
}
