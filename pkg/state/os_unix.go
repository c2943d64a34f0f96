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

// othersHome tells whether this is root in the home folder of somebody else, as sudo
// brings it about: what it made there, that person could not write. A home that is
// root's by custom is so whoever owns it, as where a container has it from outside.
func othersHome(home string) bool {
	if os.Geteuid() != 0 || home == "/root" || home == "/var/root" {
		return false
	}
	info, err := os.Stat(home)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid != 0
}

// lockStays: a lock file goes while its lock is held, and whoever waits for it looks
// whether it is still the file under its name.
const lockStays = false
