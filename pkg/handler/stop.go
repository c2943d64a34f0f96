package handler

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/attribute"
	"stopgate/pkg/clocks"
	"stopgate/pkg/config"
	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/policy"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

// duplicateWithin is how far apart the two deliveries of one doubled event are.
const duplicateWithin = 2 * time.Second

// doubledWithin is how far apart they begin where nothing disturbs them.
const doubledWithin = 300 * time.Millisecond

// stop answers a SubagentStop.
func (r *run) stop() []byte {
	e := &r.e
	facts := gate.Facts{
		Disabled:       state.Off(r.h.Env, r.dir, e.SessionID, r.began),
		Registry:       e.RegistryGiven,
		Session:        e.SessionID != "",
		Candidates:     len(e.Candidates()),
		StopHookActive: e.StopHookActive,
	}
	facts.Ephemeral = r.traceless()
	if facts.Ephemeral {
		ephemeral(&r.h, &r.out)
		return nil
	}
	out := &r.out
	out.Handled = true
	var found attribute.Result
	if d, answered := gate.Early(facts); answered && !facts.Session {
		out.Facts, out.Decision = facts, d
		r.logStop()
		return nil
	} else if !answered {
		found = r.attribute()
	}
	out.Owners, out.Settled, out.Cut = found.Owners, found.Waited, found.Cut
	facts.ShutDown = r.agreedToEnd()
	r.prepareHold(&facts, found)
	out.Clocks, out.Spend = r.clocks, r.spend()
	err := r.decide(facts, found)
	out.Limit = r.limit
	out.Err = errors.Join(out.Err, err)
	if r.holdsFor(out.Decision) && err == nil {
		return r.hold(found)
	}
	return r.answer()
}

// holdsFor tells whether a stop that would be blocked is held first.
func (r *run) holdsFor(d gate.Decision) bool { return d.Block && r.limit.For > 0 && !r.p.Observe }

// spend is what the agent's tasks may cost.
func (r *run) spend() gate.Policy {
	p := gate.Policy{Blocks: r.p.Blocks, Chain: clocks.Chain(r.h.Env, gate.MaxChain)}
	if r.limit.For > 0 {
		p.Patience = r.p.Patience
	}
	return p
}

// configure adds to the flags what the person's and the project's files say. It is
// called where a decision needs it, so that no other event reads them.
func (r *run) configure() {
	c, problems := config.Load(r.h, r.e.Cwd)
	for _, p := range problems {
		r.logger().Warn("configuration: "+p.Text, "file", p.Path, "line", p.Line, "ignored", p.Broken)
	}
	r.notify = c.Notifies()
	r.p = config.Apply(r.p, c)
}

// agreedToEnd tells whether the agent is a teammate that agreed to its own shutdown.
// It said nothing after that, so only a stop without words is looked into.
func (r *run) agreedToEnd() bool {
	return strings.TrimSpace(r.e.LastMessage) == "" && r.isTeammate() &&
		transcript.AgreedToEnd(r.h.Files, r.agentTranscript(), r.e.AgentID)
}

// prepareHold finds the client's clocks for a stop that may be held, which is one
// with an own task: how long it can be held at the most, and whether a print run
// still waits for the agent.
func (r *run) prepareHold(facts *gate.Facts, found attribute.Result) {
	own := func(l transcript.Launch) bool { return l.Owner == r.e.AgentID }
	if !slices.ContainsFunc(slices.Collect(maps.Values(found.Owners)), own) {
		return
	}
	r.configure()
	defer r.remember(found, func(_ event.Task, l transcript.Launch) bool { return own(l) })
	if r.p.Hold <= 0 {
		return
	}
	r.clocks = clocks.ReadHold(r.h, event.SubagentStop, policy.Gate)
	r.limit = r.clocks.Hold(r.p.Hold, policy.MaxHold)
	quiet := r.clocks.Quiet()
	if quiet <= 0 {
		return
	}
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	snap, err := ledger.Read(ctx, r.dir, r.e.SessionID, r.ids())
	r.background = err != nil || r.inBackground(snap) // nothing known: the cautious answer
	if !r.background || r.coordinatorHeld(snap) {
		return
	}
	if busy, last, ok := transcript.Turn(r.h.Files, r.e.TranscriptPath); ok && !busy && !last.IsZero() {
		facts.CeilingOver = r.began.Sub(last) >= quiet
	}
}

// inBackground tells whether the agent, or one above it, works in the background:
// such an agent lists itself (docs/client.md: background_tasks).
func (r *run) inBackground(snap ledger.Snapshot) bool {
	if r.e.Lists(r.e.AgentID) {
		return true
	}
	id := r.e.AgentID
	for range 8 {
		up := snap.Launches[id].Owner
		if up == "" {
			up = snap.Agents[id].Parent
		}
		if up == "" || up == transcript.Main {
			return false
		}
		if r.e.Lists(up) {
			return true
		}
		id = up
	}
	return true
}

