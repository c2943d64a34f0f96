//go:build !windows

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// terminal is a process of ours in a terminal of its own.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	ptmx *os.File
	tty  *os.File
	mu   sync.Mutex
	seen bytes.Buffer
	ever bytes.Buffer
	done chan error
	// before are the terminal's modes before the program began.
	before unix.Termios
}

func startInTerminal(t *testing.T, home string, columns, rows uint16, args ...string) *terminal {
	t.Helper()
	return startIn(t, "xterm-256color", home, columns, rows, args...)
}

// startIn does so in a terminal of a kind.
func startIn(t *testing.T, kind, home string, columns, rows uint16, args ...string) *terminal {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(ptmx, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, ptmx: ptmx, tty: tty, done: make(chan error, 1)}
	x.cmd = &exec.Cmd{
		Path: self, Args: append([]string{"hookctl"}, args...), Dir: filepath.Join(home, "proj"),
		Env:   []string{"HOME=" + home, "TERM=" + kind, "TZ=UTC", "PATH=" + os.Getenv("PATH")},
		Stdin: tty, Stdout: tty, Stderr: tty,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	x.before = x.modes()
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { x.done <- x.cmd.Wait() }()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := ptmx.Read(buf)
			x.mu.Lock()
			x.seen.Write(buf[:n])
			x.ever.Write(buf[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		_ = tty.Close()
		_ = ptmx.Close()
	})
	return x
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen.String()
}

// all is all that was ever drawn.
func (x *terminal) all() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ever.String()
}

// see waits until something was drawn since the last look, and forgets what was drawn.
func (x *terminal) see(want ...string) {
	x.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		text, missing := x.text(), ""
		for _, w := range want {
			if !strings.Contains(text, w) {
				missing = w
			}
		}
		switch {
		case missing == "":
			x.mu.Lock()
			x.seen.Reset()
			x.mu.Unlock()
			return
		case time.Now().After(deadline):
			x.t.Fatalf("%q was not drawn; drawn was %q", missing, text)
		}
	}
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.ptmx.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

func (x *terminal) modes() unix.Termios {
	x.t.Helper()
	m, err := unix.IoctlGetTermios(int(x.tty.Fd()), getTermios)
	if err != nil {
		x.t.Fatal(err)
	}
	return *m
}

func (x *terminal) ends() {
	x.t.Helper()
	select {
	case err := <-x.done:
		if err != nil {
			x.t.Errorf("it ended with %v; drawn was %q", err, x.text())
		}
	case <-time.After(20 * time.Second):
		x.t.Fatal("it did not end")
	}
}

const watched = "65f459a2-9db1-48da-b72c-36d82e0351f5"

