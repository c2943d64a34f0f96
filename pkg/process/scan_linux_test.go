package process

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Which processes belong to a task, and which do not.
func TestWhoBelongsToATask(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		script string
		// want are the processes by the files that hold their ids; sh is the shell.
		want []string
	}{
		{"the shell and its child", `sleep 99 & echo $! >$DIR/left; echo ready; wait`, []string{"sh", "left"}},
		{"the shell that became another program", `echo ready; exec sleep 99`, []string{"sh"}},
		{"a child whose output goes elsewhere", `sleep 99 >$DIR/log 2>&1 & echo $! >$DIR/left; echo ready; wait`, []string{"sh", "left"}},
		{"a child whose stderr alone is the output", `sleep 99 >$DIR/log & echo $! >$DIR/left; echo ready; wait`, []string{"sh", "left"}},
		{"a child that closed its output", `sleep 99 >&- 2>&- & echo $! >$DIR/left; echo ready; wait`, []string{"sh", "left"}},
		{"a pipeline", `{ echo $(exec sh -c 'echo $PPID') >$DIR/left; exec sleep 99; } | sleep 98 & echo $! >$DIR/right; echo ready; wait`, []string{"sh", "left", "right"}},
		{"a child that left the session", `setsid sleep 99 & echo $! >$DIR/left; echo ready; wait`, []string{"sh", "left"}},
		{"a daemon whose launcher has ended", `(setsid sleep 99 & echo $! >$DIR/left); echo ready`, []string{"left"}},
		{"a daemon that leads its output elsewhere, whose launcher has ended", `(setsid sleep 99 >/dev/null 2>&1 & echo $! >$DIR/left); echo ready`, nil},
		{"a task that has ended", `echo ready`, nil},
		{"a stranger that reads the output", `(setsid sleep 99 <$DIR/x.output >/dev/null 2>&1 & echo $! >$DIR/left); echo ready`, nil},
		{"a stranger that has it open under another number", `(setsid sleep 99 7>>$DIR/x.output >/dev/null 2>&1 & echo $! >$DIR/left); echo ready`, nil},
		{"an output that was renamed and linked", `mv $DIR/x.output $DIR/y; ln -s y $DIR/x.output; sleep 99 & echo $! >$DIR/left; echo ready; wait`, []string{"sh", "left"}},
		{"an output with a second name", `ln $DIR/x.output $DIR/y; rm $DIR/x.output; mv $DIR/y $DIR/x.output; echo ready; exec sleep 99`, []string{"sh"}},
		{"a name with parentheses and line breaks", `cp /bin/sleep "$DIR/a) R 1 (
b"; "$DIR/a) R 1 (
b" 99 & echo $! >$DIR/left; echo ready; wait`, []string{"sh", "left"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := begin(t, c.script)
			var want []int
			for _, name := range c.want {
				if name == "sh" {
					want = append(want, k.cmd.Process.Pid)
				} else {
					want = append(want, k.pid(name))
				}
			}
			slices.Sort(want)
			var got []int
			for range 500 { // until the shell has ended, or the child has its program
				tree, ok := Look(k.output)
				if got = tree.PIDs(); ok && slices.Equal(got, want) {
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
			t.Errorf("got %v, want %v", got, want)
		})
	}
}

// What is no output file leads to nobody, although many may have it as stdout.
func TestWhatIsNoOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	k := begin(t, `sleep 99 >/dev/null 2>&1 & echo ready; wait`)
	for path, told := range map[string]bool{"": false, os.DevNull: false, dir: false, pipe: false, filepath.Join(dir, "missing"): true, "a\x00b": true, strings.Repeat("x", 9999): true, k.output + "/x": true} {
		if tree, ok := Look(path); len(tree.Processes) != 0 || tree.Size != -1 || tree.Sure || ok != told {
			t.Errorf("%.20q: %+v, %v", path, tree, ok)
		}
	}
}

