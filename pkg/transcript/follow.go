package transcript

import (
	"bytes"

	"stopgate/pkg/host"
)

// CursorAt is a cursor in the middle of a transcript, for a reader that wants no
// more than what comes behind offset: it stands at the start of the line in which
// offset lies, or that begins there. An offset behind the end is the end. A line
// that is too long to look at is begun in its middle, and counts as torn.
func CursorAt(files host.Files, path string, offset int64) (Cursor, error) {
	file, info, err := files.Open(path)
	if err != nil {
		return Cursor{}, err
	}
	defer file.Close() //nolint:errcheck // only read
	offset = max(0, min(offset, info.Size()))
	for span := int64(chunk); offset > 0; span *= 4 {
		start := max(0, offset-span)
		buf := make([]byte, offset-start)
		n, err := file.ReadAt(buf, start)
		if n < len(buf) {
			return Cursor{}, err // cut shorter meanwhile
		}
		if at := bytes.LastIndexByte(buf, '\n'); at >= 0 {
			offset = start + int64(at) + 1
			break
		}
		if start == 0 {
			offset = 0
		} else if span >= maxLine {
			break
		}
	}
	sum, err := sumBefore(file, offset)
	if err != nil {
		return Cursor{}, err
	}
	return Cursor{Inode: host.Inode(info), Sum: sum, Offset: offset}, nil
}
