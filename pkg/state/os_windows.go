package state

import (
	"errors"
	"os"
)

// nonblocking has no meaning here: opening never waits.
const nonblocking = 0

func writable(string) bool { return true }

func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New("not a folder")
	}
	return nil
}

func appendByte(path string, b byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte{b})
	return errors.Join(err, file.Close())
}
