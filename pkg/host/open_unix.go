//go:build !windows

package host

import (
	"io/fs"
	"os"
)

// openFile never waits for the other end of a pipe.
func openFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|nonblocking, perm)
}

// OpenShared opens a file and leaves others free to rename and remove it meanwhile, as
// everybody is here.
func OpenShared(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}
