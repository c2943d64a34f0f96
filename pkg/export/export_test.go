package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/otlp"
	"stopgate/pkg/replay/replaytest"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
)

// clock is a clock that a wait sets forward at once.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	slept  []time.Duration
	before func()
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) bool {
	if c.before != nil {
		c.before()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err() == nil
}

// kept is what a receiver has, each thing under its id. A thing that comes again
// as another one is an error of the test.
type kept struct {
	mu      sync.Mutex
	spans   map[string]string
	logs    map[string]string
	again   int
	changed []string
	sums    map[string]int64
	zeros   int
	counts  map[string]uint64
}

func newKept() *kept {
	return &kept{spans: map[string]string{}, logs: map[string]string{}, sums: map[string]int64{}, counts: map[string]uint64{}}
}

func (k *kept) put(into map[string]string, id string, thing any) {
	data, _ := json.Marshal(thing)
	if have, ok := into[id]; ok {
		k.again++
		if have != string(data) {
			k.changed = append(k.changed, id)
		}
	}
	into[id] = string(data)
}

// take takes one OTLP/JSON message.
func (k *kept) take(body []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var traces otlp.Traces
	var logs otlp.Logs
	var metrics otlp.Metrics
	if err := errors.Join(json.Unmarshal(body, &traces), json.Unmarshal(body, &logs), json.Unmarshal(body, &metrics)); err != nil {
		return err
	}
	for _, r := range traces.Resources {
		for _, span := range r.Scopes[0].Spans {
			k.put(k.spans, fmt.Sprintf("%x", []byte(span.SpanID)), span)
		}
	}
	for _, r := range logs.Resources {
		for _, record := range r.Scopes[0].Records {
			k.put(k.logs, *attribute(record.Attributes, "log.record.uid").String, record)
		}
	}
	for _, r := range metrics.Resources {
		for _, m := range r.Scopes[0].Metrics {
			k.points(m)
		}
	}
	return nil
}

func (k *kept) points(m otlp.Metric) {
	if m.Sum != nil {
		for _, p := range m.Sum.Points {
			if *p.Int == 0 {
				k.zeros++
			}
			k.sums[seriesKey(m.Name, p.Attributes)] = *p.Int
		}
		return
	}
	for _, p := range m.Histogram.Points {
		k.counts[seriesKey(m.Name, p.Attributes)] = uint64(p.Count)
	}
}

func (k *kept) total(metric string) (n int64) {
	for key, value := range k.sums {
		if strings.HasPrefix(key, metric+"[") || key == metric+"null" {
			n += value
		}
	}
	return n
}

func attribute(attrs []otlp.KeyValue, key string) otlp.AnyValue {
	for _, a := range attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return otlp.AnyValue{}
}

// world is a machine with recorded sessions.
type world struct {
	t     *testing.T
	clock *clock
	dir   state.Dir
	files host.Files
	env   map[string]string
	said  []string
}

// recorded is a machine on which a recorded session ran.
func recorded(t *testing.T, name string) *world {
	t.Helper()
	_, play := replaytest.Played(t, filepath.Join("../replay/testdata/captures", name))
	return &world{t: t, clock: &clock{now: play.Clock().Now().Add(time.Minute)}, dir: play.State, files: play.Files, env: map[string]string{}}
}

func (w *world) exporter(to Sender) *Exporter {
	h := host.Host{Clock: w.clock, Files: w.files, Env: func(name string) string { return w.env[name] }, Alive: func(int) bool { return false }}
	return &Exporter{
		Host: h, Dir: w.dir, Target: "otlp", To: to, Patience: time.Hour, Off: map[otlp.Signal]bool{},
		Source: func() status.Source {
			return status.Source{Dir: w.dir, Files: w.files, Now: w.clock.Now(), Env: h.Env}
		},
		Say: func(text string) { w.said = append(w.said, text) },
	}
}

func (w *world) once(to Sender) Report {
	w.t.Helper()
	r, err := w.exporter(to).Once(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// server takes OTLP/JSON, unless fail answers in its place.
func server(t *testing.T, k *kept, fail func(w http.ResponseWriter, signal string, taken func()) bool) HTTP {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		take := func() {
			if err := errors.Join(err, k.take(body)); err != nil {
				t.Error(err)
			}
		}
		if fail != nil && fail(w, filepath.Base(r.URL.Path), take) {
			return
		}
		take()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(srv.Close)
	return to(t, srv.URL)
}

func to(t *testing.T, url string) HTTP {
	t.Helper()
	var targets []otlp.Target
	for _, signal := range otlp.Signals {
		target, err := otlp.Resolve(signal, func(string) string { return "" }, otlp.Settings{Endpoint: url, Protocol: "http/json", Timeout: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, target)
	}
	h, err := NewHTTP(targets)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

const session = "2.1.332/fg-sdk"

func TestWhatIsNewIsSentOnce(t *testing.T) {
	t.Parallel()
	w, k := recorded(t, session), newKept()
	to := server(t, k, nil)
	first := w.once(to)
	if first.Sessions != 1 || first.Spans == 0 || first.Spans != len(k.spans) || first.Logs != len(k.logs) {
		t.Fatalf("sent %+v, kept %d spans and %d records", first, len(k.spans), len(k.logs))
	}
	sums := maps.Clone(k.sums)
	w.clock.now = w.clock.now.Add(time.Hour)
	if again := w.once(to); again != (Report{}) || k.again != 0 {
		t.Errorf("nothing was new, and %+v was sent, %d of it again", again, k.again)
	}
	w.change(func(tx *ledger.Tx) {
		tx.AddStop(ledger.Stop{Time: w.clock.now, AgentID: "a85c14a6928672ba4", Verdict: ledger.Allow, Code: "no-tasks", Duration: time.Millisecond})
	})
	more := w.once(to)
	if more.Spans != 1 || more.Logs != 1 || k.again != 0 {
		t.Errorf("one stop more was sent as %+v, %d of it again", more, k.again)
	}
	if k.total("stopgate.stops") != total(sums, "stopgate.stops")+1 {
		t.Errorf("%v after %v", k.sums, sums)
	}
}

func total(sums map[string]int64, metric string) int64 { return (&kept{sums: sums}).total(metric) }

// change writes to the recorded session as a hook does.
func (w *world) change(change func(*ledger.Tx)) {
	w.t.Helper()
	snap, err := ledger.ReadFile(w.t.Context(), w.dir.Stores()[0])
	if err != nil {
		w.t.Fatal(err)
	}
	err = ledger.Update(w.t.Context(), w.dir, snap.Session.ID, w.clock.now, func(tx *ledger.Tx) error {
		change(tx)
		tx.Session.LastEventAt = w.clock.now
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// Whatever the other side does in the middle: in the end it has everything, each
// thing as it was sent at first, and the sums are right.
func TestTheEndpointFails(t *testing.T) {
	t.Parallel()
	want := newKept()
	recorded(t, session).once(server(t, want, nil))
	answer := func(code int, header ...string) func(http.ResponseWriter, func()) {
		return func(w http.ResponseWriter, _ func()) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		}
	}
	for name, c := range map[string]struct {
		fail func(http.ResponseWriter, func())
		// slept is the least that is waited for, again tells that things come twice.
		slept time.Duration
		again bool
	}{
		"too many requests, with a time":    {answer(429, "Retry-After", "17"), 17 * time.Second, false},
		"too many requests, without":        {answer(429), firstPause / 2, false},
		"unavailable":                       {answer(503), firstPause / 2, false},
		"a gateway that finds nobody":       {answer(502), firstPause / 2, false},
		"killed before the answer":          {func(w http.ResponseWriter, _ func()) { hangUp(t, w) }, firstPause / 2, false},
		"killed when it had taken it":       {func(w http.ResponseWriter, take func()) { take(); hangUp(t, w) }, firstPause / 2, true},
		"unavailable when it had taken it":  {func(w http.ResponseWriter, take func()) { take(); w.WriteHeader(http.StatusServiceUnavailable) }, firstPause / 2, true},
		"slow: taken, and no answer for 3s": {func(w http.ResponseWriter, take func()) { take(); time.Sleep(2500 * time.Millisecond) }, firstPause / 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, k, failed := recorded(t, session), newKept(), map[string]int{}
			var mu sync.Mutex
			r := w.once(server(t, k, func(rw http.ResponseWriter, signal string, take func()) bool {
				mu.Lock()
				failed[signal]++
				n := failed[signal]
				mu.Unlock()
				if n == 1 {
					c.fail(rw, take)
				}
				return n == 1
			}))
			if len(failed) != 3 || r.Spans != len(k.spans) {
				t.Errorf("%v failed, sent %+v", failed, r)
			}
			k.same(t, want)
			if (k.again > 0) != c.again {
				t.Errorf("%d came twice", k.again)
			}
			if len(w.clock.slept) != 3 || slices.Min(w.clock.slept) < c.slept {
				t.Errorf("waited %v", w.clock.slept)
			}
		})
	}
}

func hangUp(t *testing.T, w http.ResponseWriter) {
	t.Helper()
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_ = conn.Close()
}

func (k *kept) same(t *testing.T, want *kept) {
	t.Helper()
	if len(k.changed) > 0 {
		t.Errorf("came again as something else: %v", k.changed)
	}
	ids := func(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
	if !slices.Equal(ids(k.spans), ids(want.spans)) || !slices.Equal(ids(k.logs), ids(want.logs)) {
		t.Errorf("%d spans and %d records, not %d and %d", len(k.spans), len(k.logs), len(want.spans), len(want.logs))
	}
	if !maps.Equal(k.sums, want.sums) || !maps.Equal(k.counts, want.counts) {
		t.Errorf("sums %v, not %v; %v, not %v", k.sums, want.sums, k.counts, want.counts)
	}
}

// A process that is killed between any two steps begins again with the same bytes.
func TestAnExportThatIsKilled(t *testing.T) {
	t.Parallel()
	want := newKept()
	recorded(t, session).once(server(t, want, nil))
	for _, signal := range []string{"traces", "metrics", "logs"} {
		t.Run("after "+signal+" were taken", func(t *testing.T) {
			t.Parallel()
			w, k := recorded(t, session), newKept()
			ctx, kill := context.WithCancel(t.Context())
			e := w.exporter(server(t, k, func(_ http.ResponseWriter, s string, take func()) bool {
				if s == signal {
					take()
					kill()
					time.Sleep(50 * time.Millisecond)
				}
				return s == signal
			}))
			if _, err := e.Once(ctx); err == nil {
				t.Fatal("it went on")
			}
			w.clock.now = w.clock.now.Add(time.Hour)
			// What was known has grown meanwhile: what was being sent stays as it was.
			w.once(server(t, k, nil))
			k.same(t, want)
			if k.again == 0 && signal != "metrics" {
				t.Error("nothing came again: the kill came too late")
			}
		})
	}
}

func TestAnEndpointThatIsAway(t *testing.T) {
	t.Parallel()
	w, k := recorded(t, session), newKept()
	for _, c := range []struct {
		code int
		text string
	}{{503, "503"}, {401, "401"}, {400, "400"}} {
		e := w.exporter(server(t, k, func(rw http.ResponseWriter, _ string, _ func()) bool { rw.WriteHeader(c.code); return true }))
		e.Patience = 10 * time.Second
		if _, err := e.Once(t.Context()); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%d: %v", c.code, err)
		}
	}
	want := newKept()
	recorded(t, session).once(server(t, want, nil))
	w.once(server(t, k, nil))
	k.same(t, want)
}

// A batch that is too large comes in parts.
func TestARequestThatIsTooLarge(t *testing.T) {
	t.Parallel()
	want := newKept()
	recorded(t, session).once(server(t, want, nil))
	w, k, refused := recorded(t, session), newKept(), false
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(body) > 3500 {
			refused = true
			rw.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if err := k.take(body); err != nil {
			t.Error(err)
		}
	}))
	defer srv.Close()
	w.once(to(t, srv.URL))
	k.same(t, want)
	if !refused {
		t.Error("nothing was too large")
	}
}

// A service goes on trying also what is refused: somebody mends it some day.
func TestAServiceThatIsRefused(t *testing.T) {
	t.Parallel()
	w, k, n := recorded(t, session), newKept(), 0
	e := w.exporter(server(t, k, func(rw http.ResponseWriter, _ string, _ func()) bool {
		if n++; n == 1 {
			rw.WriteHeader(http.StatusUnauthorized)
		}
		return n == 1
	}))
	e.Patience = 0
	if r, err := e.Once(t.Context()); err != nil || r.Spans != len(k.spans) || len(w.clock.slept) != 1 {
		t.Errorf("%+v, %v, waited %v", r, err, w.clock.slept)
	}
}

// What the other side says it does not keep is not sent again, and is said.
func TestAPartialSuccess(t *testing.T) {
	t.Parallel()
	w, k := recorded(t, session), newKept()
	r := w.once(server(t, k, func(rw http.ResponseWriter, signal string, take func()) bool {
		take()
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}`)
		return signal == "traces" || signal == "logs" || signal == "metrics"
	}))
	if r.Rejected != 9 || len(w.said) != 3 || !strings.Contains(w.said[0], `"too old"`) || k.again > 0 {
		t.Errorf("%+v, said %q, %d again", r, w.said, k.again)
	}
}

func TestAFileOfLines(t *testing.T) {
	t.Parallel()
	w, k := recorded(t, session), newKept()
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(path, []byte(`{"resourceSpans":[`), 0o600); err != nil { // interrupted before
		t.Fatal(err)
	}
	w.once(File{path})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for _, line := range lines[1:] {
		if err := k.take([]byte(line)); err != nil {
			t.Error(err)
		}
	}
	want := newKept()
	recorded(t, session).once(server(t, want, nil))
	if len(lines) != 4 {
		t.Errorf("%d lines", len(lines))
	}
	k.same(t, want)
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	w, shown := recorded(t, session), 0
	before, _ := filepath.Glob(w.dir.Path() + "/*")
	e := w.exporter(nil)
	r, err := e.Preview(t.Context(), func(b Batch) error { shown += b.Traces.Len(); return nil })
	after, _ := filepath.Glob(w.dir.Path() + "/*")
	if err != nil || r.Spans == 0 || shown != r.Spans || !slices.Equal(before, after) {
		t.Errorf("%+v, %v, %d shown, %v then %v", r, err, shown, before, after)
	}
}

// Not either while a store was written a moment ago: what was shown is sent later.
func TestADryRunOfAStoreThatWasJustWritten(t *testing.T) {
	t.Parallel()
	w, k := recorded(t, session), newKept()
	for _, path := range w.dir.Stores() {
		if err := os.Chtimes(path, w.clock.now, w.clock.now); err != nil {
			t.Fatal(err)
		}
	}
	to := server(t, k, nil)
	shown, err := w.exporter(to).Preview(t.Context(), func(Batch) error { return nil })
	if err != nil || shown.Spans == 0 {
		t.Fatalf("%+v, %v", shown, err)
	}
	if _, err := os.Stat(w.dir.Cursor("otlp")); err == nil {
		t.Error("a cursor was written")
	}
	if sent := w.once(to); sent.Spans != shown.Spans || sent.Logs != shown.Logs {
		t.Errorf("%+v was shown, and then %+v sent", shown, sent)
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	w, k := recorded(t, session), newKept()
	e := w.exporter(server(t, k, nil))
	e.Since = w.clock.now
	if r, err := e.Once(t.Context()); err != nil || r.Spans != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r := w.once(server(t, k, nil)); r.Spans != 0 {
		t.Errorf("what was left out came later: %+v", r)
	}
}

func TestOneExportAtATime(t *testing.T) {
	t.Parallel()
	w := recorded(t, session)
	l, err := lock(t.Context(), w.dir, "otlp")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if _, err := w.exporter(Lines{io.Discard}).Once(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
}

func TestACursorThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		err  error
	}{
		"somebody's file":    {"notes of mine", state.ErrNotOurs},
		"cut":                {state.CursorBegin + `"sche`, ErrBroken},
		"of a later version": {state.CursorBegin + `"schema":9}`, ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := recorded(t, session)
			if err := os.WriteFile(w.dir.Cursor("otlp"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := w.exporter(Lines{io.Discard}).Once(t.Context()); !errors.Is(err, c.err) {
				t.Errorf("%v", err)
			}
			if data, _ := os.ReadFile(w.dir.Cursor("otlp")); string(data) != c.text {
				t.Errorf("became %q", data)
			}
		})
	}
}

// The files of an export are ours to a purge, and none of a session's to the sweep.
func TestTheFilesOfAnExport(t *testing.T) {
	t.Parallel()
	w := recorded(t, session)
	w.once(Lines{io.Discard})
	ours := w.dir.Files()
	for _, path := range []string{w.dir.Cursor("otlp"), w.dir.CursorLock("otlp")} {
		if !slices.Contains(ours, path) {
			t.Errorf("%s is not ours", path)
		}
	}
	w.dir.Sweep(w.clock.now.Add(1000*time.Hour), time.Hour)
	if _, err := os.Stat(w.dir.Cursor("otlp")); err != nil {
		t.Error(err)
	}
	if left := w.dir.Stores(); len(left) != 0 {
		t.Fatal(left)
	}
	w.once(Lines{io.Discard})
	c, err := readCursor(w.dir.Cursor("otlp"), w.clock.now)
	if err != nil || len(c.Sessions) != 0 && len(c.Sums) == 0 {
		t.Errorf("%v, %v", c, err)
	}
}

// A session that has fallen silent is over some day, though its store never changes.
func TestASessionThatFallsSilent(t *testing.T) {
	t.Parallel()
	w, k := recorded(t, session), newKept()
	w.change(func(tx *ledger.Tx) { tx.Session.Ended = time.Time{} })
	to := server(t, k, nil)
	w.clock.now = w.clock.now.Add(time.Minute)
	live := w.once(to)
	w.clock.now = w.clock.now.Add(time.Minute)
	if r := w.once(to); r.Spans != 0 {
		t.Errorf("it lives, and %+v was sent", r)
	}
	w.clock.now = w.clock.now.Add(7 * time.Hour)
	over := w.once(to)
	if live.Spans == 0 || over.Spans == 0 || k.again != 0 {
		t.Errorf("%+v while it lived, %+v when it was over, %d again", live, over, k.again)
	}
	want := newKept()
	recorded(t, session).once(server(t, want, nil))
	if len(k.spans) != len(want.spans) || !maps.Equal(k.sums, want.sums) {
		t.Errorf("%d spans, not %d; %v, not %v", len(k.spans), len(want.spans), k.sums, want.sums)
	}
}

func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	w := recorded(t, session)
	w.change(func(tx *ledger.Tx) {
		tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: "bxxxxxxx1", Owner: "main", Kind: "shell"}}})
	})
	c := newCursor(w.clock.now)
	for i := range maxSeries + 500 {
		c.add(measures(fmt.Sprint(i)))
	}
	if len(c.Sums) > maxSeries+1 {
		t.Errorf("%d series", len(c.Sums))
	}
}
