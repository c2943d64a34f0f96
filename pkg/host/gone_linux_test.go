package host

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestWhoeverWaitsIsGone(t *testing.T) {
	t.Parallel()
	sleeper := func(t *testing.T) *exec.Cmd {
		c := exec.Command("sleep", "1h")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		return c
	}
	for name, test := range map[string]struct {
		// end ends what is waited for: nil lets all go on.
		end func(t *testing.T, client, parent *exec.Cmd, reader *os.File)
	}{
		"nobody":                      {nil},
		"the client":                  {func(t *testing.T, client, _ *exec.Cmd, _ *os.File) { kill(t, client) }},
		"the parent":                  {func(t *testing.T, _, parent *exec.Cmd, _ *os.File) { kill(t, parent) }},
		"whoever reads the answer":    {func(t *testing.T, _, _ *exec.Cmd, reader *os.File) { _ = reader.Close() }},
		"the client, waited for, too": {func(t *testing.T, client, _ *exec.Cmd, _ *os.File) { kill(t, client); _ = client.Wait() }},
	} {
		for when, before := range map[string]bool{"": false, ", before": true} {
			t.Run(name+when, func(t *testing.T) {
				t.Parallel()
				client, parent := sleeper(t), sleeper(t)
				reader, stdout, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer stdout.Close()
				defer reader.Close()
				if test.end != nil && before {
					test.end(t, client, parent, reader)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				gone, told := gone(ctx, stdout, []int{client.Process.Pid, parent.Process.Pid})
				if !told {
					t.Fatal("the kernel does not tell")
				}
				if test.end == nil {
					select {
					case <-gone.Done():
						t.Error("gone")
					case <-time.After(200 * time.Millisecond):
					}
					cancel()
				} else if !before {
					test.end(t, client, parent, reader)
				}
				select {
				case <-gone.Done():
				case <-time.After(patience):
					t.Error("it is not told")
				}
			})
		}
	}
	t.Run("not told of a process that has no name here", func(t *testing.T) {
		t.Parallel()
		if _, told := gone(t.Context(), os.Stdout, []int{-1}); told {
			t.Error("told")
		}
	})
}

func kill(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
}
