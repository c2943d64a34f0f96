package wait

import (
	"time"

	"stopgate/pkg/transcript"
)

// outputFile is what is known of one output file.
type outputFile struct {
	size     int64
	modified time.Time
	how      How
	code     int
	at       time.Time
}

// output looks at an output file, and into it where it changed.
func (w *Wait) output(path string) outputFile {
	if path == "" {
		return outputFile{size: -1}
	}
	w.mention(path)
	known := w.outputs[path]
	info, err := w.Files.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		delete(w.outputs, path)
		return outputFile{size: -1}
	}
	if known != nil && known.size == info.Size() && known.modified.Equal(info.ModTime()) {
		return *known
	}
	if known != nil {
		w.changed = w.looked
	}
	now := outputFile{size: info.Size(), modified: info.ModTime()}
	switch mark, code := transcript.OutputMark(w.Files, path); mark {
	case transcript.MarkExited:
		now.how, now.code, now.at = Exited, code, info.ModTime()
	case transcript.MarkKilled:
		now.how, now.at = Killed, info.ModTime()
	}
	w.outputs[path] = &now
	return now
}
