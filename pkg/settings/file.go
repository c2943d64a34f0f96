package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/gofrs/flock"

	"stopgate/pkg/host"
	"stopgate/pkg/lazy"
)

const (
	// maxSize bounds what is read into memory; a settings file has a few kB.
	maxSize = 16 << 20
	// maxLinks is how many links in a row are followed.
	maxLinks = 40
	// attempts is how often an edit starts again because somebody else wrote
	// the file meanwhile.
	attempts = 5

	backupStamp = "20060102T150405.000Z"
)

// backupForm is how the name of a backup ends.
const backupForm = `\.stopgate-backup-[0-9]{8}T[0-9]{6}\.[0-9]{3}Z$`

// The names of what is left behind.
var (
	backupName = lazy.Regexp(backupForm)
	lockName   = lazy.Regexp(`^settings-[0-9a-f]{16}\.lock$`)
	recordName = lazy.Regexp(`^settings-[0-9a-f]{16}\.record\.json$`)
	keptName   = lazy.Regexp(`^settings-[0-9a-f]{16}-.*` + backupForm)
	tempName   = lazy.Regexp(`^\.stopgate-[0-9]+\.tmp$`)
)

// Options are the circumstances of an edit.
type Options struct {
	// Dir is the folder for locks and records, never the user's own. It is
	// made, with mode 0700, when it does not exist. Required.
	Dir string
	// BackupDir is the folder for backups; "" is beside the file.
	BackupDir string
	// Keep is how many backups of a file stay, the newest; 0 is 3.
	Keep int
	// Wait is how long to wait for another edit of the same file to end; 0 is
	// 10 seconds.
	Wait time.Duration
	// StatusLine is what becomes of the status line.
	StatusLine StatusLine
	// DryRun computes the result and writes nothing at all, also no lock.
	DryRun bool
	// Now is the clock that names the backups; nil is time.Now.
	Now func() time.Time
}

// Result is what an edit did, or with DryRun would do.
type Result struct {
	// Path is the file as the caller named it; Target is where its bytes are
	// after all links.
	Path, Target string
	// Old and New are the bytes before and after; nil is no file.
	Old, New []byte
	// Changed is false when nothing was written.
	Changed bool
	// Restored says that Uninstall gave back the very bytes from before the first
	// Install: nobody else had written the file since, and nothing of ours had been
	// in it before.
	Restored bool
	// Backup is the file that holds Old now; "" when there was nothing to keep.
	Backup string
	// Made are the folders that had to be made for the file, the outermost
	// first.
	Made []string
}

// ErrBusy is wrapped by the error of an edit that another one held up for
// longer than Options.Wait.
var ErrBusy = errors.New("another edit of it is under way")

// Install merges the wanted entries into a settings file: [Merge], with the
// file replaced whole. It keeps the [Record] of the merge in Options.Dir, for [Uninstall].
func Install(path string, want []Entry, ours Ours, opts Options) (Result, error) {
	return edit(path, func(target string, old []byte) ([]byte, error) {
		name := recordPath(opts.Dir, target)
		prev := loadRecord(name)
		out, rec, err := merge(old, want, ours, prev, opts.StatusLine)
		if err != nil || opts.DryRun {
			return out, err
		}
		// Before the file itself: a record of a merge that never came about
		// fits no file, the lack of one would lose the way back.
		return out, saveRecord(name, rec)
	}, nil, opts)
}

// merge is [Merge], and the status line beside it.
func merge(old []byte, want []Entry, ours Ours, prev *Record, line StatusLine) ([]byte, Record, error) {
	out, rec, err := Merge(old, want, ours, prev)
	if err != nil {
		return nil, rec, err
	}
	if !prev.left(old) { // else it is what stood there before
		rec.Original = line.take(rec.Original, prev.line())
	}
	if out, rec.Line, err = line.put(out, prev.line()); err != nil {
		return nil, rec, err
	}
	rec.After = sum(out)
	return out, rec, nil
}

