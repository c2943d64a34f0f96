package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// list records what the last event listed as unfinished, so long ago.
func (w *waiting) list(ago time.Duration, ids ...string) {
	w.update(func(tx *ledger.Tx) {
		tx.Session.ListedAt, tx.Session.Listed = w.clock.now.Add(-ago), nil
		for _, id := range ids {
			tx.Session.Listed = append(tx.Session.Listed, ledger.Listed{ID: id, Type: "shell"})
		}
	})
}

func (w *waiting) told(line string) { hosttest.Append(w.t, w.clock.now, w.main(), line+"\n") }

func (w *waiting) agentFile(id string) string {
	return filepath.Join(strings.TrimSuffix(w.main(), ".jsonl"), "subagents", "agent-"+id+".jsonl")
}

func (w *waiting) stamp(ago time.Duration) string {
	return w.clock.now.Add(-ago).Format(time.RFC3339Nano)
}

// notice is the line by which the client tells an end.
func (w *waiting) notice(ago time.Duration, task, status, summary string) string {
	return fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"content":"<task-notification>\n<task-id>%s</task-id>\n<status>%s</status>\n<summary>%s</summary>\n</task-notification>"}`, w.stamp(ago), task, status, summary)
}

// Whatever became of a task, wait and status say the same of it.
func TestWaitAndStatusAgree(t *testing.T) {
	t.Parallel()
	const minute, hour = time.Minute, time.Hour
	seven := 7
	launch := func(w *waiting, l transcript.Launch) {
		l.At, l.Evidence = w.clock.now.Add(-hour), transcript.PostToolUse
		w.update(func(tx *ledger.Tx) { tx.Merge(ledger.Learned{Launches: []transcript.Launch{l}}) })
	}
	for name, r := range map[string]struct {
		happens func(*waiting)
		// state is what status says, and is the word of wait for it.
		state, is string
		code      *int
	}{
		"one that runs":                  {func(w *waiting) { w.list(minute, "b1") }, "running", "running", nil},
		"one that was launched just now": {func(w *waiting) { w.list(hour) }, "running", "running", nil},
		"one whose end was told":         {func(w *waiting) { w.told(w.notice(0, "b1", "failed", "exit code 7")) }, "undelivered", "exited", &seven},
		"one whose end says no more":     {func(w *waiting) { w.told(w.notice(0, "b1", "completed", "x")) }, "undelivered", "ended", nil},
		"one that was stopped":           {func(w *waiting) { w.told(w.notice(0, "b1", "stopped", "x")) }, "killed", "killed", nil},
		"one of several that ended": {func(w *waiting) {
			w.told(strings.Replace(w.notice(0, "b9", "completed", "x"), `<status>`, `<task-id>b1</task-id>\n<status>`, 1))
		}, "undelivered", "ended", nil},
		"one that its own agent stopped": {func(w *waiting) {
			hosttest.Write(w.t, w.clock.now, w.agentFile("a1"), fmt.Sprintf(`{"type":"assistant","agentId":"a1","timestamp":%q,"message":{"content":[{"type":"tool_use","id":"s1","name":"TaskStop","input":{"task_id":"b1"}}]}}
{"type":"user","agentId":"a1","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"s1","content":"{\"message\":\"Successfully stopped task: b1 (make)\"}"}]}}
`, w.stamp(0), w.stamp(0)))
		}, "killed", "killed", nil},
		"one known by PostToolUse alone": {func(w *waiting) {
			launch(w, transcript.Launch{Task: "b1", Owner: "a1", Kind: "shell"})
			hosttest.Write(w.t, w.clock.now.Add(-minute), w.output("b1"), "x\n[exited with code 7]\n")
			w.list(0)
		}, "finished", "exited", &seven},
		"one that was killed and is listed no more": {func(w *waiting) {
			launch(w, transcript.Launch{Task: "b1", Owner: "a1", Kind: "shell"})
			hosttest.Write(w.t, w.clock.now.Add(-minute), w.output("b1"), "x\n[killed]\n")
			w.list(0)
		}, "killed", "killed", nil},
		"one that printed an end and is listed": {func(w *waiting) {
			hosttest.Write(w.t, w.clock.now.Add(-minute), w.output("b1"), "x\n[exited with code 0]\n")
			w.list(0, "b1")
		}, "running", "running", nil},
		"one that printed an end and whose process lives": {func(w *waiting) {
			hosttest.Write(w.t, w.clock.now.Add(-minute), w.output("b1"), "x\n[exited with code 0]\n")
			w.held = func(path string) (bool, bool) { return path == w.output("b1"), true }
		}, "running", "running", nil},
		"one that was killed a moment ago, with all its processes": {func(w *waiting) {
			hosttest.Write(w.t, w.clock.now.Add(-time.Second), w.output("b1"), "x\n[killed]\n")
			w.held = func(string) (bool, bool) { return false, true }
		}, "killed", "killed", nil},
		"one that printed an end on an old client": {func(w *waiting) {
			w.told(`{"type":"user","version":"2.1.220","message":{"content":"go"}}`)
			hosttest.Write(w.t, w.clock.now.Add(-minute), w.output("b1"), "x\n[killed]\n")
		}, "running", "running", nil},
		"one that is gone without a word": {func(w *waiting) {
			launch(w, transcript.Launch{Task: "b1", Owner: "a1", Kind: "shell", Output: w.output("b1")})
			w.list(minute)
		}, "unknown", "unknown", nil},
		"one that was told to end long before it was listed": {func(w *waiting) {
			w.told(w.notice(hour, "b1", "completed", "exit code 0"))
			w.list(0, "b1")
		}, "running", "running", nil},
		"an agent at work": {func(w *waiting) {
			w.update(func(tx *ledger.Tx) {
				tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: "b1", Owner: transcript.Main, Kind: "subagent", At: w.clock.now, Evidence: transcript.PostToolUse}}})
				tx.PutAgent(ledger.Agent{ID: "b1", Started: w.clock.now})
			})
		}, "running", "running", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWaiting(t)
			r.happens(w)
			var status struct {
				Sessions []struct {
					Tasks []struct {
						ID       string
						State    string
						ExitCode *int `json:"exit_code"`
					}
				}
			}
			_, stdout, stderr := w.run("status", "--all", "--json")
			if err := json.Unmarshal([]byte(stdout), &status); err != nil || len(status.Sessions) != 1 {
				t.Fatalf("%v: %s%s", err, stdout, stderr)
			}
			for _, task := range status.Sessions[0].Tasks {
				if task.ID == "b1" && (task.State != r.state || !sameCode(task.ExitCode, r.code)) {
					t.Errorf("status says %s (%v), want %s", task.State, task.ExitCode, r.state)
				}
			}
			var waited struct {
				Outcomes []struct {
					State    string
					ExitCode *int `json:"exit_code"`
				}
			}
			code, stdout, stderr := w.run("wait", "--json", "--timeout", "10s", "b1")
			if err := json.Unmarshal([]byte(stdout), &waited); err != nil || len(waited.Outcomes) != 1 {
				t.Fatalf("%v: %s%s", err, stdout, stderr)
			}
			if o := waited.Outcomes[0]; o.State != r.is || !sameCode(o.ExitCode, r.code) || (code == exitTimeout) != (r.is == "running") {
				t.Errorf("wait says %s (%v) with exit code %d, want %s", o.State, o.ExitCode, code, r.is)
			}
		})
	}
}

func sameCode(a, b *int) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