// A look that finds no process system to look at says so.
func TestNoProcessesToSee(t *testing.T) {
	t.Parallel()
	output := filepath.Join(t.TempDir(), "x.output")
	if err := os.WriteFile(output, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty, other := t.TempDir(), t.TempDir()
	if err := os.Symlink("4711", filepath.Join(other, "self")); err != nil {
		t.Fatal(err)
	}
	self := t.TempDir()
	if err := os.Symlink("nobody", filepath.Join(self, "self")); err != nil {
		t.Fatal(err)
	}
	for name, root := range map[string]string{"no such folder": filepath.Join(empty, "x"), "an empty folder": empty, "a folder of another world": other, "a self that is no number": self, "a file": output} {
		found, ok := scan(root, &memory{}, []ask{{output: output}}, 1)
		if tree := found[0].tree; ok || tree.Size != 5 || tree.Sure || len(tree.Processes) != 0 {
			t.Errorf("%s: %+v, %v", name, tree, ok)
		}
		tree := Tree{Processes: []Process{{PID: os.Getpid()}}}
		deepen(root, &tree)
		weigh(root, &tree)
		if tree.Listens || tree.Watches || tree.Processes[0].Written != 0 {
			t.Errorf("%s: %+v", name, tree)
		}
	}
}

// What the processes hold open.
func TestWhatATaskHolds(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	inherit := func(c *exec.Cmd) { c.ExtraFiles = []*os.File{file} }
	cases := []struct {
		role             string
		listens, watches bool
		change           func(*exec.Cmd)
	}{
		{"nothing", false, false, nil},
		{"listen", true, false, nil},
		{"listen on other sockets", false, false, nil},
		{"connect", false, false, nil},
		{"what its parent listens on", false, false, inherit},
		{"watch", false, true, nil},
		{"watch nothing", false, false, nil},
		{"watch by fanotify", false, true, nil},
	}
	for _, c := range cases {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			if c.role == "watch by fanotify" && os.Getuid() != 0 {
				t.Skip("some kernels give it to root only")
			}
			k := begin(t, `"$ME"; exit 1`, func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, envRole+"="+c.role, "ADDRESS="+l.Addr().String())
				if c.change != nil {
					c.change(cmd)
				}
			})
			tree := k.look()
			if !tree.Deep || tree.Listens != c.listens || tree.Watches != c.watches || (len(tree.Ports) > 0) != c.listens || len(tree.Processes) != 2 {
				t.Errorf("%+v", tree)
			}
		})
	}
}

// The ports are told, whatever the family, each once.
func TestPorts(t *testing.T) {
	t.Parallel()
	k := begin(t, `"$ME" & "$ME"`, func(c *exec.Cmd) { c.Env = append(c.Env, envRole+"=listen") })
	k.until("both ready", func() bool { return strings.Count(k.text(), "ready") == 2 })
	ports := k.look().Ports
	if len(ports) < 2 || len(ports) > 4 || !slices.IsSorted(ports) || ports[0] < 1024 {
		t.Errorf("%v", ports)
	}
}

