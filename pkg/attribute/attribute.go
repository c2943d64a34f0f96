// Package attribute finds out who launched each task that an event lists. It
// goes through the evidence in the order of its cost and stops as soon as every
// task has an owner: what the ledger knows, the agent's own transcript from its
// cursor, the parents that meta files name, the coordinator's and the siblings'
// transcripts, and last a short wait for an own transcript that lags behind.
//
// Nothing is open but the file being read, and nothing is decided: what was
// learned goes back to the caller to be merged into the ledger.
package attribute

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// Limits of the settling wait. The launch was not on disk when the hook started
// in one of five stops with own tasks on clients before 2.1.332, and came 53 to
// 305 ms later (docs/client.md: transcripts lag).
const (
	Settle     = 300 * time.Millisecond
	settleStep = 20 * time.Millisecond
)

// Result is who owns what.
type Result struct {
	// Owners are the launches of the listed tasks that have an owner.
	Owners map[string]transcript.Launch
	// Learned is what the reading brought, for the ledger.
	Learned ledger.Learned
	// known are the cursors the search began with.
	known map[string]transcript.Cursor
	// Waited is how long the settling took; zero for not at all.
	Waited time.Duration
	// Cut is true when the time was over before everything was read.
	Cut bool
}

// Cursor is how far a transcript has been read, by this search or before it.
func (r Result) Cursor(path string) transcript.Cursor {
	if step, ok := r.Learned.Cursors[path]; ok {
		return step.To
	}
	return r.known[path]
}

// Take adds what a further reading of a transcript brought; from is where the search
// began in it.
func (r *Result) Take(path string, from transcript.Cursor, b transcript.Batch) {
	r.Cut = r.Cut || b.Cut
	r.Learned.Launches = append(r.Learned.Launches, b.Launches...)
	r.Learned.Ends = append(r.Learned.Ends, b.Ends...)
	r.Learned.Deliveries = append(r.Learned.Deliveries, b.Deliveries...)
	if !from.Equal(b.Cursor) {
		r.Learned.Cursors[path] = transcript.Step{From: from, To: b.Cursor}
	}
}

// search is one attribution under way.
type search struct {
	files    host.Files
	snap     ledger.Snapshot
	owners   map[string]transcript.Launch
	learned  ledger.Learned
	cursors  map[string]transcript.Cursor
	listed   []string
	blocking map[string]bool
	cut      bool
}

// Find attributes the tasks that e lists. snap is what the ledger knew; it is
// not changed. ctx bounds the reading: when it is done, Find returns what it has.
func Find(ctx context.Context, h host.Host, e event.Event, snap ledger.Snapshot) Result {
	s := &search{
		files:    h.Files,
		snap:     snap,
		owners:   map[string]transcript.Launch{},
		learned:  ledger.Learned{Cursors: map[string]transcript.Step{}},
		cursors:  map[string]transcript.Cursor{},
		blocking: map[string]bool{},
	}
	for _, t := range e.Tasks {
		// An agent's own entry is no task of its own, and no launch ever names a
		// teammate's entry (docs/client.md: background_tasks).
		if t.ID == e.AgentID || t.Type == event.TypeTeammate {
			continue
		}
		s.listed = append(s.listed, t.ID)
		s.blocking[t.ID] = t.CanBeOwn()
		if l, ok := snap.Launches[t.ID]; ok {
			s.owners[t.ID] = l
		}
	}
	waited := s.find(ctx, h.Clock, e)
	return Result{Owners: s.owners, Learned: s.learned, known: snap.Cursors, Waited: waited, Cut: s.cut}
}

func (s *search) find(ctx context.Context, clock host.Clock, e event.Event) time.Duration {
	own := transcript.Source{Path: e.AgentTranscript, Owner: e.AgentID}
	if own.Path == "" || filepath.Clean(own.Path) == filepath.Clean(e.TranscriptPath) {
		// The coordinator's transcript is nobody else's, and is read as its own.
		own.Path = transcript.AgentPath(transcript.AgentsDir(e.TranscriptPath), e.AgentID)
	}
	if s.missing() || s.lacksOutput(e.AgentID) {
		s.scan(ctx, own)
	}
	if s.missing() {
		s.parents(e, own.Path)
	}
	if s.missing() {
		s.others(ctx, e, own.Path)
	}
	if !s.waitable() || s.settled(ctx, own, e) {
		return 0
	}
	start := clock.Now()
	for s.waitable() && clock.Now().Sub(start) < Settle && clock.Sleep(ctx, settleStep) {
		if s.settled(ctx, own, e) {
			break
		}
	}
	return clock.Now().Sub(start)
}

