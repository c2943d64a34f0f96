package handler

import (
	"errors"
	"slices"
	"sort"
	"strings"
	"time"

	"stopgate/pkg/attribute"
	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/fate"
	"stopgate/pkg/gate"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/policy"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
	"stopgate/pkg/wait"
)

const (
	// newsAge is how old an end may be whose news still comes by itself.
	newsAge = 10 * time.Minute
	// leadRow begins the rows of what the coordinator's blocks cost: an agent of
	// it may be waiting for the same task.
	leadRow = "lead:"
	// silentLimit is how long an agent may write nothing, without being held,
	// before it counts as stuck: the longest command in the foreground takes ten
	// minutes.
	silentLimit = 11 * time.Minute
	// silentStep is how often that is looked at.
	silentStep = 30 * time.Second
)

// becauseStuck ends a wait of the coordinator for agents that have fallen silent.
const becauseStuck = "agents silent"

// leadPasses tells, from the event and the environment alone, that the coordinator's
// stop is none to look at: most are, and they may cost next to nothing.
func leadPasses(h *host.Host, p *policy.Policy, e *event.Event) bool {
	if e.Name != event.Stop || e.AgentID != "" || !e.RegistryGiven || e.SessionID == "" || leadWhen(h, p) == policy.LeadNever {
		return true
	}
	// In a terminal nothing is to be done; a print run says otherwise on its own
	// command line, which is only read where something could wait.
	attended := h.Env(clocks.EnvEntrypoint) == "cli" && h.Env(clocks.EnvAttended) != "0"
	return attended && len(e.Tasks) == 0 && leadWhen(h, p) != policy.LeadAlways
}

// leadWhen is when the coordinator is held: the job's variable wins over the flag.
func leadWhen(h *host.Host, p *policy.Policy) string {
	switch v := h.Env(policy.EnvLead); v {
	case policy.LeadAlways, policy.LeadHeadless, policy.LeadNever:
		return v
	}
	return p.Lead
}

// lead answers the coordinator's own stop. Where nobody attends the run it is held
// while agents, teammates, workflows and its own tasks are at work, and then blocked
// once with what has ended, so that the run's one answer holds their results
// (docs/client.md: the coordinator's stop).
func (r *run) lead() []byte {
	r.e.AgentID, r.out.Event.AgentID = transcript.Main, transcript.Main
	out := &r.out
	out.Handled = true
	r.clocks = clocks.ReadHold(r.h, event.Stop, policy.Lead)
	r.clocks.Stall = 0 // the coordinator has no such limit
	off := state.Off(r.h.Env, r.dir, r.e.SessionID, r.began)
	if !off {
		r.configure()
	}
	when := leadWhen(&r.h, &r.p)
	facts := gate.LeadFacts{
		Disabled: off,
		Registry: r.e.RegistryGiven, Session: r.e.SessionID != "",
		Held: when == policy.LeadAlways || when != policy.LeadNever && r.clocks.Headless(r.h.Env),
	}
	out.Clocks, out.Spend = r.clocks, r.spend()
	if facts.Disabled || !facts.Held {
		out.Decision = gate.DecideLead(facts, out.Spend)
		return nil
	}
	ctx, cancel := r.until(readLimit)
	snap, err := ledger.Read(ctx, r.dir, r.e.SessionID, nil)
	if err != nil {
		r.logger().Warn("read the store", "error", err)
	}
	found := attribute.Find(ctx, r.h, r.e, snap)
	// Its own transcript is read to its end also where every task has an owner: the
	// news of an end stands there.
	main := transcript.Source{Path: r.e.TranscriptPath, Owner: transcript.Main}
	from := found.Cursor(main.Path)
	if b, err := transcript.Scan(ctx, r.h.Files, main, from); err == nil {
		found.Take(main.Path, snap.Cursor(main.Path), b)
	}
	cancel()
	r.limit = clocks.Limit{For: policy.MaxHold, By: clocks.ByHold}
	r.remember(found, func(_ event.Task, l transcript.Launch) bool { return l.Owner == transcript.Main })
	out.Owners, out.Cut = found.Owners, found.Cut
	if err := r.decideLead(facts, found); err != nil {
		out.Err = errors.Join(out.Err, err)
		out.Decision = gate.Decision{Code: gate.NoStore}
		return r.answer()
	}
	if out.Decision.Code == gate.AtWork && !r.p.Observe {
		live := r.liveness()
		defer live.close()
		return r.finish(r.watchLead(out.Decision.Tasks, found, live), live)
	}
	return r.answer()
}

