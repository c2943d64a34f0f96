package host

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// IsTerminal tells whether what is read from is a terminal, where somebody would have
// to type it.
func IsTerminal(r io.Reader) bool {
	file, ok := r.(*os.File)
	if !ok {
		return false
	}
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(file.Fd()), &mode) == nil
}

// Terminal tells the width of a terminal that is printed to, and whether it takes
// colours; ok is false for a file that is none.
func Terminal(file *os.File) (width int, ansi, ok bool) {
	handle := windows.Handle(file.Fd())
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(handle, &info) != nil {
		return 0, false, false
	}
	var mode uint32
	if windows.GetConsoleMode(handle, &mode) == nil {
		ansi = windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
	}
	return int(info.Window.Right-info.Window.Left) + 1, ansi, true
}
