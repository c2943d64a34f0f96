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
	"maps"
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
	// Waited is how long the settling took; zero for not at all.
	Waited time.Duration
	Reading
}

// search is one attribution under way.
type search struct {
	files host.Files
	snap  ledger.Snapshot
	e     event.Event
	// own is the stopping agent's transcript, once it is needed.
	own transcript.Source
	// launches are those known of, by task: of listed tasks and of others.
	launches map[string]transcript.Launch
	reading  Reading
	// listed are the tasks to find owners for, in order; unsure are those without
	// one, or with one that is no more than likely.
	listed []event.Task
	unsure map[string]bool
}

// Find attributes the tasks that e lists. snap is what the ledger knew; it is
// not changed. ctx bounds the reading: when it is done, Find returns what it has.
func Find(ctx context.Context, h host.Host, e event.Event, snap ledger.Snapshot) Result {
	s := &search{
		files:    h.Files,
		snap:     snap,
		e:        e,
		launches: maps.Clone(snap.Launches),
		reading:  NewReading(h.Files, snap),
		unsure:   map[string]bool{},
	}
	if s.launches == nil {
		s.launches = map[string]transcript.Launch{}
	}
	for _, t := range e.Tasks {
		// An agent's own entry is no task of its own, and no launch ever names a
		// teammate's entry (docs/client.md: background_tasks).
		if t.ID == e.AgentID || t.Type == event.TypeTeammate {
			continue
		}
		s.listed = append(s.listed, t)
		if !s.launches[t.ID].Certain() {
			s.unsure[t.ID] = true
		}
	}
	waited := s.find(ctx, h.Clock)
	return Result{Owners: s.owners(), Waited: waited, Reading: s.reading}
}

// launch is what is known of who launched a task.
func (s *search) launch(task string) (transcript.Launch, bool) {
	l, known := s.launches[task]
	return l, known
}

// owners are the launches of the listed tasks whose owners may wait for them.
func (s *search) owners() map[string]transcript.Launch {
	out := map[string]transcript.Launch{}
	for _, t := range s.listed {
		if l, known := s.launches[t.ID]; known && !l.Circular(s.launch) {
			out[t.ID] = l
		}
	}
	return out
}

func (s *search) find(ctx context.Context, clock host.Clock) time.Duration {
	if !s.doubtful() && !s.lacksOutput() {
		return 0
	}
	s.own = transcript.Source{Path: transcript.OfAgent(s.files, s.e.TranscriptPath, s.e.AgentID, s.e.AgentTranscript), Owner: s.e.AgentID}
	s.scan(ctx, s.own)
	if s.doubtful() {
		s.parents(ctx)
	}
	if s.doubtful() {
		s.others(ctx)
	}
	if !s.waitable() || s.settled(ctx) {
		return 0
	}
	start := clock.Now()
	for s.waitable() && clock.Now().Sub(start) < Settle && clock.Sleep(ctx, settleStep) {
		if s.settled(ctx) {
			break
		}
	}
	return clock.Now().Sub(start)
}

// settled reads what the own transcript gained and tells whether that is all
// there will be. It looks for the last message before it reads, so that nothing
// which stands before that message can be missed.
func (s *search) settled(ctx context.Context) bool {
	caughtUp := s.e.LastMessageGiven && transcript.CaughtUp(s.files, s.own.Path, s.e.LastMessage, s.snap.Agents[s.e.AgentID].Stopped)
	s.scan(ctx, s.own)
	return caughtUp
}

// doubtful tells whether a listed task has no owner, or only one that is no more
// than likely.
func (s *search) doubtful() bool { return len(s.unsure) > 0 }

// waitable tells whether it is worth waiting for the own transcript: a task that
// can block has no owner at all.
func (s *search) waitable() bool {
	return s.doubtful() && slices.ContainsFunc(s.listed, func(t event.Task) bool {
		_, known := s.launches[t.ID]
		return !known && t.CanBeOwn()
	})
}

// lacksOutput tells whether a task of the agent has no output path yet, which
// PostToolUse does not name for a shell but the transcript does.
func (s *search) lacksOutput() bool {
	return slices.ContainsFunc(s.listed, func(t event.Task) bool {
		l, known := s.launches[t.ID]
		return known && l.Owner == s.e.AgentID && l.Output == "" && l.Kind != event.TypeSubagent
	})
}

// scan reads what a transcript gained.
func (s *search) scan(ctx context.Context, src transcript.Source) {
	for _, l := range s.reading.Scan(ctx, src).Launches {
		s.note(l)
	}
}

// note takes in a launch.
func (s *search) note(l transcript.Launch) {
	if have, known := s.launches[l.Task]; known {
		l = transcript.Join(have, l)
	}
	s.launches[l.Task] = l
	if l.Certain() {
		delete(s.unsure, l.Task)
	}
}

// parents reads the meta files of listed agents without a certain owner: they
// name the parent since 2.1.220.
func (s *search) parents(ctx context.Context) {
	for _, t := range s.listed {
		if t.Type != event.TypeSubagent || !s.unsure[t.ID] {
			continue
		}
		if ctx.Err() != nil {
			s.reading.Cut = true
			return
		}
		beside := transcript.AgentPath(dirOf(s.own.Path), t.ID)
		path := transcript.OfAgent(s.files, s.e.TranscriptPath, t.ID, beside)
		meta, told := s.reading.Meta(t.ID, path)
		if !told {
			continue
		}
		if l, ok := meta.Launch(t.ID, path); ok {
			s.reading.Learned.Launches = append(s.reading.Learned.Launches, l)
			s.note(l)
		}
	}
}

// others reads the coordinator's and the siblings' transcripts until nothing is
// missing.
func (s *search) others(ctx context.Context) {
	s.scan(ctx, transcript.Source{Path: s.e.TranscriptPath, Owner: transcript.Main})
	seen := map[string]bool{s.own.Path: true, s.e.TranscriptPath: true}
	for _, dir := range s.agentDirs() {
		for _, path := range s.reading.changed(dir, transcript.Agents(s.files, dir)) {
			if !s.doubtful() {
				return
			}
			if ctx.Err() != nil {
				s.reading.Cut = true
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
func (s *search) agentDirs() []string {
	dirs := []string{transcript.AgentsDir(s.e.TranscriptPath)}
	if own := dirOf(s.own.Path); transcript.AgentOf(s.own.Path) != "" && own != dirs[0] {
		dirs = append([]string{own}, dirs...)
	}
	return dirs
}

func dirOf(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Dir(path)
}
