package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/state"
	"stopgate/pkg/store"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// asked is what [Ask] says of commands, without their keys.
func asked(ctx context.Context, dir state.Dir, now time.Time, project string, commands ...string) ([]Expectation, error) {
	_, expected, err := Ask(ctx, dir, now, project, commands...)
	return expected, err
}

// TestMain is also another process that notes things.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HISTORY_TEST_DIR"); dir != "" {
		for i := range 5 {
			if err := Record(context.Background(), state.At(dir), noon, Note{Command: "make", Project: project, What: Ended, Took: time.Minute}, Note{Command: fmt.Sprintf("make %c%s", 'a'+i, os.Getenv("HISTORY_TEST_NAME")), Project: project, What: Left}); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func folder(t testing.TB) state.Dir {
	t.Helper()
	return state.At(filepath.Join(t.TempDir(), "state"))
}

func record(t testing.TB, dir state.Dir, now time.Time, notes ...Note) {
	t.Helper()
	if err := Record(t.Context(), dir, now, notes...); err != nil {
		t.Fatal(err)
	}
}

func expect(t testing.TB, dir state.Dir, now time.Time, command string) Expectation {
	t.Helper()
	e, found, err := Find(t.Context(), dir, now, project, command)
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return Expectation{}
	}
	return e.Expect()
}

// What happened to a command, and what is expected of it then.
func TestExpectations(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	ended := func(d time.Duration) Note { return Note{What: Ended, Took: d} }
	failed, left, served := Note{What: Failed, Took: time.Second}, Note{What: Left}, Note{What: Served}
	cases := []struct {
		name  string
		notes []Note
		want  Expectation
	}{
		{"nothing", nil, Expectation{}},
		{"it ended once", []Note{ended(12 * m)}, Expectation{Ends: true, Usually: 12 * m, Times: 1}},
		{"it ended after different times", []Note{ended(3 * m), ended(12 * m), ended(10 * m)}, Expectation{Ends: true, Usually: 10 * m, Times: 3}},
		{"it ended, and nobody knows when", []Note{ended(0)}, Expectation{Ends: true, Times: 1}},
		{"it has become quicker", []Note{ended(90 * m), ended(90 * m), ended(90 * m), ended(m), ended(m), ended(m), ended(m), ended(m), ended(m), ended(m), ended(m)}, Expectation{Ends: true, Usually: m, Times: 11}},
		{"it was left running once", []Note{left}, Expectation{}},
		{"it was left running twice", []Note{left, left}, Expectation{NotWaited: true}},
		{"it was left running once, and ended", []Note{left, ended(m)}, Expectation{Ends: true, Usually: m, Times: 1}},
		{"it was left running twice, and ended", []Note{left, left, ended(m)}, Expectation{Ends: true, Usually: m, Times: 1}},
		{"it ended, and was left running", []Note{ended(m), left}, Expectation{Ends: true, Usually: m, Times: 1}},
		{"it ended long ago, and was left running twice since", []Note{ended(m), left, left}, Expectation{Usually: m, Times: 1}},
		{"a server whose port was taken once", []Note{failed, left, left}, Expectation{NotWaited: true}},
		{"a server whose port was taken", []Note{failed}, Expectation{}},
		{"a test run that fails", []Note{failed, failed}, Expectation{Ends: true}},
		{"one that fails, and is left running", []Note{failed, failed, left, left}, Expectation{}},
		{"it was seen to serve", []Note{served, served, served}, Expectation{}},
		{"it was seen to serve, and left running", []Note{served, left, served, left}, Expectation{NotWaited: true}},
		{"what cannot be", []Note{{}, {What: 99}, ended(-m)}, Expectation{Ends: true, Times: 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			for _, n := range c.notes {
				n.Command, n.Project = "npm run x", project
				record(t, dir, noon, n)
			}
			if got := expect(t, dir, noon, "npm run x"); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if got := expect(t, dir, noon, "npm run y"); got != (Expectation{}) {
				t.Errorf("of another command: %+v", got)
			}
			if x, err := asked(t.Context(), dir, noon, "/srv/other", "npm run x"); err != nil || x[0] != (Expectation{}) {
				t.Errorf("in another project: %+v, %v", x, err)
			}
		})
	}
}

