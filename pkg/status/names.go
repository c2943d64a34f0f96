package status

import (
	"cmp"
	"fmt"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/transcript"
)

// Label is how an agent, or the coordinator, is called in a sentence: by its
// name or its launcher's words for it where no other agent has the same, else by
// its id. It is not cleaned.
func (s Session) Label(id string) string {
	if id == transcript.Main {
		return transcript.Main
	}
	a, ok := s.Agent(id)
	if !ok {
		return id
	}
	for _, name := range []string{a.Name, a.Description} {
		if name == "" || name == transcript.Main {
			continue
		}
		same := 0
		for _, other := range s.Agents {
			if other.Name == name || other.Description == name {
				same++
			}
		}
		if same == 1 {
			return name
		}
	}
	return id
}

// Title is what an agent is: its name or its launcher's words for it, and its
// type.
func (a Agent) Title() string {
	kind := cmp.Or(a.Type, "agent")
	switch name := cmp.Or(a.Name, a.Description); name {
	case "", kind:
		return kind
	default:
		return name + " (" + kind + ")"
	}
}

// label names a task in a sentence.
func (t Task) label(now time.Time) string {
	kind := cmp.Or(t.Kind, "task")
	switch {
	case t.ExitCode != nil:
		return fmt.Sprintf("%s (%s, exit code %d)", t.ID, kind, *t.ExitCode)
	case t.State == TaskRunning && !t.Launched.IsZero():
		return fmt.Sprintf("%s (%s, running for %s)", t.ID, kind, gate.Span(max(0, now.Sub(t.Launched))))
	}
	return fmt.Sprintf("%s (%s)", t.ID, kind)
}
