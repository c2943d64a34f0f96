//go:build unix

package client

import "syscall"

func (s *Session) terminate() error { return syscall.Kill(s.Pid(), syscall.SIGTERM) }

// Kill ends the client and its process group at once, as a crash would.
func (s *Session) Kill() error { return syscall.Kill(-s.Pid(), syscall.SIGKILL) }
