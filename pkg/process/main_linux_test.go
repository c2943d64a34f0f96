package process

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// envRole makes this program play a part in a task instead of running the tests.
const envRole = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(envRole); role != "" {
		if err := play(role); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		fmt.Println("ready")
		switch {
		case role == "look":
			os.Exit(0)
		case role != "burn":
			time.Sleep(time.Hour)
		}
		for end := time.Now().Add(time.Hour); time.Now().Before(end); {
		}
	}
	os.Exit(m.Run())
}

// nobody is a user without rights.
const nobody = 65534

func play(role string) error {
	switch role {
	case "listen":
		for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
			if _, err := net.Listen("tcp", address); err != nil && address[0] != '[' {
				return err
			}
		}
	case "listen on other sockets":
		_, err1 := net.Listen("unix", filepath.Join(os.Getenv("TMPDIR"), "s"))
		_, err2 := net.ListenPacket("udp", "127.0.0.1:0")
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%w, %w", err1, err2)
		}
	case "connect":
		_, err := net.Dial("tcp", os.Getenv("ADDRESS"))
		return err
	case "watch":
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			return err
		}
		_, err = unix.InotifyAddWatch(fd, os.TempDir(), unix.IN_MODIFY)
		return err
	case "watch nothing":
		_, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		return err
	case "watch by fanotify":
		fd, err := unix.FanotifyInit(unix.FAN_CLOEXEC|unix.FAN_REPORT_FID, 0)
		if err != nil {
			return err
		}
		return unix.FanotifyMark(fd, unix.FAN_MARK_ADD, unix.FAN_MODIFY, unix.AT_FDCWD, os.TempDir())
	case "be nobody":
		return syscall.Setuid(nobody)
	case "look":
		tree, ok := Look(os.Getenv("OUTPUT"))
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"ok": ok, "tree": tree})
	}
	return nil
}

// task is a background shell as the client starts it: the leader of a session,
// with nothing on stdin and the output file as stdout and stderr.
type task struct {
	t      *testing.T
	output string
	cmd    *exec.Cmd
}

// begin starts a task and waits until it has printed "ready". $ME is this program.
func begin(t *testing.T, script string, change ...func(*exec.Cmd)) *task {
	t.Helper()
	dir := t.TempDir()
	k := &task{t: t, output: filepath.Join(dir, "x.output")}
	out, err := os.Create(k.output) //realtime: real processes write to it
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	k.cmd = exec.Command("/bin/sh", "-c", script)
	k.cmd.Env = append(os.Environ(), "ME="+os.Args[0], "TMPDIR="+dir, "DIR="+dir)
	k.cmd.Stdout, k.cmd.Stderr = out, out
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	for _, c := range change {
		c(k.cmd)
	}
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.end)
	k.until("ready", func() bool { return strings.Contains(k.text(), "ready") })
	return k
}

func (k *task) text() string {
	data, _ := os.ReadFile(k.output)
	return string(data)
}

// until waits for something to become so.
func (k *task) until(what string, so func() bool) {
	k.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			k.t.Fatalf("never %s: %s", what, k.text())
		}
	}
}

// end ends the processes of the task: the shell's session, and by their ids those
// that left it.
func (k *task) end() {
	_ = syscall.Kill(-k.cmd.Process.Pid, syscall.SIGKILL)
	for _, name := range []string{"left", "right"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(k.output), name))
		pid := 0
		if _, err2 := fmt.Sscan(string(data), &pid); err == nil && err2 == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = k.cmd.Wait()
}

func (k *task) look() Tree {
	k.t.Helper()
	tree, ok := Look(k.output)
	if !ok {
		k.t.Fatal("the system tells nothing")
	}
	return tree
}

// pid is a process id that the task wrote to a file of its folder.
func (k *task) pid(name string) (pid int) {
	k.t.Helper()
	k.until("wrote "+name, func() bool {
		data, _ := os.ReadFile(filepath.Join(filepath.Dir(k.output), name))
		_, err := fmt.Sscan(string(data), &pid)
		return err == nil && strings.HasSuffix(string(data), "\n")
	})
	return pid
}
