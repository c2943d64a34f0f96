//go:build !windows

package main

import (
	"os/signal"
	"syscall"
)

// noCoreFile keeps a crash from leaving a core file behind, and a client that
// went away from killing the hook at its answer.
func noCoreFile() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	signal.Ignore(syscall.SIGPIPE)
}
