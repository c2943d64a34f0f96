package host

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaits tells that [Watcher.Await] is to be had.
const awaits = true

// gone waits by the kernel's own means: one set, itself a file, of a descriptor for
// each process and of stdout, where that has another end.
func gone(ctx context.Context, stdout *os.File, pids []int) (context.Context, bool) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return ctx, false
	}
	_ = unix.SetNonblock(fd, true)              // or the runtime would not wait for it
	set := os.NewFile(uintptr(fd), "processes") //nolint:gosec // a file descriptor fits
	processes, ended, err := addProcesses(fd, pids)
	conn, unwaited := set.SyscallConn()
	release := func() {
		for _, p := range processes {
			_ = unix.Close(p)
		}
		_ = set.Close() // ends the wait for it
	}
	if err != nil || unwaited != nil {
		release()
		return ctx, false
	}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, release)
	if ended {
		cancel()
		return ctx, true
	}
	if out, err := stdout.SyscallConn(); err == nil {
		_ = out.Control(func(out uintptr) {
			// Hanging up is told without being asked for. A file has no other end,
			// which is an error here.
			_ = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, int(out), &unix.EpollEvent{}) //nolint:gosec // a file descriptor fits
		})
	}
	go func() {
		_ = conn.Read(func(fd uintptr) bool {
			n, err := unix.EpollWait(int(fd), make([]unix.EpollEvent, 1), 0) //nolint:gosec // a file descriptor fits
			if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
				cancel()
				return true
			}
			return false
		})
	}()
	return ctx, true
}

// addProcesses adds processes to a set; ended tells that one of them has ended. What
// was opened is to be closed also where there is an error.
func addProcesses(set int, pids []int) (opened []int, ended bool, err error) {
	for _, pid := range pids {
		p, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			return opened, true, nil
		}
		if err != nil {
			return opened, false, err
		}
		opened = append(opened, p)
		if err := unix.EpollCtl(set, unix.EPOLL_CTL_ADD, p, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
			return opened, false, err
		}
	}
	return opened, false, nil
}
