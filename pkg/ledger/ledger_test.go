package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/host"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

const session = "11111111-2222-3333-4444-555555555555"

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func folder(t testing.TB) state.Dir {
	t.Helper()
	if runtime.GOOS != "windows" {
		return state.At(filepath.Join(t.TempDir(), "state"))
	}
	// A store whose opening ended in a fault stays mapped as long as the process
	// lives, and a file that is mapped cannot be removed there.
	dir, err := os.MkdirTemp("", "ledger-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return state.At(filepath.Join(dir, "state"))
}

func update(t testing.TB, dir state.Dir, now time.Time, change func(*Tx)) {
	t.Helper()
	if err := tryUpdate(dir, now, change); err != nil {
		t.Fatal(err)
	}
}

func tryUpdate(dir state.Dir, now time.Time, change func(*Tx)) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return Update(ctx, dir, session, now, func(tx *Tx) error {
		change(tx)
		return nil
	})
}

func read(t testing.TB, dir state.Dir) Snapshot {
	t.Helper()
	s, err := Read(context.Background(), dir, session, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAMissingStoreIsEmpty(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	if s := read(t, dir); s.Exists || s.Knows("a1") {
		t.Errorf("got %+v", s)
	}
	if _, err := os.Stat(dir.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading has created the folder: %v", err)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	agent := Agent{ID: "a1", Type: "general-purpose", Name: "ping", Team: "crew", Transcript: "/t", Parent: "a0", First: noon, Last: noon, Started: noon, Stops: 2, Blocks: 1, Chain: 1, LastSum: "x", LastSumAt: noon}
	launch := transcript.Launch{Task: "b1", Owner: "a1", Kind: "shell", ToolUseID: "t", Output: "/o", At: noon, Evidence: transcript.TextAsked, File: "/t", Line: 7}
	end := transcript.End{Task: "b0", Status: "completed", At: noon, Output: "/o"}
	cursor := transcript.Cursor{Inode: 7, Sum: "s", Offset: 100, Open: []transcript.ToolUse{{ID: "t", Name: "Bash", Asked: true}}}
	stop := Stop{Time: noon, AgentID: "a1", Verdict: Block, Code: "own-task", Own: []string{"b1"}, Listed: []string{"b1", "b2"}, Duration: time.Millisecond}
	update(t, dir, noon, func(tx *Tx) {
		tx.Session.Cwd = "/p"
		tx.PutAgent(agent)
		tx.Merge(Learned{Launches: []transcript.Launch{launch}, Ends: []transcript.End{end}, Cursors: map[string]transcript.Step{"/t": {To: cursor}}})
		tx.Charge("b1", 0, false)
		tx.Release("b2")
		tx.PutHold(Hold{AgentID: "a1", Tasks: []string{"b1"}, Since: noon, Process: Process{PID: 7}})
		tx.PutCourier(Courier{Task: "b1", AgentID: "a1", At: noon})
		tx.AddStop(stop)
	})
	s := read(t, dir)
	stop.Seq = 2 // the release has the first number
	for what, ok := range map[string]bool{
		"exists":   s.Exists,
		"session":  s.Session.ID == session && s.Session.Cwd == "/p" && s.Session.Begun.Equal(noon) && s.Session.Renewed.IsZero(),
		"agent":    reflect.DeepEqual(s.Agents, map[string]Agent{"a1": agent}),
		"launch":   s.Launches["b1"] == launch,
		"end":      s.Ends["b0"].End == end,
		"cursor":   reflect.DeepEqual(s.Cursors["/t"], cursor),
		"charged":  s.Charged["b1"] == 1 && s.Charged["b2"] == 0,
		"released": s.Released["b2"] && !s.Released["b1"],
		"hold":     len(s.Holds) == 1 && s.Holds[0].PID == 7,
		"courier":  s.Couriers["b1"].AgentID == "a1",
		"stop":     len(s.Stops) == 1 && reflect.DeepEqual(s.Stops[0], stop),
		"act":      len(s.Acts) == 1 && reflect.DeepEqual(s.Acts[0], Act{Seq: 1, Time: noon, Deed: Released, Tasks: []string{"b2"}}),
		"knows":    s.Knows("a1") && s.Knows("b1") && !s.Knows("a2"),
	} {
		if !ok {
			t.Errorf("%s: %+v", what, s)
		}
	}
	part, err := Read(context.Background(), dir, session, []string{"b2"})
	if err != nil || len(part.Agents)+len(part.Launches)+len(part.Stops) != 0 || !part.Released["b2"] || len(part.Cursors) != 1 {
		t.Errorf("the part for b2 is %+v, %v", part, err)
	}
}

func TestAFailedChangeLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false) })
	mine := errors.New("mine")
	err := Update(context.Background(), dir, session, noon, func(tx *Tx) error {
		tx.Charge("b1", 0, false)
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("error %v", err)
	}
	if n := read(t, dir).Charged["b1"]; n != 1 {
		t.Errorf("charged %d", n)
	}
}

