package transcript

import (
	"bytes"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// Rest is what the end of a transcript shows.
type Rest struct {
	// Waits are the tool calls without an answer behind which nothing was said:
	// what the owner waits for. Empty for one that waits for nothing.
	Waits []ToolUse
	// Told is the latest time on a line, Written when the file was last written.
	// Zero is unknown.
	Told, Written time.Time
}

// ForAgent tells whether an unanswered call is one that another agent's work
// answers: then the caller's transcript rests as long as that takes.
func (r Rest) ForAgent() bool {
	for _, call := range r.Waits {
		switch call.Name {
		case toolAgent, toolTask, toolWorkflow:
			return true
		}
	}
	return false
}

// AtRest reads the end of a transcript, at most a megabyte of it. A call whose
// line lies further back is not seen, and a file that cannot be read shows
// nothing.
func AtRest(files host.Files, src Source) Rest {
	file, info, err := files.Open(src.Path)
	if err != nil {
		return Rest{}
	}
	defer file.Close() //nolint:errcheck // only read
	for span := int64(64 << 10); ; span *= 4 {
		start := max(0, info.Size()-span)
		buf := make([]byte, info.Size()-start)
		n, _ := file.ReadAt(buf, start)
		data := buf[:n]
		if start > 0 { // begins inside a line
			_, data, _ = bytes.Cut(data, []byte("\n"))
		}
		r, spoke := atRest(data, src.owner())
		if spoke || start == 0 || span >= tailSpan {
			r.Written = info.ModTime()
			return r
		}
	}
}

// atRest reads whole lines; spoke tells whether the owner said anything in them.
func atRest(data []byte, owner string) (r Rest, spoke bool) {
	said := "" // the message that the calls belong to
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		line = bytes.Trim(line, "\x00 \t\r")
		if len(line) == 0 || !gjson.ValidBytes(line) {
			continue
		}
		rec := parseRecord(string(line))
		if rec.at.After(r.Told) {
			r.Told = rec.at
		}
		if !rec.belongs(owner) {
			continue
		}
		switch rec.kind {
		case "assistant":
			// One message can stand on several lines, a call on each.
			spoke = true
			if id := str(rec.message.Get("id")); id == "" || id != said {
				r.Waits, said = nil, id
			}
			rec.message.Get("content").ForEach(func(_, block gjson.Result) bool {
				if id := str(block.Get("id")); str(block.Get("type")) == "tool_use" && id != "" {
					r.Waits = append(r.Waits, ToolUse{ID: id, Name: keep(block.Get("name"))})
				}
				return true
			})
		case "user":
			r.answer(rec.message.Get("content"))
		}
	}
	return r, spoke
}

// answer takes the answered calls away; anything but answers, for example an
// interrupt, leaves none.
func (r *Rest) answer(content gjson.Result) {
	answers := false
	if content.IsArray() {
		content.ForEach(func(_, block gjson.Result) bool {
			if str(block.Get("type")) != "tool_result" {
				return true
			}
			answers = true
			id := str(block.Get("tool_use_id"))
			for i, call := range r.Waits {
				if call.ID == id {
					r.Waits = append(r.Waits[:i:i], r.Waits[i+1:]...)
					break
				}
			}
			return true
		})
	}
	if !answers {
		r.Waits = nil
	}
}
