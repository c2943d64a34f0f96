// Package ledger keeps what stopgate learned of a session and what it promised,
// in one bbolt file per session. What was learned (agents, transcripts, launches,
// ends) can be rebuilt from the transcripts; what was promised (blocks spent per
// task, stops with their verdicts) cannot, but losing it costs a block more or
// less and never an error. It holds no text of a conversation.
//
// Go in with [Read] for a snapshot or [Update] for one transaction. Both hold the
// session's side lock only inside the call, so nobody waits behind a scan. The
// package decides nothing.
package ledger

import (
	"encoding/json"
	"errors"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/process"
	"stopgate/pkg/store"
	"stopgate/pkg/transcript"
)

// Errors.
var (
	// ErrNewer is returned for a store that a newer version wrote. It is left as
	// it is.
	ErrNewer = store.ErrNewer
	// ErrBroken is returned for a store that cannot be read; see [Update] for
	// what becomes of it.
	ErrBroken = store.ErrBroken
	// ErrAsideAgain is returned when a store is broken for the second time within
	// an hour: it is not set aside again, so the session runs without one.
	ErrAsideAgain = errors.New("store broke again within an hour")
	// ErrBusy is returned when the lock or the store was not to be had in time.
	ErrBusy = store.ErrBusy
)

// Agent is one agent that was seen. The zero value of a field means unknown.
type Agent struct {
	ID   string `json:"id"`
	Type string `json:"type,omitempty"`
	// Name is the teammate's or agent's name for messages.
	Name       string `json:"name,omitempty"`
	Team       string `json:"team,omitempty"`
	Color      string `json:"color,omitempty"`
	Transcript string `json:"transcript,omitempty"`
	// Parent is the launching agent's id, or "" for the coordinator's agents and
	// where it is unknown.
	Parent string    `json:"parent,omitempty"`
	First  time.Time `json:"first,omitzero"`
	Last   time.Time `json:"last,omitzero"`
	// Started, Stopped and Idle are the times of the last such event.
	Started time.Time `json:"started,omitzero"`
	Stopped time.Time `json:"stopped,omitzero"`
	Idle    time.Time `json:"idle,omitzero"`
	// Stops and Blocks count its recorded stops and the blocked ones among them.
	Stops  int `json:"stops,omitempty"`
	Blocks int `json:"blocks,omitempty"`
	// Chain counts its blocks since a stop of it was last let through.
	Chain int `json:"chain,omitempty"`
	// LastSum and LastSumAt are the payload hash and arrival of its last stop, as
	// long as no other event of it came between: the mark of a doubled event.
	LastSum   string    `json:"last_sum,omitempty"`
	LastSumAt time.Time `json:"last_sum_at,omitzero"`
	// Answered is when a stop of it that was held was last answered.
	Answered time.Time `json:"answered,omitzero"`
}

// End is what is known of a task's end.
type End struct {
	transcript.End
	// Delivered is when the notification was seen to reach a model; zero for
	// not seen. DeliveredTo is who got it, "" where it is not said.
	Delivered   time.Time `json:"delivered,omitzero"`
	DeliveredTo string    `json:"delivered_to,omitempty"`
}

