package attribute

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// Reading is what transcripts gained since the cursors of a ledger, read in memory.
// The gate reads until it knows whose its tasks are, and merges it into the ledger;
// the status reads everything and keeps nothing. The zero value has read nothing and
// cannot read.
type Reading struct {
	// Learned is what the reading brought, for the ledger.
	Learned ledger.Learned
	// Cut is true when the time was over before everything was read.
	Cut bool

	files host.Files
	// snap has the cursors that the reading began with.
	snap ledger.Snapshot
}

// NewReading goes on from the cursors of a snapshot.
func NewReading(files host.Files, snap ledger.Snapshot) Reading {
	return Reading{Learned: ledger.Learned{Cursors: map[string]transcript.Step{}}, files: files, snap: snap}
}

// Cursor is how far a transcript has been read, by this reading or before it.
func (r *Reading) Cursor(path string) transcript.Cursor {
	if step, ok := r.Learned.Cursors[path]; ok {
		return step.To
	}
	return r.snap.Cursor(path)
}

// unchanged tells, without opening it, that a file has gained nothing since it was read
// to its end.
func (r *Reading) unchanged(path string, look host.Look) bool {
	known, read := r.snap.Looks[path]
	return read && known == look
}

// changed are those of the transcripts in and below a folder that may have gained
// something since they were read, in the order of their names.
func (r *Reading) changed(dir string, paths []string) []string {
	var names, beside, out []string
	within := dir + string(filepath.Separator)
	for _, path := range paths {
		if name := strings.TrimPrefix(path, within); len(name) < len(path) && strings.IndexByte(name, filepath.Separator) < 0 {
			names, beside = append(names, name), append(beside, path)
		} else if !r.unchanged(path, r.files.Look(path)) {
			out = append(out, path)
		}
	}
	for i, look := range r.files.Looks(dir, names) {
		if !r.unchanged(beside[i], look) {
			out = append(out, beside[i])
		}
	}
	slices.Sort(out)
	return out
}

// Scan reads what a transcript gained and gives that alone; nothing for one that is
// not there, which attributes nothing.
func (r *Reading) Scan(ctx context.Context, src transcript.Source) transcript.Batch {
	if src.Path == "" {
		return transcript.Batch{}
	}
	b, err := transcript.Scan(ctx, r.files, src, r.Cursor(src.Path))
	if err != nil {
		return transcript.Batch{}
	}
	r.Take(src.Path, r.snap.Cursor(src.Path), b)
	return b
}

// Take adds what a further reading of a transcript brought; from is where the
// reading began in it.
func (r *Reading) Take(path string, from transcript.Cursor, b transcript.Batch) {
	r.Cut = r.Cut || b.Cut
	r.Learned.Launches = append(r.Learned.Launches, b.Launches...)
	r.Learned.Ends = append(r.Learned.Ends, b.Ends...)
	r.Learned.Deliveries = append(r.Learned.Deliveries, b.Deliveries...)
	if !from.Equal(b.Cursor) || b.Look != r.snap.Looks[path] {
		r.Learned.Cursors[path] = transcript.Step{From: from, To: b.Cursor, Look: b.Look}
	}
}

// Meta reads the meta file beside an agent's transcript; ok is false where there is
// none.
func (r *Reading) Meta(id, path string) (meta transcript.AgentMeta, ok bool) {
	meta, err := transcript.ReadMeta(r.files, path)
	if err != nil {
		return meta, false
	}
	r.Learned.Agents = append(r.Learned.Agents, AgentFromMeta(id, path, meta))
	return meta, true
}

// AgentFromMeta is the record of an agent that its meta file gives.
func AgentFromMeta(id, path string, m transcript.AgentMeta) ledger.Agent {
	return ledger.Agent{ID: id, Type: m.AgentType, Name: m.Name, Team: m.TeamName, Color: m.Color, Parent: m.ParentAgentID, Transcript: path}
}
