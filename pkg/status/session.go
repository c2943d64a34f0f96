package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/fate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// builder computes one session. Its maps begin as copies of the snapshot's and
// grow by what the transcripts gained.
type builder struct {
	src  Source
	snap ledger.Snapshot
	// account is what the ledger and the transcripts tell of the tasks.
	account  fate.Account
	outfiles fate.Outputs
	// paths are the agents' transcripts, metas their meta files.
	paths map[string]string
	metas map[string]transcript.AgentMeta
	// listed are the entries of the last list of unfinished tasks.
	listed map[string]ledger.Listed
	holds  map[string]ledger.Hold
	// lost are holds whose process is gone without an answer.
	lost map[string]ledger.Hold
	// outputs begins the paths of the tasks' output files, once it is known.
	outputs string
	// owned are the tasks by their owner, woken the last news that an agent was
	// given.
	owned map[string][]string
	woken map[string]time.Time
	// seen is when a stop last listed a task.
	seen     map[string]time.Time
	problems []Problem
	// folder holds the teams, empty when bare.
	folder teamFolder
	bare   bool

	tasks   map[string]Task
	agents  map[string]Agent
	judging map[string]bool
}

// session computes one session from its snapshot.
func (s Source) session(ctx context.Context, snap ledger.Snapshot, bare bool, files *teamFiles) (Session, []Problem) {
	b := &builder{
		src: s, snap: snap, bare: bare,
		outfiles: fate.Outputs{Files: s.Files, Held: s.Held, Unmarked: !transcript.Marks(transcript.Version(s.Files, snap.Session.Transcript))},
		paths:    map[string]string{},
		metas:    map[string]transcript.AgentMeta{},
		listed:   map[string]ledger.Listed{},
		holds:    map[string]ledger.Hold{},
		lost:     map[string]ledger.Hold{},
		owned:    map[string][]string{},
		woken:    map[string]time.Time{},
		seen:     map[string]time.Time{},
		tasks:    map[string]Task{},
		agents:   map[string]Agent{},
		judging:  map[string]bool{},
	}
	b.recall()
	if !bare {
		b.folder = s.teams(files, snap.Session.Transcript)
		b.catchUp(ctx)
	}
	return b.build(), b.problems
}

// recall takes over what the ledger knows.
func (b *builder) recall() {
	for _, l := range b.snap.Launches {
		b.account.Launch(l)
	}
	for id, e := range b.snap.Ends {
		b.account.End(e.End)
		if !e.Delivered.IsZero() {
			b.account.Deliver(transcript.Delivery{Task: id, To: e.DeliveredTo, At: e.Delivered})
		}
	}
	for _, d := range b.snap.Heard {
		b.account.Deliver(d)
	}
	for id := range b.snap.Told {
		b.account.Deliver(transcript.Delivery{Task: id}) // a block handed its end over
	}
	for _, l := range b.snap.Session.Listed {
		b.listed[l.ID] = l
	}
	for _, stop := range b.snap.Stops {
		for _, id := range stop.Listed {
			b.seen[id] = later(b.seen[id], stop.Time)
		}
	}
	for _, h := range b.snap.Holds {
		if b.src.Lives == nil || b.src.Lives(h.Process) {
			b.holds[h.AgentID] = h
		} else {
			b.lost[h.AgentID] = h
		}
	}
	dir := transcript.AgentsDir(b.snap.Session.Transcript)
	for id, a := range b.snap.Agents {
		b.paths[id] = a.Transcript
		if a.Transcript == "" {
			b.paths[id] = transcript.AgentPath(dir, id)
		}
	}
}

