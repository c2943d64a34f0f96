package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.lock")
	get := func(shared bool) (*Lock, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return Acquire(ctx, path, shared)
	}
	first, err := get(true)
	if err != nil {
		t.Fatal(err)
	}
	second, err := get(true)
	if err != nil {
		t.Fatalf("two readers: %v", err)
	}
	if _, err := get(false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a writer beside readers: %v", err)
	}
	if _, ok := TryAcquire(path); ok {
		t.Error("taken from readers")
	}
	first.Release()
	second.Release()
	writer, err := Acquire(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := get(true); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a reader beside a writer: %v", err)
	}
	writer.Release()
	// Who gave up waiting leaves no lock behind.
	for deadline := time.Now().Add(10 * time.Second); ; {
		if lock, ok := TryAcquire(path); ok {
			lock.Release()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the lock is still held")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestALockIsHandedOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.lock")
	var all sync.WaitGroup
	var inside atomic.Int32 // the race detector does not know that the lock orders them
	for range 30 {
		all.Go(func() {
			lock, err := Acquire(t.Context(), path, false)
			if err != nil {
				t.Error(err)
				return
			}
			defer lock.Release()
			if inside.Add(1) != 1 {
				t.Error("two hold it")
			}
			inside.Add(-1)
		})
	}
	all.Wait()
}

// A lock file that was swept away while somebody waited for it is no lock.
func TestALockFileThatWasSweptAway(t *testing.T) {
	t.Parallel()
	if lockStays {
		t.Skip("a lock file that is open cannot be removed there")
	}
	path := filepath.Join(t.TempDir(), "s.lock")
	holder, err := Acquire(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *Lock)
	go func() {
		lock, err := Acquire(t.Context(), path, false)
		if err != nil {
			t.Error(err)
		}
		got <- lock
	}()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	holder.Release()
	lock := <-got
	if other, ok := TryAcquire(path); ok {
		other.Release()
		t.Error("two hold it")
	}
	lock.Release()
}

func TestSharingMakesNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.lock")
	if _, err := Share(t.Context(), path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
