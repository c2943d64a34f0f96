package history

import (
	"os"
	"testing"
	"time"
)

// A stop whose commands were never seen leaves the key behind and no store.
func TestAskingMakesNoStore(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	keys, _, err := Ask(t.Context(), dir, noon, project, "make")
	if err != nil || len(keys) != 1 || keys[0] == "" {
		t.Fatalf("keys %q, %v", keys, err)
	}
	if files := dir.Files(); len(files) != 1 || files[0] != dir.HistoryKey() {
		t.Errorf("ours are %s", files)
	}
	record(t, dir, noon, Note{Key: keys[0], What: Ended, Took: time.Minute})
	if e, found, err := Find(t.Context(), dir, noon, project, "make"); !found || err != nil || e.Key != keys[0] {
		t.Errorf("found %v, %v, %v", e, found, err)
	}
}

// A key that is no key: nothing is known while somebody may still write it, and then it
// is made anew, unless the file is not ours.
func TestAKeyThatIsNone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		age  time.Duration
		anew bool
	}{
		"being written":              {"stopgate history", time.Second, false},
		"half written, long ago":     {"stopgate history key 0011", time.Hour, true},
		"empty, long ago":            {"", time.Hour, true},
		"with letters, long ago":     {"stopgate history key zz112233445566778899aabbccddeeff\n", time.Hour, true},
		"somebody's file, long ago":  {"dear diary", time.Hour, false},
		"written, with more behind":  {"stopgate history key 00112233445566778899aabbccddeeff\nand more", time.Hour, true},
		"as it should be, long ago":  {"stopgate history key 00112233445566778899aabbccddeeff\n", time.Hour, false},
		"as it should be, yet to be": {"stopgate history key 00112233445566778899aabbccddeeff\n", -time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			if err := dir.Make(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir.HistoryKey(), []byte(test.text), 0o600); err != nil { //realtime: its time is set below
				t.Fatal(err)
			}
			at := time.Now().Add(-test.age)
			if err := os.Chtimes(dir.HistoryKey(), at, at); err != nil {
				t.Fatal(err)
			}
			good := len(test.text) == len("stopgate history key 00112233445566778899aabbccddeeff\n") && !test.anew
			keys, _, err := Ask(t.Context(), dir, noon, project, "make")
			if known := err == nil && keys[0] != ""; known != (test.anew || good) {
				t.Errorf("keys %q, %v", keys, err)
			}
			text, err := os.ReadFile(dir.HistoryKey())
			if err != nil || (string(text) == test.text) == test.anew {
				t.Errorf("the file holds %q, %v", text, err)
			}
		})
	}
}
