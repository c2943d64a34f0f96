package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// What the ledger, the log, the switch and the count leave in the folder is known as
// ours, and goes to the last file.
func TestEverythingOfOursIsKnown(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	dir := state.At(filepath.Join(t.TempDir(), "state"))
	update := func(session string, change func(*ledger.Tx) error) {
		if err := ledger.Update(t.Context(), dir, session, noon, change); err != nil {
			t.Fatal(err)
		}
	}
	nothing := func(*ledger.Tx) error { return nil }
	update("a-new-one", nothing)
	update("An id that is no name of a file", nothing)
	update("one-of-many-stops", func(tx *ledger.Tx) error {
		for i := range 900 {
			tx.AddStop(ledger.Stop{AgentID: "a" + strconv.Itoa(i), Own: []string{"b1", "b2"}})
		}
		return nil
	})
	update("a-broken-one", nothing)
	damaged, err := os.ReadFile(dir.Store("a-broken-one"))
	if err != nil {
		t.Fatal(err)
	}
	clear(damaged[:4096])
	copy(damaged[2*4096:], strings.Repeat("noise", 4096))
	if err := os.WriteFile(dir.Store("a-broken-one"), damaged, 0o600); err != nil { //realtime: no time of it matters
		t.Fatal(err)
	}
	update("a-broken-one", nothing) // sets it aside
	for _, session := range []string{"", "a-new-one", "No name"} {
		if err := errors.Join(dir.SwitchOff(session, time.Time{}), dir.CountEphemeral(session)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second one finds it full
		log, done := state.OpenLog(func(string) string { return "" }, dir)
		log.Info("", "x", strings.Repeat("x", 2<<20))
		done()
	}

	files := dir.Files()
	var names []string
	for _, path := range files {
		names = append(names, filepath.Base(path))
	}
	asides := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.Contains(name, ".corrupt-") })
	if len(asides) != 1 || !slices.Contains(names, "hook.log.1") || len(files) != 1+2*4+3+3+2 {
		t.Errorf("%d files are known: %q", len(files), names)
	}
	for _, path := range files {
		if err := dir.Remove(path); err != nil {
			t.Error(err)
		}
	}
	for _, folder := range dir.Folders() {
		if err := os.Remove(folder); err != nil {
			t.Errorf("%v; left %q", err, files)
		}
	}
	if _, err := os.Stat(dir.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}
