//go:build !windows

package host

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblocking keeps an opening from waiting for the other end of a pipe, and from
// making a terminal this process's own.
const nonblocking = syscall.O_NONBLOCK | syscall.O_NOCTTY

func inode(_ *os.File, info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino) //nolint:unconvert // not everywhere 64 bits
	}
	return 0
}

func processAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// appendByte does without os.File, which would start the runtime's poller for it:
// ephemeral events are many.
func appendByte(path string, b byte) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	_, err = unix.Write(fd, []byte{b})
	return errors.Join(err, unix.Close(fd))
}
