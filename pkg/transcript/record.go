package transcript

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// record is one transcript line, in as far as it is looked at.
type record struct {
	kind, agentID, version, operation, reason string
	// sidechain and coordinator tell isSidechain true from false; a line without
	// it is neither.
	sidechain, coordinator               bool
	at                                   time.Time
	message, result, content, attachment gjson.Result
}

func parseRecord(line string) record {
	var r record
	gjson.Parse(line).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "type":
			r.kind = str(value)
		case "agentId":
			r.agentID = str(value)
		case "isSidechain":
			r.sidechain, r.coordinator = value.Type == gjson.True, value.Type == gjson.False
		case "version":
			r.version = str(value)
		case "timestamp":
			// A time that cannot be read is no time.
			r.at, _ = time.Parse(time.RFC3339, str(value))
		case "message":
			r.message = value
		case "toolUseResult":
			r.result = value
		case "operation":
			r.operation = str(value)
		case "reason":
			r.reason = str(value)
		case "content":
			r.content = value
		case "attachment":
			r.attachment = value
		}
		return true
	})
	return r
}

// belongs tells whether a line of a transcript is its owner's own: an inherited
// or foreign line names another agent, or is marked as the coordinator's
// (docs/client.md: forks).
func (r record) belongs(owner string) bool {
	switch {
	case owner == Main:
		return r.agentID == "" && !r.sidechain
	case r.agentID == "":
		return !r.coordinator
	}
	return r.agentID == owner
}

// read takes one record into the batch.
func (b *Batch) read(r record, src Source, offset int64) {
	if !r.belongs(src.Owner) {
		return
	}
	switch r.kind {
	case "assistant":
		b.calls(r)
	case "user":
		b.results(r, src, offset)
		b.delivered(userText(r.message.Get("content")), src.Owner, r.at)
	case "attachment":
		if str(r.attachment.Get("type")) == "queued_command" {
			b.delivered(firstText(r.attachment.Get("prompt")), src.Owner, r.at)
		}
	case "queue-operation":
		b.queued(r, src)
	}
}

func (b *Batch) calls(r record) {
	r.message.Get("content").ForEach(func(_, block gjson.Result) bool {
		if str(block.Get("type")) != "tool_use" {
			return true
		}
		name, id := keep(block.Get("name")), keep(block.Get("id"))
		input := block.Get("input")
		if name == toolTaskStop && id != "" {
			if target := keep(input.Get("task_id")); target != "" {
				b.Cursor.open(ToolUse{ID: id, Name: name, Target: target})
			}
			return true
		}
		if id == "" || kindOf(name) == "" {
			return true
		}
		if name == toolSendMessage {
			if to := keep(input.Get("to")); to != "" {
				b.Messages = append(b.Messages, Message{To: to, At: r.at})
			}
		}
		b.Cursor.open(ToolUse{
			ID:         id,
			Name:       name,
			Asked:      input.Get("run_in_background").Type == gjson.True,
			Persistent: input.Get("persistent").Type == gjson.True,
		})
		return true
	})
}

func (b *Batch) results(r record, src Source, offset int64) {
	blocks := r.message.Get("content")
	if !blocks.IsArray() {
		return
	}
	var answered []gjson.Result
	blocks.ForEach(func(_, block gjson.Result) bool {
		if str(block.Get("type")) == "tool_result" {
			answered = append(answered, block)
		}
		return true
	})
	for _, block := range answered {
		call, open := b.Cursor.close(str(block.Get("tool_use_id")))
		if !open || block.Get("is_error").Type == gjson.True {
			continue
		}
		if call.Name == toolTaskStop {
			if strings.Contains(firstText(block.Get("content")), stoppedMark+call.Target) {
				b.Ends = append(b.Ends, End{Task: call.Target, Status: StatusKilled, At: r.at})
			}
			continue
		}
		var l Launch
		var found, told bool
		// The line has one toolUseResult: whose it is can be told only where the
		// line answers one call. The text decides only where it is missing.
		if len(answered) == 1 && r.result.Exists() {
			l, found = fromResponse(call, r.result, ToolUseResult)
			told = tells(kindOf(call.Name), r.result)
		}
		text, said := fromText(call, firstText(block.Get("content")), r.version)
		switch {
		case found && said && text.Task == l.Task:
			l.Output = first(l.Output, text.Output)
			l.Persistent = l.Persistent || text.Persistent
		case !found && !told:
			l, found = text, said
		}
		if found {
			l.Owner, l.At, l.File, l.Line = src.Owner, r.at, src.Path, offset
			b.Launches = append(b.Launches, l)
		}
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// userText is the text of a user line that is no tool result.
func userText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	return firstText(content)
}

func (b *Batch) delivered(text, to string, at time.Time) {
	if !isNotice(text) {
		return
	}
	for _, n := range notices(text) {
		if n.status != "" { // else an event of a monitor
			b.Deliveries = append(b.Deliveries, Delivery{Task: n.task, To: to, At: at})
		}
	}
}

// queued reads a line of the coordinator's message queue. Only an enqueue says
// that a task ended; dequeue and remove say nothing of it, and a remove says
// that it was delivered only where it gives that reason.
func (b *Batch) queued(r record, src Source) {
	if src.Owner != Main {
		return
	}
	text := str(r.content)
	if !isNotice(text) {
		return // a person's message waits in the same queue
	}
	// Each line has one notification: what follows it is text of the task.
	all := notices(text)
	if len(all) == 0 || all[0].status == "" {
		return
	}
	switch n := all[0]; {
	case r.operation == "enqueue":
		b.Ends = append(b.Ends, End{Task: n.task, Status: n.status, ExitCode: n.exit, At: r.at, Output: n.output, Parked: n.parked})
	case r.operation == "remove" && r.reason == "delivered_to_agent":
		b.Deliveries = append(b.Deliveries, Delivery{Task: n.task, At: r.at})
	}
}

// maxOpen bounds the calls kept without a result.
const maxOpen = 256

func (c *Cursor) open(t ToolUse) {
	if len(t.ID)+len(t.Name)+len(t.Target) > maxPath {
		return // no call of the client's
	}
	for _, have := range c.Open {
		if have.ID == t.ID {
			return
		}
	}
	if len(c.Open) >= maxOpen {
		c.Open = append(c.Open[:0], c.Open[1:]...)
	}
	c.Open = append(c.Open, t)
}

func (c *Cursor) close(id string) (ToolUse, bool) {
	for i, t := range c.Open {
		if t.ID == id {
			c.Open = append(c.Open[:i], c.Open[i+1:]...)
			return t, true
		}
	}
	return ToolUse{}, false
}
