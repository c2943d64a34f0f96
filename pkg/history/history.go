// Package history remembers what became of background commands: how often one
// ended by itself and how long it took, how often it was left running, what it was
// seen to do. So what a command did before can say what it will do again. It keeps
// no text: a command is known by a hash of it and of its project, under a key that
// never leaves the state folder.
//
// It is one bbolt file for all sessions, history.db in the state folder, and the key
// beside it, history.key. Where one of them cannot be had, because it is broken,
// locked or of a newer version, nothing is known and nothing is noted: what was
// remembered is a convenience, never a condition. The package decides nothing but what
// a history is worth.
package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/host"
	"stopgate/pkg/state"
	"stopgate/pkg/store"
)

const (
	// schema is the version of the store's layout.
	schema = 1
	// MaxEntries bounds the commands that are remembered; the oldest go first.
	MaxEntries = 2000
	// Keep is how long a command is remembered that does not run.
	Keep = 90 * 24 * time.Hour
	// sweepEvery is how often what is no longer remembered goes.
	sweepEvery = 24 * time.Hour
	// asideEvery is how often a broken store may be set aside.
	asideEvery = time.Hour
	// keepLast is how many durations of a command are kept.
	keepLast = 8
)

// Ask tells what the history says of commands of a project, in their order, and their
// keys, by which [Note] can name them once their text is forgotten. It waits for a lock
// until ctx is done. Where it fails, nothing is said of any, and none has a key.
func Ask(ctx context.Context, dir state.Dir, now time.Time, project string, commands ...string) (keys []string, expected []Expectation, err error) {
	keys, expected = make([]string, len(commands)), make([]Expectation, len(commands))
	secret, err := needSecret(dir)
	if err != nil {
		return keys, expected, err
	}
	for i, command := range commands {
		keys[i] = secret.keyOf(command, project)
	}
	err = view(ctx, dir, func(tx *bolt.Tx) error {
		for i, key := range keys {
			if e, ok := get(tx, key); ok && !e.old(now) {
				expected[i] = e.Expect()
			}
		}
		return nil
	})
	if err != nil {
		return make([]string, len(commands)), make([]Expectation, len(commands)), err
	}
	return keys, expected, nil
}

// Find is the entry of a command in a project.
func Find(ctx context.Context, dir state.Dir, now time.Time, project, command string) (e Entry, found bool, err error) {
	secret, err := readSecret(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return e, false, nil
	}
	if err == nil {
		err = view(ctx, dir, func(tx *bolt.Tx) error {
			e, found = get(tx, secret.keyOf(command, project))
			return nil
		})
	}
	return e, found && !e.old(now), err
}

// All are the entries, those first that were noted last.
func All(ctx context.Context, dir state.Dir, now time.Time) ([]Entry, error) {
	var all []Entry
	err := view(ctx, dir, func(tx *bolt.Tx) error {
		all = slices.DeleteFunc(entries(tx), func(e Entry) bool { return e.old(now) })
		return nil
	})
	slices.SortStableFunc(all, func(a, b Entry) int { return b.Last.Compare(a.Last) })
	return all, err
}

// Record notes what happened. It waits for the lock until ctx is done. A store
// that is broken is set aside and begun afresh.
func Record(ctx context.Context, dir state.Dir, now time.Time, notes ...Note) error {
	notes = slices.DeleteFunc(slices.Clone(notes), func(n Note) bool {
		return n.Key == "" && Normal(n.Command, n.Project) == "" || n.What == 0
	})
	if len(notes) == 0 {
		return nil
	}
	secret, err := needSecret(dir)
	if err != nil {
		return err
	}
	return update(ctx, dir, now, func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucketCommands)
		if err != nil {
			return err
		}
		if err := sweep(tx, now); err != nil {
			return err
		}
		for _, n := range notes {
			key := n.Key
			if key == "" {
				key = secret.keyOf(n.Command, n.Project)
			}
			e, known := get(tx, key)
			if !known {
				if err := makeRoom(tx); err != nil {
					return err
				}
			}
			if !known || e.old(now) {
				e = Entry{Key: key}
			}
			e.add(n, now)
			if err := put(b, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// Forget removes the entries whose keys begin like this, and tells how many went;
// "" removes all, and the key that they are hashed with.
func Forget(ctx context.Context, dir state.Dir, now time.Time, begin string) (gone int, err error) {
	if begin == "" {
		defer func() {
			if gone := dir.Remove(dir.HistoryKey()); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}()
	}
	if _, err := os.Stat(dir.History()); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	err = update(ctx, dir, now, func(tx *bolt.Tx) error {
		gone = 0
		if tx.Bucket(bucketCommands) == nil {
			return nil
		}
		return thin(tx, func(e Entry) bool {
			forget := strings.HasPrefix(e.Key, begin)
			if forget {
				gone++
			}
			return forget
		})
	})
	return gone, err
}

// view reads the store. Where there is none, it is as if it were empty.
func view(ctx context.Context, dir state.Dir, read func(*bolt.Tx) error) error {
	path := dir.History()
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	lock, err := state.Share(ctx, dir.HistoryLock())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		lock, err = nil, nil // bbolt's own lock keeps writers out
	}
	if err != nil {
		return busy(err)
	}
	if lock != nil {
		defer lock.Release()
	}
	if err := store.View(path, schema, read); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// update changes the store under the lock. One that is broken is set aside and begun
// afresh, at most once an hour; what was set aside before goes then.
func update(ctx context.Context, dir state.Dir, now time.Time, change func(*bolt.Tx) error) error {
	if err := dir.Make(); err != nil {
		return err
	}
	lock, err := state.Acquire(ctx, dir.HistoryLock(), false)
	if err != nil {
		return busy(err)
	}
	defer lock.Release()
	path := dir.History()
	marked := func(tx *bolt.Tx) error { return errors.Join(mark(tx), change(tx)) }
	err = store.Update(path, schema, marked)
	if !errors.Is(err, store.ErrBroken) || now.Sub(dir.LastAside(path)).Abs() < asideEvery {
		return err
	}
	for _, aside := range state.Asides(path) {
		_ = dir.Remove(aside) // what is not ours stays
	}
	if err := host.Move(path, state.AsideName(path, now)); err != nil {
		return err
	}
	return store.Update(path, schema, marked)
}

func busy(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	}
	return err
}
