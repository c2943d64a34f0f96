package gate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Addressee is the agent that a wake-up is about.
type Addressee struct {
	// ID is its id; Name what its launcher calls it, or "".
	ID, Name string
}

// Wake is the message with which a courier wakes the coordinator: whose task
// ended how, where its output is, and how the agent gets to hear of it. Like
// [Reason] it quotes nothing that could be read as an instruction.
func Wake(who Addressee, tasks []Task) string {
	to := who.ID
	if !plainID(to) {
		to = ""
	}
	agent := "An agent"
	switch {
	case to != "" && plainID(who.Name) && who.Name != to:
		agent = fmt.Sprintf("Agent %s (%s)", who.Name, to)
	case to != "":
		agent = "Agent " + to
	}
	head := "This is not an error. " + agent + " stopped while background work of its own was running; that has ended since, and the agent was not told:\n"
	tail := "Send the agent a message to resume it with the result, or read the output yourself. Nothing else is needed if the result no longer matters."
	if to != "" {
		tail = fmt.Sprintf("A message to that agent (SendMessage with to: %s) resumes it: tell it the outcome and the output path. Or read the output yourself. Nothing else is needed if the result no longer matters.", to)
	}
	room := MaxReason - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return strings.TrimRight(head+itemLines(tasks, room)+tail, "\n") + "\n"
}