// answer logs the outcome and makes the answer of it.
func (r *run) answer() []byte {
	r.logStop()
	out := &r.out
	if !out.Decision.Block || r.p.Observe {
		return nil
	}
	out.Decision.Waiter = waiter(r.h)
	if out.Reason = gate.Reason(out.Decision); r.p.Mode == policy.Lead {
		out.Reason = gate.LeadReason(out.Decision)
	}
	return event.BlockAnswer(out.Reason)
}

// traceless tells the second kind of ephemeral event: an agent without a meta
// file, a transcript, an entry in background_tasks or any record. It fires under
// the session's own agent name (docs/client.md: ephemeral events).
func (r *run) traceless() bool {
	path := r.agentTranscript()
	if r.e.Lists(r.e.AgentID) || path != "" && (r.h.Files.Regular(transcript.MetaPath(path)) || r.h.Files.Regular(path)) {
		return false
	}
	if r.e.SessionID == "" || r.e.AgentID == "" {
		return true
	}
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	snap, err := ledger.Read(ctx, r.dir, r.e.SessionID, []string{r.e.AgentID})
	return err == nil && !snap.Knows(r.e.AgentID)
}

// agentTranscript is the transcript of the agent whose event this is; "" for the
// coordinator's.
func (r *run) agentTranscript() string {
	if r.p.Mode == policy.Lead {
		return ""
	}
	return transcript.OfAgent(r.h.Files, r.e.TranscriptPath, r.e.AgentID, r.e.AgentTranscript)
}

// ids are what this event asks the ledger about.
func (r *run) ids() []string {
	ids := []string{r.e.AgentID}
	for _, t := range r.e.Tasks {
		ids = append(ids, t.ID)
	}
	return ids
}

// attribute reads the ledger into a snapshot and, with the store closed again,
// the transcripts. A ledger that cannot be read is an empty one here; what that
// means for the verdict is found out when it is written.
func (r *run) attribute() attribute.Result {
	ctx, cancel := r.until(readLimit)
	defer cancel()
	snap, err := ledger.Read(ctx, r.dir, r.e.SessionID, r.ids())
	if err != nil {
		r.logger().Warn("read the store", "error", err)
	}
	return attribute.Find(ctx, r.h, r.e, snap)
}

// decide merges what was learned, decides and spends, in one transaction. It
// fills the outcome in.
func (r *run) decide(facts gate.Facts, found attribute.Result) error {
	out := &r.out
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	fresh := false
	err := ledger.Update(ctx, r.dir, r.e.SessionID, r.began, func(tx *ledger.Tx) error {
		f := facts
		f.Store = true
		fresh = tx.Session.LastEventAt.IsZero()
		f.StoreRenewed = !tx.Session.Renewed.IsZero()
		agent, _ := tx.Agent(r.e.AgentID)
		f.Duplicate = r.doubles(tx, agent)
		f.Chain = agent.Chain

		tx.Merge(found.Learned)
		r.noteEnds(tx, found.Learned.Ends)
		out.Owners = map[string]transcript.Launch{}
		var unowned []string
		for _, t := range r.e.Tasks {
			if t.ID == r.e.AgentID {
				continue
			}
			l, owned := tx.Launch(t.ID)
			owned = owned && !l.Circular(tx.Launch)
			if owned {
				out.Owners[t.ID] = l
			}
			if !t.CanBeOwn() {
				continue
			}
			switch {
			case !owned:
				f.Unowned++
				unowned = append(unowned, t.ID)
			case l.Owner == r.e.AgentID && r.e.AgentID != "":
				spent := tx.Charged(t.ID)
				spent.Told = spent.Told && !resumed(tx, t)
				own := r.ownTask(tx, t, l, spent)
				f.Own = append(f.Own, own)
				if own.Excused && !l.Ignored && r.p.Ignored(t.Command) {
					l.Ignored = true
					tx.Merge(ledger.Learned{Launches: []transcript.Launch{l}})
				}
			}
		}
		for i, own := range f.Own {
			if own.Output == "" {
				f.Own[i].Output = transcript.OutputBeside(r.h.Files, out.Owners, own.ID)
			}
		}
		d := gate.Decide(f, r.spend())
		out.Facts, out.Decision = f, d
		r.reap(tx)
		if d.Code == gate.Duplicate {
			return nil
		}
		for _, t := range f.Own {
			r.keep(tx, t)
		}
		if r.holdsFor(d) {
			if r.p.Patience > 0 {
				r.limit = r.clocks.Hold(r.p.Hold, d.Left)
			}
			r.claim(tx, d)
			return nil
		}
		stop := r.recordStop(tx, f, d, 0)
		r.touchSession(tx)
		stop.Unowned = unowned
		if found.Cut && len(unowned) > 0 {
			stop.Note = noteCut
		}
		tx.AddStop(stop)
		return nil
	})
	if err != nil {
		facts.Store = false
		out.Facts, out.Decision = facts, gate.Decide(facts, r.spend())
		out.Owners = found.Owners
		return err
	}
	r.tidy = r.tidy || fresh
	return nil
}

