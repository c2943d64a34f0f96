// Package state is stopgate's own folder: where it is, the off switch, the count
// of ephemeral events, the locks, the log and the sweeping of what nobody uses.
// What is inside a session's store is the ledger's business, not this package's.
package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stopgate/pkg/host"
)

// Names in the environment.
const (
	EnvDir     = "STOPGATE_STATE_DIR"
	EnvDisable = "STOPGATE_DISABLE"
	EnvKeep    = "STOPGATE_KEEP"
	EnvLog     = "STOPGATE_LOG"
)

// ErrNoFolder is returned by [Find] when no usable place for the folder exists.
var ErrNoFolder = errors.New("no usable state folder")

// Dir is the state folder. It may not exist yet.
type Dir struct {
	path string
	// home is the person's home folder, where the folder lies in it.
	home string
	// others tells that this home is another's, in which root makes and writes nothing.
	others bool
	// found tells that the folder was there already, or is there now; made, that it was
	// not, so that nothing of old is in it.
	found, made bool
}

// Path is where the folder is.
func (d Dir) Path() string { return d.path }

// Others tells that the folder belongs into the home of somebody else, where this is
// root: [Find] takes the one in the temp folder instead.
func (d Dir) Others() bool { return d.others }

// At is the state folder at a known place.
func At(path string) Dir { return Dir{path: path} }

// Locate says where the state folder belongs, without touching the disk:
// $STOPGATE_STATE_DIR, else $XDG_STATE_HOME/stopgate, else
// ~/.local/state/stopgate (Windows: %LOCALAPPDATA%\stopgate). A relative path is
// none: it would lead elsewhere from each folder. It is "" when the environment
// names no home.
func Locate(env func(string) string) string {
	if dir := env(EnvDir); filepath.IsAbs(dir) {
		return dir
	}
	if home := host.StateHome(env); home != "" {
		return filepath.Join(home, "stopgate")
	}
	return ""
}

// Place is the folder where it belongs, whether it can be used or not; see [Locate].
func Place(env func(string) string) Dir {
	d := Dir{path: Locate(env)}
	if home := host.Home(env); d.path == home || home != "" && strings.HasPrefix(d.path, filepath.Clean(home)+string(filepath.Separator)) {
		d.home = home
		d.others = env(EnvDir) == "" && othersHome(filepath.Clean(home))
	}
	return d
}

// Find returns the state folder to use, created where it is missing: the located
// one, or stopgate-<uid> in the temp folder where that cannot be written, or lies in
// the home of somebody else and this is root. The second one is taken only if it is ours
// and private.
func Find(env func(string) string) (Dir, error) {
	d := Place(env)
	if d.usable() {
		return d, nil
	}
	d = At(Fallback())
	if err := os.Mkdir(d.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return Dir{}, fmt.Errorf("%w: %w", ErrNoFolder, err)
	}
	if err := private(d.path); err != nil {
		return Dir{}, fmt.Errorf("%w: %s: %w", ErrNoFolder, d.path, err)
	}
	if !d.usable() {
		return Dir{}, fmt.Errorf("%w: cannot write to %s", ErrNoFolder, d.path)
	}
	return d, nil
}

// Make creates the folder, where it is missing, and the one of the sessions in it.
// Nobody else makes either. It makes no home for them, and not again what [Find] has
// found: who took that away meanwhile wants no traces there.
func (d Dir) Make() error {
	gone := func(dir string) error { return &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrNotExist} }
	switch {
	case d.path == "":
		return ErrNoFolder
	case isFolder(d.sessions()):
		return nil
	case d.found:
		return gone(d.sessions())
	case d.others:
		return &fs.PathError{Op: "mkdir", Path: d.path, Err: fs.ErrPermission}
	case d.home != "" && !isFolder(d.home):
		return gone(d.home)
	}
	return os.MkdirAll(d.sessions(), 0o700) // an error, too, where a file lies in the way
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// usable makes the folder, where it is missing, and tells whether it can be used.
func (d *Dir) usable() bool {
	d.made = d.path == "" || !isFolder(d.sessions())
	if d.others || d.made && d.Make() != nil {
		return false
	}
	d.found = true
	return host.Writable(d.sessions())
}

// Existing returns the folder that [Find] would return, without creating one;
// for programs that only read.
func Existing(env func(string) string) Dir {
	d := Place(env)
	fallback := Fallback()
	if d.others && private(fallback) == nil {
		return At(fallback)
	}
	if d.path != "" && (isFolder(d.sessions()) || d.makeable()) {
		return d
	}
	if d.path == "" || private(fallback) == nil {
		return At(fallback)
	}
	return d
}

// makeable tells whether [Dir.Make] would succeed, as far as that shows without
// trying.
func (d Dir) makeable() bool {
	if d.others || d.home != "" && !isFolder(d.home) {
		return false
	}
	for at := d.sessions(); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil {
			return info.IsDir() && host.Writable(at)
		}
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return false // a link that leads nowhere, or what cannot be looked at
		}
	}
}

// Fallback is the place in the temp folder, which others may share, and on Windows
// nobody does.
func Fallback() string {
	if uid := os.Getuid(); uid >= 0 {
		return filepath.Join(os.TempDir(), "stopgate-"+strconv.Itoa(uid))
	}
	return filepath.Join(os.TempDir(), "stopgate")
}

// Obstacle tells what lies in the place of the folder, or of the sessions' in it,
// and keeps a folder from being there or from being read; nil for nothing.
func (d Dir) Obstacle() error {
	for _, dir := range []string{d.path, d.sessions()} {
		info, err := os.Stat(dir)
		if to, linkErr := os.Readlink(dir); linkErr == nil && err != nil {
			return fmt.Errorf("%s is a link to %s, which cannot be entered", dir, to)
		}
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
		if _, err := os.ReadDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// CountEphemeral counts one ephemeral event of a session, by one byte at the end
// of a file of its own: no lock, no store.
func (d Dir) CountEphemeral(sessionID string) error {
	if d.others {
		if d = At(Fallback()); private(d.path) != nil {
			return nil //nolint:nilerr // nothing of root was recorded yet, and who only looks makes nothing
		}
	}
	if d.path == "" {
		return ErrNoFolder
	}
	path := d.session(sessionID, ephemeralExt)
	err := host.AppendByte(path, '.')
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.Make(); err == nil {
			err = host.AppendByte(path, '.')
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
	for _, path := range d.sessionFiles(aCount) {
		if info, err := os.Stat(path); err == nil {
			events += info.Size()
			sessions++
		}
	}
	return events, sessions
}

// Stores lists the paths of all sessions' stores.
func (d Dir) Stores() []string { return d.sessionFiles(aStore) }

// sessionFiles are what lies in the sessions' folder under the names of a kind.
func (d Dir) sessionFiles(of kind) []string {
	var paths []string
	for _, path := range pathsIn(d.sessions(), "") {
		if _, k, ok := sessionFile(filepath.Base(path)); ok && k == of {
			paths = append(paths, path)
		}
	}
	return paths
}

// pathsIn gives the paths in a folder whose names begin like this, in their
// order. A pattern would not do: the folder's own name may hold any character.
func pathsIn(dir, begin string) []string {
	entries, _ := os.ReadDir(dir) // a folder that cannot be read has none
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begin) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}
