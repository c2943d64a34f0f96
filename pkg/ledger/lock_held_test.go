package ledger

import (
	"testing"

	"stopgate/pkg/state"
)

// A change is made under the side lock, from its first look to the end of it:
// nobody else sets the store aside or takes its place meanwhile.
func TestAChangeIsMadeUnderTheLock(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	free := func() bool {
		lock, ok := state.TryAcquire(dir.LockPath(session))
		if ok {
			lock.Release()
		}
		return ok
	}
	for range 2 {
		update(t, dir, noon, func(*Tx) {
			if free() {
				t.Error("the lock is free during a change")
			}
		})
		if !free() {
			t.Error("the lock is held after a change")
		}
	}
}
