//go:build !unix

package settings

import (
	"io/fs"
	"os"
)

// keepOwner has nothing to do: a new file inherits from its folder.
func keepOwner(*os.File, fs.FileInfo) {}

// syncDir has nothing to do: folders cannot be synced.
func syncDir(string) {}
