//go:build !windows

package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/state"
)

// TestMain is also the other process: with a role in the environment it plays
// that role on the state folder instead of running the tests.
func TestMain(m *testing.M) {
	dir := state.At(os.Getenv("LEDGER_TEST_DIR"))
	switch os.Getenv("LEDGER_TEST_ROLE") {
	case "":
		os.Exit(m.Run())
	case "hold the lock":
		if _, err := state.Acquire(context.Background(), dir.LockPath(session), false); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		select {}
	case "charge":
		n, _ := strconv.Atoi(os.Getenv("LEDGER_TEST_N"))
		for range n {
			if err := tryUpdate(dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false) }); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
	case "read without rights":
		if err := syscall.Setuid(65534); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		s, err := ReadFile(context.Background(), dir.Store(session))
		fmt.Println(s.Charged["b1"], err)
		fmt.Println(tryUpdate(dir, noon, func(*Tx) {}) != nil)
	}
	os.Exit(0)
}

func other(t *testing.T, dir state.Dir, role string, env ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(os.Environ(), "LEDGER_TEST_ROLE="+role, "LEDGER_TEST_DIR="+dir.Path()), env...)
	return cmd
}

// A process that was stopped while it holds the lock holds nobody up for longer
// than they want to wait, and its death frees the lock at once.
func TestAStoppedHolderOfTheLock(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false) })
	cmd := other(t, dir, "hold the lock")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(context.Context) error{
		"writing": func(ctx context.Context) error {
			return Update(ctx, dir, session, noon, func(*Tx) error { return nil })
		},
		"reading": func(ctx context.Context) error {
			_, err := Read(ctx, dir, session, nil)
			return err
		},
		"looking": func(ctx context.Context) error {
			_, err := ReadFile(ctx, dir.Store(session))
			return err
		},
	} {
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
		err := do(ctx)
		cancel()
		if took := time.Since(began); !errors.Is(err, ErrBusy) || took > 2*time.Second {
			t.Errorf("%s gave %v after %v", name, err, took)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	update(t, dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false) })
	if n := read(t, dir).Charged["b1"]; n != 2 {
		t.Errorf("charged %d", n)
	}
}

func TestSeveralProcesses(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	const processes, each = 6, 20
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			if said, err := other(t, dir, "charge", "LEDGER_TEST_N="+strconv.Itoa(each)).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
	all.Wait()
	if n := read(t, dir).Charged["b1"]; n != processes*each {
		t.Errorf("charged %d of %d", n, processes*each)
	}
	sound(t, dir.Store(session))
}

// Killed at random moments, the store stays whole and no lock stays behind.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for i := range 15 {
		cmd := other(t, dir, "charge", "LEDGER_TEST_N=100000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(15+7*i) * time.Millisecond) // a different moment each time, whichever it is
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		update(t, dir, noon, func(tx *Tx) { tx.Charge("b2", 0, false) })
	}
	if n := read(t, dir).Charged["b2"]; n != 15 || len(asides(t, dir)) != 0 {
		t.Errorf("charged %d, set aside %v", n, asides(t, dir))
	}
	sound(t, dir.Store(session))
}

// A reader without the right to write reads; a writer without it fails.
func TestAStoreOfSomebodyElse(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("giving up rights needs them")
	}
	dir := folder(t)
	update(t, dir, noon, func(tx *Tx) { tx.Charge("b1", 0, false) })
	for p := dir.Store(session); p != filepath.Dir(p); p = filepath.Dir(p) {
		if info, err := os.Stat(p); err == nil && info.Mode().Perm()&0o005 != 0o005 && len(p) > len(os.TempDir()) {
			if err := os.Chmod(p, info.Mode().Perm()|0o055); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := other(t, dir, "read without rights")
	said, err := cmd.CombinedOutput()
	if err != nil || string(said) != "1 <nil>\ntrue\n" {
		t.Errorf("%v: %s", err, said)
	}
}

// Whatever the umask, nobody else can read what was written.
func TestModes(t *testing.T) {
	// The umask is the process's: not in parallel.
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := folder(t)
	hosttest.Write(t, noon, filled(t, dir), "x")
	update(t, dir, noon, func(*Tx) {})
	seen := 0
	err := filepath.WalkDir(dir.Path(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		seen++
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || seen < 5 {
		t.Errorf("saw %d files on %s: %v", seen, runtime.GOOS, err)
	}
}
