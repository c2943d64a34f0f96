package hosttest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Program writes a program, or a script, that can be run at once. While it is written
// no other test may start a process: that would hold the file open for a moment, and
// what is open for writing cannot be run ("text file busy").
func Program(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
}
