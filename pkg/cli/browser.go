package cli

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// browse shows a file in the person's browser: the system's own way to open one.
// The program is found by name only, and the path is a word of its own.
func browse(ctx context.Context, path string) error {
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...) //nolint:gosec // a fixed program, and a file of ours
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// Some of them stay as long as their window does.
	select {
	case err := <-ended:
		return err
	case <-time.After(browserFails):
	case <-ctx.Done():
	}
	return nil
}

// browserFails is how long a program that opens a browser is waited for: one that cannot
// says so by then.
const browserFails = 3 * time.Second
