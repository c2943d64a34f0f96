package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
)

var (
	aBash = call("t", "Bash", `{"run_in_background":true}`)
	aRan  = result("t", "Command running in background with ID: b3l1piyt6. Output is being written to: "+out+"b3l1piyt6.output.", recent)
)

// tasks are the launched tasks of a batch.
func tasks(b Batch) string {
	var ids []string
	for _, l := range b.Launches {
		ids = append(ids, l.Task)
	}
	return strings.Join(ids, " ")
}

// What several unsynchronised writers leave behind.
func TestDamagedTranscripts(t *testing.T) {
	t.Parallel()
	nuls := strings.Repeat("\x00", 1<<20)
	wide := `{"parentUuid":null,"agentId":"` + agent + `","type":"assistant","message":{"content":[` + strings.Repeat(`{"type":"tool_use","id":"x","name":"Read"},`, 60)
	cases := []struct {
		name, content, want string
		bad, oversize       int
	}{
		{"empty", "", "", 0, 0},
		{"one line end", "\n", "", 0, 0},
		{"no assistant line yet", `{"type":"user","message":{"content":"go"}}` + "\n", "", 0, 0},
		{"whole", aBash + "\n" + aRan + "\n", "b3l1piyt6", 0, 0},
		{"with Windows line ends", aBash + "\r\n" + aRan + "\r\n", "b3l1piyt6", 0, 0},
		{"with a mark of byte order", "\ufeff" + aBash + "\n" + aRan + "\n", "b3l1piyt6", 1, 0},
		{"with blank lines", "\n\n" + aBash + "\n\n \n" + aRan + "\n\n", "b3l1piyt6", 0, 0},
		{"last line partial", aBash + "\n" + aRan[:len(aRan)-9], "", 0, 0},
		{"last line without its end", aBash + "\n" + aRan, "", 0, 0},
		{"torn start before a record", aBash + "\n" + `{"type":"assistant","mess` + aRan + "\n", "b3l1piyt6", 1, 0},
		{"torn start with many blocks before a record", aBash + "\n" + wide + aRan + "\n", "b3l1piyt6", 1, 0},
		{"torn end behind a record", aBash + "\n" + aRan + `{"type":"assis` + "\n", "b3l1piyt6", 1, 0},
		{"two records side by side", aBash + aRan + "\n", "b3l1piyt6", 1, 0},
		{"a record inside another", aBash + "\n" + `{"type":"user","message":` + aRan + `{"x":1}` + "\n", "b3l1piyt6", 1, 0},
		{"a hole of NULs between two records", aBash + "\n" + nuls + aRan + "\n", "b3l1piyt6", 0, 0},
		{"a hole of NULs inside a record", aBash + "\n" + aRan[:300] + nuls + aRan[300:] + "\n" + aRan + "\n", "b3l1piyt6", 2, 0},
		{"a hole of NULs behind a record", aBash + "\n" + aRan + nuls + "\n", "b3l1piyt6", 0, 0},
		{"a line of 20 MB before the launch", `{"type":"user","toolUseResult":"` + strings.Repeat("x", 20<<20) + `"}` + "\n" + aBash + "\n" + aRan + "\n", "b3l1piyt6", 0, 1},
		{"a line of 20 MB between call and result", aBash + "\n" + `{"type":"user","x":"\"tool_use_id\":\"t\" ` + strings.Repeat("x", 20<<20) + `"}` + "\n" + aRan + "\n", "b3l1piyt6", 0, 1},
		{"invalid UTF-8 in other lines", aBash + "\n{\"type\":\"user\",\"x\":\"\xff\xfe\"}\n" + aRan + "\n", "b3l1piyt6", 0, 0},
		{"invalid UTF-8 in the launch line", aBash + "\n" + strings.Replace(aRan, "Output is", "\xff\xfe is", 1) + "\n", "b3l1piyt6", 0, 0},
		{"brackets without end", aBash + "\n" + `{"tool_use":` + strings.Repeat("[", 3<<20) + "\n" + aRan + "\n", "b3l1piyt6", 1, 0},
		{"values of other types everywhere", aBash + "\n" + `{"type":7,"agentId":null,"version":{},"timestamp":"never","message":"tool_use","isSidechain":"x"}` + "\n" + aRan + "\n", "b3l1piyt6", 0, 0},
		{"no JSON at all", "tool_use tool_use \"tool_use\"\n[1,2,\"tool_use\"]\n\"tool_use\"\n", "", 3, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := scanOf(t, write(t, c.content), agent, Cursor{})
			if got := tasks(b); got != c.want {
				t.Errorf("launched %q, want %q", got, c.want)
			}
			if b.Bad != c.bad || b.Oversize != c.oversize {
				t.Errorf("%d bad and %d oversize lines, want %d and %d", b.Bad, b.Oversize, c.bad, c.oversize)
			}
			if want := int64(strings.LastIndexByte(c.content, '\n') + 1); b.Cursor.Offset != want {
				t.Errorf("cursor at %d, want behind the last whole line, %d", b.Cursor.Offset, want)
			}
		})
	}
}

