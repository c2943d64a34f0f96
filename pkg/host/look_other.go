//go:build !linux

package host

import (
	"io/fs"
	"os"
)

func looksIn(string, []string) ([]Look, bool) { return nil, false }

func readDir(dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }
