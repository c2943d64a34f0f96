//go:build !windows

package config

import "syscall"

// nonblocking keeps an open from waiting at a pipe that lies there.
const nonblocking = syscall.O_NONBLOCK