// Of two launches of one task the better evidence stands, whichever came first.
func TestMergingLaunches(t *testing.T) {
	t.Parallel()
	at := func(owner string, e transcript.Evidence, minute int) transcript.Launch {
		return transcript.Launch{Task: "b1", Owner: owner, Kind: "shell", Evidence: e, At: noon.Add(time.Duration(minute) * time.Minute)}
	}
	resumed := at("main", transcript.PostToolUse, 0)
	resumed.Resumed = true
	noTime := at("a", transcript.Text, 0)
	noTime.At = time.Time{}
	cases := []struct {
		name          string
		better, worse transcript.Launch
		oneWay        bool // the order matters: the first stays
	}{
		{"the event before the structure", at("a", transcript.PostToolUse, 5), at("b", transcript.ToolUseResult, 0), false},
		{"the structure before the text of a call that asked", at("a", transcript.ToolUseResult, 5), at("b", transcript.TextAsked, 0), false},
		{"the text of a call that asked before other text", at("a", transcript.TextAsked, 5), at("b", transcript.Text, 0), false},
		{"the event before other text", at("a", transcript.PostToolUse, 5), at("b", transcript.Text, 0), false},
		{"among equal texts the earliest", at("a", transcript.Text, 0), at("b", transcript.Text, 5), false},
		{"among equal events the earliest", at("a", transcript.PostToolUse, 0), at("b", transcript.PostToolUse, 5), false},
		{"a launch before a resumption", at("a", transcript.Text, 5), resumed, false},
		{"among equals of one time the first that was seen", at("a", transcript.Text, 0), at("b", transcript.Text, 0), true},
		{"among equals without a time the first that was seen", noTime, at("b", transcript.Text, 0), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			orders := [][]transcript.Launch{{c.better, c.worse}, {c.worse, c.better}}
			if c.oneWay {
				orders = orders[:1]
			}
			for _, order := range orders {
				dir := folder(t)
				for _, l := range order {
					update(t, dir, noon, func(tx *Tx) { tx.Merge(Learned{Launches: []transcript.Launch{l}}) })
				}
				if got := read(t, dir).Launches["b1"]; got.Owner != c.better.Owner {
					t.Errorf("kept %+v", got)
				}
				both := folder(t)
				update(t, both, noon, func(tx *Tx) { tx.Merge(Learned{Launches: order}) })
				if got := read(t, both).Launches["b1"]; got.Owner != c.better.Owner {
					t.Errorf("merged at once to %+v", got)
				}
			}
		})
	}
}

// What only the weaker record knows is kept if it is of the same tool use.
func TestMergingKeepsWhatOnlyOneKnows(t *testing.T) {
	t.Parallel()
	strong := transcript.Launch{Task: "b1", Owner: "a", Kind: "shell", ToolUseID: "t", Evidence: transcript.PostToolUse, At: noon}
	weak := transcript.Launch{Task: "b1", Owner: "a", Kind: "shell", Evidence: transcript.TextAsked, At: noon.Add(time.Second), Output: "/o", ToolUseID: "t", Persistent: true}
	forged := weak
	forged.Owner, forged.Output = "b", "/forged"
	printed := weak
	printed.ToolUseID, printed.Output = "u", "/printed"
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) { tx.Merge(Learned{Launches: []transcript.Launch{strong, forged, printed, weak}}) })
	got := read(t, dir).Launches["b1"]
	if got.Output != "/o" || got.ToolUseID != "t" || !got.Persistent || got.Evidence != transcript.PostToolUse || !got.At.Equal(noon) {
		t.Errorf("got %+v", got)
	}
}