func TestSeveralCommandsAtOnce(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	record(t, dir, noon, Note{Command: "a", Project: project, What: Ended, Took: time.Minute}, Note{Command: "b", Project: project, What: Left, Took: 0}, Note{Command: "b", Project: project, What: Left, Took: 0}, Note{Command: " ", Project: project, What: Ended, Took: 0})
	x, err := asked(t.Context(), dir, noon, project, "b", "", "a", "c")
	if err != nil || !x[0].NotWaited || x[1] != (Expectation{}) || !x[2].Ends || x[3] != (Expectation{}) {
		t.Errorf("%+v, %v", x, err)
	}
	all, err := All(t.Context(), dir, noon)
	if err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// Nothing of a command, its project or its output can be found in the file, nor
// can the same command be found in the history of somebody else.
func TestNoText(t *testing.T) {
	t.Parallel()
	one, two := folder(t), folder(t)
	for _, dir := range []state.Dir{one, two} {
		record(t, dir, noon, Note{Command: "deploy --token secretsecret", Project: project, What: Ended, Took: time.Hour})
		data, err := os.ReadFile(dir.History())
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"deploy", "secret" + "secret", "home", "proj"} {
			if bytes.Contains(data, []byte(text)) {
				t.Errorf("%q is in the file", text)
			}
		}
		if info, err := os.Stat(dir.History()); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	a, _, err1 := Find(t.Context(), one, noon, project, "deploy --token secretsecret")
	b, _, err2 := Find(t.Context(), two, noon, project, "deploy --token secretsecret")
	if err := errors.Join(err1, err2); err != nil || a.Key == b.Key || len(a.Key) != 32 {
		t.Errorf("%q and %q, %v", a.Key, b.Key, err)
	}
}

func TestWhatIsForgotten(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	if n, err := Forget(t.Context(), dir, noon, ""); n != 0 || err != nil {
		t.Errorf("nothing to forget: %d, %v", n, err)
	}
	if _, err := os.Stat(dir.Path()); err == nil {
		t.Error("forgetting made a folder")
	}
	record(t, dir, noon, Note{Command: "a", Project: project, What: Ended, Took: 0}, Note{Command: "b", Project: project, What: Ended, Took: 0})
	a, found, err := Find(t.Context(), dir, noon, project, "a")
	if err != nil || !found {
		t.Fatal(err)
	}
	if n, err := Forget(t.Context(), dir, noon, a.Key[:8]); n != 1 || err != nil {
		t.Errorf("one: %d, %v", n, err)
	}
	if expect(t, dir, noon, "a").Ends || !expect(t, dir, noon, "b").Ends {
		t.Error("forgot the wrong one")
	}
	b, _, _ := Find(t.Context(), dir, noon, project, "b")
	if n, err := Forget(t.Context(), dir, noon, ""); n != 1 || err != nil {
		t.Errorf("all: %d, %v", n, err)
	}
	record(t, dir, noon, Note{Command: "b", Project: project, What: Ended, Took: 0})
	if again, _, _ := Find(t.Context(), dir, noon, project, "b"); again.Key == b.Key {
		t.Error("the key was kept")
	}
}

// The history is bounded in number and in time.
func TestBounds(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	var notes []Note
	for i := range MaxEntries + 500 {
		notes = append(notes, Note{Command: fmt.Sprintf("x%cy%cz%cw", 'a'+i%26, 'a'+i/26%26, 'a'+i/676), Project: project, What: Ended, Took: time.Minute})
	}
	for i := 0; i < len(notes); i += 100 {
		record(t, dir, noon.Add(time.Duration(i)*time.Minute), notes[i:i+100]...)
	}
	late := noon.Add(time.Duration(len(notes)) * time.Minute)
	all, err := All(t.Context(), dir, late)
	if err != nil || len(all) > MaxEntries || len(all) < MaxEntries*8/10 {
		t.Errorf("%d entries, %v", len(all), err)
	}
	if expect(t, dir, late, notes[0].Command).Ends || !expect(t, dir, late, notes[len(notes)-1].Command).Ends {
		t.Error("not the oldest went")
	}
	info, err := os.Stat(dir.History())
	if err != nil || info.Size() > 2<<20 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	late = late.Add(Keep)
	if expect(t, dir, late, notes[len(notes)-1].Command) != (Expectation{}) {
		t.Error("an old end still counts")
	}
	record(t, dir, late, Note{Command: notes[len(notes)-1].Command, Project: project, What: Left, Took: 0})
	rows := must(rowsOf(dir.History()))
	if rows != 1 {
		t.Errorf("%d rows are left", rows)
	}
	if all, err = All(t.Context(), dir, late); err != nil || len(all) != 1 || all[0].Ended != 0 || all[0].Left != 1 || !all[0].First.Equal(late) {
		t.Errorf("%d entries, the first %+v, %v", len(all), all[0], err)
	}
}

// rowsOf is how many entries lie in a file, remembered or not.
func rowsOf(path string) (n int, err error) {
	err = store.View(path, schema, func(tx *bolt.Tx) error {
		n = len(entries(tx))
		if int(tx.Bucket(bucketCommands).Sequence()) != n {
			return fmt.Errorf("%d rows are counted as %d", n, tx.Bucket(bucketCommands).Sequence())
		}
		return nil
	})
	return n, err
}

// Whatever became of the file, nothing is known then, and what is noted next
// begins a new one; but for a newer version's, which is left alone.
func TestWhatBecomesOfTheFile(t *testing.T) {
	t.Parallel()
	put := func(data []byte) func(string) error {
		return func(path string) error { return os.WriteFile(path, data, 0o600) } //realtime: no time of it matters
	}
	for _, c := range []struct {
		name   string
		damage func(path string) error
		reads  error
	}{
		{"deleted", os.Remove, nil},
		{"no bytes", put(nil), nil},
		{"one byte", put([]byte("x")), store.ErrBroken},
		{"garbage", put(bytes.Repeat([]byte("garbage "), 9999)), store.ErrBroken},
		{"cut", func(path string) error { return os.Truncate(path, 8192) }, store.ErrBroken},
		{"a folder", func(path string) error {
			return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700))
		}, store.ErrBroken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			record(t, dir, noon, Note{Command: "a", Project: project, What: Ended, Took: 0})
			for i := range 3 {
				at := noon.Add(time.Duration(i) * 2 * time.Hour)
				if err := c.damage(dir.History()); err != nil {
					t.Fatal(err)
				}
				x, err := asked(t.Context(), dir, at, project, "a", "b")
				if !errors.Is(err, c.reads) || len(x) != 2 || x[0] != (Expectation{}) {
					t.Errorf("%+v, %v", x, err)
				}
				record(t, dir, at, Note{Command: "a", Project: project, What: Ended, Took: 0})
				if got := expect(t, dir, at, "a"); got.Times != 1 {
					t.Errorf("%+v", got)
				}
			}
			if err := c.damage(dir.History()); err != nil {
				t.Fatal(err)
			}
			err := Record(t.Context(), dir, noon.Add(4*time.Hour+time.Minute), Note{Command: "a", Project: project, What: Ended, Took: 0})
			if again := len(state.Asides(dir.History())) > 0; errors.Is(err, store.ErrBroken) != again || err != nil && !again {
				t.Errorf("broken again within an hour: %v", err)
			}
		})
	}
}

