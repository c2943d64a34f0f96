package host

import (
	"io/fs"
	"os"
)

// OpenAppend opens a regular file, which is made with mode 0600 where there is none,
// for adding to it and for reading. Like [Files.Open] it never waits for the other end
// of a pipe.
func OpenAppend(path string) (*os.File, fs.FileInfo, error) {
	return regular(openFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600))
}

// AppendByte adds one byte to a file, which is made like that of [OpenAppend]. Where
// many write at once, each byte counts.
func AppendByte(path string, b byte) error { return appendByte(path, b) }
