package transcript

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// This file is about results without a call before them. A few stand a line or two
// before their call, and a few have none in the file (docs/client.md: launches).
// What another tool gave looks the same as long as its call is not known, since
// only calls that can launch something are kept: so the file is searched for it.

const (
	// maxEarly bounds the results that wait for their calls.
	maxEarly = 16
	// maxSearch bounds, in bytes, how far before its result a call is looked for.
	maxSearch = 64 << 20
	// searchStep is how much of that is read at once.
	searchStep = 1 << 20
	// maxSearches bounds the calls that one reading looks for.
	maxSearches = 64
)

// Early is a result whose call has not been seen, though it may tell of a launch.
type Early struct {
	// ID is the call's, and Line the offset of the result's line.
	ID   string `json:"id"`
	Line int64  `json:"line"`
	// Told tells that it was taken for a launch without its call.
	Told bool `json:"told,omitempty"`
}

// loneMarks are the beginnings of the texts, as they stand in JSON, of which a result
// whose call is not known must have one to be worth a look.
var loneMarks = [][]byte{
	[]byte(`Command `), []byte(`Monitor started`), []byte(`Async agent`), []byte(`Workflow launched`), []byte(`MCP tool`),
	[]byte(`{\"message\":\"Success`), []byte(stoppedMark),
}

var (
	markContent = []byte(`"content":`)
	markBlocks  = []byte(`[{"type":"text","text":`)
	markShell   = []byte(`TaskId":"`) // of backgroundTaskId; T is rare
)

const (
	// shortLine is longer than the line of a launch, and lineEnd than what stands
	// behind its structured answer.
	shortLine = 4 << 10
	lineEnd   = 768
)

// mayBeLone tells whether a result of a call that is not known may tell of a launch
// or a stop. rest begins behind its "tool_use. Nearly all results come here, so it
// looks where the client writes their beginning; where the fields are in another
// order, only at short lines.
func mayBeLone(rest, line []byte) bool {
	head := rest[:min(len(rest), 256)]
	if at := bytes.Index(head, markContent); at >= 0 {
		text := bytes.TrimPrefix(bytes.TrimPrefix(rest[at+len(markContent):], markBlocks), []byte(`"`))
		if slices.ContainsFunc(loneMarks, func(mark []byte) bool { return bytes.HasPrefix(text, mark) }) {
			return true
		}
		return len(line) < shortLine && bytes.Contains(line[max(0, len(line)-lineEnd):], markShell)
	}
	return len(line) < shortLine && (hasAny(line, loneMarks) || bytes.Contains(line, markShell))
}

func hasAny(text []byte, marks [][]byte) bool {
	return slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(text, mark) })
}

// tells tells whether a result would tell of a launch or a stop, if it were that of
// the right call.
func (a reply) tells() bool {
	text := a.text()
	return !a.failed() && (strings.Contains(text, stoppedMark) || a.response().Get("backgroundTaskId").Type == gjson.String ||
		slices.ContainsFunc(sentences, func(s sentence) bool { return strings.HasPrefix(text, s.begins) }))
}

// lone takes in a result whose call is not known: it is judged by its call where
// that stands before it all the same, and waits for it else.
func (p *pass) lone(a reply) {
	id := strings.Clone(a.call())
	if id == "" || len(id) > maxWord || p.searches >= maxSearches {
		return
	}
	p.searches++
	switch call, is := p.search(id, a.offset); is {
	case foundCall:
		p.judge(call, a)
	case foundNothing:
		if len(p.Cursor.Early) >= maxEarly {
			p.withoutCall(&p.Cursor.Early[0])
			p.Cursor.Early = slices.Delete(p.Cursor.Early, 0, 1)
		}
		p.Cursor.Early = append(p.Cursor.Early, Early{ID: id, Line: a.offset})
	case foundOther:
	}
}

// early judges a result that stands before its call, now that this has come. It is
// false where none does.
func (p *pass) early(call ToolUse) bool {
	at := slices.IndexFunc(p.Cursor.Early, func(e Early) bool { return e.ID == call.ID })
	if at < 0 {
		return false
	}
	line := p.Cursor.Early[at].Line
	p.Cursor.Early = slices.Delete(p.Cursor.Early, at, at+1)
	p.again(line, call.ID, func(a reply) { p.judge(call, a) })
	return true
}

// withoutCalls takes in the results whose calls are not in the file, once that has
// been read to its end.
func (p *pass) withoutCalls() {
	for i := range p.Cursor.Early {
		p.withoutCall(&p.Cursor.Early[i])
	}
}

// withoutCall takes in one of them. Nothing tells which tool gave it, so it counts
// for no more than [Text], and only in the form that the client gives it: what a
// command printed claims nothing as long as there is a word of anybody else.
func (p *pass) withoutCall(e *Early) {
	if e.Told {
		return
	}
	e.Told = true
	p.again(e.Line, e.ID, func(a reply) {
		if l, launched := a.launch(); launched {
			p.launched(l, a)
		}
	})
}

