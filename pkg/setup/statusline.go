package setup

import (
	"strings"

	"stopgate/pkg/command/syntax"

	"stopgate/pkg/settings"
)

// LineRefresh is how often the client runs the status line, in seconds
// (docs/client.md: the status line).
const LineRefresh = 5

// The status line's command line.
const (
	lineMode   = "statusline"
	lineBeside = "--beside"
)

// statusLine is how an edit treats the status line; want adds ours.
func (w World) statusLine(want bool) settings.StatusLine {
	ours := shellWord(w.Hookctl()) + " " + lineMode
	return settings.StatusLine{
		Want: want, Command: ours, Refresh: LineRefresh,
		Wrap:   func(theirs string) string { return ours + " " + lineBeside + " " + shellWord(theirs) },
		Unwrap: w.unwrapLine,
	}
}

// unwrapLine tells whether a status line's command is hookctl's, and which other it
// runs.
func (w World) unwrapLine(command string) (theirs string, ours bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 || !isPlain(file.Stmts[0]) {
		return "", false
	}
	call, _ := file.Stmts[0].Cmd.(*syntax.CallExpr)
	words, _ := w.recogniser().expand(call.Args)
	if len(words) < 2 || words[1] != lineMode || !w.isHookctl(words[0]) {
		return "", false
	}
	for i, word := range words[2:] {
		if word == lineBeside && i+3 < len(words) {
			return words[i+3], true
		}
	}
	return "", true
}

// isHookctl tells whether a program is our hookctl.
func (w World) isHookctl(program string) bool {
	program = w.recogniser().path(program)
	return program == w.Hookctl() || isProgram(program, hookctlName)
}

// shellWord is a text as one word of a shell.
func shellWord(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("/._-+=:,@%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
