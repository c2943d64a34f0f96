package settings

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Names of a status line (docs/client.md: the status line).
const (
	keyStatusLine = "statusLine"
	keyRefresh    = "refreshInterval"
)

// StatusLine is how an edit treats the one status line that a settings file can have.
// The zero value leaves it alone.
type StatusLine struct {
	// Want adds ours: as the only one, or around the one that is there. Otherwise
	// ours stays where it is, and leaves with [Uninstall].
	Want bool
	// Command is ours alone, Refresh how often the client runs it, in seconds.
	Command string
	Refresh int
	// Wrap is the command that runs another one and ours behind it. Unwrap undoes
	// that: ours tells whether a command is one of ours, theirs is the one that it
	// runs, "" for none.
	Wrap   func(theirs string) string
	Unwrap func(command string) (theirs string, ours bool)
}

// lineRecord is what has to be remembered of a status line to undo the edit to the
// byte.
type lineRecord struct {
	// Command is the JSON of the command that ours was put around, nil for none.
	Command json.RawMessage `json:"command,omitempty"`
	// Refresh tells that refreshInterval was added.
	Refresh bool `json:"refresh,omitempty"`
}

// put returns src with our status line in it, and what to remember of the edit.
func (s StatusLine) put(src []byte, prev *lineRecord) ([]byte, *lineRecord, error) {
	if !s.Want {
		return src, prev, nil
	}
	bom, body := splitBOM(src)
	if isBlank(body) {
		body = []byte("{}\n")
	}
	root, err := parse(body)
	if err != nil {
		return nil, nil, err
	}
	if root.kind != '{' || root.count(keyStatusLine) > 1 {
		return nil, nil, shapeAt(body, root, "", "is no object, or has several of statusLine", "write it as {…} with one of each")
	}
	line := root.last(keyStatusLine)
	if line == nil {
		return join(bom, appendItem(body, root, root, member(keyStatusLine, object{
			member(keyType, atom{quoted(typeCommand)}),
			member(keyCommand, atom{quoted(s.Command)}),
			member(keyRefresh, atom{strconv.Itoa(s.Refresh)}),
		}))), &lineRecord{}, nil
	}
	command := line.last(keyCommand)
	if line.kind != '{' || command == nil || command.kind != '"' || line.count(keyCommand) > 1 {
		return nil, nil, shapeAt(body, line, keyStatusLine, "runs no command", "take it out, or install without --statusline")
	}
	theirs, ours := s.Unwrap(str(body, command))
	rec := prev
	want := s.Command
	switch {
	case ours && theirs != "":
		want = s.Wrap(theirs)
	case !ours:
		rec = &lineRecord{Command: bytes.Clone(body[command.start:command.end])}
		want = s.Wrap(str(body, command))
	}
	body = replace(body, command.start, command.end, quoted(want))
	root = mustParse(body)
	if line = root.last(keyStatusLine); line.last(keyRefresh) == nil {
		body = appendItem(body, root, line, member(keyRefresh, atom{strconv.Itoa(s.Refresh)}))
		if rec != nil {
			rec.Refresh = true
		}
	}
	return join(bom, body), rec, nil
}

// take returns src without our status line: the one that it was put around comes
// back, as rec remembers it or as it can be read from ours.
func (s StatusLine) take(src []byte, rec *lineRecord) []byte {
	bom, body := splitBOM(src)
	if s.Unwrap == nil || isBlank(body) {
		return src
	}
	root, err := parse(body)
	if err != nil || root.kind != '{' {
		return src
	}
	line := root.last(keyStatusLine)
	if line == nil || line.kind != '{' {
		return src
	}
	command := line.last(keyCommand)
	if command == nil || command.kind != '"' {
		return src
	}
	theirs, ours := s.Unwrap(str(body, command))
	switch {
	case !ours:
		return src
	case theirs == "":
		return join(bom, removeItem(body, root, root.lastIndex(keyStatusLine), ""))
	}
	text := quoted(theirs)
	if rec != nil && sameJSON(rec.Command, text) {
		text = string(rec.Command)
	}
	if rec == nil || rec.Refresh {
		if i := line.lastIndex(keyRefresh); i > line.lastIndex(keyCommand) {
			body = removeItem(body, line, i, "")
		}
	}
	return join(bom, replace(body, command.start, command.end, text))
}

func shapeAt(body []byte, n *node, path, problem, mend string) error {
	line, column := position(body, n.start)
	return &ShapeError{Line: line, Column: column, Path: path, Problem: problem, Mend: mend}
}
