package state

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// DefaultKeep is how long a session's files are kept unused.
const DefaultKeep = 7 * 24 * time.Hour

// Keep is how long a session's files are kept unused: $STOPGATE_KEEP as a Go
// duration, or days as in "30d"; the default where it is missing or unreadable.
func Keep(env func(string) string) time.Duration {
	if d, err := ParseSpan(env(EnvKeep)); err == nil && d > 0 {
		return d
	}
	return DefaultKeep
}

// ParseSpan reads a Go duration, or days as in "30d".
func ParseSpan(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		d, err := time.ParseDuration(days + "h")
		return max(min(d, math.MaxInt64/24), math.MinInt64/24) * 24, err
	}
	return time.ParseDuration(text)
}

// Sweep removes the files of sessions that nobody used for keep, and returns
// how many files went. A store that somebody holds right now stays.
func (d Dir) Sweep(now time.Time, keep time.Duration) int {
	dir := filepath.Join(d.path, sessionsDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	old := map[string][]string{} // session -> its files
	fresh := map[string]bool{}
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < keep {
			// A set-aside store does not keep the session's other files alive.
			if !strings.Contains(e.Name(), asideMark) {
				fresh[name] = true
			}
			continue
		}
		old[name] = append(old[name], filepath.Join(dir, e.Name()))
	}
	removed := 0
	for name, paths := range old {
		aside := func(p string) bool { return strings.Contains(p, asideMark) }
		if fresh[name] {
			for _, p := range paths {
				if aside(p) && os.RemoveAll(p) == nil {
					removed++
				}
			}
			continue
		}
		lockPath := filepath.Join(dir, name+lockExt)
		lock, ok := TryAcquire(lockPath)
		if !ok {
			continue
		}
		if usedSince(paths, now, keep) {
			lock.Release() // somebody came back between the look and the lock
			continue
		}
		for _, p := range append(paths, lockPath) {
			if os.RemoveAll(p) == nil {
				removed++
			}
		}
		lock.Release()
	}
	d.sweepSwitches(now)
	return removed
}

func usedSince(paths []string, now time.Time, keep time.Duration) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		info, err := os.Stat(p)
		return err == nil && now.Sub(info.ModTime()) < keep
	})
}

// sweepSwitches removes off switches whose time is over.
func (d Dir) sweepSwitches(now time.Time) {
	for _, p := range append(list(d.path, offPrefix, ""), filepath.Join(d.path, offFile)) {
		if _, err := os.Stat(p); err == nil && !d.switchedOff(filepath.Base(p), now) {
			_ = os.Remove(p)
		}
	}
}
