// Command hook is what Claude Code runs at its hook events. It reads one event
// on stdin and answers on stdout; see `hook --help` and docs/architecture.md.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"stopgate/pkg/handler"
	"stopgate/pkg/host"
	"stopgate/pkg/policy"
	"stopgate/pkg/process"
	"stopgate/pkg/version"
)

// fault provokes what cannot be caught. Only the build of the tests has one.
var fault = func() {}

func main() {
	host.Stack8() // enough for an ephemeral event
	// A Go program that crashes exits with 2, which the client reads as "block".
	// The faults that cannot be caught end in a signal instead.
	debug.SetTraceback("crash")
	// Nothing here is deep: what calls itself without end is to end soon, not at
	// the gigabyte that Go allows.
	debug.SetMaxStack(64 << 20)
	noCoreFile()
	fault()
	// On stderr, like the help: stdout is the client's.
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		_, _ = fmt.Fprintln(os.Stderr, "hook", version.This())
		return
	}
	os.Exit(handler.Main(outside()))
}

// outside is what the hook may touch.
func outside() *host.Host {
	h := host.System()
	h.Held, h.Processes, h.Become = process.Held, true, host.Become
	h.Args = policy.Configured(h.Args, h.Env)
	return &h
}
