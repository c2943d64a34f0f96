//go:build !windows

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Whoever starts the program by hand in a terminal is told what it is, in every mode, and
// is given the prompt back at once.
func TestStartedByHandInATerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"gate", "--hold", "9m"}, {"lead"}, {"courier"}} {
		here, there, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		cmd := newWorld(t).cmd(args...)
		var stdout, stderr strings.Builder
		cmd.Stdin, cmd.Stdout, cmd.Stderr = there, &stdout, &stderr
		began := time.Now()
		err = cmd.Run() // given up after 30 s
		if err != nil || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "hook: stdin is a terminal") || time.Since(began) > 20*time.Second {
			t.Errorf("%v: %v after %s, stdout %q, stderr %q", args, err, time.Since(began), stdout.String(), stderr.String())
		}
		_, _ = here.Close(), there.Close()
	}
}
