//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

// many measures stops in a session that has had n agents against the same in one that
// has had four: one with an own task, and one with a task that nobody launched, for
// which every agent's transcript has to be asked.
func (b *bench) many(rounds, n int) error {
	crowd, err := b.peopled(n)
	if err != nil {
		return err
	}
	few, err := b.peopled(4)
	if err != nil {
		return err
	}
	for _, m := range []struct {
		what, task string
		limit      float64
	}{{"an own task", "b1", 2}, {"a task of nobody", "b9", 4}} {
		stop := func(w world) func(int) (result, error) {
			return func(i int) (result, error) {
				// Words of its own for each stop: the transcript has caught up.
				words := strings.Replace(lastWords(), "2026-11-30T12:54:05.000Z", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), 1)
				in, err := w.payload(i, "general-purpose", m.task)
				if err := errors.Join(err, appendTo(w.agent, words)); err != nil {
					return result{}, err
				}
				return b.exec(w.state, in, b.hook, "--blocks", "1000")
			}
		}
		large, small, err := b.pairs(rounds, stop(crowd), stop(few))
		if err != nil {
			return err
		}
		b.row(fmt.Sprintf("a stop with %s, %d agents : with 4", m.what, n), large, small, m.limit)
	}
	return nil
}

// peopled is a session with n agents on disk and in its ledger, each with a launch and
// an end of its own.
func (b *bench) peopled(n int) (world, error) {
	w, err := b.world(fmt.Sprintf("peopled-%d", n))
	if err != nil {
		return w, err
	}
	if err := os.WriteFile(w.agent, []byte(launch("b1", w.dir)+lastWords()), 0o600); err != nil {
		return w, err
	}
	now := time.Now()
	err = ledger.Update(context.Background(), state.At(w.state), session, now, func(tx *ledger.Tx) error {
		for i := range n {
			id, task := fmt.Sprintf("a%016x", i), fmt.Sprintf("bm%d", i)
			path := filepath.Join(filepath.Dir(w.agent), "agent-"+id+".jsonl")
			lines := strings.ReplaceAll(filler(3000)+launch(task, w.dir)+lastWords(), agent, id)
			meta := strings.TrimSuffix(path, ".jsonl") + ".meta.json"
			err := errors.Join(os.WriteFile(path, []byte(lines), 0o600), os.WriteFile(meta, []byte(`{"agentType":"general-purpose"}`), 0o600))
			if err != nil {
				return err
			}
			tx.PutAgent(ledger.Agent{ID: id, Type: "general-purpose", Transcript: path, First: now, Last: now, Started: now, Stopped: now, Stops: 2, Blocks: 1})
			tx.PutHold(ledger.Hold{AgentID: id, Tasks: []string{task}, Since: now, Until: now, Over: true})
			tx.Merge(ledger.Learned{
				Launches: []transcript.Launch{{Task: id, Owner: transcript.Main, Kind: "subagent", At: now, Evidence: transcript.ToolUseResult}},
				Ends:     []transcript.End{{Task: id, Status: "completed", At: now}, {Task: task, Status: "completed", At: now}},
			})
			tx.AddStop(ledger.Stop{Time: now, AgentID: id, Verdict: ledger.Allow, Code: "no-tasks"})
		}
		return nil
	})
	return w, err
}

func appendTo(path, lines string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lines)
	return errors.Join(err, f.Close())
}
