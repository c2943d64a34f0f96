//go:build !windows

package store

import (
	"os"
	"syscall"
)

// unlock lets go of bbolt's own lock on a store. Closing the file would not: its
// memory map, which a panic leaves behind, keeps the lock.
func unlock(file *os.File) { _ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }
