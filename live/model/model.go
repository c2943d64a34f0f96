// Package model is a stand-in for the model behind Claude Code: an HTTP server
// for the messages API whose every conversation follows a script.
//
// In: the client's requests. Out: answers made by Go functions, and a record of
// what was asked. A conversation names its script with a marker line in its
// prompt,
//
//	@@SCRIPT name args
//
// so that whoever starts an agent chooses what that agent does. A script sees
// the whole request each time and keeps no state of its own: the client forks,
// repeats and drops requests as it likes.
//
// The package knows the messages API and the few sentences of the client by
// which a script tells why it was asked again. It knows nothing of stopgate.
package model

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Marker begins the line that names a conversation's script.
const Marker = "@@SCRIPT"

// Prompt is the marker line for a script, to be used as an agent's prompt.
func Prompt(script string) string { return Marker + " " + script + "\ngo" }

// A marker in quotes is only the client talking about an agent.
var markerLine = regexp.MustCompile(`(?:^|\s)` + Marker + ` ([\w-]+)`)

// Sentences of the client by which a script tells what it was told.
const (
	feedbackStart     = "Stop hook feedback:"
	notificationStart = "<task-notification>"
)

// Block is one content block of an answer or of a message.
type Block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	// Of a tool_result.
	ToolUseID string          `json:"tool_use_id,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`

	// Label names a call to its script, which finds the result under it. A call
	// that launches a task gives its label to the task; the server learns the
	// task's id from the result. Neither goes to the client.
	Label    string `json:"-"`
	Launches bool   `json:"-"`
	// Optional is a call that gives way to a harmless one where the client
	// offers no such tool.
	Optional bool `json:"-"`
	// Tokens is what the request is said to have taken, 100 at the least.
	Tokens int `json:"-"`
}

// Helper is the script that is asked for what the client asks for itself, without
// tools: to judge for a prompt hook, to name a session. Nothing of it is in the record.
const Helper = "helper"

// Text is a text block.
func Text(s string) Block { return Block{Type: "text", Text: s} }

// Use is a call of a tool. Agent stands for Task too, where the client is that
// old. A tool whose description the client defers is searched for first.
func Use(tool string, input map[string]any) Block {
	b, err := json.Marshal(input)
	if err != nil {
		panic(err) // a script's literal
	}
	return Block{Type: "tool_use", Name: tool, Input: b}
}

// Launch is a call of a tool that starts a background task or an agent, known
// by label from then on.
func Launch(label, tool string, input map[string]any) Block {
	b := Use(tool, input)
	b.Label, b.Launches = label, true
	return b
}

// Message is one message of a request, its content always as blocks.
type Message struct {
	Role   string
	Blocks []Block
}

// UnmarshalJSON accepts both forms of content.
func (m *Message) UnmarshalJSON(data []byte) error {
	var raw struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	m.Role = raw.Role
	m.Blocks = blocksOf(raw.Content)
	return nil
}

func blocksOf(content json.RawMessage) []Block {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return []Block{Text(s)}
	}
	var bs []Block
	_ = json.Unmarshal(content, &bs) // an unknown shape is no content
	return bs
}