func TestMergingCursors(t *testing.T) {
	t.Parallel()
	at := func(inode uint64, offset int64, sum string) transcript.Cursor {
		return transcript.Cursor{Inode: inode, Offset: offset, Sum: sum}
	}
	cases := []struct {
		name           string
		have, from, to transcript.Cursor
		want           transcript.Cursor
	}{
		{"the first", transcript.Cursor{}, transcript.Cursor{}, at(1, 100, "a"), at(1, 100, "a")},
		{"further", at(1, 100, "a"), at(1, 100, "a"), at(1, 200, "b"), at(1, 200, "b")},
		{"another hook was further", at(1, 300, "c"), at(1, 100, "a"), at(1, 200, "b"), at(1, 300, "c")},
		{"another hook was less far", at(1, 200, "b"), at(1, 100, "a"), at(1, 300, "c"), at(1, 300, "c")},
		{"another hook was as far", at(1, 200, "b"), at(1, 100, "a"), at(1, 200, "b"), at(1, 200, "b")},
		{"the file was cut shorter", at(1, 300, "c"), at(1, 300, "c"), at(1, 50, "d"), at(1, 50, "d")},
		{"the file was replaced", at(1, 300, "c"), at(1, 300, "c"), at(2, 50, "d"), at(2, 50, "d")},
		{"the file was replaced and another hook has begun on it", at(2, 80, "e"), at(1, 300, "c"), at(2, 50, "d"), at(2, 80, "e")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			if c.have.Offset > 0 {
				update(t, dir, noon, func(tx *Tx) {
					tx.Merge(Learned{Cursors: map[string]transcript.Step{"/t": {To: c.have}}})
				})
			}
			update(t, dir, noon, func(tx *Tx) {
				tx.Merge(Learned{Cursors: map[string]transcript.Step{"/t": {From: c.from, To: c.to}}})
			})
			if got := read(t, dir).Cursors["/t"]; !got.Equal(c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestMergingEndsAndDeliveries(t *testing.T) {
	t.Parallel()
	end := func(minute int, status string) Learned {
		return Learned{Ends: []transcript.End{{Task: "b1", Status: status, At: noon.Add(time.Duration(minute) * time.Minute)}}}
	}
	told := func(minute int, to string) Learned {
		return Learned{Deliveries: []transcript.Delivery{{Task: "b1", To: to, At: noon.Add(time.Duration(minute) * time.Minute)}}}
	}
	cases := []struct {
		name      string
		steps     []Learned
		status    string
		delivered bool
		to        string
	}{
		{"an end", []Learned{end(0, "completed")}, "completed", false, ""},
		{"an end that was delivered", []Learned{end(0, "completed"), told(1, "a1")}, "completed", true, "a1"},
		{"an end whose delivery was read before it", []Learned{told(1, "a1"), end(0, "completed")}, "completed", true, "a1"},
		{"delivered to somebody, then seen with whom", []Learned{end(0, "completed"), told(1, ""), told(1, "a1")}, "completed", true, "a1"},
		{"delivered to one and then to another", []Learned{end(0, "completed"), told(1, "a1"), told(2, "main")}, "completed", true, "a1"},
		{"a later end is told anew", []Learned{end(0, "completed"), told(1, "a1"), end(2, "failed")}, "failed", false, ""},
		{"a later end that was delivered too", []Learned{end(0, "completed"), told(1, "a1"), end(2, "failed"), told(3, "a1")}, "failed", true, "a1"},
		{"an earlier end read again", []Learned{end(2, "failed"), end(0, "completed")}, "failed", false, ""},
		{"the same end read again", []Learned{end(0, "completed"), told(1, "a1"), end(0, "completed")}, "completed", true, "a1"},
		{"an earlier delivery read again", []Learned{end(2, "failed"), told(1, "a1")}, "failed", false, ""},
		{"only a delivery", []Learned{told(1, "a1")}, "", false, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			for _, l := range c.steps {
				update(t, dir, noon, func(tx *Tx) { tx.Merge(l) })
			}
			s := read(t, dir)
			got, ok := s.Ends["b1"]
			if ok != (c.status != "") || got.Status != c.status || got.Delivered.IsZero() == c.delivered || got.DeliveredTo != c.to {
				t.Errorf("got %v %+v", ok, got)
			}
			if _, heard := s.Heard["b1"]; heard == ok {
				t.Errorf("heard %+v", s.Heard)
			}
		})
	}
}

func TestChargesAndChains(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for i := range 3 {
		update(t, dir, noon, func(tx *Tx) {
			c := tx.Charged("b1")
			if c.Blocks != i || c.Waited != time.Duration(i)*time.Minute || c.Told {
				t.Errorf("charged %+v after %d", c, i)
			}
			tx.Charge("b1", time.Minute, false)
		})
	}
	update(t, dir, noon, func(tx *Tx) { tx.Charge("b1", -time.Hour, true) })
	if s := read(t, dir); s.Charged["b1"] != 4 || s.Waited["b1"] != 3*time.Minute || !s.Told["b1"] {
		t.Errorf("charged %v, waited %v, told %v", s.Charged, s.Waited, s.Told)
	}
}

// A hold whose process was ended from outside is found once, whoever looks first;
// one whose process lives, or that was answered, is not.
func TestHoldsThatWereLost(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) {
		for i, id := range []string{"alive", "dead", "answered", "deader"} {
			tx.PutHold(Hold{AgentID: id, Since: noon.Add(-time.Duration(i) * time.Minute), Process: Process{PID: i}})
		}
		h, _ := tx.HoldOf("answered")
		tx.EndHold(h)
	})
	for _, want := range []string{"[deader dead]", "[]"} {
		update(t, dir, noon, func(tx *Tx) {
			ids := []string{}
			for _, h := range tx.Lost(func(p Process) bool { return p.PID == 0 }) {
				ids = append(ids, h.AgentID)
			}
			if got := fmt.Sprint(ids); got != want {
				t.Errorf("lost %s, want %s", got, want)
			}
		})
	}
	if s := read(t, dir); len(s.Holds) != 1 || s.Holds[0].AgentID != "alive" {
		t.Errorf("holds %+v", s.Holds)
	}
}

// A process id that lives again belongs to another process.
func TestAProcessIdThatLivesAgain(t *testing.T) {
	t.Parallel()
	marks := map[int]string{1: "100", 2: "250"}
	h := host.Host{Alive: func(pid int) bool { return marks[pid] != "" }, Started: func(pid int) (string, bool) { return marks[pid], marks[pid] != "" }}
	for p, want := range map[Process]bool{
		{PID: 1, Started: "100"}: true, {PID: 2, Started: "100"}: false, {PID: 3, Started: "100"}: false, {PID: 2}: true,
	} {
		if p.Lives(h) != want {
			t.Errorf("%+v lives: %v", p, !want)
		}
	}
}

func TestCouriersOnWatch(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) {
		tx.PutWatch(Watch{AgentID: "a1", At: noon, Tasks: []string{"b1"}})
		tx.PutWatch(Watch{AgentID: "a1", At: noon.Add(time.Second), Tasks: []string{"b1", "b2"}})
		tx.PutWatch(Watch{AgentID: "a2", At: noon})
		tx.DropWatch("a2")
		tx.DropWatch("a3")
	})
	if s := read(t, dir); len(s.Watches) != 1 || len(s.Watches["a1"].Tasks) != 2 {
		t.Errorf("watches %+v", s.Watches)
	}
}

