package status

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// The log tells who was told of a task's end, when, and by which way.
func TestWhoWasToldOfAnEndIsInTheLog(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	client := func(to string, at time.Time) func(*ledger.Tx) {
		return func(tx *ledger.Tx) {
			tx.Merge(ledger.Learned{Deliveries: []transcript.Delivery{{Task: "b1", To: to, At: at}}})
		}
	}
	stop := func(verdict string, code gate.Code) func(*ledger.Tx) {
		return func(tx *ledger.Tx) {
			tx.AddStop(ledger.Stop{
				Time: ago(10 * minute), Duration: 6 * minute, AgentID: "a1", Verdict: verdict, Code: string(code), Ended: []string{"b1"},
			})
		}
	}
	for name, row := range map[string]struct {
		did  func(*ledger.Tx)
		want []News
	}{
		"nobody":                           {func(*ledger.Tx) {}, nil},
		"its agent, by the client":         {client("a1", ago(minute)), []News{{"a1", ByClient, ago(minute)}}},
		"the coordinator, by the client":   {client(transcript.Main, ago(minute)), []News{{transcript.Main, ByClient, ago(minute)}}},
		"its agent, as the client says":    {client("", ago(minute)), []News{{"a1", ByClient, ago(minute)}}},
		"its agent, by a block":            {stop(ledger.Block, gate.TaskEnded), []News{{"a1", ByBlock, ago(4 * minute)}}},
		"a stop that was let through":      {stop(ledger.Allow, gate.SessionOver), nil},
		"a block for a message tells none": {stop(ledger.Block, gate.MessageWaits), nil},
		"the coordinator, by a courier": {
			func(tx *ledger.Tx) { tx.PutCourier(ledger.Courier{Task: "b1", AgentID: "a1", At: ago(minute)}) },
			[]News{{transcript.Main, ByCourier, ago(minute)}},
		},
	} {
		src := written(t, sessionA, func(tx *ledger.Tx) {
			tx.Merge(ledger.Learned{
				Launches: []transcript.Launch{{Task: "b1", Owner: "a1", Kind: "shell", At: ago(30 * minute), Evidence: transcript.PostToolUse}},
				Ends:     []transcript.End{{Task: "b1", Status: "completed", At: ago(5 * minute)}},
			})
			row.did(tx)
		})
		var got []News
		var out bytes.Buffer
		for _, e := range load(t, src, Filter{All: true, Bare: true}).Log() {
			if e.What == Told {
				got = append(got, e.News)
				if err := e.WriteJSON(&out); err != nil || e.Agent() != e.News.To || !e.When().Equal(e.News.At) {
					t.Errorf("%s: of %s at %s: %v", name, e.Agent(), e.When(), err)
				}
			}
		}
		if len(got) != len(row.want) {
			t.Errorf("%s: told %v", name, got)
			continue
		}
		for i, want := range row.want {
			if got[i].To != want.To || got[i].By != want.By || !got[i].At.Equal(want.At) {
				t.Errorf("%s: told %v, want %v", name, got[i], want)
			}
			if line := out.String(); !strings.Contains(line, `"kind":"delivery"`) || !strings.Contains(line, `"by":"`+string(want.By)+`"`) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
