package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFilesThatSomebodyElseNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.WriteFile(file, []byte("0123456789"), 0o600), os.Symlink(file, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	_, err := os.Stat(filepath.Join(dir, "link"))
	links := err == nil // some emulations of a system make links and do not follow them
	for name, want := range map[string]bool{file: true, filepath.Join(dir, "link"): links, dir: false, filepath.Join(dir, "missing"): false, "": false, "a\x00b": false, os.DevNull: false, strings.Repeat("x", 10_000): false} {
		if got := (Files{}).Regular(name); got != want {
			t.Errorf("%.30q is a regular file: %v", name, got)
		}
		f, info, err := (Files{}).Open(name)
		if (err == nil) != want {
			t.Errorf("opening %.30q gave %v", name, err)
		}
		if err == nil {
			if info.Size() != 10 {
				t.Errorf("%q has %d bytes", name, info.Size())
			}
			_ = f.Close()
		}
	}
	if _, _, err := (Files{}).Open(dir); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder gave %v", err)
	}
	for limit, want := range map[int]string{0: "", 4: "0123", 10: "0123456789", 99: "0123456789"} {
		if got, err := (Files{}).ReadSmall(file, limit); err != nil || string(got) != want {
			t.Errorf("%d bytes: %q, %v", limit, got, err)
		}
	}
	if _, err := (Files{}).ReadSmall(filepath.Join(dir, "missing"), 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gave %v", err)
	}
}

func TestMappedPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files := Files{Map: func(name string) string { return filepath.Join(dir, strings.TrimPrefix(name, "/recorded/")) }}
	entries, err := files.ReadDir("/recorded/")
	if !files.Regular("/recorded/x") || files.Path("") != "" || err != nil || len(entries) != 1 {
		t.Errorf("regular %v, %q, %d entries, %v", files.Regular("/recorded/x"), files.Path(""), len(entries), err)
	}
}

func TestAReplacedFileHasAnotherNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	numbers := map[uint64]bool{}
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		file, info, err := Files{}.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		numbers[Inode(file, info)] = true
		_ = file.Close()
	}
	if len(numbers) != 2 || numbers[0] {
		t.Errorf("numbers %v", numbers)
	}
}

func TestTheSystemsClock(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	var c Clock = SystemClock{}
	before := c.Now()
	if !c.Sleep(ctx, time.Millisecond) || c.Now().Sub(before) < time.Millisecond {
		t.Error("it did not sleep")
	}
	cancel()
	if c.Sleep(ctx, time.Hour) {
		t.Error("it slept on")
	}
}

func TestWhichProcessesLive(t *testing.T) {
	t.Parallel()
	h := System()
	if !h.Alive(os.Getpid()) || !h.Alive(os.Getppid()) || h.Alive(0) || h.Alive(-1) || h.Alive(1<<30) {
		t.Error("wrong of the living and the dead")
	}
	if h.PID != os.Getpid() || h.Parent() != os.Getppid() || h.Self() == "" {
		t.Errorf("%d, %d, %q", h.PID, h.Parent(), h.Self())
	}
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
	default:
		t.Skip("not told on this system")
	}
	if words, ok := h.Command(os.Getpid()); !ok || !slices.Equal(words, os.Args) {
		t.Errorf("command %q, %v", words, ok)
	}
	own, ok := h.Started(os.Getpid())
	if parent, known := h.Started(os.Getppid()); !ok || !known || own == parent {
		t.Errorf("began %q, its parent %q", own, parent)
	}
	if line := h.Ancestors(); len(line) == 0 || line[0] != os.Getppid() || len(line) > maxAncestors {
		t.Errorf("ancestors %v", line)
	}
}

func TestAFileThatIsThereIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := Make(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := Make(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made anew: %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "first" {
		t.Errorf("holds %q: %v", data, err)
	}
}
