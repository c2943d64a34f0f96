// Package host is the outside world as one value: streams, arguments,
// environment, clock and files. Both mains build it once with [System]; tests
// and replays build their own. It holds no rule of stopgate.
package host

import (
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Host is everything a run may touch. The zero value is not usable; start from
// [System] or fill every field.
type Host struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Args are the arguments without the program's name.
	Args []string
	// Env looks a variable of the environment up; "" means unset or empty.
	Env func(name string) string
	// Clock tells the time and waits.
	Clock Clock
	// Files opens what the payload names.
	Files Files
	// Self tells the path of the running program, "" where it is unknown.
	Self func() string
	// PID is the id of this process.
	PID int
	// Parent tells the process id of the current parent. It changes when the
	// parent has died (docs/client.md: the hook contract).
	Parent func() int
	// Alive tells whether a process of that id exists.
	Alive func(pid int) bool
	// Command is the command line of a process, word by word. false where the
	// system does not tell, or not about this one.
	Command func(pid int) ([]string, bool)
	// Ancestors are this process's parent, its parent, and so on: at most eight,
	// fewer where the system tells no more.
	Ancestors func() []int
	// Started is a token of when a process began: another process that has got
	// the same id later has another token. It means nothing else, and nothing on
	// another machine or after a restart. false where it cannot be told.
	Started func(pid int) (string, bool)
	// HungUp tells that nobody can read this process's stdout any more: the
	// other end of the pipe or socket is closed. false also where that cannot be
	// told: for a file, for a terminal, on Windows.
	HungUp func() bool
	// Gone gives a context that is done, too, once one of some processes has ended or
	// nobody can read stdout any more (see HungUp). told is false where the system
	// does not tell, so that one has to look. nil never tells.
	Gone func(ctx context.Context, pids ...int) (gone context.Context, told bool)
	// Held tells whether a process has a file as its stdout or stderr, and whether
	// that can be told. nil cannot tell.
	Held func(path string) (held, known bool)
	// Processes tells that the processes of tasks are those of this machine, and may
	// be looked at. false as in a replay.
	Processes bool
	// Calm is for before a long wait: it gives memory back and makes the process
	// one that wakes up cheaply, at the cost of some speed from then on. nil does
	// nothing.
	Calm func()
	// Become makes a shell of this process and returns only where that fails
	// (see [Become]). nil does nothing, as in a replay.
	Become func(script, arg0, arg1 string)
	// Watch begins to watch files. nil, or an error, means that one has to look
	// again and again instead.
	Watch func() (Watcher, error)
}

// Clock tells the time and waits. The system's is the only one outside tests
// and replays.
type Clock interface {
	// Now is the current time.
	Now() time.Time
	// Sleep waits for d or until ctx is done, whichever comes first, and
	// reports whether the whole of d has passed.
	Sleep(ctx context.Context, d time.Duration) bool
}

// System is the real world of this process.
func System() Host {
	return Host{
		Self: func() string {
			self, _ := os.Executable() // only needed to offer the other program
			return self
		},
		PID:    os.Getpid(),
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Args:   os.Args[1:],
		Env:    os.Getenv,
		Clock:  SystemClock{},
		Parent: os.Getppid,
		Alive:  processAlive,

		Command:   processCommand,
		Ancestors: func() []int { return ancestors(os.Getpid()) },
		Started:   processStarted,
		HungUp:    func() bool { return hungUp(os.Stdout) },
		Gone: func(ctx context.Context, pids ...int) (context.Context, bool) {
			return gone(ctx, os.Stdout, pids)
		},
		Watch: newWatcher,
		Calm:  sync.OnceFunc(calm),
	}
}

// calm leaves one thread to run Go code, since others look for work whenever one
// wakes, and little memory: what was needed to read a gigabyte is not any more.
func calm() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(25)
	debug.FreeOSMemory()
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now implements [Clock].
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep implements [Clock].
func (SystemClock) Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
