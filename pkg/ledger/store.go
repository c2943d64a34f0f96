package ledger

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"stopgate/pkg/host"
	"stopgate/pkg/state"
)

// schema is the version of the store's layout. A store of a newer one is not
// touched.
const schema = 1

// openTimeout bounds the wait for bbolt's own lock, which nobody but a foreign
// program holds while the side lock is ours.
const openTimeout = 250 * time.Millisecond

// asideEvery is how often one session's store may be set aside.
const asideEvery = time.Hour

// guarded runs f and turns a panic into an error, and so a fault in the memory
// map of a file that was cut short (docs/reliability.md). The files that f opened
// by way of the opener are closed then: a panic leaves the store open, and its
// lock would keep this very process from setting the store aside.
func guarded(f func(opener) error) (err error) {
	var files []*os.File
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrBroken, p)
			for _, file := range files {
				unlock(file)
				_ = file.Close()
			}
		}
	}()
	return f(func(name string, flags int, mode os.FileMode) (*os.File, error) {
		file, err := host.OpenShared(name, flags, mode)
		if err == nil {
			files = append(files, file)
		}
		return file, err
	})
}

type opener func(name string, flags int, mode os.FileMode) (*os.File, error)

func open(path string, readOnly bool, opener opener) (*bolt.DB, error) {
	return bolt.Open(path, 0o600, &bolt.Options{
		OpenFile: opener,
		Timeout:  openTimeout,
		ReadOnly: readOnly,
		// The store is a cache against kill -9: the page cache survives that, and
		// a lost store costs one block more or less.
		NoSync:       true,
		NoGrowSync:   true,
		NoStatistics: true,
		FreelistType: bolt.FreelistMapType,
	})
}

// classify tells a broken store from one that cannot be had now.
func classify(path string, err error) error {
	if err == nil || errors.Is(err, ErrBroken) || errors.Is(err, ErrNewer) {
		return err
	}
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("%w: %s: %w", ErrBusy, path, err)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch),
		errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENODEV),
		strings.Contains(err.Error(), "file size too small"):
		return fmt.Errorf("%w: %s: %w", ErrBroken, path, err)
	}
	return err
}

// Read takes a snapshot. A missing store is an empty one. ids limits agents,
// launches, ends and charges to those, and leaves out the stops; nil reads
// everything. It waits for the lock until ctx is done.
func Read(ctx context.Context, dir state.Dir, sessionID string, ids []string) (Snapshot, error) {
	path := dir.Store(sessionID)
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Snapshot{}, nil
	} else if err == nil && info.Size() == 0 {
		return Snapshot{}, nil // broken: the next writer sets it aside
	}
	lock, err := state.Acquire(ctx, dir.LockPath(sessionID), true)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		// A reader without the right to lock still reads.
		lock, err = nil, nil
	}
	if err != nil {
		return Snapshot{}, busy(err)
	}
	if lock != nil {
		defer lock.Release()
	}
	return readStore(path, ids)
}

// ReadFile takes a whole snapshot of the store at path, under its side lock. It
// is for programs that only look: it creates nothing, and a store that is missing
// or has no bytes gives a zero snapshot.
func ReadFile(ctx context.Context, path string) (Snapshot, error) {
	lock, err := state.Share(ctx, strings.TrimSuffix(path, filepath.Ext(path))+".lock")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		// Without a lock file bbolt's own lock keeps writers out.
		lock, err = nil, nil
	}
	if err != nil {
		return Snapshot{}, busy(err)
	}
	if lock != nil {
		defer lock.Release()
	}
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return Snapshot{}, nil
	}
	return readStore(path, nil)
}

func busy(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}

func readStore(path string, ids []string) (Snapshot, error) {
	var snap Snapshot
	err := guarded(func(opener opener) error {
		if err := usable(path); err != nil {
			return err
		}
		db, err := open(path, true, opener)
		if err != nil {
			return err
		}
		err = db.View(func(tx *bolt.Tx) error {
			if err := checkSchema(tx); err != nil {
				return err
			}
			snap = load(tx, ids)
			return nil
		})
		return errors.Join(err, db.Close())
	})
	if err != nil {
		return Snapshot{}, classify(path, err)
	}
	return snap, nil
}

