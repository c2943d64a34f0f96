// Package event is the hook protocol of Claude Code: the payload that comes in
// on stdin and the answer that goes out on stdout. Every name of the wire that
// stopgate relies on stands in this package (docs/client.md: the hook contract).
//
// It decides nothing and opens no file.
package event

import (
	"bytes"
	"errors"

	"github.com/tidwall/gjson"

	"stopgate/pkg/digest"
	"stopgate/pkg/extent"
)

// The hook events that are more to stopgate than a name.
const (
	SubagentStop  = "SubagentStop"
	SubagentStart = "SubagentStart"
	PostToolUse   = "PostToolUse"
	TeammateIdle  = "TeammateIdle"
	Stop          = "Stop"
	SessionStart  = "SessionStart"
	SessionEnd    = "SessionEnd"
)

// Event is one payload. Every field may be missing on the wire, null or of
// another type; then it has its zero value here (docs/client.md: SubagentStop).
type Event struct {
	// Name is hook_event_name; "" where the payload names none.
	Name string
	// SessionID is the session's id; "" also for the string "null", which some
	// hosts write for a missing one.
	SessionID string
	// TranscriptPath is the coordinator's transcript, also on an agent's event.
	TranscriptPath string
	// PromptID names the coordinator's turn, since 2.1.196; "" where it is missing.
	PromptID string
	// Cwd is the session's working folder; it may no longer exist.
	Cwd string
	// AgentID names the agent whose event this is; "" is the coordinator.
	AgentID string
	// AgentType is the agent's type, or the teammate's name.
	AgentType string
	// AgentTypeGiven tells an empty type, the mark of an ephemeral event, from
	// a missing one, the mark of an old client.
	AgentTypeGiven bool
	// AgentTranscript is agent_transcript_path.
	AgentTranscript string
	// LastMessage is the agent's last text; LastMessageGiven is false after an
	// interrupt.
	LastMessage      string
	LastMessageGiven bool
	// StopHookActive is true on the stop after a block by any hook.
	StopHookActive bool
	// RegistryGiven tells whether background_tasks is there and an array.
	// Without it nothing is known of any task.
	RegistryGiven bool
	// Tasks are the entries of background_tasks: the session's unfinished
	// background tasks, whoever launched them. Entries without an id are left
	// out, and of two with one id the second.
	Tasks []Task
	// Tool, ToolUseID, ToolInput and ToolResponse belong to PostToolUse.
	Tool         string
	ToolUseID    string
	ToolInput    gjson.Result
	ToolResponse gjson.Result
	// TeammateName and TeamName belong to TeammateIdle.
	TeammateName string
	TeamName     string
	// Sum is the digest of the payload as read.
	Sum [digest.Size]byte
}

// Task is one entry of background_tasks. It names no owner.
type Task struct {
	ID string
	// Type is the entry's type, for example "shell"; see [Task.CanBeOwn].
	Type string
	// Status is "running" or "pending", "" where it is missing.
	Status string
	// Command is the shell command or "", cut by the client at 1000 characters.
	// It is looked at by the ignore rules and never stored or shown.
	Command string
}

// The types of a background task that an agent can be asked to wait for.
const (
	TypeShell    = "shell"
	TypeMonitor  = "monitor"
	TypeSubagent = "subagent"
	TypeWorkflow = "workflow"
	TypeMCP      = "MCP task"
	// TypeTeammate is a teammate's own entry. Its id is no agent's id and no
	// launch ever names it.
	TypeTeammate = "teammate"
)

// CanBeOwn tells whether the entry is of a type and a status for which a stop
// may be blocked. Every other type, known or not, only has an owner.
func (t Task) CanBeOwn() bool {
	switch t.Status {
	case "running", "pending", "":
	default:
		return false
	}
	switch t.Type {
	case TypeShell, TypeMonitor, TypeSubagent, TypeWorkflow, TypeMCP:
		return true
	}
	return false
}

// ErrNotAnEvent is returned by [Parse] for input that is no JSON object.
var ErrNotAnEvent = errors.New("input is not a JSON object")

// Parse reads one payload.
func Parse(payload []byte) (e Event, err error) {
	err = e.Parse(payload)
	return e, err
}

