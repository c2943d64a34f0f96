// Package state is stopgate's own folder: where it is, the off switch, the count
// of ephemeral events, the locks, the log and the sweeping of what nobody uses.
// What is inside a session's store is the ledger's business, not this package's.
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Names in the environment.
const (
	EnvDir     = "STOPGATE_STATE_DIR"
	EnvDisable = "STOPGATE_DISABLE"
	EnvKeep    = "STOPGATE_KEEP"
	EnvLog     = "STOPGATE_LOG"
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
)

// ErrNoFolder is returned by [Find] when no usable place for the folder exists.
var ErrNoFolder = errors.New("no usable state folder")

// Dir is the state folder. It may not exist yet.
type Dir struct{ path string }

// Path is where the folder is.
func (d Dir) Path() string { return d.path }

// At is the state folder at a known place.
func At(path string) Dir { return Dir{path} }

// Locate says where the state folder belongs, without touching the disk:
// $STOPGATE_STATE_DIR, else $XDG_STATE_HOME/stopgate, else
// ~/.local/state/stopgate (Windows: %LOCALAPPDATA%\stopgate). A relative path is
// none: it would lead elsewhere from each folder. It is "" when the environment
// names no home.
func Locate(env func(string) string) string {
	if dir := env(EnvDir); filepath.IsAbs(dir) {
		return dir
	}
	if runtime.GOOS == "windows" {
		if local := env("LOCALAPPDATA"); local != "" {
			return filepath.Join(local, "stopgate")
		}
		return ""
	}
	if xdg := env("XDG_STATE_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "stopgate")
	}
	if home := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "stopgate")
	}
	return ""
}

// Find returns the state folder to use, created where it is missing: the located
// one, or stopgate-<uid> in the temp folder where that cannot be written. The
// second one is taken only if it is ours and private.
func Find(env func(string) string) (Dir, error) {
	located := Locate(env)
	if located != "" && usable(located) {
		return Dir{located}, nil
	}
	fallback := Fallback()
	if err := os.Mkdir(fallback, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return Dir{}, fmt.Errorf("%w: %w", ErrNoFolder, err)
	}
	if err := private(fallback); err != nil {
		return Dir{}, fmt.Errorf("%w: %s: %w", ErrNoFolder, fallback, err)
	}
	if !usable(fallback) {
		return Dir{}, fmt.Errorf("%w: cannot write to %s", ErrNoFolder, fallback)
	}
	return Dir{fallback}, nil
}

// Existing returns the folder that [Find] would return, without creating one;
// for programs that only read.
func Existing(env func(string) string) Dir {
	located := Locate(env)
	if located != "" {
		if info, err := os.Stat(filepath.Join(located, sessionsDir)); err == nil && info.IsDir() {
			return Dir{located}
		}
	}
	fallback := Fallback()
	if private(fallback) == nil {
		return Dir{fallback}
	}
	if located == "" {
		return Dir{fallback}
	}
	return Dir{located}
}

// Fallback is the place in the temp folder.
func Fallback() string {
	return filepath.Join(os.TempDir(), "stopgate-"+strconv.Itoa(os.Getuid()))
}

// Obstacle tells what lies in the place of the folder, or of the sessions' in it,
// and keeps a folder from being there; nil for nothing.
func (d Dir) Obstacle() error {
	for _, dir := range []string{d.path, filepath.Join(d.path, sessionsDir)} {
		info, err := os.Stat(dir)
		if to, linkErr := os.Readlink(dir); linkErr == nil && err != nil {
			return fmt.Errorf("%s is a link to %s, which cannot be entered", dir, to)
		}
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
	}
	return nil
}

func usable(dir string) bool {
	sessions := filepath.Join(dir, sessionsDir)
	if err := os.MkdirAll(sessions, 0o700); err != nil {
		return false
	}
	return writable(sessions)
}

// Disabled tells whether $STOPGATE_DISABLE switches stopgate off: by anything but
// nothing, 0, false, no and off.
func Disabled(env func(string) string) bool { return Disables(env(EnvDisable)) }

