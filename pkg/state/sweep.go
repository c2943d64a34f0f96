package state

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stopgate/pkg/span"
)

// DefaultKeep is how long a session's files are kept unused.
const DefaultKeep = 7 * 24 * time.Hour

// Keep is how long a session's files are kept unused: $STOPGATE_KEEP as [span.Parse]
// reads it; the default where it is missing or unreadable.
func Keep(env func(string) string) time.Duration {
	if d, err := span.Parse(env(EnvKeep)); err == nil && d > 0 {
		return d
	}
	return DefaultKeep
}

// Sweep removes the files of sessions that nobody used for keep, those of all
// sessions where that is 0, and returns how many files went. A store that somebody
// holds right now stays, and so does everything that is not of our making: the
// folder can hold somebody's own files.
func (d Dir) Sweep(now time.Time, keep time.Duration) int {
	removed := 0
	if d.made {
		return removed // nothing in it is old
	}
	for session, files := range d.unused(now, keep) {
		removed += d.clear(session, files, now, keep)
	}
	d.sweepSwitches(now)
	return removed
}

// leftovers are files of a session that nobody used for long.
type leftovers struct {
	// all of the session, or only stores that were set aside.
	all    bool
	asides []string
	others []string
}

// unused looks for them; the names are the sessions' as [Safe] gives them.
func (d Dir) unused(now time.Time, keep time.Duration) map[string]*leftovers {
	entries, _ := os.ReadDir(d.sessions()) // a folder that cannot be read has nothing to clear
	found := map[string]*leftovers{}
	used := map[string]bool{}
	for _, e := range entries {
		session, kind, ok := sessionFile(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		if found[session] == nil {
			found[session] = &leftovers{}
		}
		l, path := found[session], filepath.Join(d.sessions(), e.Name())
		switch info, err := e.Info(); {
		case kind == anAside && err == nil && unusedFor(info, now, keep):
			l.asides = append(l.asides, path)
		case kind == anAside: // it does not keep the session's other files alive
		case err == nil && unusedFor(info, now, keep):
			l.others = append(l.others, path)
		default:
			used[session] = true
		}
	}
	for session, l := range found {
		if l.all = !used[session]; used[session] {
			l.others = nil
		}
	}
	return found
}

func unusedFor(info fs.FileInfo, now time.Time, keep time.Duration) bool {
	return keep <= 0 || now.Sub(info.ModTime()) >= keep
}

// clear removes a session's leftovers, unless somebody has its lock or came back to it
// between the look and the lock, and returns how many files went.
func (d Dir) clear(session string, l *leftovers, now time.Time, keep time.Duration) (removed int) {
	remove := func(paths ...string) {
		for _, path := range paths {
			if d.Remove(path) == nil {
				removed++
			}
		}
	}
	if !slices.ContainsFunc(l.others, d.ours) {
		remove(l.asides...)
		return removed // and no lock is made for what is not ours
	}
	lockPath := filepath.Join(d.sessions(), session+lockExt)
	lock, ok := TryAcquire(lockPath)
	if !ok {
		return 0
	}
	defer lock.Release()
	for _, path := range l.others {
		if info, err := os.Stat(path); err == nil && !unusedFor(info, now, keep) {
			return 0
		}
	}
	l.others = slices.DeleteFunc(l.others, func(path string) bool { return path == lockPath })
	remove(append(l.asides, l.others...)...)
	if d.ours(lockPath) && lock.Remove() == nil { // the last to go
		removed++
	}
	return removed
}
