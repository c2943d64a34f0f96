package transcript

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// tailSpan is how much of a transcript's end is looked at for its last text. A
// longer last line makes the file count as not caught up, which costs a short
// wait at the most.
const tailSpan = 1 << 20

// CaughtUp tells whether a transcript holds the agent's last message: then
// everything the agent did before is on disk too (docs/client.md: transcripts
// lag). It is false for a file that cannot be read.
func CaughtUp(files host.Files, path, lastMessage string) bool {
	file, info, err := files.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // only read
	want := strings.TrimSpace(lastMessage)
	for span := int64(64 << 10); ; span *= 4 {
		start := max(0, info.Size()-span)
		buf := make([]byte, info.Size()-start)
		n, _ := file.ReadAt(buf, start)
		if text, found := lastText(buf[:n], start > 0); found {
			return strings.TrimSpace(text) == want
		}
		if start == 0 || span >= tailSpan {
			return false
		}
	}
}

// lastText is the last text of an assistant line in data; cut tells that data
// begins inside a line.
func lastText(data []byte, cut bool) (string, bool) {
	end := bytes.LastIndexByte(data, '\n')
	for end >= 0 {
		start := bytes.LastIndexByte(data[:end], '\n') + 1
		if start == 0 && cut {
			return "", false
		}
		line := data[start:end]
		if bytes.Contains(line, []byte(`"assistant"`)) && bytes.Contains(line, []byte(`"text"`)) {
			if r := parseRecord(string(line)); r.kind == "assistant" {
				var texts []string
				r.message.Get("content").ForEach(func(_, block gjson.Result) bool {
					if str(block.Get("type")) == "text" {
						texts = append(texts, str(block.Get("text")))
					}
					return true
				})
				if len(texts) > 0 {
					return strings.Join(texts, "\n"), true
				}
			}
		}
		end = start - 1
	}
	return "", false
}
