package status

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"stopgate/pkg/event"
	"stopgate/pkg/host"
	"stopgate/pkg/lazy"
	"stopgate/pkg/transcript"
)

// Face is by what a person knows a task: what it runs, and what it printed last. It
// is read when somebody looks, and stored nowhere. It is somebody else's text, on one
// line and without what moves a terminal.
type Face struct {
	// Command is what the task runs and Description its launcher's words for it, Tool
	// the tool that launched it; "" where it is not known.
	Command, Description, Tool string
	// Last is the last line that it printed, Printed when its output was last
	// written; "" and zero where there is none.
	Last    string
	Printed time.Time
	// Progress is how far the output says it is, as "45 %" or "12/34"; "" for nothing.
	Progress string
}

// Title is the face in a few words: the command, or the words for it.
func (f Face) Title() string {
	for _, text := range []string{f.Command, f.Description, f.Tool} {
		if text != "" {
			return text
		}
	}
	return ""
}

const (
	// maxFace bounds the texts of a face, in characters, and tailSize how much of an
	// output is read for its last line, in bytes.
	maxFace  = 400
	tailSize = 8 << 10
	// progressLines is how many of the last lines are looked through for a progress.
	progressLines = 5
)

// face reads the face of a task.
func (b *builder) face(t Task) Face {
	if t.Kind == event.TypeSubagent {
		return Face{Description: Plain(b.metas[t.ID].Description), Tool: Plain(b.metas[t.ID].AgentType)}
	}
	path := t.File
	if path == "" && t.Owner != "" {
		if path = b.paths[t.Owner]; t.Owner == transcript.Main {
			path = b.snap.Session.Transcript
		}
	}
	f := called(b.src.Files, path, t)
	if t.Output == "" {
		return f
	}
	if info, err := b.src.Files.Stat(t.Output); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		f.Printed = b.src.past(info.ModTime())
		lines := OutputLines(b.src.Files, t.Output, tailSize)
		f.Last, f.Progress = lastOf(lines), progressOf(lines)
	}
	return f
}

// called is a face by the call that launched the task, without its output.
func called(files host.Files, path string, t Task) Face {
	said := transcript.CallWords(files, path, t.ToolUse, t.Line)
	return Face{Command: Plain(said.Command), Description: Plain(said.Description), Tool: Plain(said.Tool)}
}

// TitleOf is the title of a task's face, for a session whose tasks were not given
// theirs; "" where it is not known.
func (s Source) TitleOf(x Session, t Task) string {
	if title := t.Face.Title(); title != "" || t.Kind == event.TypeSubagent {
		return title
	}
	path := t.File
	switch {
	case path != "":
	case t.Owner == transcript.Main:
		path = x.Transcript
	case t.Owner != "":
		path = transcript.AgentPath(transcript.AgentsDir(x.Transcript), t.Owner)
	}
	return called(s.Files, path, t).Title()
}

// OutputLines are the last lines that a task printed, of at most so many bytes, as a
// terminal would show them: each as it was written over last, and without what moves
// a terminal. A line of which the beginning was not read is left out.
func OutputLines(files host.Files, path string, most int64) []string {
	text, whole := transcript.Tail(files, path, most)
	parts := strings.Split(string(text), "\n")
	if !whole && len(parts) > 1 {
		parts = parts[1:]
	}
	lines := make([]string, 0, len(parts))
	for _, part := range parts {
		// A progress bar writes its line again and again behind a carriage return.
		part = strings.TrimRight(part, "\r")
		part = part[strings.LastIndexByte(part, '\r')+1:]
		lines = append(lines, Plain(part))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func lastOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// Plain is a text of somebody else on one line: without escape sequences, with blanks
// for what is no character, and bounded.
func Plain(s string) string {
	const bytes = 4 * maxFace
	if len(s) > bytes {
		s = strings.ToValidUTF8(s[:bytes], "")
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, ansi.Strip(strings.ToValidUTF8(s, "")))
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > maxFace {
		runes = append(runes[:maxFace], '…')
	}
	return string(runes)
}

// What a progress looks like: a percentage, or so many of so many.
var (
	percent = lazy.Regexp(`(?:^|[^\d.,])(\d{1,3})(?:[.,]\d+)? ?%`)
	ofMany  = lazy.Regexp(`(?:^|[\s\[(])(\d{1,7}) ?(?:/| of ) ?(\d{1,7})(?:$|[\s\]),:;])`)
)

// progressOf is the progress that the last lines of an output show.
func progressOf(lines []string) string {
	for i := len(lines) - 1; i >= 0 && i >= len(lines)-progressLines; i-- {
		if all := percent().FindAllStringSubmatch(lines[i], -1); len(all) > 0 {
			if n, err := strconv.Atoi(all[len(all)-1][1]); err == nil && n <= 100 {
				return strconv.Itoa(n) + " %"
			}
		}
		if all := ofMany().FindAllStringSubmatch(lines[i], -1); len(all) > 0 {
			m := all[len(all)-1]
			done, err1 := strconv.Atoi(m[1])
			whole, err2 := strconv.Atoi(m[2])
			if err1 == nil && err2 == nil && whole > 0 && done <= whole {
				return m[1] + "/" + m[2]
			}
		}
	}
	return ""
}
