package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// MakeDirs makes a folder, with mode 0700, and those above it, and returns those that
// were missing, the outermost first, also beside an error.
func MakeDirs(dir string) (made []string, err error) {
	for _, d := range MissingDirs(dir) {
		switch err := os.Mkdir(d, 0o700); {
		case err == nil:
			made = append(made, d)
		case !errors.Is(err, fs.ErrExist):
			return made, err
		}
	}
	return made, nil
}

// Missing tells whether nothing lies at a path, links followed.
func Missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// MissingDirs are the folders on the way to dir, and itself, that do not exist, the
// outermost first.
func MissingDirs(dir string) []string {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	slices.Reverse(missing)
	return missing
}

// New opens a file for writing that must not exist yet, which only its owner can read.
// Where there is one, the error is [fs.ErrExist].
func New(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// Write writes a file over what is there, and waits for no disk: after a crash it may
// be empty. mode is that of a file that is new.
func Write(path string, data []byte, mode fs.FileMode) error {
	return os.WriteFile(path, data, mode)
}

// Move gives a file another name, and replaces what bears that one.
func Move(from, to string) error { return os.Rename(from, to) }

// Place moves a finished file to where it belongs, or removes it.
func Place(begun, path string) error {
	err := Move(begun, path)
	if err != nil {
		_ = os.Remove(begun)
	}
	return err
}

// Make writes a file that must not exist yet, which only its owner can read. One that
// it could not write whole is removed again; where there is one, the error is
// [fs.ErrExist] and that one stays.
func Make(path string, data []byte) error {
	f, err := New(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// Replace puts a whole file in place by a rename, so that nobody finds it half
// written, and what runs from the old one goes on.
func Replace(path string, data []byte, mode fs.FileMode) error {
	begun, err := Begin(filepath.Dir(path), data, mode, nil)
	if err != nil {
		return err
	}
	return Place(begun, path)
}

// Begin writes a finished, synced file into a folder, under a name that no other has,
// for [Place] or [Finish]. It gets the owner and group of like, as far as allowed; like
// may be nil.
func Begin(dir string, data []byte, mode fs.FileMode, like fs.FileInfo) (begun string, err error) {
	f, err := os.CreateTemp(dir, ".stopgate-*.tmp")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		keepOwner(f, like)
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// Finish puts a file that was begun with data in its place, so that it lasts. A mount
// point, as a container has it for a single file, cannot be replaced but only written:
// a crash meanwhile leaves half of it. Beside an error the begun file may be there.
func Finish(begun, path string, data []byte) error {
	err := Move(begun, path)
	if errors.Is(err, syscall.EBUSY) {
		err = overwrite(path, data)
		if err == nil {
			err = os.Remove(begun)
		}
	}
	return err
}

func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// TryWrite tells why a file that is there cannot be written, by opening it.
func TryWrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
