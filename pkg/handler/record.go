package handler

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

// launches tells whether a tool call launched something.
func launches(e *event.Event) bool {
	_, found := transcript.FromResponse(e.Tool, e.ToolUseID, e.ToolInput, e.ToolResponse, transcript.PostToolUse)
	return found
}

// record keeps what an event other than SubagentStop tells. It is always silent.
func (r *run) record() {
	out := &r.out
	var change func(*ledger.Tx)
	var learned ledger.Learned
	switch r.e.Name {
	case event.SubagentStart:
		change = r.agentStarted
	case event.PostToolUse:
		launch, _ := transcript.FromResponse(r.e.Tool, r.e.ToolUseID, r.e.ToolInput, r.e.ToolResponse, transcript.PostToolUse)
		launch.At, launch.Owner = r.began, transcript.Main
		if r.e.AgentID != "" {
			launch.Owner = r.e.AgentID
		}
		change = func(tx *ledger.Tx) {
			if r.e.AgentID != "" {
				tx.PutAgent(tx.Touch(r.e.AgentID, r.e.AgentType, ""))
			}
			tx.Merge(ledger.Learned{Launches: []transcript.Launch{launch}})
		}
	case event.TeammateIdle:
		change = r.teammateIdle
	case event.Stop:
		change = func(tx *ledger.Tx) {
			switch {
			case r.e.AgentID != "":
				tx.PutAgent(tx.Touch(r.e.AgentID, r.e.AgentType, ""))
			case r.e.AgentType != "":
				// A teammate in a pane of its own is a session that runs as it.
				tx.Session.AgentType = r.e.AgentType
			}
		}
	case event.SessionStart:
		change = func(tx *ledger.Tx) {
			tx.Session.AgentType = r.e.AgentType
		}
	case event.SessionEnd:
		if r.e.AgentID != "" {
			return // an agent's, not the session's
		}
		change = func(tx *ledger.Tx) {
			tx.Session.Ended, tx.Session.EndedBy = r.began, clocks.Read(r.h).Client
			tx.Merge(learned)
			r.noteEnds(tx, learned.Ends)
			r.noteLeft(tx)
		}
	default:
		return
	}
	if r.e.SessionID == "" || state.Off(r.h.Env, r.dir, r.e.SessionID, r.began) {
		return
	}
	out.Handled = true
	if r.e.Name == event.SessionEnd {
		r.tidy = true
		if _, err := os.Stat(r.dir.Store(r.e.SessionID)); errors.Is(err, fs.ErrNotExist) {
			return // nothing is known of the session, so nothing ends
		}
		learned = r.lastEnds()
	}
	ctx, cancel := r.until(storeLimit)
	defer cancel()
	fresh := false
	out.Err = ledger.Update(ctx, r.dir, r.e.SessionID, r.began, func(tx *ledger.Tx) error {
		fresh = tx.Session.LastEventAt.IsZero()
		change(tx)
		r.reap(tx)
		r.touchSession(tx)
		return nil
	})
	if out.Err != nil {
		r.logger().Warn("record", "error", out.Err)
	} else if fresh {
		r.tidy = true
	}
}

// agentStarted records a start: the first one, or a wake or resume.
func (r *run) agentStarted(tx *ledger.Tx) {
	agent := tx.Touch(r.e.AgentID, r.e.AgentType, r.agentTranscript())
	if !r.overtaken(agent.Started) {
		agent.Started = r.began
	}
	tx.PutAgent(agent)
}

// teammateIdle records that a teammate went idle. Clients before 2.1.300 name no
// agent id, and fire it for a teammate's child too, so the name alone says only
// that somebody of that name may be idle.
func (r *run) teammateIdle(tx *ledger.Tx) {
	id := r.e.AgentID
	if id == "" {
		id = tx.AgentNamed(r.e.TeammateName, r.e.TeamName)
	}
	if agent, ok := tx.Agent(id); ok {
		agent.Idle, agent.Last = r.began, r.began
		agent.LastSum = "" // another event came between: what follows is no duplicate
		if agent.Team == "" {
			agent.Team = r.e.TeamName
		}
		tx.PutAgent(agent)
	}
}

// sweepLimit bounds the sweeping, for which the client waits. What is left over is
// the next session's to sweep.
const sweepLimit = 500 * time.Millisecond

// sweep removes what nobody used for long. It comes after the answer, which must
// wait for nothing of the kind.
func (r *run) sweep() {
	within(sweepLimit, func() {
		if n := r.dir.Sweep(r.began, state.Keep(r.h.Env)); n > 0 {
			log, done := state.OpenLog(r.h.Env, r.dir)
			defer done()
			log.Info("swept", "files", n)
		}
	})
}