// catchUp reads what the transcripts gained since the ledger's cursors.
func (b *builder) catchUp(ctx context.Context) {
	main := b.snap.Session.Transcript
	for path := range b.snap.Cursors {
		if id := transcript.AgentOf(path); id != "" && b.paths[id] == "" {
			b.paths[id] = path
		}
	}
	for _, path := range transcript.Agents(b.src.Files, transcript.AgentsDir(main)) {
		if id := transcript.AgentOf(path); b.paths[id] == "" {
			b.paths[id] = path
		}
	}
	if main != "" {
		b.scan(ctx, transcript.Source{Path: main, Owner: transcript.Main}, b.snap.Cursors[main])
	}
	for _, id := range sorted(b.paths) {
		path := b.paths[id]
		if path == "" {
			continue
		}
		b.scan(ctx, transcript.Source{Path: path, Owner: id}, b.snap.Cursors[path])
		if m, err := transcript.ReadMeta(b.src.Files, path); err == nil {
			b.metas[id] = m
		}
	}
	for id, m := range b.metas {
		l, told := m.Launch(id, b.paths[id])
		_, launched := b.account.Launches[id]
		if _, listed := b.listed[id]; told && (launched || listed) {
			b.account.Launch(l)
		}
	}
	b.lookAgain(ctx)
}

func (b *builder) scan(ctx context.Context, src transcript.Source, from transcript.Cursor) {
	batch, err := transcript.Scan(ctx, b.src.Files, src, from)
	if err != nil {
		return // what is not there tells nothing
	}
	if batch.Cut {
		b.problems = append(b.problems, Problem{src.Path, fmt.Sprintf("was not read to its end in %s: states may be old", readLimit)})
	}
	b.account.Take(batch)
}

// lookAgain searches the whole transcript of an owner for the delivery of an end
// that was not seen: a hook may have read past it before the end was known.
func (b *builder) lookAgain(ctx context.Context) {
	again := map[string]bool{}
	for id, e := range b.account.Ends {
		owner := b.account.Launches[id].Owner
		path := b.paths[owner]
		if path != "" && b.snap.Cursors[path].Offset > 0 && fate.Word(e.Status) != fate.Killed && !b.account.Heard(id, owner) {
			again[owner] = true
		}
	}
	for _, owner := range sorted(again) {
		b.scan(ctx, transcript.Source{Path: b.paths[owner], Owner: owner}, transcript.Cursor{})
	}
}

func (b *builder) build() Session {
	rec := b.snap.Session
	s := Session{
		ID:         rec.ID,
		Cwd:        rec.Cwd,
		Transcript: rec.Transcript,
		Ended:      rec.Ended,
		Last:       Event{rec.LastEvent, rec.LastEventAt},
		Begun:      rec.Begun,
		Renewed:    rec.Renewed,
		Ephemeral:  b.src.Dir.Ephemeral(rec.ID),
		Stops:      b.snap.Stops,
	}
	s.OffUntil, s.Off = b.src.Dir.OffUntil(rec.ID, b.src.Now)
	for _, news := range b.account.News {
		for _, d := range news {
			b.woken[d.To] = later(b.woken[d.To], d.At)
		}
	}
	ids := map[string]bool{}
	for id := range b.account.Launches {
		ids[id] = true
	}
	for id := range b.listed {
		ids[id] = true
	}
	for id := range b.account.Ends {
		ids[id] = true
	}
	for id := range ids {
		if owner := b.account.Launches[id].Owner; owner != "" {
			b.owned[owner] = append(b.owned[owner], id)
		}
	}
	for id, l := range b.account.Launches {
		if begin, ok := strings.CutSuffix(l.Output, id+OutputExt); ok && (b.outputs == "" || begin < b.outputs) {
			b.outputs = begin
		}
	}
	for owner := range b.owned {
		slices.SortFunc(b.owned[owner], b.byLaunch)
	}
	for id := range ids {
		s.Tasks = append(s.Tasks, b.task(id))
	}
	for id := range b.known(ids) {
		s.Agents = append(s.Agents, b.agent(id))
	}
	if _, seen := b.snap.Agents[transcript.Main]; seen {
		lead := b.agent(transcript.Main)
		s.Coordinator = &lead
	}
	slices.SortFunc(s.Tasks, func(x, y Task) int { return b.byLaunch(x.ID, y.ID) })
	slices.SortFunc(s.Agents, func(x, y Agent) int {
		if c := b.first(x.ID).Compare(b.first(y.ID)); c != 0 {
			return c
		}
		return cmp.Compare(x.ID, y.ID)
	})
	for i := range s.Agents {
		a := &s.Agents[i]
		a.Why, a.Advice = b.plight(s, *a).verdict()
		a.Stuck = a.Why != ""
	}
	if !b.bare {
		s.Teams = b.teams(s)
		b.problems = append(b.problems, b.folder.problemsOf(s.Teams)...)
	}
	return s
}