// Disables tells whether a value of that variable switches stopgate off.
func Disables(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// Off tells whether stopgate is switched off for a session: by the environment,
// by the file "off", or by the session's own switch. A switch can carry the time
// at which it ends.
func Off(env func(string) string, dir Dir, sessionID string, now time.Time) bool {
	if Disabled(env) {
		return true
	}
	if dir.path == "" {
		return false
	}
	return dir.switchedOff(offFile, now) || sessionID != "" && dir.switchedOff(offPrefix+Safe(sessionID), now)
}

func (d Dir) switchedOff(name string, now time.Time) bool {
	path := filepath.Join(d.path, name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false
	}
	if err != nil || !info.Mode().IsRegular() {
		return true // whatever lies there under that name, somebody wanted it off
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	until, err := time.Parse(time.RFC3339, strings.TrimSpace(string(data)))
	return err != nil || now.Before(until)
}

// OffUntil tells whether the switch of a session ("" for the general one) is
// set, and until when; a zero time is for ever.
func (d Dir) OffUntil(sessionID string, now time.Time) (until time.Time, off bool) {
	name := offName(sessionID)
	if !d.switchedOff(name, now) {
		return time.Time{}, false
	}
	data, _ := os.ReadFile(filepath.Join(d.path, name)) // the switch counts without a time
	until, _ = time.Parse(time.RFC3339, strings.TrimSpace(string(data)))
	return until, true
}

// SwitchOff sets the switch for a session, or the general one for "". A zero
// until is for ever.
func (d Dir) SwitchOff(sessionID string, until time.Time) error {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return err
	}
	text := ""
	if !until.IsZero() {
		text = until.UTC().Format(time.RFC3339) + "\n"
	}
	return os.WriteFile(filepath.Join(d.path, offName(sessionID)), []byte(text), 0o600)
}

// SwitchOn takes the switch away; it tells whether there was one.
func (d Dir) SwitchOn(sessionID string) (bool, error) {
	err := os.Remove(filepath.Join(d.path, offName(sessionID)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func offName(sessionID string) string {
	if sessionID == "" {
		return offFile
	}
	return offPrefix + Safe(sessionID)
}

// Safe is a session id as a file name: itself where it is a plain lower-case
// name, a hash otherwise. Two ids never share a name.
func Safe(id string) string {
	plain := len(id) >= 8 && len(id) <= 80 && !strings.HasPrefix(id, "x-")
	for i := 0; plain && i < len(id); i++ {
		c := id[i]
		plain = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || i > 0 && (c == '-' || c == '_')
	}
	if plain {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "x-" + hex.EncodeToString(sum[:16])
}

// Store is the path of a session's store.
func (d Dir) Store(sessionID string) string { return d.session(sessionID, storeExt) }

// LockPath is the side lock of a session's store.
func (d Dir) LockPath(sessionID string) string { return d.session(sessionID, lockExt) }

func (d Dir) session(id, ext string) string {
	return filepath.Join(d.path, sessionsDir, Safe(id)+ext)
}

// CountEphemeral counts one ephemeral event of a session, by one byte at the end
// of a file of its own: no lock, no store.
func (d Dir) CountEphemeral(sessionID string) error {
	path := d.session(sessionID, ephemeralExt)
	err := appendByte(path, '.')
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = appendByte(path, '.')
		}
	}
	return err
}

// Ephemeral is how many ephemeral events of a session were counted.
func (d Dir) Ephemeral(sessionID string) int64 {
	info, err := os.Stat(d.session(sessionID, ephemeralExt))
	if err != nil {
		return 0
	}
	return info.Size()
}

// EphemeralTotal is the count over all sessions, and over how many.
func (d Dir) EphemeralTotal() (events int64, sessions int) {
	for _, path := range list(filepath.Join(d.path, sessionsDir), "", ephemeralExt) {
		if info, err := os.Stat(path); err == nil {
			events += info.Size()
			sessions++
		}
	}
	return events, sessions
}

// Stores lists the paths of all sessions' stores.
func (d Dir) Stores() []string {
	return list(filepath.Join(d.path, sessionsDir), "", storeExt)
}

// list gives the paths in a folder whose names begin and end like this, in their
// order. A pattern would not do: the folder's own name may hold any character.
func list(dir, begin, end string) []string {
	entries, _ := os.ReadDir(dir) // a folder that cannot be read has none
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begin) && strings.HasSuffix(e.Name(), end) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// AsideName is the name under which a broken store is set aside.
func AsideName(store string, now time.Time) string {
	return store + asideMark + now.UTC().Format("20060102T150405.000Z")
}

// LastAside is when a store was last set aside; zero for never.
func LastAside(store string) time.Time {
	var last time.Time
	for _, p := range list(filepath.Dir(store), filepath.Base(store)+asideMark, "") {
		at, err := time.Parse("20060102T150405.000Z", strings.TrimPrefix(p, store+asideMark))
		if err == nil && at.After(last) {
			last = at
		}
	}
	return last
}
