package transcript

import (
	"bytes"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// What a user line begins with after which no turn goes on: an interrupt, and
// what a command of the person's own printed (docs/client.md: turns).
var turnOver = []string{
	"[Request interrupted by user",
	"<local-command-stdout>", "<local-command-stderr>",
	"<bash-stdout>", "<bash-stderr>",
}

// Turn tells from the end of the coordinator's transcript whether it is at work:
// idle is one whose last line is an answer without a tool call, or an interrupt;
// anything else means that more is to come. at is the time of that line, zero
// where it has none. ok is false where the file cannot be read or its last
// megabyte holds no line of a turn. Lines of other agents and of the client's
// bookkeeping do not count, nor does a last line without an end.
func Turn(files host.Files, path string) (busy bool, at time.Time, ok bool) {
	file, info, err := files.Open(path)
	if err != nil {
		return false, time.Time{}, false
	}
	defer file.Close() //nolint:errcheck // only read
	for span := int64(64 << 10); ; span *= 4 {
		start := max(0, info.Size()-span)
		buf := make([]byte, info.Size()-start)
		n, _ := file.ReadAt(buf, start)
		for _, line := range backwards(buf[:n], start > 0) {
			if r, own := turnLine(line); own {
				return r.goesOn(), r.at, true
			}
		}
		if start == 0 || span >= tailSpan {
			return false, time.Time{}, false
		}
	}
}

// turnLine reads a line if it is one of the coordinator's turns.
func turnLine(line []byte) (record, bool) {
	line = bytes.Trim(line, "\x00 \t\r")
	switch gjson.GetBytes(line, "type").Str {
	case "user", "assistant":
		if gjson.ValidBytes(line) {
			r := parseRecord(string(line))
			return r, r.belongs(Main)
		}
	}
	return record{}, false
}

// goesOn tells whether a line of a turn is followed by more of it. One message
// can stand on several lines, each with the reason why the whole of it ended.
func (r record) goesOn() bool {
	content := r.message.Get("content")
	if r.kind == "user" {
		text := userText(content)
		for _, over := range turnOver {
			if strings.HasPrefix(text, over) {
				return false
			}
		}
		return true
	}
	reason := str(r.message.Get("stop_reason"))
	if reason == "tool_use" {
		return true
	}
	said := content.Type == gjson.String || reason != ""
	calls := false
	content.ForEach(func(_, block gjson.Result) bool {
		switch str(block.Get("type")) {
		case "tool_use":
			calls = true
		case "text":
			said = true
		}
		return true
	})
	return calls || !said
}
