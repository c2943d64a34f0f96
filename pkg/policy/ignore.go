package policy

import (
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

// MatchesIgnore tells whether one of the person's own patterns matches a command,
// anywhere in it.
func (p Policy) MatchesIgnore(text string) bool {
	for _, re := range p.Ignore {
		if re.MatchString(text) {
			return true
		}
	}
	return false
}

// Ignored tells whether a command is not to be waited for, as far as its text goes:
// it opts out, matches one of the person's patterns, or is judged never to end.
func (p Policy) Ignored(text string) bool {
	return text != "" && (OptedOut(text) || p.MatchesIgnore(text) || command.Judge(text).Answer == command.Never)
}