// line is what the record remembers of the status line.
func (r *Record) line() *lineRecord {
	if r == nil {
		return nil
	}
	return r.Line
}

// Uninstall takes our entries out of a settings file: [Remove] by way of
// [Edit], with the record of the last [Install]. A file that Install made, and
// that nobody else has written since, is removed. Without a record, or without
// a file, it does what can be done.
func Uninstall(path string, ours Ours, opts Options) (Result, error) {
	restored, name := false, ""
	res, err := edit(path, func(target string, old []byte) ([]byte, error) {
		name = recordPath(opts.Dir, target)
		prev := loadRecord(name)
		restored = prev.left(old) && !prev.Derived
		if prev.left(old) {
			return prev.Original, nil
		}
		out, err := Remove(old, ours, prev)
		if err != nil {
			return nil, err
		}
		return opts.StatusLine.take(out, prev.line()), nil
	}, func() error {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("record of %s: %w", path, err)
		}
		return nil
	}, opts)
	res.Restored = err == nil && restored
	return res, err
}

// Files lists what edits with these options left behind, by the names and the forms
// that they have: locks, records and backups. Backups that lie beside the files
// that they are of are not among them.
func Files(opts Options) []string {
	var all []string
	entries, _ := os.ReadDir(opts.Dir) // a folder that cannot be read has none
	for _, e := range entries {
		path := filepath.Join(opts.Dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case lockName().MatchString(e.Name()) && info.Size() == 0,
			recordName().MatchString(e.Name()) && loadRecord(path) != nil,
			tempName().MatchString(e.Name()):
			all = append(all, path)
		}
	}
	if opts.BackupDir != "" {
		entries, _ = os.ReadDir(opts.BackupDir)
		for _, e := range entries {
			if keptName().MatchString(e.Name()) && e.Type().IsRegular() {
				all = append(all, filepath.Join(opts.BackupDir, e.Name()))
			}
		}
	}
	return all
}

// Read returns the bytes of a settings file by the rules of [Install]: nil for a
// missing one, an error for one that is no regular file or has more than 16 MB.
func Read(path string) ([]byte, error) {
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	data, _, err := read(target)
	return data, err
}

// edit replaces the bytes of a settings file by what change makes of them.
//
// change gets nil for a missing file and may return nil to have the file
// removed. It runs under a lock that keeps other edits of the same file out,
// and again if a program that knows no such lock writes the file meanwhile, so
// it must not have effects that a second run would spoil. after runs under the same
// lock, once the file is as it should be.
//
// A link is followed, also to a target that does not exist yet, and stays. The
// target is replaced by a rename within its folder: it is never half written,
// and keeps its mode and owner (hard links to it keep the old bytes). New files
// have mode 0600, new folders 0700. Old bytes are kept in a backup.
//
// An error names the path and leaves the file as it was. A file or folder that
// is read-only is an error too, even where a rename would be possible: somebody
// meant it.
func edit(path string, change func(target string, old []byte) ([]byte, error), after func() error, opts Options) (Result, error) {
	res := Result{Path: path}
	target, err := resolve(path)
	if err != nil {
		return res, err
	}
	res.Target = target
	if !opts.DryRun {
		unlock, err := lock(target, opts)
		if err != nil {
			return res, fmt.Errorf("%s: %w", path, err)
		}
		defer unlock()
	}
	for try := 0; ; try++ {
		old, info, err := read(target)
		if err != nil {
			return res, err
		}
		res.Old, res.New = old, old
		next, err := change(target, old)
		if err != nil {
			return res, fmt.Errorf("%s: %w", path, err)
		}
		if (next == nil) == (old == nil) && bytes.Equal(next, old) {
			break
		}
		res.New, res.Changed = next, true
		if opts.DryRun {
			if err := ready(target, info); err != nil {
				return res, fmt.Errorf("%s: %w", path, err)
			}
			return res, nil
		}
		again, err := write(&res, info, opts)
		if err != nil {
			res.New, res.Changed = old, false
			return res, fmt.Errorf("%s: %w", path, err)
		}
		if !again {
			break
		}
		if try+1 == attempts {
			res.New, res.Changed = old, false
			return res, fmt.Errorf("%s: some other program keeps writing it; nothing was changed", path)
		}
	}
	if after != nil && !opts.DryRun {
		return res, after()
	}
	return res, nil
}

// write puts res.New in the place of res.Old; again when the file is no longer
// res.Old. info is nil for a missing file.
func write(res *Result, info fs.FileInfo, opts Options) (again bool, err error) {
	target := res.Target
	dir := filepath.Dir(target)
	made, err := host.MakeDirs(dir)
	res.Made = append(res.Made, made...)
	defer func() {
		if err != nil {
			for i := len(res.Made) - 1; i >= 0; i-- {
				_ = os.Remove(res.Made[i]) // only if it is empty
			}
			res.Made = nil
		}
	}()
	if err != nil {
		return false, err
	}
	if err := writable(target, dir, info); err != nil {
		return false, err
	}

	temp := ""
	if res.New != nil {
		mode := fs.FileMode(0o600)
		if info != nil {
			mode = info.Mode().Perm()
		}
		if temp, err = host.Begin(dir, res.New, mode, info); err != nil {
			return false, err
		}
	}
	backup := ""
	undo := func() {
		if temp != "" {
			_ = os.Remove(temp)
		}
		if backup != "" {
			_ = os.Remove(backup)
		}
	}
	if res.Old != nil {
		if backup, err = writeBackup(target, res.Old, opts); err != nil {
			undo()
			return false, err
		}
	}
	// Programs that do not know our lock may have written since it was read.
	now, _, err := read(target)
	if err != nil {
		undo()
		return false, err
	}
	if (now == nil) != (res.Old == nil) || !bytes.Equal(now, res.Old) {
		undo()
		return true, nil
	}
	if temp != "" {
		err = host.Finish(temp, target, res.New)
	} else {
		err = os.Remove(target)
	}
	if err != nil {
		undo()
		return false, err
	}
	host.SyncDir(dir)
	res.Backup = backup
	prune(target, opts)
	return false, nil
}

// resolve follows the links of path's folder and of path itself to the file
// that holds, or will hold, the bytes.
func resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("settings file: no path given")
	}
	at, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	for range maxLinks {
		dir, err := realDir(filepath.Dir(at))
		if err != nil {
			return "", fmt.Errorf("%s: %w; nothing was changed", path, err)
		}
		at = filepath.Join(dir, filepath.Base(at))
		info, err := os.Lstat(at)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return at, nil //nolint:nilerr // errors come back when it is read
		}
		to, err := os.Readlink(at)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		at = to
	}
	return "", fmt.Errorf("%s: more than %d links in a row", path, maxLinks)
}

// realDir resolves the links in as much of a folder's path as exists. A link that
// leads nowhere is an error: no folder can be made there.
func realDir(dir string) (string, error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real, nil
	}
	if to, err := os.Readlink(dir); err == nil {
		return "", fmt.Errorf("the folder %s is a link to %s, which cannot be entered", dir, to)
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return dir, nil
	}
	real, err := realDir(parent)
	return filepath.Join(real, filepath.Base(dir)), err
}