// Another event of the agent ends the window in which a doubled stop is known.
func TestTouching(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) {
		tx.PutAgent(Agent{ID: "a1", Type: "old", Transcript: "/t", First: noon.Add(-time.Hour), LastSum: "x", LastSumAt: noon})
		got := tx.Touch("a1", "", "")
		if got.Type != "old" || got.Transcript != "/t" || got.LastSum != "" || !got.Last.Equal(noon) || !got.First.Equal(noon.Add(-time.Hour)) {
			t.Errorf("got %+v", got)
		}
		if got = tx.Touch("a2", "new", "/u"); got.Type != "new" || got.Transcript != "/u" || !got.First.Equal(noon) {
			t.Errorf("got %+v", got)
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) {
		for _, a := range []Agent{{ID: "a1", Type: "ping", Team: "crew"}, {ID: "a2", Name: "pong"}, {ID: "a3", Type: "twin"}, {ID: "a4", Type: "twin"}, {ID: "a5"}} {
			tx.PutAgent(a)
		}
		for _, c := range []struct{ name, team, want string }{
			{"ping", "crew", "a1"}, {"ping", "", "a1"}, {"ping", "other", ""}, {"pong", "crew", "a2"}, {"twin", "", ""}, {"nobody", "", ""}, {"", "", ""},
		} {
			if got := tx.AgentNamed(c.name, c.team); got != c.want {
				t.Errorf("%q of %q is %q, want %q", c.name, c.team, got, c.want)
			}
		}
	})
}

