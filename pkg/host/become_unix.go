//go:build unix && !linux

package host

import (
	"os"
	"syscall"
)

// Become makes a shell of this process, with its environment and streams, that runs a
// script with two arguments, $0 and $1. It returns only where that cannot be done.
func Become(script, arg0, arg1 string) {
	_ = syscall.Exec("/bin/sh", []string{"/bin/sh", "-c", script, arg0, arg1}, os.Environ()) //nolint:gosec // the caller's own words
}
