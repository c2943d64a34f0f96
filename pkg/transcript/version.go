package transcript

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// marksSince lies behind the last version that was seen to write no last line
// under a task's output (docs/client.md: ends).
var marksSince = [3]int{2, 1, 221}

// Version is the client's version as the end of a transcript tells it; "" where it
// does not.
func Version(files host.Files, path string) string {
	file, info, err := files.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // only read
	start := max(0, info.Size()-(64<<10))
	buf := make([]byte, info.Size()-start)
	n, _ := file.ReadAt(buf, start)
	for _, line := range backwards(buf[:n], start > 0) {
		if !bytes.Contains(line, []byte(`"version"`)) {
			continue
		}
		if version := gjson.GetBytes(line, "version"); version.Type == gjson.String {
			return strings.Clone(version.Str)
		}
	}
	return ""
}

// Marks tells whether a client of that version writes a last line under a task's
// output. An unknown one does.
func Marks(version string) bool { return !olderThan(version, marksSince) }
