package host

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

func openNonblocking(path string) (*os.File, error) { return os.Open(path) }

func inode(fs.FileInfo) uint64 { return 0 }

func processAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing to do about it
	var code uint32
	const stillActive = 259
	return windows.GetExitCodeProcess(h, &code) == nil && code == stillActive
}
