package ledger

import (
	"errors"
	"os"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/state"
)

// A beginning that failed, on a full disk for example, leaves nothing behind that
// would count as a broken store later on.
func TestABeginningThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	full := errors.New("no space left on device")
	if err := Update(t.Context(), dir, session, noon, func(*Tx) error { return full }); !errors.Is(err, full) {
		t.Errorf("gave %v", err)
	}
	if _, err := os.Stat(dir.Store(session)); err == nil {
		t.Error("the store is there")
	}
	update(t, dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false) })
	if err := Update(t.Context(), dir, session, noon, func(*Tx) error { return full }); !errors.Is(err, full) {
		t.Errorf("gave %v", err)
	}
	update(t, dir, noon, func(tx *Tx) {
		if tx.Charged("b1").Blocks != 1 {
			t.Error("a failed change cost what was promised before")
		}
	})
}

// Where the store begun in place of a broken one did not come to be, the next one
// is still one that has forgotten.
func TestTheStoreAfterABrokenOneCameLate(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false) })
	path := dir.Store(session)
	if err := os.Rename(path, state.AsideName(path, noon)); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]bool{time.Minute: true, 3 * asideEvery: false} {
		update(t, dir, noon.Add(after), func(tx *Tx) {
			if got := !tx.Session.Renewed.IsZero(); got != want {
				t.Errorf("%v later: renewed %v", after, got)
			}
		})
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Damage in a page that the event does not need is found all the same, before
// anything is written beside it.
func TestDamageAnywhereIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	page := os.Getpagesize()
	source := folder(t)
	whole, err := os.ReadFile(filled(t, source))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for at := 2 * page; at < len(whole); at += page {
		dir := folder(t)
		update(t, dir, noon, func(*Tx) {})
		damaged := append([]byte(nil), whole...)
		clear(damaged[at : at+page])
		hosttest.Write(t, noon, dir.Store(session), string(damaged))
		update(t, dir, noon, func(tx *Tx) { tx.Charge("b2", 0, false) })
		if len(asides(t, dir)) > 0 {
			found++
		}
		sound(t, dir.Store(session))
	}
	if found < 10 {
		t.Errorf("found in %d pages", found)
	}
}
