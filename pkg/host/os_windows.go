package host

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// nonblocking has no meaning here: opening never waits.
const nonblocking = 0

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

func appendByte(path string, b byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte{b})
	return errors.Join(err, file.Close())
}
