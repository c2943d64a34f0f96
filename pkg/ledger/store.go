package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/host"
	"stopgate/pkg/state"
	"stopgate/pkg/store"
)

// schema is the version of the store's layout. A store of a newer one is not
// touched.
const schema = 1

// asideEvery is how often one session's store may be set aside.
const asideEvery = time.Hour

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
func ReadFile(ctx context.Context, path string) (snap Snapshot, err error) {
	err = look(ctx, path, func(tx *bolt.Tx) { snap = load(tx, nil) })
	if err != nil {
		return Snapshot{}, err
	}
	return snap, nil
}

// Head is what a store tells at a glance: its session, and how many rows there are.
type Head struct {
	// Exists is false where there is no store, or one without bytes.
	Exists  bool
	Session Session
	// Agents and Stops count the rows; the coordinator's own is one of the agents.
	Agents, Stops int
}

// ReadHead looks at a store as [ReadFile] does, and reads no row of it but the
// session's.
func ReadHead(ctx context.Context, path string) (head Head, err error) {
	err = look(ctx, path, func(tx *bolt.Tx) {
		head.Exists = true
		head.Session, _ = get[Session](tx, bucketMeta, string(keySession))
		head.Agents, head.Stops = countRows(tx, bucketAgents), countRows(tx, bucketStops)
	})
	if err != nil {
		return Head{}, err
	}
	return head, nil
}

func countRows(tx *bolt.Tx, bucket []byte) int {
	b := tx.Bucket(bucket)
	if b == nil {
		return 0
	}
	n, c := 0, b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}

// look shows a store to somebody who creates nothing. It is not called for a store
// that is missing or has no bytes.
func look(ctx context.Context, path string, show func(*bolt.Tx)) error {
	lock, err := state.Share(ctx, strings.TrimSuffix(path, filepath.Ext(path))+".lock")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		// Without a lock file bbolt's own lock keeps writers out.
		lock, err = nil, nil
	}
	if err != nil {
		return busy(err)
	}
	if lock != nil {
		defer lock.Release()
	}
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	return store.View(path, schema, func(tx *bolt.Tx) error {
		show(tx)
		return nil
	})
}

func busy(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}

func readStore(path string, ids []string) (snap Snapshot, err error) {
	err = store.View(path, schema, func(tx *bolt.Tx) error {
		snap = load(tx, ids)
		return nil
	})
	if err != nil {
		return Snapshot{}, err
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
	renewed, begins := time.Time{}, host.Missing(path)
	if begins {
		if last := dir.LastAside(dir.Store(sessionID)); now.Sub(last).Abs() < asideEvery {
			renewed = last // the one begun in place of a broken one did not come to be
		}
	}
	err = updateStore(path, sessionID, now, renewed, change)
	if begins || !errors.Is(err, ErrBroken) {
		return err
	}
	if last := dir.LastAside(dir.Store(sessionID)); !last.IsZero() && now.Sub(last).Abs() < asideEvery {
		return fmt.Errorf("%w: %w", ErrAsideAgain, err)
	}
	if renameErr := host.Move(path, state.AsideName(path, now)); renameErr != nil {
		return errors.Join(err, renameErr)
	}
	return updateStore(path, sessionID, now, now, change)
}

func updateStore(path, sessionID string, now, renewed time.Time, change func(*Tx) error) error {
	return store.Update(path, schema, func(tx *bolt.Tx) error {
		t, err := begin(tx, sessionID, now, renewed)
		if err != nil {
			return err
		}
		if err := change(t); err != nil {
			return err
		}
		return t.finish()
	})
}