// decideLead merges what was learned, decides and claims or spends, in one
// transaction.
func (r *run) decideLead(f gate.LeadFacts, found attribute.Result) error {
	out := &r.out
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	return ledger.Update(ctx, r.dir, r.e.SessionID, r.began, func(tx *ledger.Tx) error {
		f.Store = true
		coordinator, _ := tx.Agent(transcript.Main)
		f.Duplicate = r.doubles(tx, coordinator)
		f.Chain = coordinator.Chain
		tx.Merge(found.Learned)
		turn, prompt := &tx.Session.Lead, r.prompt()
		if turn.Prompt != prompt || !r.e.StopHookActive {
			*turn = ledger.Turn{Prompt: prompt}
		}
		f.Work, f.News = r.work(tx, turn.Waited), r.news(tx)
		r.limit = clocks.Limit{For: policy.MaxHold, By: clocks.ByHold}
		out.Spend = r.spend()
		d := gate.DecideLead(f, out.Spend)
		out.Lead, out.Decision = f, d
		out.Facts.Own, out.Facts.StopHookActive = f.Work, r.e.StopHookActive
		r.reap(tx)
		switch {
		case d.Code == gate.Duplicate, d.Code == gate.NoTasks:
			if d.Code == gate.NoTasks && f.Chain > 0 {
				coordinator.Chain = 0
				tx.PutAgent(coordinator)
			}
		case d.Code == gate.AtWork && !r.p.Observe:
			left := d.Left
			if r.p.Patience == 0 {
				left = policy.MaxHold
			}
			r.limit = r.clocks.Hold(policy.MaxHold, left)
			r.claim(tx, d)
		default:
			stop := r.recordStop(tx, out.Facts, d, 0)
			if d.Code == gate.NewsWaits {
				stop.Ended = ids(d.Tasks)
			}
			tx.AddStop(stop)
			r.touchSession(tx)
		}
		return nil
	})
}

// prompt names the coordinator's turn; "" where the client gives no name that is one.
func (r *run) prompt() string {
	if id := r.e.PromptID; len(id) <= 64 && !strings.ContainsFunc(id, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) {
		return id
	}
	return ""
}

// work are the tasks that the coordinator's stop is held for: agents and workflows,
// whoever launched them, and its own tasks that end by themselves.
func (r *run) work(tx *ledger.Tx, waited time.Duration) []gate.Task {
	var out []gate.Task
	for _, t := range r.e.Tasks {
		if !t.CanBeOwn() {
			continue
		}
		l, _ := tx.Launch(t.ID)
		if agents := t.Type == event.TypeSubagent || t.Type == event.TypeWorkflow; !agents && l.Owner != transcript.Main {
			continue
		}
		spent := tx.Charged(leadRow + t.ID)
		spent.Waited, spent.Told = waited, spent.Told && !resumed(tx, t)
		out = append(out, r.ownTask(tx, t, l, spent))
	}
	if slices.ContainsFunc(r.e.Tasks, func(t event.Task) bool { return t.Type == event.TypeTeammate }) {
		for _, id := range tx.Teammates(r.isMember) {
			if a, ok := tx.Agent(id); ok && atWork(a) {
				spent := tx.Charged(leadRow + id)
				out = append(out, gate.Task{ID: id, Kind: event.TypeTeammate, Waited: waited, Told: spent.Told, Charged: spent.Blocks})
			}
		}
	}
	return out
}

// isMember tells by an agent's meta file whether it is a teammate.
func (r *run) isMember(a ledger.Agent) bool {
	meta, _ := transcript.ReadMeta(r.h.Files, transcript.OfAgent(r.h.Files, r.e.TranscriptPath, a.ID, a.Transcript))
	return ofTeam(meta)
}

// resumed tells whether an agent, of which an end was told, works again: a message
// may have begun its next life (docs/client.md: SubagentStop).
func resumed(tx *ledger.Tx, t event.Task) bool {
	a, ok := tx.Agent(t.ID)
	return ok && t.Type == event.TypeSubagent && atWork(a)
}

