//go:build linux || darwin

package host

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// envPlay makes the test's own program play a hook: for each line on stdin it
// says on stderr what it sees of the world.
const envPlay = "STOPGATE_TEST_PLAY"

func TestMain(m *testing.M) {
	if os.Getenv(envPlay) == "" {
		os.Exit(m.Run())
	}
	h := System()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if in.Text() == "calm" {
			h.Calm()
			_, _ = fmt.Fprintln(os.Stderr, runtime.GOMAXPROCS(0))
			continue
		}
		_, _ = fmt.Fprintln(os.Stderr, h.HungUp(), h.Ancestors())
	}
}

// played is a process that plays a hook.
type played struct {
	t   *testing.T
	cmd *exec.Cmd
	in  *os.File
	out *bufio.Scanner
}

func play(t *testing.T, stdout *os.File, before ...string) *played {
	t.Helper()
	words := append(before, os.Args[0])
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Env = append(os.Environ(), envPlay+"=1")
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, stdout, errW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{inR, errW} {
		_ = f.Close()
	}
	p := &played{t: t, cmd: cmd, in: inW, out: bufio.NewScanner(errR)}
	t.Cleanup(func() {
		_ = p.in.Close()
		_ = cmd.Wait()
		_ = errR.Close()
	})
	return p
}

// says asks the process what it sees.
func (p *played) says() (hungUp bool, ancestors []int) {
	p.t.Helper()
	if _, err := p.in.WriteString("?\n"); err != nil {
		p.t.Fatal(err)
	}
	if !p.out.Scan() {
		p.t.Fatal("it said nothing")
	}
	word, list, _ := strings.Cut(p.out.Text(), " ")
	for _, field := range strings.Fields(strings.Trim(list, "[]")) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			p.t.Fatal(err)
		}
		ancestors = append(ancestors, pid)
	}
	return word == "true", ancestors
}

func TestWhoeverReadsTheAnswerIsGone(t *testing.T) {
	t.Parallel()
	pair := func(t *testing.T) (ours, theirs *os.File) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
		}
		return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	}
	pipe := func(t *testing.T) (ours, theirs *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	shell := []string{"sh", "-c", `"$0"; true`}
	for name, test := range map[string]struct {
		make   func(*testing.T) (ours, theirs *os.File)
		before []string
	}{
		"a pipe":                     {pipe, nil},
		"a socket":                   {pair, nil},
		"a pipe, behind a shell":     {pipe, shell},
		"a socket, behind a shell":   {pair, shell},
		"a pipe, in a pipe of shell": {pipe, []string{"sh", "-c", `"$0" | cat; true`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := test.make(t)
			p := play(t, theirs, test.before...)
			_ = theirs.Close()
			if gone, _ := p.says(); gone {
				t.Error("gone while it reads")
			}
			_ = ours.Close()
			// A reader in between that lives on is somebody.
			if gone, _ := p.says(); gone == strings.Contains(strings.Join(test.before, " "), "cat") {
				t.Errorf("gone: %v", gone)
			}
		})
	}
	for name, path := range map[string]string{"a file": filepath.Join(t.TempDir(), "out"), "nothing": os.DevNull} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			p := play(t, file)
			_ = file.Close()
			if gone, _ := p.says(); gone {
				t.Error("gone")
			}
		})
	}
}

func TestTheLineOfProcesses(t *testing.T) {
	t.Parallel()
	p := play(t, nil)
	if _, line := p.says(); len(line) < 2 || line[0] != os.Getpid() || line[1] != os.Getppid() {
		t.Errorf("%v, want %d and %d first", line, os.Getpid(), os.Getppid())
	}
	p = play(t, nil, "sh", "-c", `sh -c '"$0"; true' "$0"; true`)
	_, line := p.says()
	if at := slices.Index(line, os.Getpid()); at != 2 || line[1] != p.cmd.Process.Pid || len(line) > maxAncestors {
		t.Errorf("%v, want %d third and %d before it", line, os.Getpid(), p.cmd.Process.Pid)
	}
}

func TestACalmProcess(t *testing.T) {
	t.Parallel()
	p := play(t, nil)
	for range 2 {
		if _, err := p.in.WriteString("calm\n"); err != nil {
			t.Fatal(err)
		}
		if !p.out.Scan() || p.out.Text() != "1" {
			t.Errorf("%q threads run Go code", p.out.Text())
		}
	}
}

func TestACommandLine(t *testing.T) {
	t.Parallel()
	h := System()
	words := []string{"sh", "-c", `echo; read x`, "a word", "", "--input-format", "stream-json", "ü\n"}
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if _, err := out.Read(make([]byte, 1)); err != nil { // it runs now
		t.Fatal(err)
	}
	if got, ok := h.Command(pid); !ok || !slices.Equal(got, words) {
		t.Errorf("%q, %v", got, ok)
	}
	first, ok := h.Started(pid)
	if again, _ := h.Started(pid); !ok || first == "" || again != first {
		t.Errorf("began %q and %q", first, again)
	}
	_ = in.Close()
	_ = cmd.Wait()
	for _, pid := range []int{pid, 0, -1, 1 << 30} {
		if got, ok := h.Command(pid); ok || got != nil {
			t.Errorf("%d: %q", pid, got)
		}
		if at, ok := h.Started(pid); ok || at != "" {
			t.Errorf("%d began %q", pid, at)
		}
	}
}
