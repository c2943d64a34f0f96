package transcript

import (
	"testing"
	"time"
)

// Among launches of one task that are told equally well, the earliest is the real
// one: a later one was printed by somebody who looked at it.
func TestTheEarliestOfEquals(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, evidence := range []Evidence{PostToolUse, ToolUseResult, Meta, TextAsked, Text} {
		early := Launch{Task: "b1", Owner: "a1", Evidence: evidence, At: noon}
		late := Launch{Task: "b1", Owner: "a2", Evidence: evidence, At: noon.Add(time.Second)}
		if !early.Beats(late) || late.Beats(early) || Join(early, late).Owner != "a1" || Join(late, early).Owner != "a1" {
			t.Errorf("%s: the later one wins", evidence)
		}
		late.At = time.Time{}
		if late.Beats(early) || Join(early, late).Owner != "a1" {
			t.Errorf("%s: one without a time replaces one that is known", evidence)
		}
	}
}

// Of two who woke an agent, the later one has it running.
func TestTheLaterOfTwoResumptions(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	early := Launch{Task: "c1", Owner: "a1", Resumed: true, Evidence: PostToolUse, At: noon}
	late := Launch{Task: "c1", Owner: "a2", Resumed: true, Evidence: TextAsked, At: noon.Add(time.Minute)}
	if Join(early, late).Owner != "a2" || Join(late, early).Owner != "a2" {
		t.Error("the earlier one has it")
	}
}
