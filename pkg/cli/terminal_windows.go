package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminal tells the width of a terminal and whether it takes colours; ok is
// false for a file that is none.
func terminal(file *os.File) (width int, ansi, ok bool) {
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
