//go:build !windows

package state

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe that nobody reads or writes must not make anybody wait.
func TestPipesInPlaceOfFiles(t *testing.T) {
	t.Parallel()
	dir := At(t.TempDir())
	for _, name := range []string{logFile, offFile} {
		if err := syscall.Mkfifo(filepath.Join(dir.Path(), name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan bool)
	go func() {
		log, closeLog := OpenLog(func(string) string { return "" }, dir)
		log.Info("unread")
		closeLog()
		done <- Off(func(string) string { return "" }, dir, "", time.Now())
	}()
	select {
	case off := <-done:
		if !off {
			t.Error("a pipe under the name of the switch does not switch off")
		}
	case <-time.After(2 * time.Second):
		t.Error("waits for the other end of a pipe")
	}
}

// A pipe in a lock's place keeps nobody waiting who only looks.
func TestAPipeInALocksPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.lock")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	shared := make(chan error, 1)
	go func() {
		lock, err := Share(t.Context(), path)
		if err == nil {
			lock.Release()
		}
		shared <- err
	}()
	select {
	case <-shared: // with or without an error
	case <-time.After(10 * time.Second):
		t.Fatal("still waiting")
	}
}