// A transcript changes between two stops.
func TestTheNextReading(t *testing.T) {
	t.Parallel()
	filler := `{"type":"system","text":"` + strings.Repeat("x", 5000) + `"}` + "\n"
	other := call("u", "Bash", `{"run_in_background":true}`) + "\n" + result("u", "Command running in background with ID: b00000002. ", recent) + "\n"
	first := filler + aBash + "\n" + aRan + "\n"
	rewrite := func(t *testing.T, path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := []struct {
		name   string
		change func(t *testing.T, path string)
		want   string
		reread bool
	}{
		{"nothing", func(*testing.T, string) {}, "", false},
		{"grown", func(t *testing.T, path string) { rewrite(t, path, first+other) }, "b00000002", false},
		{"cut shorter", func(t *testing.T, path string) { rewrite(t, path, aBash+"\n"+aRan+"\n") }, "b3l1piyt6", true},
		{"emptied", func(t *testing.T, path string) { rewrite(t, path, "") }, "", true},
		{"rewritten in place with the same length", func(t *testing.T, path string) {
			rewrite(t, path, strings.Replace(first, "b3l1piyt6", "bXXXXXXXX", 2))
		}, "bXXXXXXXX", true},
		{"rewritten in place and longer", func(t *testing.T, path string) { rewrite(t, path, other+first) }, "b00000002 b3l1piyt6", true},
		{"replaced by a file of the same content and more", func(t *testing.T, path string) {
			rewrite(t, path+".new", first+other)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, "b3l1piyt6 b00000002", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, first)
			before := scanOf(t, path, agent, Cursor{})
			c.change(t, path)
			after := scanOf(t, path, agent, before.Cursor)
			if got := tasks(after); got != c.want {
				t.Errorf("launched %q, want %q", got, c.want)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if after.Cursor.Offset != info.Size() {
				t.Errorf("cursor at %d of %d", after.Cursor.Offset, info.Size())
			}
			if reread := after.Read == info.Size(); reread != c.reread && info.Size() > 0 {
				t.Errorf("read %d of %d bytes", after.Read, info.Size())
			}
			if again := scanOf(t, path, agent, after.Cursor); again.Read != 0 || !again.Cursor.Equal(after.Cursor) {
				t.Errorf("a third reading moved from %+v to %+v", after.Cursor, again.Cursor)
			}
		})
	}
}

// The call is read in one stop and its result in the next.
func TestACallWaitsForItsResult(t *testing.T) {
	t.Parallel()
	path := write(t, aBash+"\n")
	b := scanOf(t, path, agent, Cursor{})
	if len(b.Cursor.Open) != 1 {
		t.Fatalf("open calls: %+v", b.Cursor.Open)
	}
	kept, err := json.Marshal(b.Cursor)
	if err != nil {
		t.Fatal(err)
	}
	var cursor Cursor
	if err := json.Unmarshal(kept, &cursor); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, aRan+"\n")
	from := len(cursor.Open)
	if got := scanOf(t, path, agent, cursor); tasks(got) != "b3l1piyt6" || got.Launches[0].Evidence != TextAsked {
		t.Errorf("found %+v", got.Launches)
	}
	if len(cursor.Open) != from || cursor.Open[0].ID != "t" {
		t.Error("the cursor that was read from has changed")
	}
}

func TestCallsWithoutResultsAreBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 3 * maxOpen {
		lines = append(lines, call(fmt.Sprintf("t%d", i), "Bash", `{}`))
	}
	b := scanLines(t, agent, lines...)
	if n := len(b.Cursor.Open); n != maxOpen {
		t.Errorf("%d calls are open", n)
	}
	// The newest ones are kept: their results are still to come.
	for i, have := range b.Cursor.Open {
		if want := fmt.Sprintf("t%d", 2*maxOpen+i); have.ID != want {
			t.Fatalf("call %d is %s, want %s", i, have.ID, want)
		}
	}
}

