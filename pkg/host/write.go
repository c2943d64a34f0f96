package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// Make writes a file that must not exist yet, which only its owner can read. One that
// it could not write whole is removed again; where there is one, the error is
// [fs.ErrExist] and that one stays.
func Make(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
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
	f, err := os.CreateTemp(filepath.Dir(path), ".stopgate-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
