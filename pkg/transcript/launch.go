package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// The tools that can launch a background task (docs/client.md: launches).
const (
	toolBash        = "Bash"
	toolPowerShell  = "PowerShell"
	toolMonitor     = "Monitor"
	toolAgent       = "Agent"
	toolTask        = "Task" // the older name of Agent
	toolWorkflow    = "Workflow"
	toolSendMessage = "SendMessage"
	mcpPrefix       = "mcp__"

	// toolTaskStop ends a task; its result says so in these words.
	toolTaskStop = "TaskStop"
	stoppedMark  = "Successfully stopped task: "
)

// kindOf is the type of the task that a tool launches; "" for a tool that
// launches none.
func kindOf(tool string) string {
	switch tool {
	case toolBash, toolPowerShell:
		return "shell"
	case toolMonitor:
		return "monitor"
	case toolAgent, toolTask, toolSendMessage:
		return "subagent"
	case toolWorkflow:
		return "workflow"
	}
	if strings.HasPrefix(tool, mcpPrefix) {
		return "MCP task"
	}
	return ""
}

// sentence is how a tool result that launched something begins.
type sentence struct {
	kind string
	// begins is the very start of the text; the id follows at once, or behind
	// the first marker, which stands in the first line unless marker starts a
	// line itself.
	begins, marker string
	// needsAsking: newer clients write this only when the call asked for the
	// background; without asking, it is a command that printed it.
	needsAsking bool
}

// sentences are the beginnings of tool results by which a launch is recognised
// where the line has no structured result. They count only at the very start of
// the result that belongs to that tool's call, since a command can print them
// (docs/client.md: launches).
var sentences = []sentence{
	{kind: "shell", begins: "Command running in background with ID: ", needsAsking: true},
	{kind: "shell", begins: "Command did not complete within its ", marker: "moved to the background (ID: "},
	{kind: "shell", begins: "Command timed out and was moved to the background (ID: "},
	{kind: "shell", begins: "Command was manually backgrounded by user with ID: "},
	{kind: "shell", begins: "Command was moved to the background (ID: "},
	{kind: "shell", begins: "Command exceeded the ", marker: "moved to the background with ID: "},
	{kind: "monitor", begins: "Monitor started (task "},
	{kind: "subagent", begins: "Async agent launched successfully.", marker: "\nagentId: "},
	{kind: "workflow", begins: "Workflow launched in background. Task ID: "},
	{kind: "MCP task", begins: `MCP tool "`, marker: "moved to the background as task "},
}

// task is the id that a text names in this sentence, and the text from there on.
func (s sentence) task(text string) (id, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, s.begins)
	if !ok {
		return "", "", false
	}
	if s.marker != "" {
		head := rest
		if s.marker[0] != '\n' {
			head, _, _ = strings.Cut(head, "\n")
		}
		at := strings.Index(head, s.marker)
		if at < 0 {
			return "", "", false
		}
		rest = rest[at+len(s.marker):]
	}
	id = leadingID(rest)
	return id, rest, id != ""
}

// askingSince is the first version that writes the first sentence only for a
// call with run_in_background; up to 2.1.198 a command that timed out gave it
// too.
var askingSince = [3]int{2, 1, 210}

const (
	outputMarker = "Output is being written to: "
	agentMarker  = "output_file: " // in an agent's launch text
	resumedKey   = "resumedAgentId"
	persistent   = ", persistent"
)

// fromText reads a launch from the text of a tool result.
func fromText(call ToolUse, text, version string) (Launch, bool) {
	kind := kindOf(call.Name)
	if call.Name == toolSendMessage {
		// A message wakes an agent, and its result is the structure as text.
		woken := ""
		if strings.HasPrefix(text, "{") && gjson.Valid(text) {
			woken = keep(gjson.Get(text, resumedKey))
		}
		return Launch{Task: woken, Kind: kind, ToolUseID: call.ID, Evidence: TextAsked, Resumed: true}, woken != ""
	}
	for _, s := range sentences {
		id, rest, said := s.task(text)
		if s.kind != kind || !said {
			continue
		}
		// Calling Monitor or Workflow is asking for the background.
		asked := call.Asked || kind == "monitor" || kind == "workflow"
		if s.needsAsking && !asked && !olderThan(version, askingSince) {
			return Launch{}, false
		}
		l := Launch{Task: strings.Clone(id), Kind: kind, ToolUseID: call.ID, Evidence: Text}
		if asked {
			l.Evidence = TextAsked
		}
		l.Output = outputPath(rest, id)
		l.Persistent = kind == "monitor" && (call.Persistent || strings.HasPrefix(rest[len(id):], persistent))
		return l, true
	}
	return Launch{}, false
}

