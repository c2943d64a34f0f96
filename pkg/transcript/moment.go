package transcript

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// MomentKind is what happened at a [Moment].
type MomentKind int

// The kinds of moments.
const (
	// Prompted: the owner was given something to work on: a prompt, a message,
	// the news of an end, the reason of a block.
	Prompted MomentKind = iota
	// Called: the owner called a tool.
	Called
	// Answered: a tool answered.
	Answered
	// Said: the owner said something and goes on.
	Said
	// Rested: the owner's turn was over, by its last words or by an interrupt.
	Rested
)

// Moment is one thing that the owner of a transcript did or met, for whoever
// draws a session. Unlike everything else here it holds text: nothing keeps it.
type Moment struct {
	Kind MomentKind
	// At is the time of the line; a line without one is no moment.
	At time.Time
	// Call is the id of the tool's call, for Called and Answered, and Tool the
	// tool's name, for Called.
	Call, Tool string
	// Text is what a call is about, as its caller wrote it: the command, else the
	// description, else the file; "" where it says nothing of these.
	// About is the caller's own words for it, where Text is a command.
	Text, About string
	// To is whom a message is for: the call is a SendMessage.
	To string
	// Failed marks an answer that is an error.
	Failed bool
}

// maxMomentText bounds the texts of a moment, in bytes.
const maxMomentText = 400

// Moments reads what the owner of a transcript did, in the order of the file, and
// gives each moment to take. Lines of others, bookkeeping and lines that cannot
// be read are passed over, and so is a last line without an end. When ctx is done
// it stops early and returns its error.
func Moments(ctx context.Context, files host.Files, src Source, take func(Moment)) error {
	src.Owner = src.owner()
	file, _, err := files.Open(src.Path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	return wholeLines(ctx, file, func(line []byte) {
		switch gjson.GetBytes(line, "type").Str {
		case "user", "assistant":
		default:
			return
		}
		for piece := range pieces(line) {
			records(piece, func(r record) {
				if r.belongs(src.Owner) && !r.at.IsZero() {
					r.moments(take)
				}
			})
		}
	})
}

// wholeLines gives each line that has an end, without it, and passes over those
// that are too long to look at.
func wholeLines(ctx context.Context, from io.Reader, take func([]byte)) error {
	in := bufio.NewReaderSize(from, chunk)
	var long []byte // the beginning of a line that the buffer does not hold
	skipping := false
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if skipping = skipping || len(long)+len(part) > maxLine; skipping {
				long = long[:0]
			} else {
				long = append(long, part...)
			}
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case skipping:
			skipping = false
			continue
		}
		if len(long) > 0 {
			part = append(long, part...) //nolint:gocritic // the same buffer, for the next long line
			long = part[:0]
		}
		take(part[:len(part)-1])
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// moments are what a line of a turn tells.
func (r record) moments(take func(Moment)) {
	content := r.message.Get("content")
	if r.kind == "user" {
		answers := 0
		each(content, "tool_result", func(block gjson.Result) {
			answers++
			take(Moment{Kind: Answered, At: r.at, Call: keep(block.Get("tool_use_id")), Failed: block.Get("is_error").Type == gjson.True})
		})
		switch {
		case answers > 0:
		case r.goesOn():
			take(Moment{Kind: Prompted, At: r.at})
		default:
			take(Moment{Kind: Rested, At: r.at})
		}
		return
	}
	each(content, "tool_use", func(block gjson.Result) {
		m := Moment{Kind: Called, At: r.at, Call: keep(block.Get("id")), Tool: keep(block.Get("name"))}
		m.describe(block.Get("input"))
		take(m)
	})
	kind := Said
	if !r.goesOn() {
		kind = Rested
	}
	take(Moment{Kind: kind, At: r.at})
}

// describe takes what a call is about from its input.
func (m *Moment) describe(input gjson.Result) {
	command, about := str(input.Get("command")), str(input.Get("description"))
	if m.Tool == toolSendMessage {
		m.To = bounded(str(input.Get("to")))
	}
	m.Text = bounded(cmp.Or(command, about, str(input.Get("file_path")), str(input.Get("pattern"))))
	if command != "" {
		m.About = bounded(about)
	}
}

// bounded is a copy of a text, at most maxMomentText bytes of it.
func bounded(text string) string {
	if len(text) <= maxMomentText {
		return strings.Clone(text)
	}
	return strings.ToValidUTF8(text[:maxMomentText], "") + "…"
}
