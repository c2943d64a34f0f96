//go:build unix

package client

import "syscall"

func (s *Session) terminate() error { return syscall.Kill(s.Pid(), syscall.SIGTERM) }

// Kill ends the client and its process group at once, as a crash would. It does
// nothing to a client that has ended: its id may be somebody else's by now.
func (s *Session) Kill() error {
	select {
	case <-s.done:
		return nil
	default:
		return syscall.Kill(-s.Pid(), syscall.SIGKILL)
	}
}