// The processor time of a tree, of those that run and those that ended.
func TestTicks(t *testing.T) {
	t.Parallel()
	k := begin(t, `"$ME" & echo $! >$DIR/left; read x <$DIR/pipe`, func(c *exec.Cmd) {
		c.Env = append(c.Env, envRole+"=burn")
		if err := syscall.Mkfifo(filepath.Join(filepath.Dir(strings.TrimPrefix(c.Env[len(c.Env)-2], "DIR=")+"/x"), "pipe"), 0o600); err != nil {
			t.Error(err)
		}
	})
	first := k.look()
	k.until("used 20 ticks", func() bool { return k.look().Ticks() >= first.Ticks()+20 })
	busy := k.look()
	if !slices.ContainsFunc(busy.Processes, func(p Process) bool { return p.PID == k.pid("left") && p.Own >= 20 && p.Parent == k.cmd.Process.Pid }) {
		t.Errorf("%+v", busy)
	}
	if err := syscall.Kill(k.pid("left"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	k.until("ended", func() bool { return len(k.look().PIDs()) == 1 })
	if after := k.look(); after.Ticks() < busy.Ticks() {
		t.Errorf("%d ticks after %d", after.Ticks(), busy.Ticks())
	}
}

// How much a tree wrote.
func TestWritings(t *testing.T) {
	t.Parallel()
	k := begin(t, `head -c 300000 /dev/zero >$DIR/log; echo ready; sleep 99; :`)
	tree := k.look()
	weigh(system, &tree)
	total := uint64(0)
	for _, p := range tree.Processes {
		total += p.Written
	}
	if _, err := os.Stat("/proc/self/io"); err == nil && (!tree.Weighed || total < 300_000 || total > 400_000) {
		t.Errorf("wrote %d: %+v", total, tree)
	}
}

// A process that has ended and was not waited for is none.
func TestZombies(t *testing.T) {
	t.Parallel()
	k := begin(t, `echo ready`)
	k.until("ended", func() bool { return len(k.look().PIDs()) == 0 })
	if tree := k.look(); tree.alive() {
		t.Errorf("%+v", tree)
	}
}

// Processes come and go while they are looked at.
func TestATreeThatForksAllTheTime(t *testing.T) {
	t.Parallel()
	k := begin(t, `echo ready; while :; do /bin/true; (:) & done`)
	const looks = 40
	shell := 0
	for range looks {
		tree := k.look()
		if slices.Contains(tree.PIDs(), k.cmd.Process.Pid) {
			shell++
		}
	}
	if shell != looks {
		t.Errorf("the shell was found at %d of %d looks", shell, looks)
	}
}

// One that goes from process to process is found again: no look in a row misses it.
func TestAChainOfProcesses(t *testing.T) {
	t.Parallel()
	k := begin(t, `link() { sleep 0.05; link & }; echo ready; link`)
	var w Watch
	task := w.Add(k.output)
	at := noon
	for range 60 {
		at = at.Add(3 * time.Second)
		w.Look(at)
		if task.Verdict.Kind == Gone {
			t.Fatal(task.Verdict)
		}
		time.Sleep(3 * time.Millisecond)
	}
}

func TestStatFiles(t *testing.T) {
	t.Parallel()
	const rest = "10 2 3 0 -1 4194304 1 2 3 4 50 6 700 8 20 0 %d 0 99 4599808"
	line := func(begin string, threads int) string { return begin + " " + fmt.Sprintf(rest, threads) }
	for text, want := range map[string]status{
		line("7 (sh) S", 1):           {Process{PID: 7, Parent: 10, Start: 99, Own: 56, Reaped: 708}, 3},
		line("3 (sh) R", 1):           {Process{PID: 3, Parent: 10, Start: 99, Own: 56, Reaped: 708, Runs: true, Leads: true}, 3},
		line("7 (a) b (c\n) Z) Z", 1): {Process{PID: 7, Parent: 10, Start: 99, Own: 56, Reaped: 708, Ended: true}, 3},
		line("7 (the first) Z", 4):    {Process{PID: 7, Parent: 10, Start: 99, Own: 56, Reaped: 708}, 3},
		line("7 () S", 1):             {Process{PID: 7, Parent: 10, Start: 99, Own: 56, Reaped: 708}, 3},
		"":                            {},
		"7":                           {},
		"7 (sh) S 1 2 3":              {},
		"x (sh) S" + line("", 1):      {},
		")(":                          {},
		line("99999999999999999999 (", 1) + ") S": {},
	} {
		got, ok := parseStat([]byte(text))
		if ok && got != want || ok != (want != status{}) {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
}

func TestSocketTables(t *testing.T) {
	t.Parallel()
	for text, port := range map[string]int{
		"   0: 0100007F:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 7654 1 0 100 0 0 10 0":                                                5173,
		"   1: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 7654 1 0 100 0 0 10 0": 443,
		"   0: 0100007F:1435 0100007F:9999 01 00000000:00000000 00:00000000 00000000  0  0 7654 1 0 100 0 0 10 0":                                                0,
		"   0: 0100007F:XXXX 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 7654":                                                                 0,
		"   0: 0100007F:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 -":                                                                    0,
		"":         0,
		"x 0A":     0,
		"a b c 0A": 0,
	} {
		socket, got, ok := parseSocket([]byte(text))
		if ok != (port != 0) || ok && (got != port || socket != 7654) {
			t.Errorf("%q: %d, %d, %v", text, socket, got, ok)
		}
	}
}

func FuzzWhatTheSystemTells(f *testing.F) {
	f.Add([]byte("7 (sh) S 10 2 3 0 -1 4194304 1 2 3 4 50 6 700 8 20 0 1 0 99"))
	f.Add([]byte("   0: 0100007F:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 7654"))
	f.Add([]byte("inotify wd:1 ino:2\nwchar: 7\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if st, ok := parseStat(text); ok && (st.PID == 0 && !bytes.Contains(text, []byte("0")) || st.Parent < 0) {
			t.Errorf("%q: %+v", text, st)
		}
		if _, port, ok := parseSocket(text); ok && (port < 0 || port > 65535) {
			t.Errorf("%q: %d", text, port)
		}
		_, _ = written(text), watching(text)
	})
}

func TestWatchingNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"pos:\t0\nflags:\t02004000\n":                                false,
		"pos:\t0\ninotify wd:1 ino:2 sdev:3 mask:2\n":                true,
		"fanotify flags:0 event-flags:0\n":                           false,
		"fanotify flags:0\nfanotify ino:1 sdev:2 mflags:0 mask:3b\n": true,
		"fanotify flags:0\nfanotify mnt_id:12 mflags:0 mask:3b\n":    true,
		"fanotify flags:0\nfanotify sdev:12 mflags:0 mask:3b\n":      true,
		"eventfd-count: 0\n":                                         false,
		"":                                                           false,
	} {
		if watching([]byte(text)) != want {
			t.Errorf("%q", text)
		}
	}
}
