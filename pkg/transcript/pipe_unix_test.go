//go:build !windows

package transcript

import (
	"path/filepath"
	"syscall"
	"testing"
)

// pipe makes a named pipe that nobody writes to.
func pipe(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "pipe.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
