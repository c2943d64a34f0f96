package cli

import (
	"context"
	"os/exec"
	"runtime"
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
	return exec.CommandContext(ctx, program, args...).Run() //nolint:gosec // a fixed program, and a file of ours
}