// Stop is one recorded stop.
type Stop struct {
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"`
	AgentID string    `json:"agent_id"`
	Type    string    `json:"agent_type,omitempty"`
	// Verdict is "block" or "allow"; Code says by which rule.
	Verdict string `json:"verdict"`
	Code    string `json:"code"`
	// Own are the agent's own unfinished tasks, Listed all unfinished ones.
	Own    []string `json:"own,omitempty"`
	Listed []string `json:"listed,omitempty"`
	// Unowned are the listed tasks whose launcher was not found.
	Unowned []string `json:"unowned,omitempty"`
	// Active is stop_hook_active of the payload.
	Active bool `json:"active,omitempty"`
	// Observed marks a stop that would have been blocked without --observe.
	Observed bool `json:"observed,omitempty"`
	// Policy is the effective policy, as flags.
	Policy []string `json:"policy,omitempty"`
	// Duration is how long the hook took.
	Duration time.Duration `json:"duration"`
	// Held is how much of it was a hold, and Ended the tasks that ended in it.
	Held  time.Duration `json:"held,omitempty"`
	Ended []string      `json:"ended,omitempty"`
	// Limit is what limited the hold, Left how much patience was left after it and
	// Host the kind of host; "" and 0 where nothing was held.
	Limit string        `json:"limit,omitempty"`
	Left  time.Duration `json:"left,omitempty"`
	Host  string        `json:"host,omitempty"`
	// Note says more about the verdict in one word or two.
	Note string `json:"note,omitempty"`
	// Prompt is the client's name for the coordinator's turn in which it came; "" on
	// clients that give none.
	Prompt string `json:"prompt,omitempty"`
	// Worth is what was decided of its own tasks, without their keys; none in old
	// records.
	Worth []Worth `json:"worth,omitempty"`
}

// Worth is what was decided of a task last: whether it is waited for, and who of the
// four that are asked says so.
type Worth struct {
	Task string `json:"task"`
	Wait bool   `json:"wait,omitempty"`
	// By and Words are as gate.Worth has them.
	By    string    `json:"by,omitempty"`
	Words string    `json:"words,omitempty"`
	At    time.Time `json:"at,omitzero"`
	// Does is what its processes were seen to do, where that decided.
	Does string `json:"does,omitempty"`
	// State is where the last hold's look at its processes ended.
	State process.State `json:"state,omitzero"`
	// Usually is how long its command took before, Times how often it ended.
	Usually time.Duration `json:"usually,omitempty"`
	Times   int           `json:"times,omitempty"`
	// Key is what the history knows its command by; "" where what became of it is
	// noted, or none is kept.
	Key string `json:"key,omitempty"`
}

// Verdicts of a [Stop].
const (
	Block = "block"
	Allow = "allow"
)

// Session is what is known of the session itself.
type Session struct {
	ID         string `json:"session_id"`
	Cwd        string `json:"cwd,omitempty"`
	Transcript string `json:"transcript_path,omitempty"`
	// AgentType is the name the session runs as, from `--agent`.
	AgentType string    `json:"agent_type,omitempty"`
	Begun     time.Time `json:"begun,omitzero"`
	// Ended is when SessionEnd came, and EndedBy the client that ended, 0 where
	// that is unknown; zero for a session that may still run.
	Ended   time.Time `json:"ended,omitzero"`
	EndedBy int       `json:"ended_by,omitempty"`
	// Lead is what the coordinator's stop was held for in this turn.
	Lead Turn `json:"lead,omitzero"`
	// Renewed is when the store was begun afresh in place of a broken one.
	Renewed time.Time `json:"renewed,omitzero"`
	// LastEvent and LastEventAt are the last event that was recorded.
	LastEvent   string    `json:"last_event,omitempty"`
	LastEventAt time.Time `json:"last_event_at,omitzero"`
	// Listed are the unfinished tasks of the last event that named them, and
	// ListedAt is its time.
	Listed   []Listed  `json:"listed,omitempty"`
	ListedAt time.Time `json:"listed_at,omitzero"`
}

// Turn is a turn of the coordinator.
type Turn struct {
	// Prompt is the client's name for it; "" on clients that give none.
	Prompt string `json:"prompt,omitempty"`
	// Waited is how long its stop was held, in all.
	Waited time.Duration `json:"waited,omitempty"`
}

// Listed is a task as background_tasks named it.
type Listed struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	// Ignored marks a task that the policy does not wait for.
	Ignored bool `json:"ignored,omitempty"`
}

// Process is a process of ours that works beside others: one that holds a stop, or
// a courier. It is over when the process is gone.
type Process struct {
	// PID is its id, and Started the mark of its start, by which a later process
	// of the same id is told from it; "" where the system has none.
	PID     int    `json:"pid"`
	Started string `json:"started,omitempty"`
}

