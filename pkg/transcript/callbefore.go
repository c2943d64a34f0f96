package transcript

import (
	"bytes"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// maxBefore is how far before a result its call is looked for by [CallBefore].
const maxBefore = 64 << 10

// CallBefore is the call of a tool whose result's line begins at offset, 0 for the
// file's end: one look at the 64 kB before it. ok is false where the call does not stand
// there. For whoever has no time to read a transcript and knows where a launch was seen,
// or that it was not long ago.
func CallBefore(files host.Files, path string, offset int64, call string) (m Moment, ok bool) {
	file, info, err := files.Open(path)
	if err != nil {
		return m, false
	}
	defer file.Close() //nolint:errcheck // only read
	if offset == 0 {
		offset = info.Size()
	}
	if call == "" || offset < 0 || offset > info.Size() {
		return m, false
	}
	start := max(0, offset-maxBefore)
	buf := make([]byte, offset-start)
	n, _ := file.ReadAt(buf, start)
	for _, line := range backwards(buf[:n], start > 0) {
		if !bytes.Contains(line, []byte(call)) || gjson.GetBytes(line, "type").Str != "assistant" || !gjson.ValidBytes(line) {
			continue
		}
		parseRecord(string(line)).moments(func(x Moment) {
			if x.Kind == Called && x.Call == call {
				m, ok = x, true
			}
		})
		if ok {
			return m, true
		}
	}
	return m, false
}