// launch is the launch that a result tells of by itself.
func (a reply) launch() (Launch, bool) {
	text, response := a.text(), a.response()
	for _, s := range sentences {
		id, rest, said := s.task(text)
		if !said {
			continue
		}
		l := Launch{Task: strings.Clone(id), Kind: s.kind, ToolUseID: keep(a.block.Get("tool_use_id")), Evidence: Text, Output: outputPath(rest, id)}
		l.Persistent = s.kind == "monitor" && strings.HasPrefix(rest[len(id):], persistent)
		if response.Exists() {
			return l, named(response) == id
		}
		// The client writes one line; a command prints more.
		whole := s.kind == "subagent" || !strings.Contains(strings.TrimSpace(text), "\n")
		return l, whole && (l.Output != "" || s.kind != "shell" && s.kind != "subagent")
	}
	id := keep(response.Get("backgroundTaskId"))
	return Launch{Task: id, Kind: "shell", ToolUseID: keep(a.block.Get("tool_use_id")), Evidence: Text}, id != ""
}

// named is the task that a structured answer names, whichever tool gave it.
func named(response gjson.Result) string {
	for _, key := range []string{"backgroundTaskId", "taskId", "agentId"} {
		if id := str(response.Get(key)); id != "" {
			return id
		}
	}
	return ""
}

// again looks at the answer of a call on a line that was read before.
func (p *pass) again(line int64, call string, take func(reply)) {
	data, whole := p.lineAt(line)
	if !whole {
		return // cut off or rewritten meanwhile
	}
	for piece := range pieces(data) {
		records(piece, func(r record) {
			if r.kind != "user" || !r.belongs(p.src.Owner) {
				return
			}
			n := 0
			each(r.message.Get("content"), "tool_result", func(gjson.Result) { n++ })
			each(r.message.Get("content"), "tool_result", func(block gjson.Result) {
				if a := (reply{record: r, block: block, alone: n == 1, offset: line}); a.call() == call && a.tells() {
					take(a)
				}
			})
		})
	}
}

// found is what a search for a call came to.
type found int

const (
	foundNothing found = iota
	foundCall
	// foundOther is a call of a tool that launches nothing, one that is not the
	// owner's, or a line that cannot be looked at: no result of it tells of a launch.
	foundOther
)

// search looks for a call in what stands before end, from there backwards.
func (p *pass) search(id string, end int64) (ToolUse, found) {
	needle := []byte(`"` + id + `"`)
	from := max(0, end-maxSearch)
	buf := make([]byte, searchStep)
	for at := end; at > from; {
		start := max(from, at-searchStep+int64(len(needle)))
		n, _ := p.file.ReadAt(buf[:at-start], start)
		for data := buf[:n]; ; {
			hit := bytes.LastIndex(data, needle)
			if hit < 0 {
				break
			}
			data = data[:hit]
			if call, is := p.callAt(id, start+int64(hit)); is != foundNothing {
				return call, is
			}
		}
		if p.ctx.Err() != nil {
			return ToolUse{}, foundOther
		}
		if start == from {
			break
		}
		at = start + int64(len(needle))
	}
	return ToolUse{}, foundNothing
}

// callAt reads the call on the line around an offset where its id stands.
func (p *pass) callAt(id string, offset int64) (call ToolUse, is found) {
	start, ok := p.lineStart(offset)
	if !ok {
		return call, foundOther
	}
	data, ok := p.lineAt(start)
	if !ok {
		return call, foundOther
	}
	for piece := range pieces(data) {
		records(piece, func(r record) {
			each(r.message.Get("content"), "tool_use", func(block gjson.Result) {
				if str(block.Get("id")) != id {
					return
				}
				is = foundOther
				if c, launches := callOf(block); launches && r.kind == "assistant" && r.belongs(p.src.Owner) {
					call, is = c, foundCall
				}
			})
		})
	}
	return call, is
}

// lineStart is where the line around an offset begins; ok is false for a line that
// is too long to look at.
func (p *pass) lineStart(offset int64) (start int64, ok bool) {
	for length := int64(4 << 10); ; length *= 8 {
		from := max(0, offset-min(length, maxLine))
		buf := make([]byte, offset-from)
		n, _ := p.file.ReadAt(buf, from)
		if at := bytes.LastIndexByte(buf[:n], '\n'); at >= 0 {
			return from + int64(at) + 1, true
		}
		if from == 0 || length > maxLine {
			return from, from == 0
		}
	}
}

// lineAt is the whole line that begins at an offset; ok is false for one without an
// end, or too long to look at.
func (p *pass) lineAt(start int64) (line []byte, ok bool) {
	for length := int64(4 << 10); ; length *= 8 {
		buf := make([]byte, min(length, maxLine+1))
		n, _ := p.file.ReadAt(buf, start)
		if at := bytes.IndexByte(buf[:n], '\n'); at >= 0 {
			return buf[:at], true
		}
		if n < len(buf) || length > maxLine {
			return nil, false
		}
	}
}
