//go:build !windows

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal tells the width of a terminal and whether it takes colours; ok is
// false for a file that is none.
func terminal(file *os.File) (width int, ansi, ok bool) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false, false
	}
	return int(size.Col), true, true
}
