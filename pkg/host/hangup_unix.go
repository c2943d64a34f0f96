//go:build !windows

package host

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// hungUp asks the kernel about a pipe's or socket's other end. What a file or a
// terminal is connected to cannot be told.
func hungUp(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = conn.Control(func(fd uintptr) {
		// Both are told without being asked for.
		fds := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds, 0)
		gone = err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return err == nil && gone
}