// Ids are somebody else's: no id can break a store.
func TestStrangeIds(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for _, id := range []string{"", "../../x", "a@b", strings.Repeat("x", 10_000), "a\x00b", "\xff\xfe", "é", strings.Repeat("y", maxKey)} {
		update(t, dir, noon, func(tx *Tx) {
			tx.PutAgent(Agent{ID: id})
			tx.Charge(id, 0, false)
			tx.Release(id)
			tx.PutHold(Hold{AgentID: id})
			tx.EndHold(Hold{AgentID: id})
			tx.PutCourier(Courier{Task: id})
			tx.AddStop(Stop{AgentID: id, Listed: []string{id, "b1"}})
			tx.Merge(Learned{
				Launches:   []transcript.Launch{{Task: id, Owner: "a1"}},
				Ends:       []transcript.End{{Task: id, Status: "completed"}},
				Deliveries: []transcript.Delivery{{Task: id}},
				Cursors:    map[string]transcript.Step{id: {To: transcript.Cursor{Offset: 1}}},
				Agents:     []Agent{{ID: id}},
			})
		})
		s := read(t, dir)
		if _, ok := s.Launches[id]; ok != (id != "" && len(id) <= maxKey) {
			t.Errorf("%.20q is kept: %v", id, ok)
		}
	}
	if n := len(read(t, dir).Stops); n != 8 {
		t.Errorf("%d stops", n)
	}
}

func TestRowsAreBounded(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) {
		for i := range maxRows + 500 {
			id := fmt.Sprintf("b%08d", i)
			at := noon.Add(time.Duration(i) * time.Second)
			tx.Merge(Learned{Launches: []transcript.Launch{{Task: id, Owner: "a1", At: at, Evidence: transcript.Text}}})
			tx.PutAgent(Agent{ID: id, Last: at})
		}
		for range maxRecords + 50 {
			tx.AddStop(Stop{AgentID: "a1", Verdict: Allow})
		}
		many := make([]string, 5000)
		for i := range many {
			many[i] = fmt.Sprintf("b%08d", i)
			tx.Session.Listed = append(tx.Session.Listed, Listed{ID: many[i]})
		}
		tx.AddStop(Stop{AgentID: "a1", Listed: many, Own: many})
	})
	s := read(t, dir)
	newest := fmt.Sprintf("b%08d", maxRows+499)
	if n := len(s.Launches); n > maxRows || n < maxRows/2 {
		t.Errorf("%d launches", n)
	}
	if n := len(s.Agents); n > maxRows || n < maxRows/2 {
		t.Errorf("%d agents", n)
	}
	if _, ok := s.Launches[newest]; !ok {
		t.Error("the newest launch is gone")
	}
	if _, ok := s.Launches["b00000000"]; ok {
		t.Error("the oldest launch is still there")
	}
	if n := len(s.Stops); n != maxRecords || s.Stops[n-1].Seq != maxRecords+51 || s.Stops[0].Seq != 52 {
		t.Errorf("%d stops, %d to %d", n, s.Stops[0].Seq, s.Stops[n-1].Seq)
	}
	if last := s.Stops[len(s.Stops)-1]; len(last.Listed) != maxListed || len(s.Session.Listed) > maxRows {
		t.Errorf("a stop names %d tasks, the session %d", len(last.Listed), len(s.Session.Listed))
	}
}

// A store of a newer version is not touched and not read.
func TestANewerStoreIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false) })
	path := dir.Store(session)
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketMeta).Put([]byte("schema"), []byte{0, 0, 0, 0, 0, 0, 0, schema + 1})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before := contentOf(t, path)
	if err := tryUpdate(dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false) }); !errors.Is(err, ErrNewer) {
		t.Errorf("writing gave %v", err)
	}
	if _, err := Read(context.Background(), dir, session, nil); !errors.Is(err, ErrNewer) {
		t.Errorf("reading gave %v", err)
	}
	if !bytes.Equal(before, contentOf(t, path)) {
		t.Error("the store has changed")
	}
	if !dir.LastAside(dir.Store(session)).IsZero() {
		t.Error("the store was set aside")
	}
}

func contentOf(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAReadLeavesTheStoreAsItIs(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false); tx.AddStop(Stop{AgentID: "a1"}) })
	path := dir.Store(session)
	before := contentOf(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		read(t, dir)
		if _, err := ReadFile(context.Background(), path); err != nil {
			t.Fatal(err)
		}
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, contentOf(t, path)) || !after.ModTime().Equal(info.ModTime()) {
		t.Error("the store has changed")
	}
}
