package host

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is returned for a path that is no regular file: a folder, a
// pipe, a device. Reading one could block or never end.
var ErrNotRegular = errors.New("not a regular file")

// Files opens files that somebody else named. The zero value is the machine's
// file system.
type Files struct {
	// Map translates a path of the payload into one of this machine. nil leaves
	// it as it is. A replay maps recorded paths to its own folder.
	Map func(path string) string
}

// Path is where a named path lies on this machine.
func (f Files) Path(name string) string {
	if f.Map == nil || name == "" {
		return name
	}
	return f.Map(name)
}

// Open opens a regular file for reading. It never blocks on a pipe or device:
// those give [ErrNotRegular].
func (f Files) Open(name string) (*os.File, fs.FileInfo, error) {
	return regular(openFile(f.Path(name), os.O_RDONLY, 0))
}

// regular is a file that was opened, unless it is none that can be read to an end.
func regular(file *os.File, err error) (*os.File, fs.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: file.Name(), Err: ErrNotRegular}
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// Stat describes the file a name leads to, links followed.
func (f Files) Stat(name string) (fs.FileInfo, error) { return os.Stat(f.Path(name)) }

// Regular tells whether the name leads to a regular file.
func (f Files) Regular(name string) bool {
	info, err := f.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// ReadDir lists a folder, in no order: there may be thousands.
func (f Files) ReadDir(name string) ([]fs.DirEntry, error) { return readDir(f.Path(name)) }

// ReadSmall reads a regular file of at most limit bytes whole; a larger one is
// cut there.
func (f Files) ReadSmall(name string, limit int) ([]byte, error) {
	file, info, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	n := int(min(info.Size(), int64(limit)))
	buf := make([]byte, n)
	got, err := file.ReadAt(buf, 0)
	if got > 0 || n == 0 {
		err = nil
	}
	return buf[:got], err
}

// Read reads a regular file whole.
func (f Files) Read(name string) ([]byte, error) {
	file, _, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	return io.ReadAll(file)
}

// Inode is the file's number on its volume, or 0 where the system has none to
// offer. Together with its content it tells a file that was replaced.
func Inode(file *os.File, info fs.FileInfo) uint64 { return inode(file, info) }
