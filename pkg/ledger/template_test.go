package ledger

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/host/hosttest"
)

var updateTemplate = flag.Bool("update", false, "write empty.db anew")

// An empty store is copied, not made: making one syncs the disk, whatever the
// options say. It must be what bbolt would make.
func TestTheEmptyStoreIsWhatBboltMakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: templatePage})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if *updateTemplate {
		if err := os.WriteFile("empty.db", made, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOOS == "windows" && len(made) > len(template) {
		made = made[:len(template)] // what is mapped there makes the file as long as the map
	}
	if !bytes.Equal(made, template) {
		t.Error("empty.db is not what bbolt makes: go test ./pkg/ledger -run EmptyStore -update")
	}
}

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
