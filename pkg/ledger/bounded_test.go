package ledger

import (
	"os"
	"strings"
	"testing"

	"stopgate/pkg/transcript"
)

// What somebody else named can be as long as they like; a row does not get long.
func TestLongFieldsAreNotKept(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	long := strings.Repeat("x", 1<<20)
	update(t, dir, noon, func(tx *Tx) {
		tx.Session.Cwd, tx.Session.Transcript, tx.Session.AgentType, tx.Session.LastEvent = long, long, long, long
		tx.Session.Listed = []Listed{{ID: "b1", Type: long}, {ID: long}}
		tx.PutAgent(Agent{ID: "a1", Type: long, Name: long, Team: long, Color: long, Transcript: long, Parent: long})
		tx.Merge(Learned{Launches: []transcript.Launch{{Task: "b1", Owner: "a1", ToolUseID: long, Output: long, File: long, Kind: long}}})
		tx.AddStop(Stop{AgentID: long, Type: long, Own: []string{long, "b1"}, Listed: []string{long}})
		tx.PutHold(Hold{AgentID: "a1", Tasks: []string{long, "b1"}})
	})
	info, err := os.Stat(dir.Store(session))
	if err != nil || info.Size() > 100_000 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	snap, err := Read(t.Context(), dir, session, nil)
	if err != nil || snap.Launches["b1"].Owner != "a1" || len(snap.Stops) != 1 || len(snap.Stops[0].Own) != 1 || len(snap.Holds) != 1 {
		t.Errorf("kept %+v, %v", snap, err)
	}
}
