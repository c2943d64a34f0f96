package transcript

import (
	"bytes"
	"iter"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// tailSpan is how much of a transcript's end is looked at for its last text. A
// longer last line makes the file count as not caught up, which costs a short
// wait at the most.
const tailSpan = 1 << 20

// CaughtUp tells whether a transcript holds the agent's last message: then
// everything the agent did before is on disk too (docs/client.md: transcripts
// lag). A text from before since, the agent's stop before this one, is an earlier
// message that reads the same. It is false for a file that cannot be read.
func CaughtUp(files host.Files, path, lastMessage string, since time.Time) bool {
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
		if text, at, found := lastText(buf[:n], start > 0); found {
			return strings.TrimSpace(text) == want && (at.IsZero() || at.After(since))
		}
		if start == 0 || span >= tailSpan {
			return false
		}
	}
}

// lastText is the last text of an assistant line in data, with its time; cut
// tells that data begins inside a line.
func lastText(data []byte, cut bool) (string, time.Time, bool) {
	for _, line := range backwards(data, cut) {
		if text, at, ok := assistantText(line); ok {
			return text, at, true
		}
	}
	return "", time.Time{}, false
}

// backwards gives the whole lines of data from the last to the first, each with
// the offset behind it; cut tells that data begins inside a line.
func backwards(data []byte, cut bool) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		end := bytes.LastIndexByte(data, '\n')
		for end >= 0 {
			start := bytes.LastIndexByte(data[:end], '\n') + 1
			if start == 0 && cut || !yield(end+1, data[start:end]) {
				return
			}
			end = start - 1
		}
	}
}

// assistantText is the text of an assistant line and its time; ok is false for
// one without text.
func assistantText(line []byte) (text string, at time.Time, ok bool) {
	if !bytes.Contains(line, []byte(`"assistant"`)) || !bytes.Contains(line, []byte(`"text"`)) {
		return "", time.Time{}, false
	}
	r := parseRecord(string(line))
	if r.kind != "assistant" {
		return "", time.Time{}, false
	}
	var texts []string
	r.message.Get("content").ForEach(func(_, block gjson.Result) bool {
		if str(block.Get("type")) == "text" {
			texts = append(texts, str(block.Get("text")))
		}
		return true
	})
	return strings.Join(texts, "\n"), r.at, len(texts) > 0
}

// maxActivity bounds what one call of [Activity] reads, in bytes.
const maxActivity = 16 << 20

// Activity looks at the lines beyond offset that an agent's turn leaves behind
// (prompts, answers, results): how many they are, the latest time on one, and the
// offset of what a further call has to look at. Bookkeeping lines do not count; a
// line that is too long to look at does, for none of those is that long.
func Activity(files host.Files, path string, offset int64) (lines int, latest time.Time, next int64) {
	file, info, err := files.Open(path)
	if err != nil {
		return 0, time.Time{}, offset
	}
	defer file.Close() //nolint:errcheck // only read
	if offset > info.Size() {
		offset = 0
	}
	buf := make([]byte, min(info.Size()-offset, chunk))
	for limit := offset + maxActivity; offset < limit; {
		n, _ := file.ReadAt(buf, offset)
		read := 0 // up to the end of the last whole line
		for {
			end := bytes.IndexByte(buf[read:n], '\n')
			if end < 0 {
				break
			}
			line := buf[read : read+end]
			switch gjson.GetBytes(line, "type").Str {
			case "user", "assistant":
				lines++
				at, err := time.Parse(time.RFC3339, gjson.GetBytes(line, "timestamp").Str)
				if err == nil && at.After(latest) {
					latest = at
				}
			}
			read += end + 1
		}
		switch {
		case n < len(buf):
			return lines, latest, offset + int64(read)
		case read == 0 && n >= maxLine:
			lines++
			read = n
		case read == 0 && offset+int64(n) < info.Size():
			buf = make([]byte, min(info.Size()-offset, int64(2*len(buf))))
			continue
		case read == 0:
			return lines, latest, offset
		}
		offset += int64(read)
	}
	return lines, latest, offset
}

// Beyond tells where an agent's last message stands in its transcript: the
// offset behind its line, and how many lines of a later turn follow it. found is
// false where the end of the file does not hold it.
func Beyond(files host.Files, path, lastMessage string) (offset int64, lines int, found bool) {
	file, info, err := files.Open(path)
	if err != nil {
		return 0, 0, false
	}
	defer file.Close() //nolint:errcheck // only read
	want := strings.TrimSpace(lastMessage)
	start := max(0, info.Size()-tailSpan)
	buf := make([]byte, info.Size()-start)
	n, _ := file.ReadAt(buf, start)
	for behind, line := range backwards(buf[:n], start > 0) {
		switch gjson.GetBytes(line, "type").Str {
		case "user", "assistant":
			if text, _, ok := assistantText(line); ok && strings.TrimSpace(text) == want {
				return start + int64(behind), lines, true
			}
			lines++
		}
	}
	return 0, 0, false
}
