//go:build unix

package notice

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// apart gives a program a session of its own: what ends ours does not end it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// openTerminal opens the terminal of a process, or this one's. It waits for nothing, and
// makes no terminal this process's own.
func openTerminal(pid int) (io.WriteCloser, error) {
	const how = os.O_WRONLY | syscall.O_NOCTTY | syscall.O_NONBLOCK
	for _, fd := range []int{1, 0, 2} {
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
		if err != nil || !strings.HasPrefix(path, "/dev/pts/") && !strings.HasPrefix(path, "/dev/tty") {
			continue
		}
		if tty, err := os.OpenFile(path, how, 0); err == nil { //nolint:gosec // a terminal of this person's client
			return tty, nil
		}
	}
	return os.OpenFile("/dev/tty", how, 0)
}
