package transcript

import (
	"bytes"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// callWindow is how much of a transcript is looked through for a call: it stands
// shortly before its result, or, where no result is known, near the end.
const callWindow = 1 << 20

// Words are what a call of a tool says for people. It is text of somebody else.
type Words struct {
	// Tool is the tool's name, Command what it runs and Description the caller's
	// words for it; each "" where it is not said.
	Tool, Command, Description string
}

// CallWords looks up what the call of a tool said, by its id, in the transcript at
// path: before the byte at end, which is where its result stands, or near the file's
// end for 0. The zero value is returned where the call is not found.
func CallWords(files host.Files, path, id string, end int64) Words {
	if path == "" || id == "" {
		return Words{}
	}
	file, info, err := files.Open(path)
	if err != nil {
		return Words{}
	}
	defer file.Close() //nolint:errcheck // only read
	if end <= 0 || end > info.Size() {
		end = info.Size()
	}
	mark := []byte(`"id":"` + id + `"`)
	for _, window := range []int64{callWindow / 16, callWindow} {
		begin := max(0, end-window)
		buf := make([]byte, end-begin)
		n, _ := file.ReadAt(buf, begin) // what could be read is looked through
		if words, found := wordsOf(buf[:n], mark, id); found || begin == 0 {
			return words
		}
	}
	return Words{}
}

// wordsOf finds a call among lines, the last first.
func wordsOf(data, mark []byte, id string) (Words, bool) {
	for at := bytes.LastIndex(data, mark); at >= 0; at = bytes.LastIndex(data[:at], mark) {
		begin := bytes.LastIndexByte(data[:at], '\n') + 1
		line := data[begin:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		var out Words
		found := false
		each(gjson.GetBytes(line, "message.content"), "tool_use", func(block gjson.Result) {
			if str(block.Get("id")) == id {
				input := block.Get("input")
				out = Words{keep(block.Get("name")), keep(input.Get("command")), keep(input.Get("description"))}
				found = true
			}
		})
		if found {
			return out, true
		}
	}
	return Words{}, false
}

// Tail is the end of a task's output, at most so many bytes of it and without the
// last line that the client itself writes (docs/client.md: ends). It is what the task
// printed, as it printed it. whole tells that it begins with the file.
func Tail(files host.Files, path string, most int64) (text []byte, whole bool) {
	file, info, err := files.Open(path)
	if err != nil {
		return nil, false
	}
	defer file.Close() //nolint:errcheck // only read
	text = make([]byte, min(most, info.Size()))
	n, _ := file.ReadAt(text, info.Size()-int64(len(text))) // what could be read is the end
	text = text[:n]
	if mark, _ := OutputMark(files, path); mark != NoMark {
		text = bytes.TrimRight(text, "\r\n")
		text = text[:max(0, bytes.LastIndexByte(text, '\n'))]
	}
	return text, info.Size() <= most
}
