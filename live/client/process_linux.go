package client

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ownSession makes the client the leader of a session of its own that dies with
// the test.
func ownSession(terminal bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: terminal, Pdeathsig: syscall.SIGKILL}
}

// Running lists the processes of the session that lives in home: pid and
// command line. They are known by their HOME, which no other process has.
func Running(home string) map[int]string {
	out := map[int]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	want := []byte("HOME=" + home)
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil {
			continue // gone, or not ours
		}
		for _, v := range bytes.Split(env, []byte{0}) {
			if !bytes.Equal(v, want) {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(d))
			cmdline, _ := os.ReadFile(filepath.Join(d, "cmdline"))
			if len(cmdline) > 0 { // a zombie has none
				out[pid] = strings.TrimSpace(string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
			}
		}
	}
	return out
}

func endAll(home string) []string {
	var lines []string
	for pid, line := range Running(home) {
		lines = append(lines, line)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return lines
}
