package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// hook is the program as it ships: $STOPGATE_PROGRAMS has it, since the machine that
// these tests run on need not have a Go.
var hook string

func TestMain(m *testing.M) {
	dir := os.Getenv("STOPGATE_PROGRAMS")
	if dir == "" {
		fmt.Println("skipped: set STOPGATE_PROGRAMS to a folder with hook.exe in it")
		return
	}
	hook = filepath.Join(dir, "hook.exe")
	os.Exit(m.Run())
}
