package gate

import (
	"strings"
	"unicode"
)

// invoke is how the agent's shell runs a program, and what has to be said with it. On
// Windows that is Git Bash or PowerShell (docs/client.md: shells on Windows). Both run
// a bare path with slashes. One that must be quoted is run as it is by Git Bash, and by
// PowerShell behind an ampersand, which Git Bash does not know.
func invoke(program string) (command, note string) {
	if !onWindows(program) {
		return `"` + program + `"`, ""
	}
	path := strings.ReplaceAll(program, `\`, "/")
	if !strings.ContainsFunc(path, special) {
		return path, ""
	}
	return `"` + path + `"`, "; in PowerShell begin with &"
}

// onWindows tells the path of a program there.
func onWindows(program string) bool {
	_, rest, drive := strings.Cut(program, ":")
	return drive && (strings.HasPrefix(rest, `\`) || strings.HasPrefix(rest, "/")) && len(program)-len(rest) == len("C:") ||
		strings.HasPrefix(program, `\\`)
}

// special tells what a shell may not take as it is.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(":/._~-", r)
}