// Lives tells whether the process still runs.
func (p Process) Lives(h host.Host) bool {
	if !h.Alive(p.PID) {
		return false
	}
	if p.Started == "" || h.Started == nil {
		return true
	}
	now, ok := h.Started(p.PID)
	return !ok || now == p.Started
}

// Hold is a stop that is being held, or was.
type Hold struct {
	AgentID string    `json:"agent_id"`
	Type    string    `json:"agent_type,omitempty"`
	Tasks   []string  `json:"tasks"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	// Limit is what sets Until, Left how much patience there was at the beginning,
	// and Host the kind of host.
	Limit string        `json:"limit,omitempty"`
	Left  time.Duration `json:"left,omitempty"`
	Host  string        `json:"host,omitempty"`
	// Seq is the number of the act that records its beginning.
	Seq uint64 `json:"seq,omitempty"`
	Process
	// Over marks a hold that was answered. Its row stays until the agent's next
	// one, so that another process that held the same stop knows of the answer.
	Over bool `json:"over,omitempty"`
}

// Watch is a courier that waits. An agent has one: the latest.
type Watch struct {
	AgentID string    `json:"agent_id"`
	Tasks   []string  `json:"tasks"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"`
	Process
}

// Snapshot is a copy of a session's store, or of the part that was asked for.
type Snapshot struct {
	// Exists is false where there is no store yet.
	Exists  bool
	Session Session
	Agents  map[string]Agent
	// Cursors are how far transcripts were read: in a part of the store those of the
	// coordinator and of the agents that were asked for. See [Snapshot.Cursor].
	Cursors map[string]transcript.Cursor
	// Looks are how those looked that were read to their end.
	Looks    map[string]host.Look
	Launches map[string]transcript.Launch
	Ends     map[string]End
	// Heard are deliveries of ends that are not known yet themselves.
	Heard map[string]transcript.Delivery
	// Charged counts the blocks spent per task.
	Charged map[string]int
	// Waited is how long stops were held for a task, and Told the tasks whose end
	// was handed over to their agent.
	Waited map[string]time.Duration
	Told   map[string]bool
	// Released are the tasks that a person excused.
	Released map[string]bool
	// Worth is what was decided of tasks last.
	Worth map[string]Worth
	// Holds are those that were not answered; their processes may be dead.
	Holds []Hold
	// Watches are the couriers that wait, by agent; their processes may be dead.
	Watches map[string]Watch
	// Stops are the recorded stops and Acts what else was done, each oldest first.
	Stops []Stop
	Acts  []Act
	// Courier is what couriers told, by task.
	Couriers map[string]Courier

	// unread are the rows of the cursors that are not in Cursors.
	unread map[string][]byte
}

// Cursor is how far a transcript was read, also one that was not asked for.
func (s Snapshot) Cursor(path string) transcript.Cursor {
	c, known := s.Cursors[path]
	if row, ok := s.unread[path]; ok && !known {
		_ = json.Unmarshal(row, &c) // a row that cannot be read is none
	}
	return c
}

// Courier is a wake-up of the coordinator for an orphaned task.
type Courier struct {
	Task    string    `json:"task"`
	AgentID string    `json:"agent_id"`
	At      time.Time `json:"at"`
}

// Knows tells whether there is any record of an agent: its own, or a launch of
// it.
func (s Snapshot) Knows(agentID string) bool {
	if _, ok := s.Agents[agentID]; ok {
		return true
	}
	_, ok := s.Launches[agentID]
	return ok
}

// Learned is what a reading of transcripts brought, to be merged.
type Learned struct {
	Launches   []transcript.Launch
	Ends       []transcript.End
	Deliveries []transcript.Delivery
	// Cursors by transcript path.
	Cursors map[string]transcript.Step
	// Agents carries what meta files say; times and counters are left alone.
	Agents []Agent
}
