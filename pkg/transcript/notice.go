package transcript

import (
	"cmp"
	"slices"
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

// notice is what a notification tells of one task.
type notice struct {
	task, status, output string
	exit                 *int
	parked               bool
}

// ended tells whether it tells of an end: an event of a monitor has no status, and
// a task that goes on has the one that background_tasks lists.
func (n notice) ended() bool {
	switch n.status {
	case "", "running", "pending":
		return false
	}
	return true
}

// maxTold bounds the tasks of one notification.
const maxTold = 256

// noticesOf reads the notification that a text is: nothing for prose, also prose
// that quotes one. What stands behind its end is no second one but text of the task,
// a report or what a command printed. Some clients name several tasks in one
// (docs/client.md: ends).
func noticesOf(text string) []notice {
	if strings.HasPrefix(text, noticeLead) {
		_, rest, found := strings.Cut(text, "\n"+noticeOpen)
		if !found {
			return nil
		}
		text = rest
	} else if rest, found := strings.CutPrefix(text, noticeOpen); found {
		text = rest
	} else {
		return nil
	}
	body, _, _ := strings.Cut(text, noticeClose)
	head, rest, summary := split(body)
	var out []notice
	for _, field := range tags(head, "task-id") {
		for id := range strings.SplitSeq(field, ",") {
			n := notice{task: strings.Clone(word(strings.TrimSpace(id)))}
			if n.task != "" && len(out) < maxTold && !slices.ContainsFunc(out, func(have notice) bool { return have.task == n.task }) {
				out = append(out, n)
			}
		}
	}
	statuses, paths := tags(head+rest, "status"), tags(head+rest, "output-file")
	for i := range out {
		n := &out[i]
		switch {
		case len(statuses) == len(out):
			n.status = strings.Clone(word(statuses[i]))
		case len(statuses) > 0:
			n.status = strings.Clone(word(statuses[0]))
		}
		for _, path := range paths {
			n.output = cmp.Or(n.output, strings.Clone(outputOf(n.task, path)))
		}
	}
	if len(out) == 1 {
		out[0].parked = strings.Contains(summary, parkedMark)
		out[0].exit = exitCode(summary)
	}
	return out
}

// exitCode is the code that a summary names, the last one; nil where it names none.
func exitCode(summary string) *int {
	at := strings.LastIndex(summary, exitMark)
	if at < 0 {
		return nil
	}
	digits := summary[at+len(exitMark):]
	if end := strings.IndexFunc(digits, func(r rune) bool { return r != '-' && (r < '0' || r > '9') }); end >= 0 {
		digits = digits[:end]
	}
	code, err := strconv.Atoi(digits)
	if err != nil {
		return nil
	}
	return &code
}

// freeText are the elements that hold what a command printed or an agent said.
// They stand behind the fields.
var freeText = []string{"<event>", "<result>", "<note>"}

// split takes the free text out of a notification, so that it cannot take a
// field's place: head is what stands before the summary and rest what stands behind
// it; summary is the part of it behind the quoted name of the task.
func split(body string) (head, rest, summary string) {
	for _, mark := range freeText {
		body, _, _ = strings.Cut(body, mark)
	}
	head, rest, found := strings.Cut(body, "<summary>")
	if !found {
		return body, "", ""
	}
	end := strings.LastIndex(rest, "</summary>")
	if end < 0 {
		return head, "", ""
	}
	summary = rest[:end]
	return head, rest[end:], summary[strings.LastIndexByte(summary, '"')+1:]
}

// tags are the contents of each <name>…</name>.
func tags(body, name string) []string {
	var out []string
	for {
		_, rest, found := strings.Cut(body, "<"+name+">")
		if !found {
			return out
		}
		value, rest, found := strings.Cut(rest, "</"+name+">")
		if !found {
			return out
		}
		out, body = append(out, strings.TrimSpace(value)), rest
	}
}

// maxWord bounds what is kept of a notification as an id or a word, in bytes.
const maxWord = 128

// word is s if it is an id or a single word, else "": prose is not kept.
func word(s string) string {
	if len(s) > maxWord || leadingID(s) != s {
		return ""
	}
	return s
}
