package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/host"
)

// ErrNotOurs is returned for a file that stopgate did not make, by its name or its
// form. The folder that a person names can hold anything; only what is ours is ever
// changed or removed in it, and no folder but an empty one.
var ErrNotOurs = errors.New("not made by stopgate")

// kind is a sort of file of our making. Each has a form, so that a name alone never
// makes a file ours.
type kind int

const (
	aStore kind = iota
	aHistory
	aKey
	anAside
	aBeginning
	aLock
	aCount
	aSwitch
	aLog
	aCursor
)

// form tells by a file's bytes whether it can be ours.
func (k kind) form(r io.Reader, size int64) bool {
	switch k {
	case aStore:
		return isStore(r, sessionRow)
	case aHistory:
		return isStore(r, HistoryRow)
	case aKey:
		return begins(head(r, len(HistoryKeyBegin)), HistoryKeyBegin)
	case anAside:
		return isBolt(head(r, boltHead))
	case aBeginning:
		return size <= boltHead && isBolt(head(r, boltHead))
	case aLock:
		return size == 0
	case aCount:
		return isCount(r)
	case aSwitch:
		return size <= maxSwitch && isSwitch(head(r, maxSwitch))
	case aLog:
		return isLog(head(r, maxBegin))
	case aCursor:
		return begins(head(r, len(CursorBegin)), CursorBegin)
	}
	return false
}

// kindOf tells by its place and name what sort of file of ours a path is.
func (d Dir) kindOf(path string) (kind, bool) {
	dir, name := filepath.Split(path)
	switch filepath.Clean(dir) {
	case filepath.Clean(d.sessions()):
		_, k, ok := sessionFile(name)
		return k, ok
	case filepath.Clean(d.path):
		if name == logFile || name == logFile+olderLog {
			return aLog, true
		}
		if k, ok := historyFile(name); ok {
			return k, true
		}
		if k, ok := cursorFile(name); ok {
			return k, true
		}
		return aSwitch, switchFile(name)
	}
	return 0, false
}

// ours tells whether a path is a file of our making, by its name and its form. A
// link, a folder or a pipe never is.
func (d Dir) ours(path string) bool {
	k, ok := d.kindOf(path)
	if !ok {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, info, err := host.Files{}.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // only read
	return k.form(file, info.Size())
}

// Files are all files of our making in the folder, of every session and our own: what
// an uninstallation may remove.
func (d Dir) Files() []string {
	var all []string
	for _, dir := range []string{d.sessions(), d.path} {
		for _, path := range pathsIn(dir, "") {
			if d.ours(path) {
				all = append(all, path)
			}
		}
	}
	return all
}

// Folders are the folders that hold our files, the inner one first: to be removed only
// when they are empty, and only where they were made for stopgate.
func (d Dir) Folders() []string {
	var all []string
	for _, dir := range []string{d.sessions(), d.path} {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			all = append(all, dir)
		}
	}
	return all
}

// Remove removes a file of our making; another gives [ErrNotOurs].
func (d Dir) Remove(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	if !d.ours(path) {
		return fmt.Errorf("%s: %w", path, ErrNotOurs)
	}
	return os.Remove(path)
}

// head is the beginning of a file, at most n bytes.
func head(r io.Reader, n int) []byte {
	data, _ := io.ReadAll(io.LimitReader(r, int64(n))) // what can be read tells enough
	return data
}

// boltHead is how much of a store is looked at for bbolt's mark: the second of its
// first two pages begins there at the latest, and has it in its first bytes.
const boltHead = 64<<10 + 4096

// isBolt tells whether a file begins like one of bbolt's: one of its first two pages
// bears the mark, whatever became of the other. A broken file counts where nothing
// but zeros is left of it.
func isBolt(data []byte) bool {
	if len(bytes.Trim(data, "\x00")) == 0 {
		return true
	}
	const mark, at = 0xED0CDAED, 16
	for _, page := range []int{0, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10} {
		if len(data) >= page+at+4 && binary.NativeEndian.Uint32(data[page+at:]) == mark {
			return true
		}
	}
	return false
}

// sessionRow is how the one row that every session's store has begins, its key and
// its value, and HistoryRow how that of the history does. Other programs have stores
// of bbolt too.
const (
	sessionRow = `session{"session_id":`
	HistoryRow = `historyof stopgate`
)

// isStore tells whether a file is a store of ours: bbolt's, and with that row.
func isStore(r io.Reader, row string) bool {
	buf := make([]byte, boltHead)
	n, err := io.ReadFull(r, buf)
	if n == 0 || !isBolt(buf[:n]) {
		return false
	}
	for {
		if bytes.Contains(buf[:n], []byte(row)) {
			return true
		}
		if err != nil {
			return false
		}
		// The row can lie across two pieces.
		kept := copy(buf, buf[n-len(row):n])
		n, err = io.ReadFull(r, buf[kept:])
		n += kept
	}
}

// isCount tells whether a file is one of [Dir.CountEphemeral]: nothing but dots.
func isCount(r io.Reader) bool {
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		if len(bytes.Trim(buf[:n], ".")) > 0 {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// maxSwitch is more than any switch of ours has in it.
const maxSwitch = 64

// isSwitch tells whether this is what [Dir.SwitchOff] writes: nothing, or a time.
func isSwitch(data []byte) bool {
	text := strings.TrimSpace(string(data))
	_, err := time.Parse(time.RFC3339, text)
	return text == "" || err == nil
}

// logBegins are how a line of the log begins, of this version and of former ones.
var logBegins = []string{`{"time":"`, `{"level":"`}

// maxBegin is more than the longest of them.
const maxBegin = 16

// isLog tells whether this begins like the log, as far as it has been written.
func isLog(data []byte) bool {
	return slices.ContainsFunc(logBegins, func(begin string) bool {
		n := min(len(data), len(begin))
		return string(data[:n]) == begin[:n]
	})
}

// CursorBegin is how a file that tells what was exported begins.
const CursorBegin = `{"stopgate":"export",`

// HistoryKeyBegin is how the key of the history's hashes begins.
const HistoryKeyBegin = "stopgate history key "

// begins tells whether a file begins like this, as far as it has been written.
func begins(data []byte, like string) bool { return strings.HasPrefix(like, string(data)) }

// nothingAt tells whether a name is free: a link is something, wherever it leads.
func nothingAt(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
