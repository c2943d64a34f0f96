package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// A pipe in the place of a folder has no writer, so that opening it would never end.
func TestAPipeInThePlaceOfAFolderIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if entries, err := (Files{}).ReadDir(pipe); err == nil {
		t.Errorf("a pipe has the entries %v", entries)
	}
	if looks := (Files{}).Looks(pipe, []string{"a", "b"}); !slices.Equal(looks, make([]Look, 2)) {
		t.Errorf("files in a pipe look like %v", looks)
	}
}

// Half of them are looked at by a second thread.
func TestEachOfManyFilesLooksAsItDoesAlone(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), Files{}
	var names []string
	var want []Look
	for i := range 7 {
		name := fmt.Sprint("file-", i)
		names = append(names, name, name+"-missing")
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, i+1), 0o600); err != nil {
			t.Fatal(err)
		}
		want = append(want, files.Look(filepath.Join(dir, name)), Look{})
	}
	if got := files.Looks(dir, names); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if entries, err := files.ReadDir(dir); err != nil || len(entries) != 7 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}
