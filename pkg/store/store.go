// Package store opens a bbolt file so that nothing that may have become of it
// harms who opens it: a file that was cut short, overwritten, replaced by a folder
// or a pipe, or written by a newer version is an error, never a fault, a wait or a
// panic. Writing is not synced: the page cache survives a kill, and what is kept
// here may be lost.
//
// The caller holds a side lock (pkg/state) around each call. The rows are the
// caller's business, but for the version of their layout.
package store

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"stopgate/pkg/host"
)

// Errors.
var (
	// ErrNewer is returned for a store that a newer version wrote. It is left as
	// it is.
	ErrNewer = errors.New("store was written by a newer version of stopgate")
	// ErrBroken is returned for a store that cannot be read.
	ErrBroken = errors.New("store is broken")
	// ErrBusy is returned when the store was not to be had in time.
	ErrBusy = errors.New("store is busy")
)

// openTimeout bounds the wait for bbolt's own lock, which nobody but a foreign
// program holds while the side lock is the caller's.
const openTimeout = 250 * time.Millisecond

var (
	bucketMeta = []byte("meta")
	keySchema  = []byte("schema")
)

// View reads the store at path in one transaction. A store of a newer schema than
// that is [ErrNewer]; one that is missing is an fs.ErrNotExist.
func View(path string, schema uint64, view func(*bolt.Tx) error) error {
	return access(path, true, func(db *bolt.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			if err := checkSchema(tx, schema); err != nil {
				return err
			}
			return own(view(tx))
		})
	})
}

// Update changes the store at path in one transaction, which is committed unless
// change returns an error; a store that is missing is made.
func Update(path string, schema uint64, change func(*bolt.Tx) error) error {
	begins := host.Missing(path)
	if begins {
		if err := create(path); err != nil {
			return err
		}
	}
	err := access(path, false, func(db *bolt.DB) error {
		return db.Update(func(tx *bolt.Tx) error {
			if err := checkSchema(tx, schema); err != nil {
				return err
			}
			if err := intact(tx); err != nil {
				return err
			}
			meta, err := tx.CreateBucketIfNotExists(bucketMeta)
			if err == nil && meta.Get(keySchema) == nil {
				err = meta.Put(keySchema, binary.BigEndian.AppendUint64(nil, schema))
			}
			if err != nil {
				return err
			}
			return own(change(tx))
		})
	})
	if begins && err != nil && !errors.Is(err, ErrBusy) {
		// What a full disk left of a beginning would count as broken later on.
		_ = os.Remove(path)
	}
	return err
}

// callersError marks an error of the caller's, which says nothing about the store.
type callersError struct{ error }

func (c callersError) Unwrap() error { return c.error }

func own(err error) error {
	if err == nil {
		return nil
	}
	return callersError{err}
}

func access(path string, readOnly bool, use func(*bolt.DB) error) error {
	err := guarded(func(opener opener) error {
		if err := usable(path); err != nil {
			return err
		}
		db, err := open(path, readOnly, opener)
		if err != nil {
			return err
		}
		return errors.Join(use(db), db.Close())
	})
	if own := (callersError{}); errors.As(err, &own) {
		return own.error
	}
	return classify(path, err)
}

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
		OpenFile:     opener,
		Timeout:      openTimeout,
		ReadOnly:     readOnly,
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

// template is a store without rows, as bbolt makes it. Making one syncs the disk,
// whatever the options say, and that costs more than the whole rest of an event.
func template() []byte {
	made := make([]byte, 0, len(heads)/templateHead*templatePage)
	for at := 0; at < len(heads); at += templateHead {
		made = append(made, heads[at:at+templateHead]...)
		made = append(made, make([]byte, templatePage-templateHead)...)
	}
	return made
}

// heads are the beginnings of the template's pages; the rest of each is zeros.
//
//go:embed empty.heads
var heads string

// templatePage is the template's page size, and templateHead how much of a page is
// kept; bbolt takes a file's own page size, whatever the machine's is.
const (
	templatePage = 4096
	templateHead = 80
)

// create puts an empty store in place, whole or not at all, so that a store
// without bytes is never of our making.
func create(path string) error {
	beside := path + ".new"
	err := host.Write(beside, template(), 0o600)
	if err != nil {
		_ = os.Remove(beside)
		return err
	}
	return host.Place(beside, path)
}

func checkSchema(tx *bolt.Tx, schema uint64) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return nil
	}
	if v := meta.Get(keySchema); len(v) == 8 && binary.BigEndian.Uint64(v) > schema {
		return ErrNewer
	}
	return nil
}

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
