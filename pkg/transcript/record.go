package transcript

import (
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
func (p *pass) read(r record, offset int64) {
	if !r.belongs(p.src.Owner) {
		return
	}
	switch r.kind {
	case "assistant":
		p.calls(r)
	case "user":
		p.results(r, offset)
		p.delivered(r.message.Get("content"), r.at)
	case "attachment":
		if str(r.attachment.Get("type")) == "queued_command" {
			p.delivered(r.attachment.Get("prompt"), r.at)
		}
	case "queue-operation":
		p.queued(r)
	}
}

// userText is the text of a user line that is no tool result.
func userText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	return firstText(content)
}

// delivered reads what was given to a model: a text, or blocks of it, each of which
// may be a notification.
func (p *pass) delivered(content gjson.Result, at time.Time) {
	if content.Type == gjson.String {
		p.heard(content.Str, p.src.Owner, at)
		return
	}
	each(content, "text", func(block gjson.Result) { p.heard(str(block.Get("text")), p.src.Owner, at) })
}

// heard keeps the ends that a notification told of as delivered to somebody.
func (p *pass) heard(text, to string, at time.Time) {
	for _, n := range noticesOf(text) {
		if n.ended() {
			p.Deliveries = append(p.Deliveries, Delivery{Task: n.task, To: to, At: at})
		}
	}
}

// queued reads a line of the coordinator's message queue, in which a person's
// messages wait, too. Only an enqueue says that a task ended; dequeue and remove say
// nothing of it, and a remove says that it was delivered only where it gives that
// reason.
func (p *pass) queued(r record) {
	if p.src.Owner != Main {
		return
	}
	text := str(r.content)
	switch {
	case r.operation == "enqueue":
		for _, n := range noticesOf(text) {
			if n.ended() {
				p.Ends = append(p.Ends, End{Task: n.task, Status: n.status, ExitCode: n.exit, At: r.at, Output: n.output, Parked: n.parked})
			}
		}
	case r.operation == "remove" && r.reason == "delivered_to_agent":
		p.heard(text, "", r.at)
	}
}
