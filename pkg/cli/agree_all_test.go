package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// stateOf is what status says of a task, and verdictOf what wait says of it.
func (w *waiting) stateOf(task string) (state string, code *int) {
	w.t.Helper()
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
		w.t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	for _, t := range status.Sessions[0].Tasks {
		if t.ID == task {
			return t.State, t.ExitCode
		}
	}
	return "", nil
}

func (w *waiting) verdictOf(task string) (state string, code *int) {
	w.t.Helper()
	var waited struct {
		Outcomes []struct {
			State    string
			ExitCode *int `json:"exit_code"`
		}
	}
	_, stdout, stderr := w.run("wait", "--json", "--timeout", "10s", task)
	if err := json.Unmarshal([]byte(stdout), &waited); err != nil || len(waited.Outcomes) != 1 {
		w.t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	return waited.Outcomes[0].State, waited.Outcomes[0].ExitCode
}

// agreeing are the words of status for a word of wait.
var agreeing = map[string][]string{
	"running": {"running"}, "killed": {"killed"}, "unknown": {"unknown"},
	"exited": {"finished", "undelivered"}, "ended": {"finished", "undelivered"},
}

// Of a task of any kind, whatever was told, listed and printed of it, and whatever its
// owner and its session did, wait and status say the same.
func TestWaitAndStatusAgreeOfEveryKind(t *testing.T) {
	t.Parallel()
	const minute, hour = time.Minute, time.Hour
	ownWork := func(w *waiting) {
		w.update(func(tx *ledger.Tx) {
			tx.PutAgent(ledger.Agent{ID: "b1", Started: w.clock.now.Add(-hour), Stopped: w.clock.now.Add(-2 * minute), Stops: 1})
			tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: "b2", Owner: "b1", Kind: "shell", Output: w.output("b2"), At: w.clock.now.Add(-30 * minute), Evidence: transcript.PostToolUse}}})
		})
	}
	kinds := []string{"shell", "monitor", "workflow", "MCP task", "subagent"}
	tellings := map[string]func(*waiting){
		"untold":          func(*waiting) {},
		"told to be over": func(w *waiting) { w.told(w.notice(2*minute, "b1", "completed", "exit code 0")) },
		"told to be resting": func(w *waiting) {
			w.told(w.notice(2*minute, "b1", "completed", "Agent is waiting on its own background work"))
		},
		"told to be killed": func(w *waiting) { w.told(w.notice(2*minute, "b1", "killed", "x")) },
		"told just now":     func(w *waiting) { w.told(w.notice(0, "b1", "failed", "exit code 7")) },
	}
	// When a list was given, and whether it names the task; at no time there is none.
	lists := map[string]struct {
		ago   time.Duration
		names bool
	}{
		"never listed": {}, "listed": {minute, true}, "listed before its end": {10 * minute, true},
		"not listed": {minute, false}, "not listed before its launch": {2 * hour, false},
	}
	printings := map[string]func(*waiting){
		"nothing printed": func(*waiting) {},
		"printed an end, with its output open": func(w *waiting) {
			hosttest.Write(w.t, w.clock.now.Add(-3*minute), w.output("b1"), "x\n[exited with code 7]\n")
			w.held = func(string) (bool, bool) { return true, true }
		},
		"printed an end": func(w *waiting) {
			hosttest.Write(w.t, w.clock.now.Add(-3*minute), w.output("b1"), "x\n[exited with code 7]\n")
		},
	}
	agents := map[string]func(*waiting){
		"no record": func(*waiting) {},
		"started": func(w *waiting) {
			w.update(func(tx *ledger.Tx) { tx.PutAgent(ledger.Agent{ID: "b1", Started: w.clock.now.Add(-minute)}) })
		},
		"stopped": func(w *waiting) {
			w.update(func(tx *ledger.Tx) {
				tx.PutAgent(ledger.Agent{ID: "b1", Started: w.clock.now.Add(-hour), Stopped: w.clock.now.Add(-2 * minute), Stops: 1})
			})
		},
		"with own work": ownWork,
		"with own work that ended": func(w *waiting) {
			ownWork(w)
			w.told(w.notice(90*time.Second, "b2", "completed", "exit code 0"))
		},
		"with own work that ended just now": func(w *waiting) {
			ownWork(w)
			w.told(w.notice(0, "b2", "killed", "x"))
		},
		"with own work, at work again": func(w *waiting) {
			ownWork(w)
			w.update(func(tx *ledger.Tx) {
				a, _ := tx.Agent("b1")
				a.Started = w.clock.now.Add(-minute)
				tx.PutAgent(a)
			})
		},
	}
	for _, kind := range kinds {
		for told, tell := range tellings {
			for listed, list := range lists {
				for printed, prints := range printings {
					for known, know := range agents {
						if kind != "subagent" && known != "no record" || kind == "subagent" && printed != "nothing printed" {
							continue
						}
						name := strings.Join([]string{kind, told, listed, printed, known}, ", ")
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							w := newWaiting(t)
							w.update(func(tx *ledger.Tx) {
								l := transcript.Launch{Task: "b1", Owner: "a1", Kind: kind, At: w.clock.now.Add(-hour), Evidence: transcript.PostToolUse}
								if kind == "subagent" {
									l.Owner = transcript.Main
								} else {
									l.Output = w.output("b1")
								}
								tx.Merge(ledger.Learned{Launches: []transcript.Launch{l}})
							})
							know(w)
							if list.ago > 0 {
								w.update(func(tx *ledger.Tx) {
									if tx.Session.ListedAt = w.clock.now.Add(-list.ago); list.names {
										tx.Session.Listed = []ledger.Listed{{ID: "b1", Type: kind}}
									}
								})
							}
							prints(w)
							tell(w)
							before, _ := w.stateOf("b1")
							is, code := w.verdictOf("b1")
							after, shown := w.stateOf("b1")
							if !strings.Contains(fmt.Sprint(agreeing[is]), after) || !sameCode(code, shown) || before != "running" && before != after {
								t.Errorf("status says %s, then %s (%v), wait says %s (%v)", before, after, shown, is, code)
							}
						})
					}
				}
			}
		}
	}
}
