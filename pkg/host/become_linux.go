package host

import (
	"os"
	"syscall"
	"unsafe"
)

// Become makes a shell of this process, with its environment and streams, that runs a
// script with two arguments, $0 and $1. It returns only where that cannot be done.
//
// It is the bare system call: the library's adds five kilobytes to the program, for
// threads that are just being made and for limits that a shell does not mind.
func Become(script, arg0, arg1 string) {
	words := make([]string, 5) //nolint:mnd // as many as follow; a literal would cost more
	words[0], words[1], words[2], words[3], words[4] = "/bin/sh", "-c", script, arg0, arg1
	argv, err := syscall.SlicePtrFromStrings(words)
	if err != nil {
		return // a zero byte in it
	}
	env, err := syscall.SlicePtrFromStrings(os.Environ())
	if err == nil {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(argv[0])), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0]))) //nolint:gosec // as the library does
	}
}
