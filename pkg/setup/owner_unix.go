//go:build !windows

package setup

import (
	"os"
	"syscall"
)

// ownerOf is the user that a file belongs to, or a link itself.
func ownerOf(path string) (uid int, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