// ResultText is the text of a tool_result.
func (b Block) ResultText() string {
	var parts []string
	for _, c := range blocksOf(b.Content) {
		if c.Type == "text" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Request is one question of the client.
type Request struct {
	Messages []Message
	Tools    []string
	Stream   bool
	// Session and Agent are what the client says of itself, where it does. A
	// teammate is called name@team.
	Session, Agent string

	// Script is the conversation's script, "" for the client's own helpers.
	Script string
	// Turn counts the conversation's earlier answers, searches for tools not
	// included.
	Turn int

	labels map[string]Block // tool_use id -> the block as the script made it
	begin  int              // the message that holds the marker
}

// parse reads a request's body. The last marker wins: a fork carries the
// history of the conversation it was forked from before its own.
func parse(body []byte) (Request, error) {
	var raw struct {
		Messages []Message `json:"messages"`
		Tools    []struct {
			Name  string `json:"name"`
			Defer bool   `json:"defer_loading"`
		} `json:"tools"`
		Stream   bool `json:"stream"`
		Metadata struct {
			UserID string `json:"user_id"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return Request{}, err
	}
	r := Request{Messages: raw.Messages, Stream: raw.Stream, begin: -1}
	for _, t := range raw.Tools {
		if !t.Defer {
			r.Tools = append(r.Tools, t.Name)
		}
	}
	for i, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Type == "tool_result" {
				for _, c := range blocksOf(b.Content) {
					if c.Type == "tool_reference" {
						r.Tools = append(r.Tools, toolReference(b.Content)...)
						break
					}
				}
			}
			if m.Role != "user" || b.Type != "text" {
				continue
			}
			if found := markerLine.FindAllStringSubmatch(b.Text, -1); found != nil {
				r.Script, r.begin = found[len(found)-1][1], i
			}
		}
	}
	for i := r.begin + 1; i < len(r.Messages); i++ {
		m := r.Messages[i]
		if m.Role == "assistant" && !isSearch(m) {
			r.Turn++
		}
	}
	return r, nil
}

func toolReference(content json.RawMessage) []string {
	var refs []struct {
		Name string `json:"tool_name"`
	}
	_ = json.Unmarshal(content, &refs)
	var names []string
	for _, r := range refs {
		if r.Name != "" {
			names = append(names, r.Name)
		}
	}
	return names
}

const searchTool = "ToolSearch"

func isSearch(m Message) bool {
	if len(m.Blocks) == 0 {
		return false
	}
	for _, b := range m.Blocks {
		if b.Type == "tool_use" && b.Name != searchTool {
			return false
		}
		if b.Type == "text" {
			return false
		}
	}
	return true
}

// Has tells whether the client offers a tool.
func (r Request) Has(tool string) bool {
	for _, t := range r.Tools {
		if t == tool {
			return true
		}
	}
	return false
}

// Used tells whether the conversation has called a tool.
func (r Request) Used(tool string) bool {
	for i, m := range r.Messages {
		for _, b := range m.Blocks {
			if i > r.begin && b.Type == "tool_use" && b.Name == tool {
				return true
			}
		}
	}
	return false
}

// news is what came in since the last answer.
func (r Request) news() []Block {
	var bs []Block
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "assistant"; i-- {
		bs = append(append([]Block{}, r.Messages[i].Blocks...), bs...)
	}
	return bs
}

// NewText is all text that came in since the last answer, tool results not
// included.
func (r Request) NewText() string {
	var parts []string
	for _, b := range r.news() {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// AllText is every text and tool result that the conversation was given,
// beginning with its own prompt.
func (r Request) AllText() string {
	var parts []string
	for i, m := range r.Messages {
		if i < r.begin || m.Role == "assistant" {
			continue
		}
		for _, b := range m.Blocks {
			switch b.Type {
			case "text":
				parts = append(parts, b.Text)
			case "tool_result":
				parts = append(parts, b.ResultText())
			}
		}
	}
	return strings.Join(parts, "\n")
}

// Feedback is the instruction of a hook that blocked the last stop, "" if the
// request came for another reason.
func (r Request) Feedback() string {
	text := r.NewText()
	i := strings.Index(text, feedbackStart)
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(text[i+len(feedbackStart):])
}

// Notified tells whether news hold a task's notification.
func (r Request) Notified() bool { return strings.Contains(r.NewText(), notificationStart) }

// Results are the results that came in since the last answer, by the label of
// the call or, where it has none, by the tool's name.
func (r Request) Results() map[string]string {
	out := map[string]string{}
	for _, b := range r.news() {
		if b.Type != "tool_result" {
			continue
		}
		use, ok := r.labels[b.ToolUseID]
		if !ok {
			continue
		}
		name := use.Label
		if name == "" {
			name = use.Name
		}
		out[name] = b.ResultText()
	}
	return out
}

// compactWords stand in the question for a summary that takes a conversation's place.
const compactWords = "detailed summary of the conversation"

// Compacts tells whether the client asks for such a summary.
func (r Request) Compacts() bool { return strings.Contains(r.NewText(), compactWords) }

// Summary is an answer to it, after which the conversation goes on with the script.
func Summary(script, text string) []Block {
	return []Block{Text("<summary>\n" + text + "\n" + Prompt(script) + "\n</summary>")}
}

// Suggestions and progress summaries are asked for in these words.
const (
	suggestionStart = "[SUGGESTION MODE:"
	summaryStart    = "Describe your most recent action in "
)

// ephemeral: the client asks a copy of the conversation that nobody sees.
func (r Request) ephemeral() bool {
	text := r.NewText()
	return strings.Contains(text, suggestionStart) || strings.HasPrefix(strings.TrimSpace(text), summaryStart)
}
