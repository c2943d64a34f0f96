package gate

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"stopgate/pkg/host/hosttest"
)

// The line that a reason offers is run by the shell that the agent has. Git Bash is a
// bash, which takes C:/… as it is: here a folder of that name.
func TestTheShellRunsTheProgramThatWaits(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no bash is to be had")
	}
	// PowerShell takes for a command what begins with a letter and holds none of its
	// own signs, and what is quoted behind an ampersand
	// (about_Parsing, about_Operators: the call operator).
	bare := regexp.MustCompile(`^[\pL][\pL\pN:/._~-]*$`)
	for name, program := range map[string]string{
		"of a person":              `C:\Users\jo\AppData\Local\stopgate\bin\hookctl.exe`,
		"with blanks":              `C:\Users\Jo Ann\AppData\Local\stopgate\bin\hookctl.exe`,
		"of another script":        `D:\利用者\stopgate\hookctl.exe`,
		"with letters and blanks":  `C:\Users\Jörg Müller\bin\hookctl.exe`,
		"with signs of the shells": `C:\a & b; (c) #d @e, %f% !g\hookctl.exe`,
		"with slashes":             `C:/Tools/hookctl.exe`,
		"on another system":        "/home/jo ann/.local/bin/hookctl",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			command, note := invoke(program)
			file := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(program, `\`, "/")))
			if runtime.GOOS == "windows" {
				t.Skip("a drive's name is no folder's there")
			}
			hosttest.Program(t, file, []byte("#!/bin/sh\necho ran \"$@\"\n"))
			if strings.HasPrefix(program, "/") {
				command = strings.Replace(command, "/", "./", 1)
			}
			c := exec.Command(bash, "--norc", "-c", command+" wait b1")
			c.Dir = dir
			if out, err := c.CombinedOutput(); err != nil || string(out) != "ran wait b1\n" {
				t.Errorf("%s: %q, %v", command, out, err)
			}
			if onWindows(program) && bare.MatchString(command) == (note != "") {
				t.Errorf("PowerShell is told %q of %s", note, command)
			}
		})
	}
}
