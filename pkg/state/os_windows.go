package state

import (
	"errors"
	"os"
)

// nonblocking has no meaning here: opening never waits.
const nonblocking = 0

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
