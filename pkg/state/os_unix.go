//go:build !windows

package state

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblocking keeps an opening from waiting for the other end of a pipe.
const nonblocking = unix.O_NONBLOCK

func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// private tells why a folder is not ours alone: another's folder in a shared
// temp folder could be a trap.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return errors.New("not a folder")
	case !ok || int(st.Uid) != os.Getuid():
		return errors.New("belongs to another user")
	case info.Mode().Perm() != 0o700:
		return errors.New("others can reach it")
	}
	return nil
}

// appendByte adds a byte at the end of a file. It does without os.File, which
// would start the runtime's poller for it: these events are many.
func appendByte(path string, b byte) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	_, err = unix.Write(fd, []byte{b})
	return errors.Join(err, unix.Close(fd))
}