// known are the agents that are shown: those of which there is a record, and
// those that were launched, are listed or own something.
func (b *builder) known(tasks map[string]bool) map[string]bool {
	out := map[string]bool{}
	for id := range b.snap.Agents {
		out[id] = true
	}
	for id := range tasks {
		if b.kind(id) == event.TypeSubagent {
			out[id] = true
		}
		if owner := b.account.Launches[id].Owner; owner != "" && owner != transcript.Main {
			out[owner] = true
		}
	}
	delete(out, transcript.Main) // the coordinator is shown apart
	return out
}

func (b *builder) kind(task string) string {
	if k := b.listed[task].Type; k != "" {
		return k
	}
	return b.account.Launches[task].Kind
}

func (b *builder) byLaunch(x, y string) int {
	if c := b.account.Launches[x].At.Compare(b.account.Launches[y].At); c != 0 {
		return c
	}
	return cmp.Compare(x, y)
}

func (b *builder) first(agent string) time.Time {
	if at := b.account.Launches[agent].At; !at.IsZero() {
		return at
	}
	return b.snap.Agents[agent].First
}

// task judges a task, once.
func (b *builder) task(id string) Task {
	if t, done := b.tasks[id]; done {
		return t
	}
	if b.judging[id] {
		return Task{ID: id, State: TaskUnknown, Sign: fate.NotListed} // its own launcher
	}
	b.judging[id] = true
	defer delete(b.judging, id)
	l, end := b.account.Launches[id], b.account.Ends[id]
	listed := b.listed[id]
	t := Task{
		ID: id, Kind: b.kind(id), Owner: l.Owner,
		Output: cmp.Or(l.Output, end.Output, b.besides(id)), Evidence: string(l.Evidence), ToolUse: l.ToolUseID, File: l.File, Line: l.Line,
		Launched: l.At, Persistent: l.Persistent, Ignored: listed.Ignored || l.Ignored, Released: b.snap.Released[id],
		Blocks: b.snap.Charged[id], Courier: b.snap.Couriers[id].At,
	}
	f := b.fate(t)
	t.Fate, t.State, t.Sign, t.ExitCode, t.Ended = f, stateOf(f), f.Sign, f.ExitCode, f.At
	b.tasks[id] = t
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

// fate is what became of a task.
func (b *builder) fate(t Task) fate.Fate {
	heard := b.account.Heard(t.ID, t.Owner)
	if t.Kind == event.TypeSubagent {
		return b.agentFate(t.ID, heard)
	}
	return fate.Judge(fate.Signs{
		Task: t.ID, End: b.account.Ended(t.ID), Heard: heard, Output: b.outfiles.Look(t.Output, b.src.Now), Launched: t.Launched,
		List: b.snap.Session.List(), Seen: b.seen[t.ID], SessionOver: !b.snap.Session.Ended.IsZero(),
	})
}

// agentFate is what became of a task that is an agent.
func (b *builder) agentFate(id string, heard bool) fate.Fate {
	l, state := b.life(id), b.agent(id).State
	unfinished := slices.ContainsFunc(b.owned[id], func(own string) bool { return b.task(own).State == TaskRunning })
	return fate.JudgeAgent(fate.AgentSigns{
		Task: id, End: l.end, Heard: heard, Since: l.started, Owns: len(b.owned[id]) > 0, Unfinished: unfinished,
		Working: state == AgentRunning || state == AgentIdle || state == AgentStopped && unfinished,
		List:    b.snap.Session.List(), SessionOver: l.over,
	})
}

// agent judges an agent, once.
func (b *builder) agent(id string) Agent {
	if a, done := b.agents[id]; done {
		return a
	}
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
	a.State, a.Since = agentVerdict(b.life(id))
	b.agents[id] = a
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
	l.open = slices.ContainsFunc(b.owned[id], func(own string) bool { return b.task(own).State.Open() })
	return l
}

func sorted[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