func appendTo(t testing.TB, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file that grows while it is read is read up to where it ended at the start.
func TestGrowingWhileRead(t *testing.T) {
	t.Parallel()
	path := write(t, aBash+"\n")
	grown := false
	files := host.Files{Map: func(name string) string { return name }}
	ctx := onErr{context.Background(), func() {
		if !grown {
			grown = true
			appendTo(t, path, aRan+"\n")
		}
	}}
	b, err := Scan(ctx, files, Source{Path: path, Owner: agent}, Cursor{})
	if err != nil || tasks(b) != "" || int(b.Cursor.Offset) != len(aBash)+1 {
		t.Fatalf("got %+v, %v", b, err)
	}
	if b = scanOf(t, path, agent, b.Cursor); tasks(b) != "b3l1piyt6" {
		t.Errorf("the rest gave %+v", b.Launches)
	}
}

// onErr calls f when it is asked whether it is done.
type onErr struct {
	context.Context
	f func()
}

func (c onErr) Err() error { c.f(); return c.Context.Err() }

// When the time is over what was read stands, and the next reading goes on there.
func TestOutOfTime(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for text.Len() < 3*chunk {
		text.WriteString(`{"type":"system","x":"` + strings.Repeat("y", 1000) + `"}` + "\n")
	}
	path := write(t, aBash+"\n"+aRan+"\n"+text.String()+strings.Replace(aBash, `"t"`, `"u"`, 1)+"\n")
	ctx, cancel := context.WithCancel(context.Background())
	asked := 0
	b, err := Scan(onErr{ctx, func() {
		if asked++; asked == 2 {
			cancel()
		}
	}}, host.Files{}, Source{Path: path, Owner: agent}, Cursor{})
	if err != nil || !b.Cut || tasks(b) != "b3l1piyt6" || b.Cursor.Offset == 0 {
		t.Fatalf("got cut %v, %q at %d, %v", b.Cut, tasks(b), b.Cursor.Offset, err)
	}
	b = scanOf(t, path, agent, b.Cursor)
	if b.Cut || len(b.Cursor.Open) != 1 || b.Cursor.Open[0].ID != "u" {
		t.Errorf("the rest gave %+v", b.Cursor)
	}
}

func TestWhatIsNoTranscript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	names := []string{"", dir, loop, filepath.Join(dir, "dangling"), filepath.Join(dir, "missing"), "a\x00b", strings.Repeat("x", 10_000), filepath.Join(dir, "x", "y")}
	if runtime.GOOS != "windows" {
		names = append(names, "/dev/zero", "/dev/tty", pipe(t, dir))
	}
	for _, name := range names {
		from := Cursor{Offset: 7, Inode: 1}
		done := make(chan struct{})
		go func() {
			defer close(done)
			b, err := Scan(context.Background(), host.Files{}, Source{Path: name, Owner: agent}, from)
			if err == nil || !b.Cursor.Equal(from) {
				t.Errorf("%.40q gave %+v, %v", name, b.Cursor, err)
			}
			if CaughtUp(host.Files{}, name, "x", time.Time{}) {
				t.Errorf("%.40q is caught up", name)
			}
			if _, err := ReadMeta(host.Files{}, name); err == nil {
				t.Errorf("%.40q has a meta file", name)
			}
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%.40q blocks", name)
		}
	}
}

// captured are the lines of all recorded transcripts.
func captured(t testing.TB) []string {
	t.Helper()
	var lines []string
	for _, path := range capturedFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(data)), "\n")...)
	}
	return lines
}

func capturedFiles(t testing.TB) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(filepath.Join("..", "replay", "testdata", "captures"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == transcriptExt && strings.Contains(filepath.ToSlash(path), "/claude/projects/") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 40 {
		t.Fatalf("found %d recorded transcripts: %v", len(paths), err)
	}
	return paths
}

func ownerOf(path string) string {
	if id := AgentOf(path); id != "" {
		return id
	}
	return Main
}

// Whatever the file's size at each stop, all stops together learn what one
// reading of the whole learns.
func TestReadingInPartsIsReadingTheWhole(t *testing.T) {
	t.Parallel()
	for _, name := range capturedFiles(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			owner := ownerOf(name)
			path := filepath.Join(t.TempDir(), "t.jsonl")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			whole := scanOf(t, path, owner, Cursor{})
			random := rand.New(rand.NewPCG(1, uint64(len(data))))
			for range 12 {
				readInParts(t, path, owner, data, random, whole)
			}
		})
	}
}

