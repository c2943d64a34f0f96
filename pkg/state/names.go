package state

import (
	"encoding/hex"
	"path/filepath"
	"strings"
	"time"

	"stopgate/pkg/digest"
)

// Names in the state folder.
const (
	sessionsDir  = "sessions"
	storeExt     = ".db"
	lockExt      = ".lock"
	ephemeralExt = ".ephemeral"
	offFile      = "off"
	offPrefix    = "off-"
	asideMark    = ".corrupt-"
	asideStamp   = "20060102T150405.000Z"
	// beginExt is behind the name of a store that is being begun.
	beginExt    = ".new"
	historyName = "history"
	keyExt      = ".key"
	// cursorName begins the names of how far sessions were exported; to each sort of
	// target belongs one.
	cursorName = "export"
	cursorExt  = ".json"
)

// Safe is a session id as a file name: itself where it is a plain lower-case
// name, a hash otherwise. Two ids never share a name.
func Safe(id string) string {
	if plain(id) {
		return id
	}
	sum := digest.Of([]byte(id))
	return hashMark + hex.EncodeToString(sum[:])
}

const hashMark = "x-"

// plain tells whether an id can be a file name as it is.
func plain(id string) bool {
	ok := len(id) >= 8 && len(id) <= 80 && !strings.HasPrefix(id, hashMark)
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || i > 0 && (c == '-' || c == '_')
	}
	return ok
}

// isSafe tells whether [Safe] gives such a name.
func isSafe(name string) bool {
	hash, hashed := strings.CutPrefix(name, hashMark)
	return plain(name) || hashed && len(hash) == 2*digest.Size && strings.Trim(hash, "0123456789abcdef") == ""
}

// sessionFile takes the name of a file in the sessions' folder apart: the session,
// as [Safe] names it, and what sort of file it is by the rest of its name. ok is
// false for a name that is none of ours.
func sessionFile(name string) (session string, k kind, ok bool) {
	session, ext, _ := strings.Cut(name, ".")
	if !isSafe(session) {
		return "", 0, false
	}
	switch ext = "." + ext; ext {
	case storeExt:
		return session, aStore, true
	case ephemeralExt:
		return session, aCount, true
	default:
		if k, ok = storeFile(ext); !ok {
			return "", 0, false
		}
		return session, k, true
	}
}

// switchFile tells whether a name is one of a switch.
func switchFile(name string) bool {
	session, is := strings.CutPrefix(name, offPrefix)
	return name == offFile || is && isSafe(session)
}

// Store is the path of a session's store.
func (d Dir) Store(sessionID string) string { return d.session(sessionID, storeExt) }

// LockPath is the side lock of a session's store.
func (d Dir) LockPath(sessionID string) string { return d.session(sessionID, lockExt) }

func (d Dir) session(id, ext string) string { return filepath.Join(d.sessions(), Safe(id)+ext) }

// Sessions is the folder of the sessions' files.
func (d Dir) Sessions() string { return d.sessions() }

func (d Dir) sessions() string { return filepath.Join(d.path, sessionsDir) }

// History is the path of the store of what commands did before, of all sessions.
func (d Dir) History() string { return filepath.Join(d.path, historyName+storeExt) }

// HistoryKey is the path of the key of its hashes.
func (d Dir) HistoryKey() string { return filepath.Join(d.path, historyName+keyExt) }

// HistoryLock is its side lock.
func (d Dir) HistoryLock() string { return filepath.Join(d.path, historyName+lockExt) }

// historyFile tells what sort of file a name of the history's is.
func historyFile(name string) (k kind, ok bool) {
	switch rest, is := strings.CutPrefix(name, historyName); {
	case !is:
		return 0, false
	case rest == storeExt:
		return aHistory, true
	case rest == keyExt:
		return aKey, true
	default:
		return storeFile(rest)
	}
}

// Cursor is the path of what was exported to a sort of target, named in one lower-case
// word; CursorBeginning is where it is written first, and CursorLock its side lock.
func (d Dir) Cursor(target string) string {
	return filepath.Join(d.path, cursorName+"-"+target+cursorExt)
}

// CursorBeginning is where a cursor is written before it takes the place of the old one.
func (d Dir) CursorBeginning(target string) string { return d.Cursor(target) + beginExt }

// CursorLock is the side lock of a cursor.
func (d Dir) CursorLock(target string) string {
	return filepath.Join(d.path, cursorName+"-"+target+lockExt)
}

// cursorFile tells what sort of file a name of a cursor's is.
func cursorFile(name string) (k kind, ok bool) {
	rest, is := strings.CutPrefix(name, cursorName+"-")
	target, ext, _ := strings.Cut(rest, ".")
	if !is || target == "" || strings.Trim(target, "abcdefghijklmnopqrstuvwxyz") != "" {
		return 0, false
	}
	switch ext = "." + ext; ext {
	case cursorExt, cursorExt + beginExt:
		return aCursor, true
	case lockExt:
		return aLock, true
	}
	return 0, false
}

// storeFile tells what sort of file it is that lies beside a store, by the rest of
// its name behind the store's.
func storeFile(rest string) (k kind, ok bool) {
	switch rest {
	case lockExt:
		return aLock, true
	case storeExt + beginExt:
		return aBeginning, true
	}
	stamp, is := strings.CutPrefix(rest, storeExt+asideMark)
	_, err := time.Parse(asideStamp, stamp)
	return anAside, is && err == nil
}

// AsideName is the name under which a broken store is set aside.
func AsideName(store string, now time.Time) string {
	return store + asideMark + now.UTC().Format(asideStamp)
}

// Asides are the paths under which a store was set aside.
func Asides(store string) []string {
	return pathsIn(filepath.Dir(store), filepath.Base(store)+asideMark)
}

// LastAside is when a store of this folder was last set aside; zero for never.
func (d Dir) LastAside(store string) time.Time {
	var last time.Time
	if d.made {
		return last
	}
	for _, p := range Asides(store) {
		at, err := time.Parse(asideStamp, strings.TrimPrefix(p, store+asideMark))
		if err == nil && at.After(last) {
			last = at
		}
	}
	return last
}