// settled reads what the own transcript gained and tells whether that is all
// there will be. It looks for the last message before it reads, so that nothing
// which stands before that message can be missed.
func (s *search) settled(ctx context.Context, own transcript.Source, e event.Event) bool {
	caughtUp := e.LastMessageGiven && transcript.CaughtUp(s.files, own.Path, e.LastMessage, s.snap.Agents[e.AgentID].Stopped)
	s.scan(ctx, own)
	return caughtUp
}

// missing tells whether a listed task has no owner, or only one that a command's
// output could have made up.
func (s *search) missing() bool {
	return slices.ContainsFunc(s.listed, func(id string) bool { return !s.owners[id].Certain() })
}

// waitable tells whether it is worth waiting for the own transcript: a task that
// can block has no owner at all.
func (s *search) waitable() bool {
	return slices.ContainsFunc(s.listed, func(id string) bool {
		_, owned := s.owners[id]
		return s.blocking[id] && !owned
	})
}

// lacksOutput tells whether a task of the agent has no output path yet, which
// PostToolUse does not name for a shell but the transcript does.
func (s *search) lacksOutput(agentID string) bool {
	return slices.ContainsFunc(s.listed, func(id string) bool {
		l, owned := s.owners[id]
		return owned && l.Owner == agentID && l.Output == "" && l.Kind != event.TypeSubagent
	})
}

// scan reads what a transcript gained.
func (s *search) scan(ctx context.Context, src transcript.Source) {
	if src.Path == "" {
		return
	}
	from, read := s.cursors[src.Path]
	if !read {
		from = s.snap.Cursors[src.Path]
	}
	batch, err := transcript.Scan(ctx, s.files, src, from)
	if err != nil {
		return // a missing transcript attributes nothing
	}
	s.cut = s.cut || batch.Cut
	s.cursors[src.Path] = batch.Cursor
	step, known := s.learned.Cursors[src.Path]
	if !known {
		step.From = s.snap.Cursors[src.Path]
	}
	step.To = batch.Cursor
	if !step.From.Equal(step.To) {
		s.learned.Cursors[src.Path] = step
	}
	s.learned.Ends = append(s.learned.Ends, batch.Ends...)
	s.learned.Deliveries = append(s.learned.Deliveries, batch.Deliveries...)
	for _, l := range batch.Launches {
		s.add(l)
	}
}

func (s *search) add(l transcript.Launch) {
	s.learned.Launches = append(s.learned.Launches, l)
	if _, listed := s.blocking[l.Task]; !listed {
		return
	}
	if have, ok := s.owners[l.Task]; ok {
		l = transcript.Join(have, l)
	}
	s.owners[l.Task] = l
}

// parents reads the meta files of listed agents without a certain owner: they
// name the parent since 2.1.220.
func (s *search) parents(e event.Event, ownPath string) {
	for _, id := range s.listed {
		if s.owners[id].Certain() {
			continue
		}
		for _, dir := range agentDirs(e, ownPath) {
			path := transcript.AgentPath(dir, id)
			if path == "" {
				continue
			}
			meta, err := transcript.ReadMeta(s.files, path)
			if err != nil {
				continue
			}
			s.learned.Agents = append(s.learned.Agents, AgentFromMeta(id, path, meta))
			if meta.ParentAgentID != "" {
				s.add(transcript.Launch{Task: id, Owner: meta.ParentAgentID, Kind: event.TypeSubagent, Evidence: transcript.Meta, File: transcript.MetaPath(path)})
			}
			break
		}
	}
}

// AgentFromMeta is the record of an agent that its meta file gives.
func AgentFromMeta(id, path string, m transcript.AgentMeta) ledger.Agent {
	return ledger.Agent{ID: id, Type: m.AgentType, Name: m.Name, Team: m.TeamName, Color: m.Color, Parent: m.ParentAgentID, Transcript: path}
}

// others reads the coordinator's and the siblings' transcripts until nothing is
// missing.
func (s *search) others(ctx context.Context, e event.Event, ownPath string) {
	s.scan(ctx, transcript.Source{Path: e.TranscriptPath, Owner: transcript.Main})
	seen := map[string]bool{ownPath: true, e.TranscriptPath: true}
	for _, dir := range agentDirs(e, ownPath) {
		for _, path := range transcript.Agents(s.files, dir) {
			if !s.missing() {
				return
			}
			if ctx.Err() != nil {
				s.cut = true
				return
			}
			if !seen[path] {
				seen[path] = true
				s.scan(ctx, transcript.Source{Path: path, Owner: transcript.AgentOf(path)})
			}
		}
	}
}

// agentDirs are the folders where the session's agents lie: beside the agent's
// own transcript, and beside the coordinator's. They differ for agents in a
// worktree.
func agentDirs(e event.Event, ownPath string) []string {
	var dirs []string
	for _, dir := range []string{dirOf(ownPath), transcript.AgentsDir(e.TranscriptPath)} {
		if dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func dirOf(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Dir(path)
}