// All that is left in the folder is known as ours there.
func TestItsFilesAreOurs(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for i := range 3 {
		record(t, dir, noon.Add(time.Duration(i)*2*time.Hour), Note{Command: "a", Project: project, What: Ended, Took: 0})
		if i < 2 {
			if err := os.Truncate(dir.History(), 8192); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := ""
	for _, path := range dir.Files() {
		names += filepath.Base(path) + " "
	}
	if names != "history.db history.db.corrupt-20261130T160000.000Z history.key history.lock " {
		t.Errorf("ours are %s", names)
	}
	if _, err := Forget(t.Context(), dir, noon, ""); err != nil || len(dir.Files()) != 3 {
		t.Errorf("after all was forgotten %v, %v", dir.Files(), err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAStoreOfANewerVersion(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	record(t, dir, noon, Note{Command: "a", Project: project, What: Ended, Took: 0})
	db, err := bolt.Open(dir.History(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{0, 0, 0, 0, 0, 0, 0, schema + 1})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before := must(os.ReadFile(dir.History()))
	if x, err := asked(t.Context(), dir, noon, project, "a"); !errors.Is(err, store.ErrNewer) || x[0] != (Expectation{}) {
		t.Errorf("%+v, %v", x, err)
	}
	if err := Record(t.Context(), dir, noon, Note{Command: "a", Project: project, What: Ended, Took: 0}); !errors.Is(err, store.ErrNewer) {
		t.Error(err)
	}
	if !bytes.Equal(before, must(os.ReadFile(dir.History()))) {
		t.Error("it was touched")
	}
}

// Nobody waits for the history: who does not get it in time does without.
func TestALockThatIsHeld(t *testing.T) {
	t.Parallel()
	tmp, err := os.MkdirTemp("", "history-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for os.RemoveAll(tmp) != nil { // who gave up waiting may still come for the lock
		}
	})
	dir := state.At(filepath.Join(tmp, "state"))
	record(t, dir, noon, Note{Command: "a", Project: project, What: Ended, Took: 0})
	lock, err := state.Acquire(t.Context(), dir.HistoryLock(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if x, err := asked(ctx, dir, noon, project, "a"); !errors.Is(err, store.ErrBusy) || x[0] != (Expectation{}) {
		t.Errorf("%+v, %v", x, err)
	}
	if err := Record(ctx, dir, noon, Note{Command: "a", Project: project, What: Ended, Took: 0}); !errors.Is(err, store.ErrBusy) {
		t.Error(err)
	}
}

func TestLookingMakesNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	if x := expect(t, dir, noon, "a"); x != (Expectation{}) {
		t.Errorf("%+v", x)
	}
	if all, err := All(t.Context(), dir, noon); len(all) != 0 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if err := Record(t.Context(), dir, noon); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir.Path()); err == nil {
		t.Error("there is a folder")
	}
	record(t, dir, noon, Note{Command: "a", Project: project, What: Ended, Took: 0})
	if err := os.Remove(dir.HistoryLock()); err != nil {
		t.Fatal(err)
	}
	before := must(os.ReadFile(dir.History()))
	if !expect(t, dir, noon, "a").Ends || !bytes.Equal(before, must(os.ReadFile(dir.History()))) {
		t.Error("looking changed it")
	}
	if _, err := os.Stat(dir.HistoryLock()); err == nil {
		t.Error("looking made a lock")
	}
}

// Thirty processes note things at once, and none of it is lost.
func TestThirtyProcesses(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "HISTORY_TEST_DIR="+dir.Path(), "HISTORY_TEST_NAME="+strings.Repeat("n", i))
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
	all.Wait()
	if x := expect(t, dir, noon, "make"); x.Times != 150 || x.Usually != time.Minute {
		t.Errorf("%+v", x)
	}
	if entries, err := All(t.Context(), dir, noon); err != nil || len(entries) != 151 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// What a command is called does not matter.
func TestHostileCommands(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	commands := []string{"\x00", "\xff\xfe", strings.Repeat("x", 10<<20), "\x1b[2J", "meta", "secret", "../../x", "'; rm -rf /", strings.Repeat("(", 5000), "🐟"}
	for i, c := range commands {
		for range i + 1 {
			record(t, dir, noon, Note{Command: c, Project: strings.Repeat("p", i*1000), What: Left})
		}
	}
	for i, c := range commands {
		if e, found, err := Find(t.Context(), dir, noon, strings.Repeat("p", i*1000), c); err != nil || found != (i != 1) || found && e.Left != i+1 { // the second is no text at all
			t.Errorf("%.20q: %+v, %v, %v", c, e, found, err)
		}
	}
}

// What a look and a note cost with a full store, beside an answer that takes
// milliseconds.
func BenchmarkExpect(b *testing.B) {
	dir := full(b)
	for b.Loop() {
		if _, err := asked(b.Context(), dir, noon, project, "a", "b"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	dir := full(b)
	for b.Loop() {
		record(b, dir, noon, Note{Command: "a", Project: project, What: Ended, Took: time.Minute})
	}
}

func full(b *testing.B) state.Dir {
	b.Helper()
	dir := folder(b)
	var notes []Note
	for i := range MaxEntries - 1 {
		notes = append(notes, Note{Command: fmt.Sprintf("x%cy%cz%cw", 'a'+i%26, 'a'+i/26%26, 'a'+i/676), Project: project, What: Ended, Took: time.Minute})
	}
	record(b, dir, noon, notes...)
	b.ResetTimer()
	return dir
}
