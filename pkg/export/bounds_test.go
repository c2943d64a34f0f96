package export

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/otlp"
)

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s never came", what)
		}
	}
}

// Much that is new goes out in batches of a bounded size, and all of it, once.
func TestBatchesAreBounded(t *testing.T) {
	t.Parallel()
	const stops = 1900
	w, k := recorded(t, session), newKept()
	w.change(func(tx *ledger.Tx) {
		for range stops {
			tx.AddStop(ledger.Stop{Time: w.clock.now, AgentID: "a85c14a6928672ba4", Verdict: ledger.Allow, Code: "no-tasks", Duration: time.Millisecond})
		}
	})
	var most atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var traces otlp.Traces
		var logs otlp.Logs
		if err := errors.Join(err, json.Unmarshal(body, &traces), json.Unmarshal(body, &logs), k.take(body)); err != nil {
			t.Error(err)
		}
		n := 0
		if len(traces.Resources) > 0 {
			n = traces.Len()
		}
		if len(logs.Resources) > 0 {
			n = logs.Len()
		}
		most.Store(max(most.Load(), int64(n)))
	}))
	defer srv.Close()
	r := w.once(to(t, srv.URL))
	if r.Batches < 4 || r.Spans != len(k.spans) || len(k.logs) < stops || k.again > 0 {
		t.Errorf("%+v, kept %d spans and %d records, %d again", r, len(k.spans), len(k.logs), k.again)
	}
	if most.Load() > batchSize {
		t.Errorf("%d at a time", most.Load())
	}
}

// The pauses between tries grow to two minutes, each somewhat less than the one before
// doubled, and end when the patience does.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	w := recorded(t, session)
	e := w.exporter(server(t, newKept(), func(rw http.ResponseWriter, _ string, _ func()) bool {
		rw.WriteHeader(http.StatusServiceUnavailable)
		return true
	}))
	e.Patience = 15 * time.Minute
	if _, err := e.Once(t.Context()); err == nil {
		t.Fatal("it was sent")
	}
	pause, all := firstPause, time.Duration(0)
	for i, slept := range w.clock.slept {
		if slept < pause/2 || slept > pause {
			t.Errorf("the %dth pause was %v, not between %v and %v", i, slept, pause/2, pause)
		}
		pause, all = min(2*pause, 2*time.Minute), all+slept
	}
	if len(w.clock.slept) < 12 || all > e.Patience {
		t.Errorf("%d pauses, %v in all", len(w.clock.slept), all)
	}
	if len(w.said) != 1 {
		t.Errorf("said %q", w.said)
	}
}

// An export changes nothing of what it reads.
func TestTheStoresAreOnlyRead(t *testing.T) {
	t.Parallel()
	w := recorded(t, session)
	look := func() map[string]string {
		out := map[string]string{}
		for _, path := range w.dir.Stores() {
			data, err := os.ReadFile(path)
			info, also := os.Stat(path)
			if err := errors.Join(err, also); err != nil {
				t.Fatal(err)
			}
			out[path] = info.ModTime().String() + string(data)
		}
		return out
	}
	before := look()
	if r := w.once(server(t, newKept(), nil)); r.Spans == 0 || len(before) == 0 {
		t.Fatalf("%+v of %d stores", r, len(before))
	}
	if !maps.Equal(before, look()) {
		t.Error("a store was changed")
	}
}

// What was before the time that is asked for is left out of a session that goes on
// after it, acts and stops alike.
func TestSinceTheMiddleOfASession(t *testing.T) {
	t.Parallel()
	w, k := recorded(t, session), newKept()
	add := func(code string) {
		w.change(func(tx *ledger.Tx) {
			tx.AddStop(ledger.Stop{Time: w.clock.now, AgentID: "a85c14a6928672ba4", Verdict: ledger.Allow, Code: code, Duration: time.Millisecond})
			tx.AddAct(ledger.Act{Deed: ledger.SwitchedOff})
			tx.PutCourier(ledger.Courier{Task: "b" + code, AgentID: "a85c14a6928672ba4", At: w.clock.now})
		})
	}
	add("no-tasks")
	w.clock.now = w.clock.now.Add(time.Hour)
	since := w.clock.now
	w.clock.now = w.clock.now.Add(time.Minute)
	add("not-own")
	e := w.exporter(server(t, k, nil))
	e.Since = since
	if _, err := e.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(k.logs) != 3 || k.total("stopgate.stops") != 1 || k.total("stopgate.acts") != 1 || k.total("stopgate.courier.wakes") != 1 {
		t.Errorf("%d records, sums %v", len(k.logs), k.sums)
	}
}

// soon is a clock that stands, and whose waits are over at once but for a moment.
type soon struct{ *clock }

func (soon) Sleep(ctx context.Context, _ time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Millisecond):
	}
	return ctx.Err() == nil
}

// An export that follows waits for the folder that the first hook makes, sends what is
// there, what comes, and what came while nobody took it; it ends when it is told to.
func TestAnExportThatFollows(t *testing.T) {
	t.Parallel()
	w, k := recorded(t, session), newKept()
	var away atomic.Bool
	var refused atomic.Int64
	e := w.exporter(server(t, k, func(rw http.ResponseWriter, _ string, _ func()) bool {
		if away.Load() {
			refused.Add(1)
			rw.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	}))
	e.Host.Clock, e.Patience = soon{w.clock}, 0
	folder, aside := w.dir.Sessions(), w.dir.Sessions()+"-aside"
	if err := os.Rename(folder, aside); err != nil {
		t.Fatal(err)
	}
	e.Say = func(string) {}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Follow(ctx, time.Millisecond) }()
	if err := os.Rename(aside, folder); err != nil {
		t.Fatal(err)
	}
	logs := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return len(k.logs)
	}
	eventually(t, "what is there", func() bool { return logs() > 0 })
	there := logs()
	add := func() {
		w.change(func(tx *ledger.Tx) {
			tx.AddStop(ledger.Stop{Time: w.clock.now, AgentID: "a85c14a6928672ba4", Verdict: ledger.Allow, Code: "no-tasks", Duration: time.Millisecond})
		})
	}
	add()
	eventually(t, "what came", func() bool { return logs() == there+1 })
	away.Store(true)
	add()
	eventually(t, "a try", func() bool { return refused.Load() > 2 })
	if logs() != there+1 {
		t.Error("it was taken while nobody took it")
	}
	away.Store(false)
	eventually(t, "what waited", func() bool { return logs() == there+2 })
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on")
	}
	if k.again > 0 || len(k.changed) > 0 {
		t.Errorf("%d came again, %v changed", k.again, k.changed)
	}
}
