package transcript

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// calls takes in the tool calls of an assistant line.
func (p *pass) calls(r record) {
	each(r.message.Get("content"), "tool_use", func(block gjson.Result) {
		call, launches := callOf(block)
		if call.Name == toolSendMessage {
			if to := keep(block.Get("input.to")); to != "" {
				p.Messages = append(p.Messages, Message{To: to, At: r.at})
			}
		}
		if launches {
			p.open(call)
		} else {
			p.early(call)
		}
	})
}

// callOf reads a tool_use block; ok is false for a call whose result tells of no
// launch and no stop.
func callOf(block gjson.Result) (call ToolUse, ok bool) {
	input := block.Get("input")
	call = ToolUse{ID: keep(block.Get("id")), Name: keep(block.Get("name"))}
	if call.Name == toolTaskStop {
		call.Target = keep(input.Get("task_id"))
		return call, call.ID != "" && call.Target != ""
	}
	call.Asked = input.Get("run_in_background").Type == gjson.True
	call.Persistent = input.Get("persistent").Type == gjson.True
	return call, call.ID != "" && kindOf(call.Name) != ""
}

// each gives the blocks of a type in a message's content.
func each(content gjson.Result, kind string, take func(block gjson.Result)) {
	content.ForEach(func(_, block gjson.Result) bool {
		if str(block.Get("type")) == kind {
			take(block)
		}
		return true
	})
}

// results takes in the tool results of a user line.
func (p *pass) results(r record, offset int64) {
	content := r.message.Get("content")
	if !content.IsArray() {
		return
	}
	var answered []gjson.Result
	each(content, "tool_result", func(block gjson.Result) { answered = append(answered, block) })
	for _, block := range answered {
		a := reply{record: r, block: block, alone: len(answered) == 1, offset: offset}
		if call, open := p.Cursor.close(a.call()); open {
			p.judge(call, a)
		} else if a.tells() {
			p.lone(a)
		}
	}
}

// reply is one tool_result and the line that it stands on.
type reply struct {
	record
	block gjson.Result
	// alone tells that the line answers no other call. The line has one
	// toolUseResult: whose it is can be told only then.
	alone  bool
	offset int64
}

func (a reply) call() string { return str(a.block.Get("tool_use_id")) }

func (a reply) text() string { return firstText(a.block.Get("content")) }

// failed tells whether the call was an error, which launched and stopped nothing.
func (a reply) failed() bool { return a.block.Get("is_error").Type == gjson.True }

// response is the tool's structured answer, where the line has one of this call.
func (a reply) response() gjson.Result {
	if !a.alone {
		return gjson.Result{}
	}
	return a.result
}

// judge takes in what a result says of its call.
func (p *pass) judge(call ToolUse, a reply) {
	if a.failed() {
		return
	}
	switch {
	case call.Name == toolTaskStop:
		if _, rest, said := strings.Cut(a.text(), stoppedMark); said && leadingID(rest) == call.Target {
			p.Ends = append(p.Ends, End{Task: call.Target, Status: StatusKilled, At: a.at})
		}
	case kindOf(call.Name) != "":
		if l, launched := launchOf(call, a); launched {
			p.launched(l, a)
		}
	}
}

// launchOf is the launch that a result tells of. The text decides only where there
// is no structured answer.
func launchOf(call ToolUse, a reply) (l Launch, found bool) {
	told := false
	if a.response().Exists() {
		l, found = fromResponse(call, a.response(), ToolUseResult)
		told = tells(kindOf(call.Name), a.response())
	}
	text, said := fromText(call, a.text(), a.version)
	switch {
	case found && said && text.Task == l.Task:
		l.Output = cmp.Or(l.Output, text.Output)
		l.Persistent = l.Persistent || text.Persistent
	case !found && !told:
		return text, said
	}
	return l, found
}

// launched keeps a launch, with the line that tells of it.
func (p *pass) launched(l Launch, a reply) {
	l.Owner, l.At, l.File, l.Line = p.src.Owner, a.at, p.src.Path, a.offset
	p.Launches = append(p.Launches, l)
}

const (
	// maxOpen bounds the calls kept without a result.
	maxOpen = 256
	// maxCall is the longest call of the client's, in bytes of what is kept of it.
	maxCall = 1024
)

// open keeps a call until its result comes, or judges one that came before it.
func (p *pass) open(call ToolUse) {
	if len(call.ID)+len(call.Name)+len(call.Target) > maxCall {
		return // no call of the client's
	}
	if p.early(call) || slices.ContainsFunc(p.Cursor.Open, func(have ToolUse) bool { return have.ID == call.ID }) {
		return
	}
	if len(p.Cursor.Open) >= maxOpen {
		p.Cursor.Open = slices.Delete(p.Cursor.Open, 0, 1)
	}
	p.Cursor.Open = append(p.Cursor.Open, call)
}

// close takes the call of a result; open is false where none waits for it.
func (c *Cursor) close(id string) (call ToolUse, open bool) {
	at := slices.IndexFunc(c.Open, func(have ToolUse) bool { return have.ID == id })
	if at < 0 {
		return ToolUse{}, false
	}
	call = c.Open[at]
	c.Open = slices.Delete(c.Open, at, at+1)
	return call, true
}
