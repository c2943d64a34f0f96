package history

import (
	"path/filepath"
	"strings"
)

// maxCommand is how much of a command counts, in bytes. The client cuts commands
// at 1000 characters in one place and not in others (docs/client.md:
// background_tasks).
const maxCommand = 900

// Normal is a command without what changes from run to run: white space, numbers
// and ports, ids, the folders of temporary files, where the project lies, and
// variables that say nothing about whether it ends. Two commands with the same
// normal form are the same command.
//
// Where it is not plain that a difference says nothing it stays: a command that is
// taken for another may be left behind or waited for in vain, one that is not known
// is only new. So `cd web && npm start` is not `cd api && npm start`, and `CI=1 npm
// test` is not `npm test`: without a terminal's hands the one may end, the other
// watch.
func Normal(command, project string) string {
	command = strings.ToValidUTF8(command[:min(len(command), maxCommand)], "")
	command = strings.Join(strings.Fields(command), " ")
	command = relative(command, project)
	command = beginning(command)
	return placeholders(temporary(command))
}

// relative names what lies in the project from there.
func relative(command, project string) string {
	project = strings.TrimRight(filepath.Clean(project), `/\`)
	if project == "" || project == "." {
		return command
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(command, project)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		inside := strings.TrimLeft(after, `/\`)
		switch {
		case before != "" && inWord(before[len(before)-1]) || inside == after && after != "" && inWord(after[0]):
			out.WriteString(project) // only part of a longer name
			inside = after
		case inside == "" || !inWord(inside[0]):
			out.WriteString(".")
		}
		command = inside
	}
}

// inWord tells whether a byte next to a path is part of a longer name.
func inWord(c byte) bool {
	return c == '-' || c == '.' || c == '_' || c == '/' || c == '\\' || alphanumeric(c)
}

func alphanumeric(c byte) bool { return digit(c) || letter(c) || c >= 0x80 }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// beginning takes away what may stand before a command and says nothing: going to
// the project's own folder, and variables that only say where and how loudly.
func beginning(command string) string {
	for {
		rest, ok := strings.CutPrefix(command, "cd . && ")
		if !ok {
			rest, ok = strings.CutPrefix(command, "cd .; ")
		}
		if !ok {
			rest, ok = assignment(command)
		}
		if !ok {
			return command
		}
		command = rest
	}
}

// assignment takes away one variable of no consequence.
func assignment(command string) (rest string, ok bool) {
	word, rest, more := strings.Cut(command, " ")
	name, value, assigned := strings.Cut(word, "=")
	if !assigned || !more || !harmless(name) {
		return command, false
	}
	if strings.ContainsAny(value, `"'$`+"`"+`\(`) {
		return command, false // it may go on behind the blank
	}
	return rest, true
}

// harmless tells whether a variable says nothing about whether a command ends.
func harmless(name string) bool {
	switch name {
	case "PORT", "HOST", "DEBUG", "PATH", "TERM", "LANG", "TZ", "TMPDIR", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED", "PYTHONPATH", "RUST_LOG", "RUST_BACKTRACE", "LOG_LEVEL":
		return true
	}
	return strings.HasPrefix(name, "LC_") || strings.HasSuffix(name, "_PORT") || strings.HasSuffix(name, "_HOST") || strings.HasSuffix(name, "_URL")
}

// temporaryFolders are where systems keep temporary files.
var temporaryFolders = []string{"/tmp/", "/private/tmp/", "/var/tmp/", "/var/folders/", "/private/var/folders/", "$TMPDIR/", "${TMPDIR}/", "/dev/shm/", `\AppData\Local\Temp\`, `\Temp\`}

// temporary names a file in a temporary folder by its last part: what lies between
// is made up for one run.
func temporary(command string) string {
	words := strings.Split(command, " ")
	for i, word := range words {
		for _, folder := range temporaryFolders {
			before, after, found := strings.Cut(word, folder)
			if !found || before != "" && inWord(before[len(before)-1]) && folder[0] != '\\' {
				continue
			}
			if folder[0] == '\\' {
				before = before[:strings.LastIndexAny(before, `"'=`)+1] // without the drive
			}
			words[i] = before + "%/" + after[strings.LastIndexAny(after, `/\`)+1:]
			break
		}
	}
	return strings.Join(words, " ")
}

// placeholders puts # for numbers and ids.
func placeholders(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		if !alphanumeric(s[i]) && s[i] != '_' {
			out.WriteByte(s[i])
			i++
			continue
		}
		end := i
		for end < len(s) && (alphanumeric(s[end]) || s[end] == '_') {
			end++
		}
		word, option := s[i:end], i > 0 && s[i-1] == '-' && (i == 1 || s[i-2] == ' ')
		switch {
		case isID(word):
			out.WriteByte('#')
			end += idRest(s[end:])
		case option && len(word) > 1 && letter(word[0]) && digits(word[1:]):
			out.WriteString(word[:1] + "#") // -j8
		default:
			out.WriteString(word)
		}
		i = end
	}
	return out.String()
}

// isID tells whether a word is a number or looks like an id: seven digits of the
// kind that ids are made of, and a number among them.
func isID(word string) bool {
	if digits(word) {
		return true
	}
	seen := false
	for i := range len(word) {
		c := word[i]
		if !digit(c) && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
		seen = seen || digit(c)
	}
	return seen && len(word) >= 7
}

func digits(word string) bool {
	for i := range len(word) {
		if !digit(word[i]) {
			return false
		}
	}
	return word != ""
}

// idRest is the length of what belongs to the id that ends here: the other parts
// of a UUID, of a date, of a version or an address.
func idRest(s string) (n int) {
	for n < len(s) && (s[n] == '-' || s[n] == '.' || s[n] == ':') {
		end := n + 1
		for end < len(s) && alphanumeric(s[end]) {
			end++
		}
		part := s[n+1 : end]
		uuid := s[n] == '-' && (len(part) == 4 || len(part) == 12) && isID("0000000"+part)
		if part == "" || !uuid && !digits(part) {
			return n
		}
		n = end
	}
	return n
}
