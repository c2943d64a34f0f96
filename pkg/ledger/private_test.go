package ledger

import (
	"os"
	"runtime"
	"testing"
)

// A store holds paths and times of somebody's work: nobody else may read it.
func TestAStoreIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	dir := folder(t)
	update(t, dir, noon, func(*Tx) {})
	for _, path := range []string{dir.Store(session), dir.LockPath(session)} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