// FromResponse reads a launch from a tool's structured answer, the tool_response
// of a PostToolUse event. Owner and At are left to the caller.
func FromResponse(tool, toolUseID string, input, response gjson.Result, evidence Evidence) (Launch, bool) {
	return fromResponse(ToolUse{
		ID:         toolUseID,
		Name:       tool,
		Asked:      input.Get("run_in_background").Type == gjson.True,
		Persistent: input.Get("persistent").Type == gjson.True,
	}, response, evidence)
}

func fromResponse(call ToolUse, response gjson.Result, evidence Evidence) (Launch, bool) {
	l := Launch{Kind: kindOf(call.Name), ToolUseID: call.ID, Evidence: evidence}
	if l.Kind == "" {
		return l, false
	}
	if response.IsObject() {
		switch l.Kind {
		case "shell":
			l.Task = keep(response.Get("backgroundTaskId"))
		case "monitor":
			l.Task = keep(response.Get("taskId"))
			l.Persistent = call.Persistent || response.Get("persistent").Type == gjson.True
		case "workflow":
			l.Task = keep(response.Get("taskId"))
		case "subagent":
			switch {
			case call.Name == toolSendMessage:
				l.Task, l.Resumed = keep(response.Get(resumedKey)), true
			case str(response.Get("status")) == "async_launched":
				l.Task = keep(response.Get("agentId"))
				l.Output = outputOf(l.Task, keep(response.Get("outputFile")))
			}
		}
	}
	if l.Task != "" {
		return l, true
	}
	if l.Kind == "shell" || call.Name == toolSendMessage || tells(l.Kind, response) {
		// A shell's answer holds what the command printed: never read as text.
		return l, false
	}
	return fromText(call, firstText(response), "")
}

// tells tells whether a structured answer is of the form that names its task: if
// it names none, none was launched, and its text is what a command printed or an
// agent reported.
func tells(kind string, response gjson.Result) bool {
	if !response.IsObject() {
		return false
	}
	return kind == "shell" || kind == "subagent" && response.Get("status").Type == gjson.String
}

// firstText is the text a tool result begins with: a string, the first text
// block of a list, or the same under "content".
func firstText(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	if v.IsObject() {
		v = v.Get("content")
		if v.Type == gjson.String {
			return v.Str
		}
	}
	out := ""
	if v.IsArray() {
		v.ForEach(func(_, block gjson.Result) bool {
			if str(block.Get("type")) == "text" {
				out = str(block.Get("text"))
				return false
			}
			return true
		})
	}
	return out
}

func str(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

// keep is str for a value that outlives its line, which must not be kept in
// memory for the sake of an id.
func keep(v gjson.Result) string { return strings.Clone(str(v)) }

// leadingID is the run of id characters at the start of s.
func leadingID(s string) string {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return s[:i]
		}
	}
	return s
}

// outputPath finds the output file's path in a launch sentence. The path may
// hold spaces and full stops, so its end is the file name that the id gives.
func outputPath(s, id string) string {
	_, rest, found := strings.Cut(s, outputMarker)
	if !found {
		_, rest, found = strings.Cut(s, agentMarker)
	}
	if !found {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n")
	name := id + outputEnding
	if at := strings.Index(rest, name); at >= 0 {
		return strings.Clone(outputOf(id, rest[:at+len(name)]))
	}
	return ""
}

// olderThan tells whether a dotted version lies before limit. An unknown one
// does not.
func olderThan(version string, limit [3]int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) != 3 {
		return false
	}
	for i, p := range parts {
		n, digits := 0, 0
		for digits < len(p) && p[digits] >= '0' && p[digits] <= '9' && digits < 7 {
			n = n*10 + int(p[digits]-'0')
			digits++
		}
		if digits == 0 {
			return false
		}
		if n != limit[i] {
			return n < limit[i]
		}
	}
	return false
}
