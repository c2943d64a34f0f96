//go:build !windows

package host

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// IsTerminal tells whether what is read from is a terminal, where somebody would have
// to type it.
func IsTerminal(r io.Reader) bool {
	file, ok := r.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// Terminal tells the width of a terminal that is printed to, and whether it takes
// colours; ok is false for a file that is none.
func Terminal(file *os.File) (width int, ansi, ok bool) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false, false
	}
	return int(size.Col), true, true
}
