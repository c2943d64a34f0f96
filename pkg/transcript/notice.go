package transcript

import (
	"strconv"
	"strings"
	"unicode"
)

// How a task's end is told (docs/client.md: ends).
const (
	noticeOpen  = "<task-notification>"
	noticeClose = "</task-notification>"
	// noticeLead stands before the notification where it is given to a model.
	noticeLead = "[SYSTEM NOTIFICATION"
	// parkedMark is the summary of an agent that stopped with own work running.
	parkedMark = "is waiting on its own background work"
	exitMark   = "exit code "
)

// notice is one <task-notification>.
type notice struct {
	task, status, output string
	exit                 *int
	parked               bool
}

// notices reads all notifications in a text. One without <status> is an event
// of a monitor, not an end; its status is "".
func notices(text string) []notice {
	var out []notice
	for {
		_, rest, found := strings.Cut(text, noticeOpen)
		if !found {
			return out
		}
		body, tail, closed := strings.Cut(rest, noticeClose)
		if !closed {
			body = rest
		}
		fields, summary := split(body)
		n := notice{task: word(tag(fields, "task-id")), status: word(tag(fields, "status"))}
		n.output = outputOf(n.task, tag(fields, "output-file"))
		n.parked = strings.Contains(summary, parkedMark)
		if at := strings.LastIndex(summary, exitMark); at >= 0 {
			digits := summary[at+len(exitMark):]
			if end := strings.IndexFunc(digits, func(r rune) bool { return r != '-' && (r < '0' || r > '9') }); end >= 0 {
				digits = digits[:end]
			}
			if code, err := strconv.Atoi(digits); err == nil {
				n.exit = &code
			}
		}
		if n.task != "" {
			out = append(out, n)
		}
		text = tail
	}
}

// freeText are the elements that hold what a command printed or an agent said.
// They stand behind the fields.
var freeText = []string{"<event>", "<result>", "<note>"}

// split takes the free text out of a notification, so that it cannot take a
// field's place, and gives the part of the summary behind the quoted name of the
// task.
func split(body string) (fields, summary string) {
	for _, mark := range freeText {
		body, _, _ = strings.Cut(body, mark)
	}
	before, rest, found := strings.Cut(body, "<summary>")
	if !found {
		return body, ""
	}
	end := strings.LastIndex(rest, "</summary>")
	if end < 0 {
		return before, ""
	}
	summary = rest[:end]
	return before + rest[end:], summary[strings.LastIndexByte(summary, '"')+1:]
}

// tag is the content of the first <name>…</name>.
func tag(body, name string) string {
	_, rest, found := strings.Cut(body, "<"+name+">")
	if !found {
		return ""
	}
	value, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return strings.Clone(strings.TrimSpace(value))
}

// maxWord and maxPath bound what is kept of a notification, in bytes.
const (
	maxWord = 128
	maxPath = 1024
)

// word is s if it is an id or a single word, else "": prose is not kept.
func word(s string) string {
	if len(s) > maxWord || leadingID(s) != s {
		return ""
	}
	return s
}

// outputOf is path if it can be the output file of a task, a whole path that ends
// in the task's name, else "": prose is not kept.
func outputOf(task, path string) string {
	dir, found := strings.CutSuffix(path, task+outputEnding)
	if !found || task == "" || len(path) > maxPath || strings.ContainsFunc(path, unicode.IsControl) {
		return ""
	}
	drive := len(dir) > 2 && dir[1] == ':' && strings.ContainsRune(`/\`, rune(dir[2])) // on Windows
	if whole := drive || strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, `\\`); !whole || !strings.ContainsRune(`/\`, rune(dir[len(dir)-1])) {
		return ""
	}
	return path
}

// isNotice tells whether a text of the queue, or given to a model, is a
// notification, and not prose that quotes one.
func isNotice(text string) bool {
	return strings.HasPrefix(text, noticeOpen) || strings.HasPrefix(text, noticeLead)
}
