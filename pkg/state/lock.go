package state

import (
	"context"
	"fmt"
	"os"

	"github.com/gofrs/flock"
)

// Lock is a side lock that is held. Waiting for it is waiting in the kernel, not
// polling; it goes with the process that holds it.
type Lock struct{ file *flock.Flock }

// Acquire takes the lock of a path, exclusive or shared, and waits for it until
// ctx is done. A lock file that was swept away while waiting is taken anew.
func Acquire(ctx context.Context, path string, shared bool) (*Lock, error) {
	return acquire(ctx, path, shared, os.O_CREATE|os.O_RDWR)
}

// Share takes the shared lock of a path like [Acquire], for a reader that must
// create nothing: a lock file that does not exist is an fs.ErrNotExist.
func Share(ctx context.Context, path string) (*Lock, error) {
	return acquire(ctx, path, true, os.O_RDONLY|nonblocking) // a pipe in its place would wait for a writer
}

func acquire(ctx context.Context, path string, shared bool, flag int) (*Lock, error) {
	for {
		file := flock.New(path, flock.SetPermissions(0o600), flock.SetFlag(flag))
		take, try := file.Lock, file.TryLock
		if shared {
			take, try = file.RLock, file.TryRLock
		}
		got, err := try()
		if err == nil && !got {
			err = wait(ctx, file, take)
		}
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		held, err1 := file.Stat()
		now, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(held, now) {
			return &Lock{file}, nil
		}
		_ = file.Close()
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}

// wait blocks until the lock is there. Given up, it leaves behind a goroutine
// that lets go of the lock as soon as it gets it.
func wait(ctx context.Context, file *flock.Flock, take func() error) error {
	done := make(chan error, 1)
	go func() { done <- take() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		go func() {
			if <-done == nil {
				_ = file.Close()
			}
		}()
		return ctx.Err()
	}
}

// Release lets go of the lock.
func (l *Lock) Release() { _ = l.file.Close() }

// Remove removes the file of the lock and lets go of it, in the order in which the
// system can: nobody who waits for the lock takes a file that is gone for it.
func (l *Lock) Remove() error {
	defer l.Release()
	if lockStays {
		l.Release() // whoever takes it now keeps the file from going
	}
	return os.Remove(l.file.Path())
}

// TryAcquire takes the exclusive lock if nobody has it.
func TryAcquire(path string) (*Lock, bool) {
	file := flock.New(path, flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDWR))
	if got, err := file.TryLock(); err != nil || !got {
		_ = file.Close()
		return nil, false
	}
	return &Lock{file}, true
}