func readInParts(t *testing.T, path, owner string, data []byte, random *rand.Rand, whole Batch) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var all Batch
	for at := 0; at < len(data); {
		next := min(len(data), at+1+random.IntN(1+len(data)/(1+random.IntN(30))))
		appendTo(t, path, string(data[at:next]))
		at = next
		b := scanOf(t, path, owner, all.Cursor)
		all.Launches = append(all.Launches, b.Launches...)
		all.Ends = append(all.Ends, b.Ends...)
		all.Deliveries = append(all.Deliveries, b.Deliveries...)
		all.Messages = append(all.Messages, b.Messages...)
		all.Cursor = b.Cursor
	}
	if !reflect.DeepEqual(all.Launches, whole.Launches) || !reflect.DeepEqual(all.Ends, whole.Ends) ||
		!reflect.DeepEqual(all.Deliveries, whole.Deliveries) || !reflect.DeepEqual(all.Messages, whole.Messages) || !all.Cursor.Equal(whole.Cursor) || len(all.Cursor.Open) != len(whole.Cursor.Open) {
		t.Errorf("in parts: %+v\nwhole: %+v", all, whole)
	}
}

// The same at every single byte, for one transcript with a launch of each kind.
func TestReadingInTwoPartsAtEveryByte(t *testing.T) {
	t.Parallel()
	data := []byte(aBash + "\n" + aRan + "\n" + call("m", "Monitor", `{}`) + "\n" + structured("m", "Monitor started (task m1, persistent)", recent, `{"taskId":"m1"}`) + "\n")
	path := write(t, string(data))
	whole := scanOf(t, path, agent, Cursor{})
	if tasks(whole) != "b3l1piyt6 m1" {
		t.Fatalf("found %q", tasks(whole))
	}
	for cut := range data {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, string(data[:cut]))
		a := scanOf(t, path, agent, Cursor{})
		appendTo(t, path, string(data[cut:]))
		b := scanOf(t, path, agent, a.Cursor)
		if got := append(a.Launches, b.Launches...); !reflect.DeepEqual(got, whole.Launches) || !b.Cursor.Equal(whole.Cursor) {
			t.Fatalf("cut at %d: %+v", cut, got)
		}
	}
}

// joined are the launches of all batches, one a task.
func joined(all ...Batch) map[string]Launch {
	out := map[string]Launch{}
	for _, b := range all {
		for _, l := range b.Launches {
			out[l.Task] = Join(out[l.Task], l)
		}
	}
	return out
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(aRan+"\n"+aBash+"\n"), 300)
	f.Add([]byte(aRan+"\n"+call("u", "Read", `{}`)+"\n"+result("u", "Command did not complete within its x", recent)+"\n"), 700)
	f.Add([]byte(aBash+"\n"+aRan+"\n"), 10)
	f.Add([]byte(aBash+aRan+"\n"), 3)
	f.Add([]byte(`{"type":"assistant","mess`+aRan+"\n\x00\x00"+aBash+"\n"), 30)
	for i, line := range captured(f) {
		if i%9 == 0 && len(line) < 4000 {
			f.Add([]byte(line+"\n"), len(line)/2)
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", os.Getpid()))
		cut = min(max(cut, 0), len(data))
		for _, owner := range []string{agent, Main} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			whole := scanOf(t, path, owner, Cursor{})
			if end := int64(bytes.LastIndexByte(data, '\n') + 1); whole.Cursor.Offset != end {
				t.Errorf("cursor at %d, want %d", whole.Cursor.Offset, end)
			}
			if err := os.Truncate(path, int64(cut)); err != nil {
				t.Fatal(err)
			}
			a := scanOf(t, path, owner, Cursor{})
			appendTo(t, path, string(data[cut:]))
			b := scanOf(t, path, owner, a.Cursor)
			// A result whose call came only in the second part counts for less.
			parts, all := joined(a, b), joined(whole)
			for task, l := range parts {
				if l != all[task] && (l.Evidence != Text || all[task].Beats(l)) {
					t.Errorf("in parts %+v, whole %+v", l, all[task])
				}
			}
			for task := range all {
				if parts[task].Task == "" {
					t.Errorf("in parts nothing of %s", task)
				}
			}
			if !b.Cursor.Equal(whole.Cursor) {
				t.Errorf("in parts %+v, whole %+v", b.Cursor, whole.Cursor)
			}
			for _, l := range whole.Launches {
				if l.Task == "" || l.Owner != owner || l.strength() == 0 {
					t.Errorf("launch %+v", l)
				}
			}
			CaughtUp(host.Files{}, path, "x", time.Time{})
		}
	})
}
