package cli

import (
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
)

// What couriers did beside a stop is explained with that stop, and not with the next.
func TestExplainTellsOfCouriers(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	began := w.clock.now
	at := func(second int) string {
		return began.Add(time.Duration(second) * time.Second).In(time.Local).Format("15:04:05")
	}
	stop := func(tx *ledger.Tx) {
		tx.AddStop(ledger.Stop{Time: w.clock.now, AgentID: "a1", Verdict: ledger.Allow, Code: "excused", Own: []string{"b1"}, Listed: []string{"b1"}})
	}
	act := func(a ledger.Act) func(*ledger.Tx) {
		a.AgentID, a.Tasks, a.Until = "a1", []string{"b1"}, began.Add(2*time.Hour)
		return func(tx *ledger.Tx) { tx.AddAct(a) }
	}
	for _, do := range []func(*ledger.Tx){
		stop, act(ledger.Act{Deed: ledger.Stood}), act(ledger.Act{Deed: ledger.Woke}),
		stop, act(ledger.Act{Deed: ledger.Stood}), act(ledger.Act{Deed: ledger.Left, Note: "agent went on"}),
		stop, act(ledger.Act{Deed: ledger.Stood}), act(ledger.Act{Deed: ledger.Fell, Note: "ended from outside"}),
		func(tx *ledger.Tx) { tx.AddAct(ledger.Act{Deed: ledger.Woke, AgentID: "a2", Tasks: []string{"b2"}}) },
	} {
		w.update(do)
		w.clock.now = w.clock.now.Add(time.Second)
	}
	for number, want := range map[string][]string{
		"1": {"waits for b1 since " + at(1), "woke the coordinator for b1 at " + at(2)},
		"4": {"waits for b1 since " + at(4), "left at " + at(5) + ": agent went on"},
		"7": {"waits for b1 since " + at(7), "was lost, as was seen at " + at(8) + ": ended from outside"},
	} {
		_, stdout, stderr := w.run("explain", number, "--session", waitSession)
		var got []string
		for line := range strings.Lines(stdout) {
			if rest, is := strings.CutPrefix(strings.TrimSpace(line), "courier "); is {
				rest, _, _ = strings.Cut(strings.TrimSpace(rest), ", until ")
				got = append(got, rest)
			}
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("stop %s: %q, want %q (%s)", number, got, want, stderr)
		}
	}
	// One that is held now, with its courier beside it.
	w.update(func(tx *ledger.Tx) {
		h := ledger.Hold{AgentID: "a1", Tasks: []string{"b1"}, Since: w.clock.now, Until: w.clock.now.Add(time.Hour), Process: ledger.Process{PID: 7}}
		tx.PutHold(h)
		tx.PutAgent(tx.Touch("a1", "builder", ""))
	})
	w.clock.now = w.clock.now.Add(time.Second)
	w.update(act(ledger.Act{Deed: ledger.Stood}))
	_, stdout, stderr := w.run("explain", "--session", waitSession)
	if !strings.Contains(stdout, "is held since") || !strings.Contains(stdout, "waits for b1 since "+at(11)) {
		t.Errorf("%s%s", stdout, stderr)
	}
}
