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

// slowLine is how long the status line may take, slowLook what is printed of many
// sessions: a person waits for these.
const (
	slowLine = 10 * time.Millisecond
	slowLook = 200 * time.Millisecond
)

// statusLine measures the status line while three agents are held, against an empty program.
func (b *bench) statusLine(rounds int) error {
	w, err := b.world("line")
	if err != nil {
		return err
	}
	if err := b.holding(w, session, 3); err != nil {
		return err
	}
	in := filepath.Join(w.dir, "line.json")
	if err := os.WriteFile(in, []byte(`{"session_id":"`+session+`","cwd":"/","version":"2.1.332"}`), 0o600); err != nil {
		return err
	}
	shown, last := 0, ""
	ours, empty, err := b.pairs(rounds,
		func(int) (result, error) {
			r, err := b.exec(w.state, in, b.hookctl, "statusline")
			last = r.stdout
			shown += strings.Count(last, ": make ")
			return r, err
		},
		func(int) (result, error) { return b.exec(w.state, in, b.empty) })
	if err == nil && shown != rounds+3 {
		err = fmt.Errorf("%d of %d status lines told of the holds: %s", shown, rounds+3, last)
	}
	b.look("hookctl statusline, three held : an empty program", ours, empty, slowLine)
	return err
}

// looks measures what is printed of a thousand sessions, one of them with 200 agents.
func (b *bench) looks(rounds int) error {
	w, err := b.world("looks")
	if err != nil {
		return err
	}
	if err := b.holding(w, session, 200); err != nil {
		return err
	}
	for i := range 1000 {
		id := fmt.Sprintf("%08x%s", i, session[8:])
		if err := b.holding(w, id, 2); err != nil {
			return err
		}
		err := ledger.Update(context.Background(), state.At(w.state), id, time.Now(), func(tx *ledger.Tx) error {
			tx.Session.Ended = time.Now()
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"status", "--all"}, {"log", "-n", "5", "--all"}} {
		printed := 0
		ours, empty, err := b.pairs(min(rounds, 20),
			func(int) (result, error) {
				r, err := b.exec(w.state, "", append([]string{b.hookctl}, args...)...)
				printed += min(len(r.stdout), 1)
				return r, errors.Join(err, exitOf(r))
			},
			func(int) (result, error) { return b.exec(w.state, "", b.empty) })
		if err != nil {
			return err
		}
		if printed == 0 {
			return fmt.Errorf("%v printed nothing", args)
		}
		b.look(strings.Join(args, " ")+", 1000 sessions, 200 agents : an empty program", ours, empty, slowLook)
	}
	return nil
}

func exitOf(r result) error {
	if r.code != 0 {
		return fmt.Errorf("exit code %d", r.code)
	}
	return nil
}

// look prints a measurement whose limit is a time.
func (b *bench) look(what string, ours, other, limit time.Duration) {
	mark := ""
	if ours > limit {
		mark, b.failed = "  missed", true
	}
	fmt.Printf("%-58s %7.2fms %7.2fms %7.2f %5.0fms%s\n", what, ms(ours), ms(other), float64(ours)/float64(other), ms(limit), mark)
}

// holding records a session in which n agents are held for a task each.
func (b *bench) holding(w world, id string, n int) error {
	now := time.Now()
	return ledger.Update(context.Background(), state.At(w.state), id, now, func(tx *ledger.Tx) error {
		tx.Session.Cwd, tx.Session.LastEvent, tx.Session.LastEventAt = w.dir, "SubagentStop", now
		for i := range n {
			name, task := fmt.Sprintf("a%016x", i), fmt.Sprintf("b%08d", i)
			path := filepath.Join(w.dir, "p", id, "subagents", "agent-"+name+".jsonl")
			if id == session {
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(launch(task, w.dir), agent, name)), 0o600); err != nil {
					return err
				}
			}
			tx.PutAgent(ledger.Agent{ID: name, Type: "general-purpose", Transcript: path, First: now, Last: now, Started: now, Stopped: now, Stops: 1})
			tx.Merge(ledger.Learned{Launches: []transcript.Launch{{
				Task: task, Owner: name, Kind: "shell", At: now, ToolUseID: "toolu_" + task, File: path, Line: launchLine(task, w.dir, name), Evidence: transcript.ToolUseResult,
			}}})
			tx.PutHold(ledger.Hold{AgentID: name, Tasks: []string{task}, Since: now, Until: now.Add(time.Hour), Left: time.Hour, Process: ledger.Process{PID: os.Getpid()}})
			tx.AddStop(ledger.Stop{Time: now, AgentID: name, Verdict: ledger.Allow, Code: "no-tasks"})
		}
		return nil
	})
}

// launchLine is where the result of a launch begins in its transcript.
func launchLine(task, dir, name string) int64 {
	return int64(strings.Index(strings.ReplaceAll(launch(task, dir), agent, name), "\n")) + 1
}
