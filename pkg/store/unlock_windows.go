package store

import "os"

// unlock: the lock goes with the file's handle.
func unlock(*os.File) {}
