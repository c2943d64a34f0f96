//go:build !windows

package event

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const canPoll = true

// readable waits until file has bytes or an end, at most for idle.
func readable(file *os.File, idle time.Duration) error {
	deadline := time.Now().Add(idle)
	for {
		left := max(0, time.Until(deadline))
		fds := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(left.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return os.NewSyscallError("poll", err)
		case n > 0:
			return nil
		case left == 0:
			return ErrIdle
		}
	}
}
