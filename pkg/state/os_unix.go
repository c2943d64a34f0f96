//go:build !windows

package state

import (
	"errors"
	"os"
	"syscall"
)

// nonblocking keeps the opening of a lock from waiting for the other end of a pipe.
const nonblocking = syscall.O_NONBLOCK

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

// lockStays: a lock file goes while its lock is held, and whoever waits for it looks
// whether it is still the file under its name.
const lockStays = false
