package transcript

import "bytes"

// This file tells by a few searches whether a line is worth parsing. A transcript
// can have a gigabyte, and nearly all of it is calls and results of tools that
// launch nothing.
//
// A quote inside a JSON string is escaped, so what is found here is structure and
// never quoted text.
var (
	// markUse is the rarest part of "tool_use" and "tool_use_id".
	markUse    = []byte(`_use`)
	markTool   = []byte(`"tool`)
	markID     = []byte(`_id"`)
	markCallID = []byte(`","id":"`)
	markName   = []byte(`","name":"`)
	markReason = []byte(`"stop_reason":"tool`)
	markAsked  = []byte(`"run_in_background"`)
	markNotice = []byte("-notification") // its > may be written as \u003e

	// What a result that launched something holds, as a sentence or a field.
	markBackground = []byte("ackground")
	markAgent      = []byte("gentId") // agentId, resumedAgentId
	markTask       = []byte("taskId")
	markMonitor    = []byte("Monitor started")
	markStopped    = []byte(stoppedMark)
)

// launchMarks are the marks of which a result of a tool holds one if it launched
// or stopped something. Shells have one of their own: every line of an agent
// names its agentId.
func launchMarks(tool string) [][]byte {
	switch kindOf(tool) {
	case "shell":
		return [][]byte{markBackground}
	case "monitor":
		return [][]byte{markTask, markMonitor}
	case "subagent":
		return [][]byte{markAgent}
	case "":
		return [][]byte{markStopped}
	}
	return [][]byte{markBackground, markTask}
}

// worthParsing tells whether a line may hold a call, a result or a notification
// that counts. A torn line may hold several.
func (p *pass) worthParsing(line []byte, notices bool) bool {
	for rest := line; ; {
		at := bytes.Index(rest, markUse)
		if at < 0 {
			break
		}
		before := rest[:at]
		rest = rest[at+len(markUse):]
		if len(rest) == 0 || !bytes.HasSuffix(before, markTool) {
			continue
		}
		if rest[0] == '"' {
			if bytes.HasSuffix(before, markReason) {
				continue // says only why the answer ended
			}
			if p.mayLaunch(rest, line) {
				return true
			}
		} else if id, found := resultID(rest); found {
			if open, worth := p.mayAnswer(id, line); worth || !open && mayBeLone(rest, line) {
				return true
			}
		}
	}
	return notices && bytes.Contains(line, markNotice)
}

// mayLaunch tells whether a call is worth parsing; rest begins behind its
// "tool_use. A shell's call in the foreground, the most common of all, is taken
// at once; an id that no result answers does no harm.
func (p *pass) mayLaunch(rest, line []byte) bool {
	rest = rest[:min(len(rest), 512)]
	after, found := bytes.CutPrefix(rest, markCallID)
	if !found {
		return true // written in another order
	}
	id, after, found := bytes.Cut(after, markName)
	if !found || len(id) == 0 || bytes.ContainsAny(id, `"\`) {
		return true
	}
	end := bytes.IndexByte(after, '"')
	if end < 0 {
		return true
	}
	switch name := string(after[:end]); {
	case kindOf(name) == "" && name != toolTaskStop:
		if len(p.Cursor.Early) > 0 {
			p.early(ToolUse{ID: string(id), Name: name})
		}
		return false
	case (name == toolBash || name == toolPowerShell) && !bytes.Contains(line, markAsked):
		p.open(ToolUse{ID: string(id), Name: name})
		return false
	}
	return true
}

// resultID is the id of a tool_result; rest begins behind its "tool_use.
func resultID(rest []byte) ([]byte, bool) {
	rest, found := bytes.CutPrefix(rest, markID)
	if !found {
		return nil, false
	}
	rest = bytes.TrimLeft(rest[:min(len(rest), 512)], ` :`)
	if len(rest) == 0 || rest[0] != '"' {
		return nil, false
	}
	end := bytes.IndexByte(rest[1:], '"')
	if end < 0 {
		return nil, false
	}
	return rest[1 : 1+end], true
}

// mayAnswer tells whether a result belongs to an open call, and whether it may say
// that this launched something: anywhere on its line, since the fields of a record
// have no order. Most do not: then the call is done with.
func (p *pass) mayAnswer(id, line []byte) (open, worth bool) {
	for _, t := range p.Cursor.Open {
		if string(id) != t.ID {
			continue
		}
		if hasAny(line, launchMarks(t.Name)) {
			return true, true
		}
		p.Cursor.close(t.ID)
		return true, false
	}
	return false, false
}
