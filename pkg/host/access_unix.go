//go:build !windows

package host

import "golang.org/x/sys/unix"

// Writable tells whether this process may make files in a folder, as far as the
// system says so without trying.
func Writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