// Update runs change in one transaction on the session's store, creating it
// where it is missing, and commits unless change returns an error. A broken
// store is set aside as *.corrupt-<time> and begun afresh (see Session.Renewed),
// at most once an hour; then the error is [ErrAsideAgain]. It waits for the lock
// until ctx is done; a change that has begun is not interrupted.
func Update(ctx context.Context, dir state.Dir, sessionID string, now time.Time, change func(*Tx) error) error {
	lock, err := state.Acquire(ctx, dir.LockPath(sessionID), false)
	if errors.Is(err, fs.ErrNotExist) {
		if err = dir.Make(); err == nil {
			lock, err = state.Acquire(ctx, dir.LockPath(sessionID), false)
		}
	}
	if err != nil {
		return busy(err)
	}
	defer lock.Release()

	path := dir.Store(sessionID)
	renewed, begins := time.Time{}, missing(path)
	if begins {
		if last := dir.LastAside(dir.Store(sessionID)); now.Sub(last).Abs() < asideEvery {
			renewed = last // the one begun in place of a broken one did not come to be
		}
	}
	err = updateStore(path, sessionID, now, renewed, change)
	if begins && err != nil && !errors.Is(err, ErrBusy) {
		// What a full disk left of a beginning would count as broken later on.
		_ = os.Remove(path)
	}
	if begins || !errors.Is(err, ErrBroken) {
		return err
	}
	if last := dir.LastAside(dir.Store(sessionID)); !last.IsZero() && now.Sub(last).Abs() < asideEvery {
		return fmt.Errorf("%w: %w", ErrAsideAgain, err)
	}
	if renameErr := os.Rename(path, state.AsideName(path, now)); renameErr != nil {
		return errors.Join(err, renameErr)
	}
	err = updateStore(path, sessionID, now, now, change)
	if err != nil && !errors.Is(err, ErrBusy) {
		_ = os.Remove(path)
	}
	return err
}

// missing tells whether there is no store yet.
func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// changeError marks an error of the caller's change, which says nothing about
// the store.
type changeError struct{ error }

func (c changeError) Unwrap() error { return c.error }

// intact reads a store through, so that damage anywhere in it is found before
// anything is written, and not by the event that happens to need that page. A
// store of two thousand rows takes half a millisecond.
func intact(tx *bolt.Tx) error {
	end := int(tx.Size() / int64(tx.DB().Info().PageSize))
	const metaPages = 2 // one of them may be bad
	for id := metaPages; id < end; id++ {
		page, err := tx.Page(id)
		if err != nil || page == nil {
			return fmt.Errorf("%w: page %d: %w", ErrBroken, id, err)
		}
		if page.Type == "free" {
			continue
		}
		if strings.HasPrefix(page.Type, "unknown") || page.OverflowCount >= end-id {
			return fmt.Errorf("%w: page %d: its head makes no sense", ErrBroken, id)
		}
		id += page.OverflowCount
	}
	return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		last := []byte{}
		return b.ForEach(func(k, v []byte) error {
			if v == nil || bytes.Compare(last, k) >= 0 && len(last) > 0 {
				return fmt.Errorf("%w: the rows of %q make no sense", ErrBroken, name)
			}
			last = k
			return nil
		})
	})
}

// template is a store without rows, as bbolt makes it. Making one syncs the disk,
// whatever the options say, and that costs more than the whole rest of an event.
//
//go:embed empty.db
var template []byte

// templatePage is the template's page size; bbolt takes a file's own, whatever the
// machine's is.
const templatePage = 4096

// create puts an empty store in place, whole or not at all, so that a store
// without bytes is never of our making.
func create(path string) error {
	beside := path + ".new"
	err := os.WriteFile(beside, template, 0o600)
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		_ = os.Remove(beside)
	}
	return err
}

// usable tells why something that lies in the place of a store cannot be one:
// opening a pipe would never end.
func usable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s: not a regular file", ErrBroken, path)
	case info.Size() == 0:
		return fmt.Errorf("%w: %s: no bytes in it", ErrBroken, path)
	}
	return nil
}

func updateStore(path, sessionID string, now, renewed time.Time, change func(*Tx) error) error {
	err := guarded(func(opener opener) error {
		if missing(path) {
			if err := create(path); err != nil {
				return err
			}
		}
		if err := usable(path); err != nil {
			return err
		}
		db, err := open(path, false, opener)
		if err != nil {
			return err
		}
		err = db.Update(func(tx *bolt.Tx) error {
			if err := checkSchema(tx); err != nil {
				return err
			}
			if err := intact(tx); err != nil {
				return err
			}
			t, err := begin(tx, sessionID, now, renewed)
			if err != nil {
				return err
			}
			if err := change(t); err != nil {
				return changeError{err}
			}
			return t.finish()
		})
		return errors.Join(err, db.Close())
	})
	var own changeError
	if errors.As(err, &own) {
		return own.error
	}
	return classify(path, err)
}
