package status

import (
	"context"
	"fmt"
	"slices"
	"stopgate/pkg/fate"
	"stopgate/pkg/transcript"
)

// recall takes over what the ledger knows.
func (b *builder) recall() {
	b.account = b.snap.Account()
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
	for id, w := range b.snap.Watches {
		if b.src.Lives == nil || b.src.Lives(w.Process) {
			b.watches[id] = w
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
		b.read(ctx, transcript.Source{Path: main, Owner: transcript.Main})
	}
	for _, id := range sorted(b.paths) {
		path := b.paths[id]
		if path == "" {
			continue
		}
		b.read(ctx, transcript.Source{Path: path, Owner: id})
		if m, ok := b.reading.Meta(id, path); ok {
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

// read takes in what a transcript gained.
func (b *builder) read(ctx context.Context, src transcript.Source) {
	b.take(src.Path, b.reading.Scan(ctx, src))
}

func (b *builder) take(path string, batch transcript.Batch) {
	if batch.Cut {
		b.problems = append(b.problems, Problem{path, fmt.Sprintf("was not read to its end in %s: states may be old", readLimit)})
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
		path := b.paths[owner]
		if batch, err := transcript.Scan(ctx, b.src.Files, transcript.Source{Path: path, Owner: owner}, transcript.Cursor{}); err == nil {
			b.take(path, batch)
		}
	}
}

// forgetText takes the words of somebody else out of what was read: what agents and
// team tasks are about. Ids, names and paths stay.
func (b *builder) forgetText() {
	for id, m := range b.metas {
		m.Description = ""
		b.metas[id] = m
	}
	b.folder.teams = slices.Clone(b.folder.teams)
	for i := range b.folder.teams {
		tasks := slices.Clone(b.folder.teams[i].Tasks)
		for k := range tasks {
			tasks[k].Subject = ""
		}
		b.folder.teams[i].Tasks = tasks
	}
}
