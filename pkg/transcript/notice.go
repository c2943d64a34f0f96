package transcript

import (
	"strconv"
	"strings"
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
		n := notice{task: tag(body, "task-id"), status: tag(body, "status"), output: tag(body, "output-file")}
		summary := tag(body, "summary")
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

// tag is the content of the first <name>…</name>. What an agent reported stands
// behind the fields in <result>, so it cannot take a field's place.
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

// isNotice tells whether a text given to a model is a notification, and not
// prose that quotes one.
func isNotice(text string) bool {
	return strings.HasPrefix(text, noticeOpen) || strings.HasPrefix(text, noticeLead)
}
