package status

import (
	"path/filepath"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// An agent whose stop was blocked goes on: where it has written nothing for ten
// minutes since, it needs somebody.
func TestAnAgentThatWasBlockedAndFellSilent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		chain   int
		written time.Time
		why     Why
	}{
		"blocked, and silent for long":   {1, ago(20 * time.Minute), WhySilent},
		"blocked, and it wrote just now": {1, ago(time.Minute), ""},
		"never blocked":                  {0, ago(20 * time.Minute), ""},
	} {
		file := filepath.Join(t.TempDir(), "agent-a1.jsonl")
		hosttest.Write(t, test.written, file, `{"type":"assistant","message":{"content":[{"type":"text","text":"x"}]}}`+"\n")
		src := written(t, sessionA, func(tx *ledger.Tx) {
			a := tx.Touch("a1", "builder", file)
			a.Started, a.Stopped, a.Last, a.Stops, a.Chain = ago(time.Hour), ago(21*time.Minute), ago(21*time.Minute), 1, test.chain
			tx.PutAgent(a)
		})
		got, _ := load(t, src, Filter{All: true}).Sessions[0].Agent("a1")
		if got.Why != test.why || got.Stuck != (test.why != "") {
			t.Errorf("%s: %q: %s", name, got.Why, got.Advice)
		}
	}
}

// An agent whose block handed over the outcome has heard of it, whether or not the
// client tells it too.
func TestAnEndThatABlockHandedOver(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} {
		src := written(t, sessionA, func(tx *ledger.Tx) {
			a := tx.Touch("a1", "builder", "")
			a.Started, a.Stopped, a.Stops, a.Blocks = ago(time.Hour), ago(time.Minute), 2, 1
			tx.PutAgent(a)
			tx.Merge(ledger.Learned{
				Launches: []transcript.Launch{{Task: "b1", Owner: "a1", Kind: "shell", At: ago(30 * time.Minute), Evidence: transcript.PostToolUse}},
				Ends:     []transcript.End{{Task: "b1", Status: "completed", At: ago(5 * time.Minute)}},
			})
			tx.Charge("b1", time.Minute, told)
		})
		s := load(t, src, Filter{All: true}).Sessions[0]
		agent, _ := s.Agent("a1")
		task, _ := s.Task("b1")
		if heard := task.State == TaskFinished && !agent.Stuck; heard != told {
			t.Errorf("told %v: the task is %s, the agent is stuck: %v", told, task.State, agent.Stuck)
		}
	}
}
