package status

import (
	"cmp"
	"slices"
	"stopgate/pkg/event"
	"stopgate/pkg/fate"
	"stopgate/pkg/transcript"
)

// resolve tells what became of the tasks and what the agents do, in two passes: the
// tasks that are no agents, which go by signs of their own, and then the agents, each
// behind what it launched, since its state goes by theirs.
func (b *builder) resolve(tasks, agents map[string]bool) {
	for id := range tasks {
		if b.kind(id) != event.TypeSubagent {
			t := b.task(id)
			b.tasks[id] = t.with(b.fate(t))
		}
	}
	for _, id := range b.launchedFirst(agents) {
		l := b.life(id)
		a := b.agent(id)
		a.State, a.Since = agentVerdict(l)
		b.agents[id] = a
		if tasks[id] && b.kind(id) == event.TypeSubagent {
			t := b.task(id)
			b.tasks[id] = t.with(b.agentFate(t, l, a.State))
		}
	}
}

// launchedFirst are the agents and the coordinator, where there is a record of it,
// each behind those that it launched. In a ring, which only a forged transcript has,
// somebody is first.
func (b *builder) launchedFirst(agents map[string]bool) []string {
	var out []string
	seen := map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		if seen[id] {
			return
		}
		seen[id] = true
		for _, own := range b.owned[id] {
			if agents[own] {
				visit(own)
			}
		}
		out = append(out, id)
	}
	for _, id := range sorted(agents) {
		visit(id)
	}
	if _, seen := b.snap.Agents[transcript.Main]; seen {
		visit(transcript.Main)
	}
	return out
}

// task is what is known of a task but its fate.
func (b *builder) task(id string) Task {
	l, end, listed := b.account.Launches[id], b.account.Ends[id], b.listed[id]
	worth, judged := b.snap.Worth[id]
	ignored := !worth.Wait
	if !judged { // by an older version, or never
		ignored = listed.Ignored || l.Ignored
	}
	return Task{
		ID: id, Kind: b.kind(id), Owner: l.Owner,
		Output: cmp.Or(l.Output, end.Output, b.besides(id)), Evidence: string(l.Evidence), ToolUse: l.ToolUseID, File: l.File, Line: l.Line,
		Launched: l.At, Persistent: l.Persistent, Ignored: ignored, Worth: worth, Released: b.snap.Released[id],
		Blocks: b.snap.Charged[id], Courier: b.snap.Couriers[id].At,
		News: b.news(id),
	}
}

// with is a task with its fate.
func (t Task) with(f fate.Fate) Task {
	t.Fate, t.State, t.Sign, t.ExitCode, t.Ended = f, stateOf(f), f.Sign, f.ExitCode, f.At
	return t
}

// besides finds the output file of a task whose launch names none, as a monitor's
// does not: it lies beside those of the session's other tasks.
func (b *builder) besides(task string) string {
	if b.kind(task) == event.TypeSubagent || transcript.AgentPath(".", task) == "" {
		return ""
	}
	if path := b.outputs + task + OutputExt; b.outputs != "" && b.src.Files.Regular(path) {
		return path
	}
	return ""
}

// OutputExt ends the name of a task's output file.
const OutputExt = ".output"

// fate is what became of a task that is no agent.
func (b *builder) fate(t Task) fate.Fate {
	return fate.Judge(fate.Signs{
		Task: t.ID, End: b.account.Ended(t.ID), Heard: b.account.Heard(t.ID, t.Owner), Output: b.outfiles.Look(t.Output, b.src.Now), Launched: t.Launched,
		List: b.snap.Session.List(), Seen: b.seen[t.ID], SessionOver: !b.snap.Session.Ended.IsZero(),
	})
}

// agentFate is what became of a task that is an agent, by its state.
func (b *builder) agentFate(t Task, l life, state AgentState) fate.Fate {
	own := b.owned[t.ID]
	unfinished := slices.ContainsFunc(own, func(id string) bool { return b.tasks[id].State == TaskRunning })
	killed := l.end != nil && fate.Word(l.end.Status) == fate.Killed && !l.end.At.Before(l.started)
	return fate.JudgeAgent(fate.AgentSigns{
		Task: t.ID, End: l.end, Heard: b.account.Heard(t.ID, t.Owner), Since: l.started, Owns: len(own) > 0, Unfinished: unfinished,
		Working: state == AgentRunning || state == AgentIdle || state == AgentStopped && unfinished && !killed,
		List:    b.snap.Session.List(), SessionOver: l.over,
	})
}

// agent is what is known of an agent but its state.
func (b *builder) agent(id string) Agent {
	rec, m := b.snap.Agents[id], b.metas[id]
	a := Agent{
		ID: id, Type: cmp.Or(rec.Type, m.AgentType), Name: cmp.Or(m.Name, rec.Name), Description: m.Description,
		Team: cmp.Or(rec.Team, m.TeamName), Color: cmp.Or(m.Color, rec.Color), Parent: cmp.Or(rec.Parent, m.ParentAgentID),
		Stops: rec.Stops, Blocks: rec.Blocks, Own: b.owned[id],
	}
	if l := b.account.Launches[id]; a.Parent == "" && l.Owner != transcript.Main {
		a.Parent = l.Owner
	}
	if h, held := b.holds[id]; held {
		a.Hold = &h
	}
	if h, lost := b.lost[id]; lost {
		a.Lost = &h
	}
	if w, waits := b.watches[id]; waits {
		a.Courier = &w
	}
	return a
}

// life gathers what is known of an agent.
func (b *builder) life(id string) life {
	rec := b.snap.Agents[id]
	_, held := b.holds[id]
	launch, launched := b.account.Launches[id]
	_, listed := b.listed[id]
	l := life{
		started: rec.Started, stopped: rec.Stopped, idle: rec.Idle, goesOn: rec.Chain > 0, held: held,
		background: launched && launch.Evidence != transcript.Meta,
		teammate:   b.teammate(id),
		listed:     listed, listedAt: b.snap.Session.ListedAt,
		over: !b.snap.Session.Ended.IsZero(),
	}
	if h, lost := b.lost[id]; lost {
		l.stopped, l.goesOn = later(l.stopped, h.Since), false // nothing answered that stop
	}
	if end, told := b.account.Ends[id]; told {
		l.end = &end
	}
	if m, ok := b.mate(id); ok {
		l.idle = later(l.idle, m.team.IdleSince(m.name))
		l.agreed = m.team.ShutdownAgreed(m.name)
		if state, _ := b.lead(m.team); state == LeadGone {
			l.over = true // it lived in the lead's process
		}
	}
	if l.started.IsZero() {
		l.started = later(rec.First, launch.At)
	}
	l.started = later(l.started, b.woken[id])
	l.open = slices.ContainsFunc(b.owned[id], func(own string) bool { return b.tasks[own].State.Open() })
	return l
}
