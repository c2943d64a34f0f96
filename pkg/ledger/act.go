package ledger

import (
	"time"

	bolt "go.etcd.io/bbolt"
)

// Deed is what was done, in the words of `hookctl log --json`.
type Deed string

// What is recorded beside the stops that were answered.
const (
	// Held is the beginning of a hold; its end is a [Stop].
	Held Deed = "hold"
	// Stood is a courier that began to wait; the next three are how that ended:
	// it woke the coordinator, was not needed, or was ended from outside.
	Stood Deed = "courier"
	Woke  Deed = "courier-woke"
	Left  Deed = "courier-left"
	Fell  Deed = "courier-lost"
	// Released is a person's release of tasks, SwitchedOff and SwitchedOn what a
	// person did to the off switch.
	Released    Deed = "release"
	SwitchedOff Deed = "off"
	SwitchedOn  Deed = "on"
)

// NoteTimeOver is the note of a courier that left while its tasks still ran.
const NoteTimeOver = "its time is over"

// Act is something that was done other than to answer a stop. Acts and stops share
// one numbering, which is the order in which they were recorded.
type Act struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Deed Deed      `json:"deed"`
	// AgentID is whom it concerns, "" for the session as a whole.
	AgentID string   `json:"agent_id,omitempty"`
	Type    string   `json:"agent_type,omitempty"`
	Tasks   []string `json:"tasks,omitempty"`
	// Until is how long it is to last; zero where that is not said.
	Until time.Time `json:"until,omitzero"`
	// Note says more about it in a few words.
	Note string `json:"note,omitempty"`
}

var bucketActs = []byte("acts")

// AddAct records an act at the time of the transaction, and gives it its number.
func (t *Tx) AddAct(a Act) uint64 {
	bounded(&a.AgentID, &a.Type, &a.Note)
	a.Tasks, a.Time, a.Seq = shorten(a.Tasks), t.now, t.number()
	t.put(bucketActs, seqKey(a.Seq), a)
	return a.Seq
}

// number is the next number of a stop or an act. What is older than the last
// maxRecords of both is forgotten.
func (t *Tx) number() uint64 {
	b := t.bucket(bucketStops)
	if t.err != nil {
		return 0
	}
	seq, err := b.NextSequence()
	if err != nil {
		t.err = err
		return 0
	}
	if seq > maxRecords {
		old := seqKey(seq - maxRecords)
		for _, b := range []*bolt.Bucket{b, t.tx.Bucket(bucketActs)} {
			if b != nil {
				_ = b.Delete(old)
			}
		}
	}
	return seq
}
