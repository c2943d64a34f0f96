// Package hosttest makes files for tests whose clock does not run. What the
// machine writes bears the machine's time, which such a clock knows nothing of: a
// test that compares the two holds until the calendar has passed the date that is
// written in it. The package's own test reads the tests of the whole module and
// names those that mix a fixed clock with files of the machine's time.
package hosttest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Write makes a file with this text, and its folders, that was last written at
// that time.
func Write(t testing.TB, at time.Time, path, text string) {
	t.Helper()
	put(t, at, path, text, os.O_TRUNC)
}

// Append adds text to a file, which is made if there is none, at that time.
func Append(t testing.TB, at time.Time, path, text string) {
	t.Helper()
	put(t, at, path, text, os.O_APPEND)
}

func put(t testing.TB, at time.Time, path, text string, how int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close(), os.Chtimes(path, at, at)); err != nil {
		t.Fatal(err)
	}
}

// Copy copies a folder to a place where there is nothing yet, all of it written
// at that time.
func Copy(t testing.TB, at time.Time, to string, from fs.FS) {
	t.Helper()
	if err := errors.Join(os.CopyFS(to, from), Age(at, to)); err != nil {
		t.Fatal(err)
	}
}

// Age gives everything below a folder that time: what the program itself wrote,
// which knows no other clock for its files than the machine's.
func Age(at time.Time, root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(path, at, at)
	})
}
