// Package replaytest plays recorded sessions for tests of what comes after them.
package replaytest

import (
	"os"
	"testing"

	"stopgate/pkg/replay"
)

// Played is the recorded session of a folder, played to its end with the gate's
// arguments, and what it left: its state folder and files last as long as the test.
// It fails the test where the folder holds none.
func Played(t testing.TB, folder string, args ...string) (*replay.Recording, *replay.Play) {
	t.Helper()
	rec, err := replay.Load(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	play, err := rec.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := play.Run(replay.Options{Args: args}, func(replay.Step) {}); err != nil {
		t.Fatal(err)
	}
	return rec, play
}
