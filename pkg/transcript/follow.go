package transcript

import (
	"bytes"
	"time"

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
	return Cursor{Inode: host.Inode(file, info), Sum: sum, Offset: offset}, nil
}

// Lister lists the agents' transcripts of a folder of agents again and again, as
// [Agents] does, and reads a folder only where something was added to it or taken
// away. The zero value of its unexported fields is one that has not looked yet.
type Lister struct {
	Files host.Files
	// Dir is the folder of agents.
	Dir string

	paths []string
	// flows are the folders of workflows, also those without an agent yet.
	flows []string
	// folders are those that were read, and when they were last changed.
	folders map[string]time.Time
}

// dirGrain is how long after a change the time of a folder may not tell another.
const dirGrain = 50 * time.Millisecond

// List are the transcripts that are there now.
func (l *Lister) List() []string {
	now := map[string]time.Time{l.Dir: {}, WorkflowsDir(l.Dir): {}}
	for _, flow := range l.flows {
		now[flow] = time.Time{}
	}
	same := len(l.folders) == len(now)
	for dir := range now {
		if info, err := l.Files.Stat(dir); err == nil {
			now[dir] = info.ModTime()
		}
		last, known := l.folders[dir]
		same = same && known && last.Equal(now[dir]) && time.Since(last) > dirGrain
	}
	if !same {
		l.flows = flows(l.Files, l.Dir)
		l.paths, l.folders = agentsIn(l.Files, l.Dir, l.flows), now
	}
	return l.paths
}
