package notice

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// apart gives a program a process group of its own: what ends ours does not end it.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// openTerminal opens this process's console.
func openTerminal(int) (io.WriteCloser, error) { return os.OpenFile("CONOUT$", os.O_WRONLY, 0) }
