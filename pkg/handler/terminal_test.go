package handler

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"stopgate/pkg/host"
)

// Whoever starts the hook by hand is told what it is, and does not wait for it.
func TestStartedByHandInATerminal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no pseudo-terminal to try it with there")
	}
	here, there, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	defer there.Close()
	var stdout, stderr bytes.Buffer
	began := time.Now()
	code, _ := Run(host.Host{Stdin: there, Stdout: &stdout, Stderr: &stderr, Clock: host.SystemClock{}, Env: func(string) string { return "" }})
	if code != 0 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "hook: stdin is a terminal") || !strings.Contains(stderr.String(), "  hook [gate]") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}
