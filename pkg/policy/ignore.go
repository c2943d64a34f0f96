package policy

import (
	"regexp"
	"strings"

	"stopgate/pkg/command"
)

// OptOut at the start of a command says that it is not meant to end. The shell
// ignores it.
const OptOut = ": stopgate-ignore;"

// OptedOut tells whether a command says of itself that it is not meant to end.
// Nothing else that a task prints or is named can make it ignored.
func OptedOut(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\n"), OptOut)
}

// Pattern is what somebody says of commands that match an expression, anywhere in
// them.
type Pattern struct {
	Expr *regexp.Regexp
	// Wait tells that they are to be waited for; else they are not.
	Wait bool
	// From is who says so: "project" or "person".
	From string
}

// Told is what somebody says of a command: nothing, or that it is waited for or
// not, and who: "--ignore", "project", "person" or, of the command itself, its
// opening. The first of --ignore and the files' patterns that matches counts, the
// command's own word before all of them.
func (p Policy) Told(text string) (wait, told bool, from string) {
	if OptedOut(text) {
		return false, true, OptOut
	}
	for _, re := range p.Ignore {
		if re.MatchString(text) {
			return false, true, "--ignore"
		}
	}
	for _, pattern := range p.Patterns {
		if pattern.Expr.MatchString(text) {
			return pattern.Wait, true, pattern.From
		}
	}
	return false, false, ""
}

// Ignored tells whether a command is not to be waited for, as far as its text goes:
// it opts out, somebody says so, or nobody says otherwise and it is judged never to
// end.
func (p Policy) Ignored(text string) bool {
	if text == "" {
		return false
	}
	if wait, told, _ := p.Told(text); told {
		return !wait
	}
	return command.Judge(text).Answer == command.Never
}
