package status

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/attribute"
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
	reading  attribute.Reading
	outfiles fate.Outputs
	// paths are the agents' transcripts, metas their meta files.
	paths map[string]string
	metas map[string]transcript.AgentMeta
	// listed are the entries of the last list of unfinished tasks.
	listed map[string]ledger.Listed
	holds  map[string]ledger.Hold
	// lost are holds whose process is gone without an answer.
	lost map[string]ledger.Hold
	// watches are the couriers that wait.
	watches map[string]ledger.Watch
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
	faces  bool

	tasks  map[string]Task
	agents map[string]Agent
}

// session computes one session from its snapshot.
func (s Source) session(ctx context.Context, snap ledger.Snapshot, f Filter, files *teamFiles) (Session, []Problem) {
	b := &builder{
		src: s, snap: snap, bare: f.Bare, faces: f.Faces && !f.NoText && !f.Bare, reading: attribute.NewReading(s.Files, snap),
		outfiles: fate.Outputs{Files: s.Files, Held: s.Held, Unmarked: !transcript.Marks(transcript.Version(s.Files, snap.Session.Transcript))},
		paths:    map[string]string{},
		metas:    map[string]transcript.AgentMeta{},
		listed:   map[string]ledger.Listed{},
		holds:    map[string]ledger.Hold{},
		lost:     map[string]ledger.Hold{},
		watches:  map[string]ledger.Watch{},
		owned:    map[string][]string{},
		woken:    map[string]time.Time{},
		seen:     map[string]time.Time{},
		tasks:    map[string]Task{},
		agents:   map[string]Agent{},
	}
	b.recall()
	if !b.bare {
		b.folder = s.teams(files, snap.Session.Transcript)
		b.catchUp(ctx)
	}
	if f.NoText {
		b.forgetText()
	}
	return b.build(), b.problems
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
		Acts:       b.snap.Acts,
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
	known := b.known(ids)
	b.resolve(ids, known)
	for id := range ids {
		t := b.tasks[id]
		if b.faces {
			t.Face = b.face(t)
		}
		s.Tasks = append(s.Tasks, t)
	}
	s.AgentCount, s.StopCount = len(known), len(s.Stops)
	for id := range known {
		s.Agents = append(s.Agents, b.agents[id])
	}
	if lead, seen := b.agents[transcript.Main]; seen {
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
		a.Say = s.say(*a)
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

func sorted[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
