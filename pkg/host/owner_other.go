//go:build !unix

package host

import (
	"io/fs"
	"os"
)

// keepOwner has nothing to do: a new file inherits from its folder.
func keepOwner(*os.File, fs.FileInfo) {}

// SyncDir has nothing to do: folders cannot be synced.
func SyncDir(string) {}
