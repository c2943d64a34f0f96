package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// Limits of looking.
const (
	// Patience is how long a busy store is waited for.
	Patience = time.Second
	// readLimit bounds the reading of all transcripts together.
	readLimit = 20 * time.Second
)

// Errors of [Source.Load].
var (
	// ErrNoSession is returned when no recorded session has the asked id.
	ErrNoSession = errors.New("no recorded session has this id")
	// ErrAmbiguous is returned when several sessions begin with the asked id.
	ErrAmbiguous = errors.New("several sessions begin like this")
)

// Source is where a status comes from. All fields but the last three are needed.
type Source struct {
	Dir   state.Dir
	Files host.Files
	// Now is the time for which the status holds.
	Now time.Time
	// Env looks a variable of the environment up.
	Env func(string) string
	// Alive tells whether a process exists; nil takes every one for alive.
	Alive func(pid int) bool
	// Lives tells whether a process of ours still runs; nil takes every one for
	// alive.
	Lives func(ledger.Process) bool
	// Held tells whether a process has an output file open for writing, and
	// whether that can be told; nil cannot tell.
	Held func(path string) (held, known bool)
	// Here tells whether pids of a space are this machine's, StartOf when a
	// process started (see pkg/team); nil knows of none.
	Here    func(pidSpace string) bool
	StartOf func(pid int) string
}

// Filter says which sessions are asked for. The zero value asks for none but
// those whose folder is unknown.
type Filter struct {
	// Folder asks for the sessions that run in this folder, above it or below.
	Folder string
	// Session asks for the one session of that id, or the only one whose id
	// begins like that.
	Session string
	// All asks for every session, None for none: the state of the switch alone.
	All, None bool
	// Bare leaves the transcripts unread: what the ledger says, and no more.
	Bare bool
	// Brief tells no more of sessions that have ended than that (see Session.Brief),
	// unless one is asked for by its id.
	Brief bool
	// Faces gives tasks their faces; NoText leaves the words of somebody else out.
	Faces, NoText bool
}

// Load looks at the recorded sessions. A session that cannot be read is a
// [Problem], not an error; errors are [ErrNoSession] and [ErrAmbiguous].
func (s Source) Load(ctx context.Context, f Filter) (Status, error) {
	st := Status{Now: s.Now, StateDir: s.Dir.Path()}
	st.EphemeralEvents, st.EphemeralSessions = s.Dir.EphemeralTotal()
	st.OffUntil, st.Off = s.Dir.OffUntil("", s.Now)
	if state.Disabled(s.Env) {
		st.Disabled = s.Env(state.EnvDisable)
	}
	if f.None {
		return st, nil
	}
	paths := s.Dir.Stores()
	if f.Session != "" {
		path, err := s.find(paths, f.Session)
		if err != nil {
			return st, err
		}
		paths = []string{path}
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()

	var files teamFiles
	results := s.all(ctx, f, paths, &files)
	recorded := map[string]bool{}
	for _, r := range results {
		recorded[r.id] = true
		st.add(r)
	}
	st.Teams = s.leftover(&files, f, recorded)
	st.sort()
	return st, nil
}

// result is what came of one store.
type result struct {
	id       string
	session  Session
	problems []Problem
	// skipped marks a session that was not asked for, or could not be read.
	skipped bool
}

// add takes a result in.
func (st *Status) add(r result) {
	st.Problems = append(st.Problems, r.problems...)
	switch {
	case !r.skipped:
		st.Sessions = append(st.Sessions, r.session)
	case len(r.problems) == 0:
		st.Elsewhere++
	}
}

func (st *Status) sort() {
	slices.SortStableFunc(st.Sessions, func(a, b Session) int {
		if c := b.Last.Time.Compare(a.Last.Time); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// all looks at stores, some at a time.
func (s Source) all(ctx context.Context, f Filter, paths []string, files *teamFiles) []result {
	results := make([]result, len(paths))
	room := make(chan struct{}, runtime.NumCPU()+2) // some of them wait for a lock
	var all sync.WaitGroup
	for i, path := range paths {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			results[i] = s.one(ctx, f, path, files)
		})
	}
	all.Wait()
	return results
}

// Session is the status of one session by a snapshot of its store, for programs that
// read the stores themselves. bare leaves the transcripts unread.
func (s Source) Session(ctx context.Context, snap ledger.Snapshot, bare bool) (Session, []Problem) {
	return s.session(ctx, snap, Filter{Bare: bare}, &teamFiles{})
}

// one looks at one store: at its head, and at the rest where that is asked for.
func (s Source) one(ctx context.Context, f Filter, path string, files *teamFiles) result {
	r := result{id: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), skipped: true}
	var head ledger.Head
	err := s.patiently(ctx, func(ctx context.Context) (err error) {
		head, err = ledger.ReadHead(ctx, path)
		return err
	})
	if err != nil {
		r.problems = []Problem{{path, err.Error()}}
		return r
	}
	r.id = cmp.Or(head.Session.ID, r.id)
	switch {
	case !head.Exists || !s.asked(f, head.Session.Cwd):
		return r
	case f.Brief && f.Session == "" && !head.Session.Ended.IsZero():
		r.session, r.skipped = s.brief(head), false
		return r
	}
	var snap ledger.Snapshot
	err = s.patiently(ctx, func(ctx context.Context) (err error) {
		snap, err = ledger.ReadFile(ctx, path)
		return err
	})
	switch {
	case err != nil:
		r.problems = []Problem{{path, err.Error()}}
	case snap.Exists:
		r.session, r.problems = s.session(ctx, snap, f, files)
		r.skipped = false
	}
	return r
}

// brief is a session of which no more was read than its head.
func (s Source) brief(head ledger.Head) Session {
	rec := head.Session
	return Session{
		ID: rec.ID, Cwd: rec.Cwd, Transcript: rec.Transcript, Ended: rec.Ended, Last: Event{rec.LastEvent, rec.LastEventAt},
		Begun: rec.Begun, Renewed: rec.Renewed, Brief: true, AgentCount: head.Agents, StopCount: head.Stops,
	}
}

// Newest looks at the recorded sessions one by one, the store that was written last
// first, for somebody who needs no more than the first few: a store is opened when it
// is its turn. Written is when that was, and no event in it is later. A session that
// cannot be read comes with its problem and no id.
func (s Source) Newest(ctx context.Context, f Filter) iter.Seq[Looked] {
	return func(yield func(Looked) bool) {
		type dated struct {
			path string
			at   time.Time
		}
		var stores []dated
		for _, path := range s.Dir.Stores() {
			if info, err := os.Stat(path); err == nil {
				stores = append(stores, dated{path, info.ModTime()})
			}
		}
		slices.SortFunc(stores, func(a, b dated) int { return b.at.Compare(a.at) })
		var files teamFiles
		for _, store := range stores {
			r := s.one(ctx, f, store.path, &files)
			if !yield(Looked{r.session, r.problems, store.at, !r.skipped}) {
				return
			}
		}
	}
}

// Looked is one store that was looked at.
type Looked struct {
	Session  Session
	Problems []Problem
	// Written is when the store was last written.
	Written time.Time
	// Asked tells that the session was asked for, and could be read.
	Asked bool
}

// patiently reads a store, waiting for a busy one for [Patience]. Its errors are whole
// sentences for people.
func (s Source) patiently(ctx context.Context, read func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err := read(ctx)
	switch {
	case errors.Is(err, ledger.ErrBusy):
		return errors.New("is busy: a hook is writing to it; try again in a moment")
	case errors.Is(err, ledger.ErrNewer):
		return errors.New("was written by a newer version of stopgate: update hookctl")
	case errors.Is(err, ledger.ErrBroken):
		return errors.New("is broken; the next stop of that session sets it aside and begins a new one")
	case err != nil:
		return fmt.Errorf("cannot be read: %w", err)
	}
	return nil
}

// find is the store of a session id, or of the only one that begins like it.
func (s Source) find(paths []string, id string) (string, error) {
	if exact := s.Dir.Store(id); slices.Contains(paths, exact) {
		return exact, nil
	}
	var found []string
	for _, p := range paths {
		if strings.HasPrefix(filepath.Base(p), id) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%w: %s", ErrNoSession, id)
	case 1:
		return found[0], nil
	}
	names := make([]string, 0, 5)
	for _, p := range found[:min(len(found), 5)] {
		names = append(names, strings.TrimSuffix(filepath.Base(p), filepath.Ext(p)))
	}
	return "", fmt.Errorf("%w: %s", ErrAmbiguous, strings.Join(names, ", "))
}

// asked tells whether a session that runs in cwd is asked for.
func (s Source) asked(f Filter, cwd string) bool {
	return f.All || f.Session != "" || cwd == "" || related(f.Folder, cwd)
}

// related tells whether two folders are the same or one lies in the other.
func related(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	for _, x := range spellings(a) {
		for _, y := range spellings(b) {
			if inside(x, y) || inside(y, x) {
				return true
			}
		}
	}
	return false
}

// spellings are the ways a folder may be named: as it is, and with its links
// followed. A folder that no longer exists has one.
func spellings(folder string) []string {
	folder = filepath.Clean(folder)
	if real, err := filepath.EvalSymlinks(folder); err == nil && real != folder {
		return []string{folder, real}
	}
	return []string{folder}
}

// inside tells whether folder is outer or lies in it.
func inside(folder, outer string) bool {
	if runtime.GOOS == "windows" {
		folder, outer = strings.ToLower(folder), strings.ToLower(outer)
	}
	rel, err := filepath.Rel(outer, folder)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Copy copies the store of a session and the off switches into another state
// folder, so that the gate can be run there and nothing of the real one changes.
// What does not exist is left out.
func (s Source) Copy(ctx context.Context, to state.Dir, sessionID string) error {
	store := to.Store(sessionID)
	if _, err := host.MakeDirs(filepath.Dir(store)); err != nil {
		return err
	}
	switches := []string{""}
	if sessionID != "" {
		switches = append(switches, sessionID)
	}
	for _, id := range switches {
		if until, off := s.Dir.OffUntil(id, s.Now); off {
			if err := to.SwitchOff(id, until); err != nil {
				return err
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	path := s.Dir.Store(sessionID)
	lock, err := state.Share(ctx, s.Dir.LockPath(sessionID))
	switch {
	case err == nil:
		defer lock.Release()
	case ctx.Err() != nil:
		return fmt.Errorf("%s is busy: a hook is writing to it; try again in a moment", path)
	}
	data, err := s.Files.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return host.Write(store, data, 0o600)
}