// watchedHome is a home with a session that runs now: an agent held for a task that
// prints hostile text.
func watchedHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	now := time.Now()
	captures, err := filepath.Abs("../replay/testdata/captures")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "proj"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := seed(now, filepath.Join(captures, "2.1.332/sib-sdk"), home, []string{"20", "--blocks", "0"}); err != nil {
		t.Fatal(err)
	}
	dir := state.At(filepath.Join(home, ".local", "state", "stopgate"))
	err = ledger.Update(t.Context(), dir, watched, now, func(tx *ledger.Tx) error {
		tx.Session.LastEventAt = now
		tx.PutHold(ledger.Hold{
			AgentID: "a85c14a6928672ba4", Tasks: []string{"blxqppgqo"}, Since: now, Until: now.Add(time.Hour), Left: time.Hour,
			Process: ledger.Process{PID: os.Getpid()},
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	prints(t, home, "first\n\x1b]0;stolen\x07\x1b[2Jhostile \x1b[31mred\u202e 45 %\n")
	return home
}

func prints(t *testing.T, home, text string) {
	t.Helper()
	path := filepath.Join(home, "tmp", "-home-dev-proj", watched, "tasks", "blxqppgqo.output")
	if err := write(time.Now(), path, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// The live view in a real terminal: it draws, keeps up, opens an output, explains,
// releases, resizes, and leaves the terminal as it was.
func TestTheLiveViewInATerminal(t *testing.T) {
	t.Parallel()
	home := watchedHome(t)
	x := startInTerminal(t, home, 100, 30, "watch")
	x.see("\x1b[?1049h", "agent A", "held for", "patience left", "blxqppgqo, sleep 20; echo DONEA", "45 %", "hostile red", "agent B", "q quit")
	if during := x.modes(); during == x.before {
		t.Error("the terminal's modes are unchanged while keys are read")
	}
	prints(t, home, "progress 77 %\n")
	x.see("77 %")
	press := func(keys string, want ...string) { x.press(keys); x.see(want...) }
	press("jjjj", ">")
	press("\r", "output of blxqppgqo", "progress 77 %")
	press("\x1b", "q quit")
	press("e", "is held", "patience")
	press("\x1b", "q quit")
	press("r", "no stop shall wait for blxqppgqo any more? (y/n)")
	press("y", "released")
	x.mu.Lock()
	x.seen.Reset()
	x.mu.Unlock()
	if err := pty.Setsize(x.ptmx, &pty.Winsize{Cols: 40, Rows: 12}); err != nil {
		t.Fatal(err)
	}
	x.see("held for…", "blxqppgqo, sleep 20; echo DONEA…")
	x.press("q")
	x.ends()
	x.see("\x1b[?1049l", "\x1b[?25h")
	if after := x.modes(); after != x.before {
		t.Errorf("the terminal was left as %+v, it was %+v", after, x.before)
	}
	snap, err := ledger.ReadFile(t.Context(), state.At(filepath.Join(home, ".local", "state", "stopgate")).Store(watched))
	if err != nil || !snap.Released["blxqppgqo"] {
		t.Errorf("the task is not released: %v, %v", snap.Released, err)
	}
}

// A signal ends it as the key does, and nothing that a task prints reaches the
// terminal as more than text.
func TestTheLiveViewLeavesTheTerminalOnASignal(t *testing.T) {
	t.Parallel()
	x := startInTerminal(t, watchedHome(t), 90, 24, "status", "--watch")
	x.see("ago: hostile")
	if err := x.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	x.ends()
	for _, bad := range []string{"stolen", "\u202e"} {
		if strings.Contains(x.all(), bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
	x.see("\x1b[?1049l")
	if after := x.modes(); after != x.before {
		t.Error("the terminal was not left as it was")
	}
}

// Without a terminal it prints lines.
func TestTheLiveViewWithoutATerminal(t *testing.T) {
	home := watchedHome(t)
	clock := &ticking{tick: func() bool { return false }}
	code, stdout, stderr := run(t, map[string]string{"HOME": home, state.EnvDir: filepath.Join(home, ".local", "state", "stopgate")}, clock, "watch", "--all")
	if code != exitDone || stderr != "" || !strings.Contains(stdout, "launched  blxqppgqo (sleep 20; echo DONEA)") || strings.Contains(stdout, "\x1b") {
		t.Errorf("exit code %d, stderr %q\n%q", code, stderr, stdout)
	}
}

// In the terminals of tmux, of screen and of a console it draws as in others; one that can
// do nothing gets lines.
func TestTheLiveViewInOtherTerminals(t *testing.T) {
	t.Parallel()
	home := watchedHome(t)
	for _, kind := range []string{"screen", "tmux-256color", "linux", "vt100"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			x := startIn(t, kind, home, 80, 24, "watch")
			x.see("agent A", "held for", "q quit")
			x.press("q")
			x.ends()
			x.see("\x1b[?1049l", "\x1b[?25h")
		})
	}
	x := startIn(t, "dumb", home, 80, 24, "watch")
	x.see("launched", "blxqppgqo")
	if err := x.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-x.done
	if strings.Contains(x.all(), "\x1b") {
		t.Errorf("a sequence on a terminal without any: %q", x.all())
	}
}
