//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
)

// The program hands over to the hookctl beside it, which goes on alone: the client is
// answered at once and with 0, whatever that hookctl does.
func TestHandingOverToHookctl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, hookctl string }{
		{"one that takes its time", "sleep 2; echo \"$*\" >>\"$OUT\"\n"},
		{"one that fails as a block does", "echo \"$*\" >>\"$OUT\"; echo no >&2; exit 2\n"},
		{"one that never ends", "echo \"$*\" >>\"$OUT\"; exec sleep 20\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			bin, out := filepath.Join(w.dir, "a b'c"), filepath.Join(w.dir, "told")
			program, err := os.ReadFile(hook)
			if err != nil {
				t.Fatal(err)
			}
			hosttest.Program(t, filepath.Join(bin, "hook"), program)
			hosttest.Program(t, filepath.Join(bin, "hookctl"), []byte("#!/bin/sh\n"+c.hookctl))
			w.write(filepath.Join(w.dir, ".config", "stopgate", "config.toml"), "[notify]\ncommand = [\"true\"]\n")
			cmd := w.cmd("gate", "--hold", "1s", "--patience", "1s")
			cmd.Path, cmd.Args[0] = filepath.Join(bin, "hook"), filepath.Join(bin, "hook")
			cmd.Env = append(cmd.Env, "HOME="+w.dir, "OUT="+out)
			began := time.Now()
			if !w.run(cmd) {
				t.Error("the stop was not blocked")
			}
			if took := time.Since(began); c.hookctl[:4] == "echo" && took > 10*time.Second {
				t.Errorf("the answer took %s", took)
			}
			for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				if told, err := os.ReadFile(out); err == nil && strings.HasSuffix(string(told), "\n") {
					if string(told) != "notice --session="+session+"\n" {
						t.Errorf("hookctl was given %q", told)
					}
					return
				}
				if time.Now().After(deadline) {
					t.Fatal("hookctl was not run")
				}
			}
		})
	}
}
