//go:build unix

package host

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of like, as far as allowed: an install
// by root must not take the user's file away from the user.
func keepOwner(f *os.File, like fs.FileInfo) {
	if like == nil {
		return
	}
	if st, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}

// SyncDir makes a rename in a folder last. A file system that cannot is left alone.
func SyncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