// doubles tells whether this stop is a second delivery of the agent's last one: the
// same payload within two seconds. Where that one was held and has been answered
// before this one came, it is the agent's next: a doubled event comes at once. So it is
// where that one's hold was ended from outside.
func (r *run) doubles(tx *ledger.Tx, agent ledger.Agent) bool {
	if h, held := tx.HoldOf(r.e.AgentID); held && !h.Over && h.Since.Equal(agent.LastSumAt) && !h.Lives(r.h) {
		return false
	}
	if agent.LastSum != agentSum(r.e) || r.began.Sub(agent.LastSumAt).Abs() >= duplicateWithin {
		return false
	}
	return agent.Answered.Sub(agent.LastSumAt) < doubledWithin || r.began.Before(agent.Answered)
}

// noteCut says in the record of a stop that a task may be nobody's only because
// there was no time to read on. The next stop reads on from there.
const noteCut = "transcripts not read to their end"

// agentSum is the payload's hash as the agent's record keeps it.
func agentSum(e event.Event) string { return hex.EncodeToString(e.Sum[:]) }

// ownTask is a listed task of the agent as the gate looks at it.
func (r *run) ownTask(tx *ledger.Tx, t event.Task, l transcript.Launch, spent ledger.Charge) gate.Task {
	before, _ := tx.Worth(t.ID)
	return r.task(t, l, spent, before, tx.Released(t.ID))
}

// task is [run.ownTask] with what the ledger knows of it.
func (r *run) task(t event.Task, l transcript.Launch, spent ledger.Charge, before ledger.Worth, released bool) gate.Task {
	own := gate.Task{
		ID:         t.ID,
		Kind:       t.Type,
		Output:     l.Output,
		Charged:    spent.Blocks,
		Waited:     spent.Waited,
		Told:       spent.Told,
		Persistent: l.Persistent,
		Since:      l.At,
	}
	if !l.At.IsZero() {
		own.Running = max(0, r.began.Sub(l.At))
	}
	r.weigh(&own, t, l, before, released)
	return own
}

// recordStop spends what the decision costs, held being how long the stop was held,
// and writes the agent's record.
func (r *run) recordStop(tx *ledger.Tx, f gate.Facts, d gate.Decision, held time.Duration) ledger.Stop {
	agent := tx.Touch(r.e.AgentID, r.e.AgentType, r.agentTranscript())
	agent.Stops++
	// A hold has left its mark there when it began: another one is that of a later stop.
	if !r.overtaken(agent.Stopped) && (held == 0 || agent.LastSumAt.Equal(r.began)) {
		agent.Stopped = r.began
		agent.LastSum, agent.LastSumAt = agentSum(r.e), r.began
	}
	blocked := d.Block && !r.p.Observe
	if blocked {
		agent.Blocks++
		agent.Chain++
	} else {
		agent.Chain = 0
	}
	if d.Block && d.Code != gate.MessageWaits { // the agent answers, and is guarded as before
		for _, t := range d.Tasks {
			tx.Charge(r.row(t.ID), held, t.Fate.Over())
		}
	}
	tx.PutAgent(agent)

	stop := ledger.Stop{
		Time:     r.began,
		AgentID:  r.e.AgentID,
		Type:     r.e.AgentType,
		Verdict:  ledger.Allow,
		Code:     string(d.Code),
		Active:   f.StopHookActive,
		Observed: d.Block && r.p.Observe,
		Policy:   r.p.Flags(),
		Prompt:   r.prompt(),
		Duration: r.h.Clock.Now().Sub(r.began),
	}
	if blocked {
		stop.Verdict = ledger.Block
	}
	for _, t := range f.Own {
		stop.Own = append(stop.Own, t.ID)
		stop.Worth = append(stop.Worth, r.keep(tx, t))
	}
	for _, t := range r.e.Tasks {
		stop.Listed = append(stop.Listed, t.ID)
	}
	slices.Sort(stop.Own)
	return stop
}

func (r *run) logStop() {
	out := &r.out
	verdict := ledger.Allow
	if out.Decision.Block && !r.p.Observe {
		verdict = ledger.Block
	}
	log, level := r.logger(), slog.LevelInfo
	if out.Err != nil {
		log, level = log.With("error", out.Err), slog.LevelWarn
	}
	own := make([]string, 0, len(out.Facts.Own))
	for _, t := range out.Facts.Own[:min(len(out.Facts.Own), 20)] {
		own = append(own, clip(t.ID))
	}
	log.Log(context.Background(), level, "stop", "verdict", verdict, "code", out.Decision.Code,
		"own", own, "listed", len(r.e.Tasks), "unowned", out.Facts.Unowned,
		"ms", ms(r.h.Clock.Now().Sub(r.began)), "held", ms(out.Held), "settled", ms(out.Settled), "cut", out.Cut)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
