package ledger

import (
	"path/filepath"
	"testing"

	"stopgate/pkg/host/hosttest"
)

// A store of nothing is a broken one: stopgate never leaves one behind.
func TestAStoreOfNoBytesIsSetAside(t *testing.T) {
	dir := folder(t)
	hosttest.Write(t, noon, dir.Store(session), "")
	var renewed bool
	err := Update(t.Context(), dir, session, noon, func(tx *Tx) error {
		renewed = !tx.Session.Renewed.IsZero()
		return nil
	})
	aside, _ := filepath.Glob(dir.Store(session) + ".corrupt-*") // the pattern is good
	if err != nil || !renewed || len(aside) != 1 {
		t.Errorf("error %v, renewed %v, set aside %v", err, renewed, aside)
	}
}
