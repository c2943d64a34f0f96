package status

import (
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
)

// Within a session the log goes by the numbers, by which stops were answered and acts
// were done, whatever the clock said meanwhile.
func TestTheLogGoesByTheNumbers(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	src := written(t, sessionA, func(*ledger.Tx) {})
	at := func(when time.Time, do func(*ledger.Tx)) {
		t.Helper()
		err := ledger.Update(t.Context(), src.Dir, sessionA, when, func(tx *ledger.Tx) error { do(tx); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	stop := func(agent string, came time.Time, took time.Duration) func(*ledger.Tx) {
		return func(tx *ledger.Tx) {
			tx.AddStop(ledger.Stop{Time: came, Duration: took, AgentID: agent, Verdict: ledger.Allow, Code: "not-own"})
		}
	}
	act := func(agent string) func(*ledger.Tx) {
		return func(tx *ledger.Tx) { tx.AddAct(ledger.Act{Deed: ledger.Held, AgentID: agent}) }
	}
	at(ago(10*minute), act("held"))
	at(ago(9*minute), stop("quick", ago(9*minute), 0))
	at(ago(5*minute), stop("held", ago(10*minute), 5*minute))
	at(ago(60*minute), act("set-back"))
	at(ago(59*minute), stop("set-back", ago(60*minute), minute))
	at(ago(4*minute), act("last"))
	var got []string
	for _, e := range load(t, src, Filter{All: true, Bare: true}).Log() {
		kind := "stop"
		if !e.IsStop() {
			kind = string(e.Act.Deed)
		}
		got = append(got, e.Agent()+" "+kind)
	}
	const want = "held hold; quick stop; held stop; set-back hold; set-back stop; last hold"
	if strings.Join(got, "; ") != want {
		t.Errorf("listed %q, want %s", got, want)
	}
}
