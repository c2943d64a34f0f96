package transcript

import (
	"bytes"
	"path/filepath"
	"strconv"

	"stopgate/pkg/host"
)

// Mark is what the client wrote under a task's output at its end, since 2.1.235
// (docs/client.md: ends).
type Mark int

// The marks.
const (
	NoMark Mark = iota
	MarkExited
	MarkKilled
)

const (
	markExited = "[exited with code "
	markKilled = "[killed]"
)

// OutputMark reads the mark at the end of an output file, and the exit code of
// an exited task.
func OutputMark(files host.Files, path string) (Mark, int) {
	file, info, err := files.Open(path)
	if err != nil {
		return NoMark, 0
	}
	defer file.Close() //nolint:errcheck // only read
	buf := make([]byte, min(64, info.Size()))
	n, _ := file.ReadAt(buf, info.Size()-int64(len(buf)))
	line := bytes.TrimRight(buf[:n], "\r\n")
	if at := bytes.LastIndexByte(line, '\n'); at >= 0 {
		line = line[at+1:]
	} else if info.Size() > int64(n) {
		return NoMark, 0 // the line begins before what was read
	}
	if string(line) == markKilled {
		return MarkKilled, 0
	}
	if rest, ok := bytes.CutPrefix(line, []byte(markExited)); ok {
		if code, err := strconv.Atoi(string(bytes.TrimSuffix(rest, []byte("]")))); err == nil && bytes.HasSuffix(rest, []byte("]")) {
			return MarkExited, code
		}
	}
	return NoMark, 0
}

// OutputBeside is the output file of a task that no record names, where it lies
// beside that of another task of the session: a monitor's launch tells no path.
// "" where none is found.
func OutputBeside(files host.Files, known map[string]Launch, task string) string {
	if leadingID(task) != task {
		return ""
	}
	for _, l := range known {
		if filepath.Base(l.Output) != l.Task+outputEnding {
			continue
		}
		if path := filepath.Join(filepath.Dir(l.Output), task+outputEnding); files.Regular(path) {
			return path
		}
	}
	return ""
}
