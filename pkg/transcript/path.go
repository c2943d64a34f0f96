package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	outputEnding = ".output"
	// outputDir is the folder that holds a session's output files
	// (docs/client.md: files).
	outputDir = "tasks"
	// maxOutput is the longest path of an output file, in bytes, and maxSpaces the
	// most spaces in one: a folder can have a name of two or three words, but none is
	// a sentence.
	maxOutput = 512
	maxSpaces = 6
)

// outputOf is path if it can be the output file of a task, and "" else. It is read,
// and told to models, so it must be a whole path that ends as the client's do, of
// characters that stand in such paths: no prose, and nothing that a shell or a
// terminal takes for more than a name.
func outputOf(task, path string) string {
	if task == "" || word(task) != task || len(path) > maxOutput || !utf8.ValidString(path) {
		return ""
	}
	names := strings.FieldsFunc(path, slash)
	last := len(names) - 1
	if last < 1 || names[last] != task+outputEnding || names[last-1] != outputDir {
		return ""
	}
	joints := strings.Count(path, "/") + strings.Count(path, `\`)
	switch {
	case strings.HasPrefix(path, "/"): // /tmp/…
	case strings.HasPrefix(path, `\\`): // \\server\share\…
		joints--
	case len(names[0]) == 2 && names[0][1] == ':' && unicode.IsLetter(rune(names[0][0])): // C:\…
		joints++
		names = names[1:]
	default:
		return ""
	}
	if joints != last+1 || strings.Count(path, " ") > maxSpaces {
		return ""
	}
	for _, name := range names {
		if !fileName(name) {
			return ""
		}
	}
	return path
}

func slash(r rune) bool { return r == '/' || r == '\\' }

// fileName tells whether a name can stand in the path of an output file.
func fileName(name string) bool {
	if name == "." || name == ".." || strings.Contains(name, "  ") || strings.TrimSpace(name) != name {
		return false
	}
	for _, r := range name {
		if r != ' ' && !strings.ContainsRune("-_.+~@%=,#&()[]{}", r) && !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
			return false
		}
	}
	return true
}
