package host

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openFile is [OpenShared]: opening never waits here.
func openFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return OpenShared(path, flag, perm)
}

// OpenShared opens a file as os.OpenFile does with the flags for reading, writing,
// adding and making, and leaves others free to rename and remove it meanwhile. What
// os.OpenFile opens can be neither renamed nor removed: the client could not put a new
// transcript in place while we read the old one, no log could begin anew and no broken
// store be set aside while somebody has it open.
func OpenShared(path string, flag int, _ fs.FileMode) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	access, create := uint32(windows.GENERIC_READ), uint32(windows.OPEN_EXISTING)
	switch {
	case flag&os.O_APPEND != 0:
		access |= windows.FILE_APPEND_DATA | windows.FILE_WRITE_ATTRIBUTES | windows.SYNCHRONIZE
	case flag&os.O_RDWR != 0:
		access |= windows.GENERIC_WRITE
	}
	if flag&os.O_CREATE != 0 {
		create = windows.OPEN_ALWAYS
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	// With backup semantics a folder opens too, and is then told from a file.
	h, err := windows.CreateFile(name, access, share, nil, create, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// inode is the number that the system gives a file on its volume.
func inode(file *os.File, _ fs.FileInfo) uint64 {
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info) != nil {
		return 0
	}
	return uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
}