// Parse is [Parse] in place. After an error e is the zero value.
func (e *Event) Parse(payload []byte) error {
	*e = Event{}
	trimmed := bytes.TrimPrefix(payload, []byte("\ufeff"))
	// The syntax is checked by recursion, so the depth comes first.
	if n, whole := extent.Of(trimmed); !whole || !gjson.ValidBytes(trimmed[:n]) || len(bytes.TrimSpace(trimmed[n:])) > 0 {
		return ErrNotAnEvent
	}
	root := gjson.ParseBytes(trimmed)
	if !root.IsObject() {
		return ErrNotAnEvent
	}
	e.Sum = digest.Of(payload)
	root.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "hook_event_name":
			e.Name = text(value)
		case "session_id":
			if e.SessionID = text(value); e.SessionID == "null" {
				e.SessionID = ""
			}
		case "transcript_path":
			e.TranscriptPath = text(value)
		case "prompt_id":
			e.PromptID = text(value)
		case "cwd":
			e.Cwd = text(value)
		case "agent_id":
			e.AgentID = text(value)
		case "agent_type":
			e.AgentType, e.AgentTypeGiven = text(value), value.Type == gjson.String
		case "agent_transcript_path":
			e.AgentTranscript = text(value)
		case "last_assistant_message":
			e.LastMessage, e.LastMessageGiven = text(value), value.Type == gjson.String
		case "stop_hook_active":
			e.StopHookActive = value.Type == gjson.True
		case "background_tasks":
			if e.RegistryGiven = value.IsArray(); e.RegistryGiven {
				e.Tasks = tasks(value)
			}
		case "tool_name":
			e.Tool = text(value)
		case "tool_use_id":
			e.ToolUseID = text(value)
		case "tool_input":
			e.ToolInput = value
		case "tool_response":
			e.ToolResponse = value
		case "teammate_name":
			e.TeammateName = text(value)
		case "team_name":
			e.TeamName = text(value)
		}
		return true
	})
	return nil
}

func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

// maxTasks is how many listed tasks are looked at: a session has a handful.
const maxTasks = 10_000

func tasks(list gjson.Result) []Task {
	var out []Task
	seen := map[string]bool{}
	list.ForEach(func(_, entry gjson.Result) bool {
		t := task(entry)
		if t.ID != "" && !seen[t.ID] {
			seen[t.ID] = true
			out = append(out, t)
		}
		return len(out) < maxTasks
	})
	return out
}

func task(entry gjson.Result) (t Task) {
	if !entry.IsObject() {
		return t
	}
	entry.ForEach(func(key, value gjson.Result) bool {
		for _, f := range []struct {
			name string
			into *string
		}{{"id", &t.ID}, {"type", &t.Type}, {"status", &t.Status}, {"command", &t.Command}} {
			if f.name == key.Str {
				*f.into = text(value)
			}
		}
		return true
	})
	return t
}

// EmptyAgentType tells the first kind of ephemeral event: an internal one-turn
// fork with an agent_type that is present and empty. A missing one is an old
// client (docs/client.md: ephemeral events).
func (e Event) EmptyAgentType() bool { return e.AgentTypeGiven && e.AgentType == "" }

// Lists tells whether background_tasks holds a task of that id.
func (e Event) Lists(id string) bool {
	for _, t := range e.Tasks {
		if t.ID == id {
			return true
		}
	}
	return false
}

// Candidates are the listed tasks that the stopping agent could be asked to wait
// for: of a type that can block, and not the agent itself, which a background
// agent lists too.
func (e Event) Candidates() []Task {
	var out []Task
	for _, t := range e.Tasks {
		if t.CanBeOwn() && t.ID != e.AgentID {
			out = append(out, t)
		}
	}
	return out
}

// BlockAnswer is the answer that makes the agent go on with reason as its next
// instruction. An empty answer lets it stop.
func BlockAnswer(reason string) []byte {
	out := make([]byte, 0, len(reason)+64)
	out = append(out, `{"decision":"block","reason":`...)
	out = gjson.AppendJSONString(out, reason)
	return append(out, '}', '\n')
}
