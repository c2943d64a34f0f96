//go:build hostile && linux

package hostile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// filled makes a store of many pages, in which the block of the agent a0 is spent.
func (w *world) filled() string {
	w.t.Helper()
	w.agent("a0")
	w.holds(w.run(setup{payload: w.payload("a0")}), blocks)
	for range 3 { // several, so that there are free pages
		err := ledger.Update(context.Background(), w.dirOf(), w.session, time.Now(), func(tx *ledger.Tx) error {
			for i := range 200 {
				tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: fmt.Sprintf("old%08d", i), Owner: "a9", Output: strings.Repeat("/o", 60)}}})
				tx.AddStop(ledger.Stop{AgentID: "a9", Verdict: ledger.Allow})
			}
			return nil
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return w.dirOf().Store(w.session)
}

// stops lets an agent stop twice: the first is answered by want, and each must be
// answered in time. Then an ordinary event works.
func (w *world) stops(want string) {
	w.t.Helper()
	w.agent("a1")
	w.holds(w.run(setup{payload: w.payload("a1")}), want)
	w.holds(w.run(setup{payload: w.payload("a1", set("stop_hook_active", true))}), decides)
	w.works()
}

func overwrite(t *testing.T, path string, at int64, data []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteAt(data, at)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func noise(random *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

func TestDamagedStores(t *testing.T) {
	page := int64(os.Getpagesize())
	random := rand.New(rand.NewPCG(3, 4))
	w := newWorld(t)
	good := w.filled()
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	pages := int64(len(whole)) / page
	if pages < 12 {
		t.Fatalf("only %d pages", pages)
	}
	type damage struct {
		name string
		do   func(t *testing.T, path string)
	}
	cases := []damage{
		{"zero length", func(t *testing.T, path string) { truncate(t, path, 0) }},
		{"one byte", func(t *testing.T, path string) { truncate(t, path, 1) }},
		{"one page", func(t *testing.T, path string) { truncate(t, path, page) }},
		{"the first meta page flipped", func(t *testing.T, path string) { overwrite(t, path, 0, noise(random, int(page))) }},
		{"the second meta page flipped", func(t *testing.T, path string) { overwrite(t, path, page, noise(random, int(page))) }},
		{"both meta pages flipped", func(t *testing.T, path string) { overwrite(t, path, 0, noise(random, int(2*page))) }},
		{"both meta pages swapped", func(t *testing.T, path string) {
			overwrite(t, path, 0, whole[page:2*page])
			overwrite(t, path, page, whole[:page])
		}},
		{"random bytes all over", func(t *testing.T, path string) { overwrite(t, path, 0, noise(random, len(whole))) }},
		{"a folder in its place", func(t *testing.T, path string) {
			w.replace(path, func() error { return os.MkdirAll(path+"/x", 0o777) })
		}},
		{"a pipe in its place", func(t *testing.T, path string) { w.replace(path, func() error { return syscall.Mkfifo(path, 0o666) }) }},
		{"a link that leads nowhere", func(t *testing.T, path string) {
			w.replace(path, func() error { return os.Symlink(path+"/x/y", path) })
		}},
		{"deleted", func(t *testing.T, path string) { w.remove(path) }},
		{"without rights", func(t *testing.T, path string) { _ = os.Chmod(path, 0) }},
	}
	for n := range pages {
		cases = append(cases,
			damage{fmt.Sprintf("cut at page %d", n), func(t *testing.T, path string) { truncate(t, path, n*page) }},
			damage{fmt.Sprintf("cut inside page %d", n), func(t *testing.T, path string) { truncate(t, path, n*page+page/2) }},
			damage{fmt.Sprintf("random bytes in page %d", n), func(t *testing.T, path string) { overwrite(t, path, n*page, noise(random, int(page))) }},
			damage{fmt.Sprintf("zeros in page %d", n), func(t *testing.T, path string) { overwrite(t, path, n*page, make([]byte, page)) }},
			damage{fmt.Sprintf("another page in place of page %d", n), func(t *testing.T, path string) {
				overwrite(t, path, n*page, whole[(n+3)%pages*page:][:page])
			}},
			damage{fmt.Sprintf("a few bits of page %d", n), func(t *testing.T, path string) {
				for range 5 {
					overwrite(t, path, n*page+int64(random.IntN(200)), []byte{byte(random.Uint32())})
				}
			}},
		)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if err := os.MkdirAll(filepath.Dir(w.dirOf().Store(w.session)), 0o777); err != nil {
				t.Fatal(err)
			}
			path := w.dirOf().Store(w.session)
			w.write(path, string(whole))
			c.do(t, path)
			want := blocks
			if strings.HasPrefix(c.name, "a pipe") || strings.HasPrefix(c.name, "a link") {
				want = decides
			}
			w.stopsIn(want)
		})
	}
}