// read returns nil, nil, nil for a missing file.
func read(target string) ([]byte, fs.FileInfo, error) {
	f, info, err := host.Files{}.Open(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case errors.Is(err, host.ErrNotRegular):
		return nil, nil, fmt.Errorf("%s: is no regular file", target)
	case err != nil:
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxSize {
		return nil, nil, fmt.Errorf("%s: more than %d MB is no settings file", target, maxSize>>20)
	}
	return data, info, nil
}

// ready tells what will keep a file from being written, as far as that shows
// without trying: a file or folder that is read-only, or another's.
func ready(target string, info fs.FileInfo) error {
	dir := filepath.Dir(target)
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	if err := writable(target, dir, info); err != nil {
		return err
	}
	if !host.Writable(dir) {
		return fmt.Errorf("the folder %s cannot be written to; nothing was changed", dir)
	}
	return nil
}

// writable refuses a file or folder that was made read-only.
func writable(target, dir string, info fs.FileInfo) error {
	if d, err := os.Stat(dir); err != nil {
		return err
	} else if d.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("the folder %s is read-only; nothing was changed", dir)
	}
	if info == nil {
		return nil
	}
	if info.Mode().Perm()&0o222 == 0 {
		return errors.New("the file is read-only; nothing was changed")
	}
	if err := host.TryWrite(target); err != nil {
		return fmt.Errorf("the file cannot be written; nothing was changed: %w", err)
	}
	return nil
}

func lock(target string, opts Options) (unlock func(), err error) {
	if opts.Dir == "" {
		return nil, errors.New("no folder given for the lock")
	}
	if _, err := host.MakeDirs(opts.Dir); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	wait := opts.Wait
	if wait == 0 {
		wait = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	l := flock.New(filepath.Join(opts.Dir, key(target)+".lock"), flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, 10*time.Millisecond)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w and did not end within %v", ErrBusy, wait)
	}
	if err == nil && !ok {
		err = ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return func() { _ = l.Close() }, nil
}

// key names a target in a folder for many targets.
func key(target string) string { return "settings-" + sum([]byte(target))[:16] }

func recordPath(dir, target string) string { return filepath.Join(dir, key(target)+".record.json") }

// loadRecord returns nil when there is none to go by.
func loadRecord(name string) *Record {
	data, _, err := read(name)
	if err != nil || data == nil {
		return nil
	}
	var rec Record
	if json.Unmarshal(data, &rec) != nil {
		return nil
	}
	return &rec
}

func saveRecord(name string, rec Record) error {
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if old, _, err := read(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := host.Replace(name, data, 0o600); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// backupBase is the folder and the start of the names of a target's backups.
func backupBase(target string, opts Options) (dir, base string) {
	if opts.BackupDir == "" {
		return filepath.Dir(target), filepath.Base(target)
	}
	return opts.BackupDir, key(target) + "-" + filepath.Base(target)
}

func writeBackup(target string, data []byte, opts Options) (string, error) {
	dir, base := backupBase(target, opts)
	if _, err := host.MakeDirs(dir); err != nil {
		return "", fmt.Errorf("backup: %w", err)
	}
	now := time.Now
	if opts.Now != nil {
		now = opts.Now
	}
	at := now().UTC()
	// Behind the newest one, whatever the clock says: the order of the names is
	// the order in which old backups leave.
	if all, err := backups(target, opts); err == nil && len(all) > 0 {
		newest := all[len(all)-1]
		if last, err := time.Parse(backupStamp, newest[len(newest)-len(backupStamp):]); err == nil && !at.After(last) {
			at = last.Add(time.Millisecond)
		}
	}
	for ; ; at = at.Add(time.Millisecond) {
		name := filepath.Join(dir, base+".stopgate-backup-"+at.Format(backupStamp))
		err := host.Make(name, data)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("backup: %w", err)
		}
		return name, nil
	}
}

func backups(target string, opts Options) ([]string, error) {
	dir, base := backupBase(target, opts)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		at := backupName().FindStringIndex(e.Name())
		if at != nil && e.Name()[:at[0]] == base && e.Type().IsRegular() {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	sort.Strings(all) // the stamp sorts by time
	return all, nil
}

// prune removes the oldest backups. One too many is no reason to fail an edit
// that is done.
func prune(target string, opts Options) {
	keep := opts.Keep
	if keep <= 0 {
		keep = 3
	}
	all, err := backups(target, opts)
	if err != nil {
		return
	}
	for len(all) > keep {
		_ = os.Remove(all[0])
		all = all[1:]
	}
}