// atWork tells whether an agent has started since it last went idle or stopped.
func atWork(a ledger.Agent) bool {
	return !a.Started.IsZero() && !a.Idle.After(a.Started) && (a.Chain > 0 || !a.Stopped.After(a.Started))
}

// news are the coordinator's agents and tasks that ended a short while ago and of
// whose end no model was told: the client tells it with the next tool call or, too
// late for a run that is over with its answer, in a turn of its own.
func (r *run) news(tx *ledger.Tx) []gate.Task {
	var out []gate.Task
	coordinator, _ := tx.Agent(transcript.Main)
	for id, end := range tx.Ends() {
		l, known := tx.Launch(id)
		f, spent := end.Fate(transcript.Main), tx.Charged(leadRow+id)
		// A later end is that of another life.
		told := spent.Told && (!end.At.After(spent.At) || !end.At.After(coordinator.Answered))
		switch {
		case !f.Over() || end.Parked || f.Heard || r.e.Lists(id),
			!known || l.Owner != transcript.Main || r.began.Sub(end.At) > newsAge || told:
			continue
		}
		out = append(out, gate.Task{ID: id, Kind: l.Kind, Output: l.Output, Since: l.At, Fate: f})
	}
	sort.Slice(out, func(a, b int) bool { return out[a].ID < out[b].ID })
	return out
}

// watchLead is the coordinator's wait for what is at work.
func (r *run) watchLead(tasks []gate.Task, found attribute.Result, live *liveness) *wait.Wait {
	for _, t := range tasks {
		live.also = append(live.also, t.ID) // a teammate is listed by another id
	}
	watch := r.watch(tasks, found, live)
	watch.Until = r.began.Add(r.limit.For)
	watch.Senders = func() []string {
		return transcript.Agents(r.h.Files, transcript.AgentsDir(r.e.TranscriptPath))
	}
	watch.Message = func(m transcript.Message) bool {
		return slices.Contains([]string{transcript.Main, "team-lead", "lead", "coordinator"}, strings.ToLower(m.To))
	}
	silent := silence{r: r, live: live, tasks: tasks}
	watch.Cancelled = func() string {
		if note := live.cancelled(); note != "" {
			return note
		}
		return silent.note()
	}
	watch.Excused = func(id string) bool {
		mate := slices.ContainsFunc(tasks, func(t gate.Task) bool { return t.ID == id && t.Kind == event.TypeTeammate })
		a, known := live.snap.Agents[id]
		return live.excused(id) || mate && known && !atWork(a)
	}
	return watch
}

// withTeammates adds the teammates that went idle in a hold, which the wait leaves
// out, as ended.
func withTeammates(left, tasks []gate.Task) []gate.Task {
	for _, t := range tasks {
		if t.Kind == event.TypeTeammate && !slices.ContainsFunc(left, func(o gate.Task) bool { return o.ID == t.ID }) {
			t.Fate = fate.Fate{Task: t.ID, How: fate.Ended, Sign: fate.Agent, Size: -1}
			left = append(left, t)
		}
	}
	return left
}

// silence looks for agents that work and have fallen silent, so that a coordinator
// is never held by what waits for it.
type silence struct {
	r     *run
	live  *liveness
	tasks []gate.Task
	next  time.Time
}

// note says that all agents waited for have been silent for long, or "".
func (s *silence) note() string {
	now := s.r.h.Clock.Now()
	if now.Before(s.next) {
		return ""
	}
	s.next = now.Add(silentStep)
	held := map[string]bool{}
	for _, h := range s.live.snap.Holds {
		held[h.AgentID] = h.Lives(s.r.h)
	}
	agents := 0
	for _, t := range s.tasks {
		if t.Kind != event.TypeSubagent {
			return "" // a command may be silent
		}
		agents++
		info, err := s.r.h.Files.Stat(transcript.OfAgent(s.r.h.Files, s.r.e.TranscriptPath, t.ID, ""))
		if held[t.ID] || err != nil || now.Sub(info.ModTime()) < silentLimit {
			return ""
		}
	}
	if agents == 0 || now.Sub(s.r.began) < silentLimit {
		return ""
	}
	return becauseStuck
}