// stopsIn is stops for a store that may go on being useless, as long as every
// stop is answered in time, and another session works.
func (w *world) stopsIn(want string) {
	w.t.Helper()
	w.agent("a1")
	w.holds(w.run(setup{payload: w.payload("a1")}), want)
	w.holds(w.run(setup{payload: w.payload("a1", set("stop_hook_active", true))}), decides)
	if want == blocks {
		w.works()
		return
	}
	w.remove(w.dirOf().Store(w.session))
	w.works()
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// A branch page that leads to itself cannot be told from a good one page by page:
// following it would never end.
func TestAStoreThatLeadsInCircles(t *testing.T) {
	page := os.Getpagesize()
	w := newWorld(t)
	path := w.filled()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	circles := 0
	for n := 2; n < len(whole)/page; n++ {
		at := n * page
		const branch, header, element = 0x01, 16, 16
		if binary.LittleEndian.Uint16(whole[at+8:])&branch == 0 || binary.LittleEndian.Uint64(whole[at:]) != uint64(n) {
			continue
		}
		circles++
		for i := range int(binary.LittleEndian.Uint16(whole[at+10:])) {
			binary.LittleEndian.PutUint64(whole[at+header+i*element+8:], uint64(n))
		}
	}
	if circles == 0 {
		t.Fatal("the store has no branch page")
	}
	w.write(path, string(whole))
	w.agent("a1")
	for range 2 {
		r := w.run(setup{payload: w.payload("a1", set("stop_hook_active", true)), measure: true})
		if r.code == 2 || r.took > workLimit+*slack {
			t.Errorf("exit code %d, %v after %v", r.code, r.signal, r.took)
		}
		t.Logf("exit code %d, %v after %v with %d MB", r.code, r.signal, r.took, r.usage.MaxRSS>>20)
	}
}

// The store disappears, or another one takes its place, while hooks use it.
func TestAStoreThatIsDeletedAndReplacedInUse(t *testing.T) {
	w := newWorld(t)
	path := w.filled()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(3 * time.Millisecond):
			}
			switch i % 3 {
			case 0:
				_ = os.Remove(path)
			case 1:
				_ = errors.Join(os.WriteFile(path+".x", whole, 0o600), os.Rename(path+".x", path))
			}
		}
	}()
	for i := range 60 {
		agent := fmt.Sprintf("a%d", 10+i)
		w.agent(agent)
		w.holds(w.run(setup{payload: w.payload(agent)}), decides)
	}
	close(stop)
	<-done
	w.works()
}

// A process that is stopped while it holds the lock: everybody else gives up in
// time, and all is well when it goes on or is killed.
func TestTheLockIsHeldByAStoppedProcess(t *testing.T) {
	w := newWorld(t)
	w.filled()
	lock := w.dirOf().LockPath(w.session)
	holder := exec.Command("flock", lock, "sleep", "600")
	holder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := holder.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = syscall.Kill(-holder.Process.Pid, syscall.SIGKILL); _ = holder.Wait() }()
	for began := time.Now(); exec.Command("flock", "-n", lock, "true").Run() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			t.Fatal("nobody holds the lock")
		}
	}
	if err := syscall.Kill(-holder.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.agent("a1")
	for _, args := range [][]string{nil, {"gate", "--hold", "10m"}} {
		w.holds(w.run(setup{payload: w.payload("a1"), args: args}), allows)
	}
	start := line(map[string]any{"session_id": w.session, "hook_event_name": "SubagentStart", "agent_id": "a2"})
	w.holds(w.run(setup{payload: []byte(start)}), allows)
	if r := w.run(setup{program: hookctl, args: []string{"status", "--all"}}); r.took > workLimit+*slack || !strings.Contains(r.stdout+r.stderr, "busy") {
		t.Errorf("status says after %v: %s%s", r.took, r.stdout, r.stderr)
	}
	_ = syscall.Kill(-holder.Process.Pid, syscall.SIGKILL)
	_ = holder.Wait()
	w.works()
	nothingLeft(t, time.Second)
}

// A disk of so many kilobytes that is full, or gets full in the middle of it.
func TestTheDiskIsFull(t *testing.T) {
	needRoot(t)
	for _, room := range []int{0, 4, 8, 12, 16, 20, 24, 32, 48, 64} {
		t.Run(fmt.Sprintf("%d kB left", room), func(t *testing.T) {
			w := newWorld(t)
			if err := os.MkdirAll(w.state, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("none", w.state, "tmpfs", 0, "size=1m"); err != nil {
				t.Skip(err)
			}
			defer func() { _ = syscall.Unmount(w.state, syscall.MNT_DETACH) }()
			ballast := filepath.Join(w.state, "ballast")
			w.write(ballast, strings.Repeat("x", 1<<20-4096*0-room<<10))
			for i := range 5 {
				agent := fmt.Sprintf("a%d", i)
				w.agent(agent)
				w.holds(w.run(setup{payload: w.payload(agent)}), decides)
				w.holds(w.run(setup{payload: w.payload(agent), args: []string{"gate", "--hold", "50ms"}}), decides)
			}
			w.remove(ballast)
			w.works()
			if err := syscall.Unmount(w.state, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
}

// A file may not grow beyond so many bytes.
func TestFilesMayNotGrow(t *testing.T) {
	for _, blocks512 := range []int{0, 1, 8, 16, 24, 32, 40, 64} {
		t.Run(fmt.Sprint(blocks512*512), func(t *testing.T) {
			w := newWorld(t)
			for i := range 3 {
				agent := fmt.Sprintf("a%d", i)
				w.agent(agent)
				w.holds(w.run(setup{payload: w.payload(agent), shell: fmt.Sprintf(`trap '' XFSZ; ulimit -f %d; run "$@"`, blocks512)}), decides)
			}
			w.works()
		})
	}
}
