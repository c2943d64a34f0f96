//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// start measures a hook that does nothing but say its version.
func (b *bench) start(rounds int) error {
	hook, empty, err := b.pairs(rounds,
		func(int) (result, error) { return b.exec(b.dir, "", b.hook, "--version") },
		func(int) (result, error) { return b.exec(b.dir, "", b.empty) })
	if err != nil {
		return err
	}
	b.row("its start, --version : an empty program", hook, empty, 0)
	return nil
}

// syscalls counts what the hook asks of the kernel for an ephemeral event, by strace,
// against an empty program. The fewest of some runs: how often the runtime's threads
// sleep and wake each other is left out, but not what they do when they begin.
func (b *bench) syscalls() error {
	strace, err := exec.LookPath("strace")
	if err != nil {
		fmt.Printf("%-58s %9s\n", "  its system calls: there is no strace", "")
		return nil //nolint:nilerr // said above; the other rows need none
	}
	w, err := b.world("syscalls")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Dir(w.agent)); err != nil {
		return err
	}
	in, err := w.payload(0, "", "b1")
	if err != nil {
		return err
	}
	trace := filepath.Join(w.dir, "trace")
	fewest := func(program string) (int, error) {
		least := 0
		for i := range 11 {
			if _, err := b.exec(w.state, in, strace, "-f", "-o", trace, program); err != nil {
				return 0, err
			}
			n, err := callsIn(trace)
			if err != nil {
				return 0, err
			}
			if i > 0 && (least == 0 || n < least) { // the first one made the state folder
				least = n
			}
		}
		return least, nil
	}
	hook, err := fewest(b.hook)
	if err != nil {
		return err
	}
	empty, err := fewest(b.empty)
	if err != nil {
		return err
	}
	fmt.Printf("%-58s %9d %9d %7.2f\n", "  system calls of an ephemeral event : an empty program", hook, empty, float64(hook)/float64(empty))
	return nil
}

// call is a line of strace with a system call that is not one of waiting and waking.
var call = regexp.MustCompile(`^\d+ +([a-z_0-9]+)\(`)

func callsIn(path string) (n int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // only read
	for lines := bufio.NewScanner(file); lines.Scan(); {
		m := call.FindSubmatch(lines.Bytes())
		if m == nil {
			continue
		}
		switch string(m[1]) {
		case "futex", "nanosleep", "sched_yield", "epoll_pwait", "tgkill", "rt_sigreturn", "madvise":
		default:
			n++
		}
	}
	return n, nil
}

// quick are the events that are many.
func (b *bench) quick(rounds int) []func() error {
	return []func() error{
		func() error { return b.start(rounds) },
		func() error { return b.ephemeral(rounds) },
		b.syscalls,
		func() error { return b.tool(rounds, "a tool call that launched nothing", "ok", 1.35) },
		func() error { return b.tool(rounds, "one with a result of 30 kB", thirty, 0) },
		func() error { return b.first(rounds) },
		func() error { return b.deciding(rounds) },
	}
}
