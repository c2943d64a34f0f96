//go:build fleet

package fleet

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/telemetry"
)

// hookctl is the program, built once.
var hookctl = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "stopgate-fleet-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "hookctl")
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./cmd/hookctl")
	c.Dir, c.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := hookctl(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

// export runs hookctl export on a machine.
func (m machine) export(t *testing.T, env map[string]string, args ...string) error {
	t.Helper()
	program, err := hookctl()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, append([]string{"export", "--once"}, args...)...)
	c.Env = []string{"HOME=" + m.home, "PATH=" + os.Getenv("PATH"), "STOPGATE_STATE_DIR=" + m.dir.Path(), "OTEL_RESOURCE_ATTRIBUTES=host.name=" + m.name}
	for name, value := range env {
		c.Env = append(c.Env, "OTEL_EXPORTER_OTLP_"+name+"="+value)
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr, c.Dir = &out, &out, t.TempDir()
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", m.name, err, out.String())
	}
	return nil
}

func (e *engines) env() map[string]string {
	return map[string]string{"TRACES_ENDPOINT": e.tracesTo, "METRICS_ENDPOINT": e.metricsTo, "LOGS_ENDPOINT": e.logsTo}
}

// everywhere exports on all machines, several at once, again and again until each
// has nothing more to send.
func everywhere(t *testing.T, machines []machine, env map[string]string) (failed int) {
	t.Helper()
	room := make(chan struct{}, 6)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, m := range machines {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			var err error
			for range 20 {
				if err = m.export(t, env); err == nil {
					return
				}
				mu.Lock()
				failed++
				mu.Unlock()
			}
			t.Errorf("%s never had all taken: %v", m.name, err)
		})
	}
	wg.Wait()
	return failed
}

// Fifty machines with a thousand sessions send what they have while the endpoints
// are killed, slow, full and answer 429 and 503, and the engines themselves are ended
// and started again in the middle. In the end the dashboard's own queries give what
// happened, nothing lost and nothing doubled.
func TestAThousandSessionsOfFiftyMachines(t *testing.T) {
	machines, want := team(t, 50, 1000)
	e := startEngines(t)
	env := map[string]string{"TIMEOUT": "1000"}
	var troubles []*trouble
	for name, to := range map[string]string{"TRACES_ENDPOINT": e.tracesTo, "METRICS_ENDPOINT": e.metricsTo, "LOGS_ENDPOINT": e.logsTo} {
		p, url := inTrouble(t, to)
		troubles, env[name] = append(troubles, p), url
	}
	began := time.Now()
	failed := everywhere(t, machines[:25], env)

	var engines sync.WaitGroup
	for _, r := range []*running{e.jaeger, e.metrics, e.logs} {
		engines.Go(func() {
			r.stop()
			time.Sleep(2 * time.Second)
			r.start()
		})
	}
	failed += everywhere(t, machines[25:], env)
	engines.Wait()
	if again := everywhere(t, machines, e.env()); again > 0 {
		t.Errorf("%d failed though nothing was in the way", again)
	}
	for _, p := range troubles {
		for _, kind := range kinds {
			if p.did[kind] == 0 {
				t.Errorf("%s: %q never happened", p.to, kind)
			}
		}
	}
	t.Logf("%d sessions of %d machines in %v; %d runs ended with something waiting; %v", want.sessions, len(machines), time.Since(began).Round(time.Second), failed, troubles[0].did)
	e.flush(t)
	e.check(t, want)
	e.checkTraces(t, machines)
}

// expected are the values that each panel of the dashboard has to show.
func (tr *truth) expected() map[string]map[string]float64 {
	n := func(v int) map[string]float64 { return map[string]float64{"": float64(v)} }
	byCode, decisions, byState, stranded, by := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
	blocked := 0
	for k, v := range tr.stops {
		byCode[k[1]] += float64(v)
		decisions[k[0]+" "+k[1]] = float64(v)
		if k[0] == ledger.Block {
			blocked += v
		}
	}
	for k, v := range tr.tasks {
		byState[k] = float64(v)
	}
	for k, v := range tr.stranded {
		stranded[k] = float64(v)
	}
	for k, v := range tr.heldBy {
		by[k] = v.Seconds()
	}
	return map[string]map[string]float64{
		"Results saved": n(tr.results), "Time held": {"": tr.held.Seconds()}, "Stops blocked": n(blocked),
		"Left running": n(tr.left), "Heard by nobody": n(tr.unheard), "Wakes by couriers": n(tr.wakes), "Sessions": n(tr.sessions),
		"Stops by rule": byCode, "Clients that strand tasks": stranded, "Tasks by what became of them": byState, "Decisions, from the log": decisions,
		"Time held by machine": by,
		"What persons did":     floats(tr.acts), "Couriers by how they ended": floats(tr.couriers), "What else was done, from the log": floats(tr.records),
	}
}

func floats(counts map[string]int) map[string]float64 {
	out := map[string]float64{}
	for name, n := range counts {
		out[name] = float64(n)
	}
	return out
}

// check runs every query of the dashboard.
func (e *engines) check(t *testing.T, want *truth) {
	t.Helper()
	expected := want.expected()
	if want.left == 0 || want.unheard == 0 {
		t.Errorf("%d were left running and %d unheard: the queries for them show nothing", want.left, want.unheard)
	}
	for variable, values := range e.choices(t) {
		if len(values) != len(want.heldBy) {
			t.Errorf("the choice of %s has %d values, not one for each of %d machines", variable, len(values), len(want.heldBy))
		}
	}
	for _, p := range panels(t) {
		got := e.ask(t, p)
		switch p.title {
		case "The hook itself, 95 of 100":
			if v := got[""]; v < 0.01 || v > 0.025 { // it was between 2 and 22 ms
				t.Errorf("%s: %v", p.title, got)
			}
			continue
		case "Holds: how long":
			if got["+Inf"] != float64(want.holds) || got["60"] >= got["900"] && got["60"] > got["600"] {
				t.Errorf("%s: %v of %d", p.title, got, want.holds)
			}
			continue
		case "Sessions with most blocks, from the log":
			for id, n := range got {
				if float64(want.blocks[id]) != n {
					t.Errorf("%s: %s has %v, not %d", p.title, id, n, want.blocks[id])
				}
			}
			if len(got) != 20 {
				t.Errorf("%s: %d rows", p.title, len(got))
			}
			continue
		case "Time held by machine":
			if len(got) != 20 {
				t.Errorf("%s: %d rows", p.title, len(got))
			}
			for name, n := range got {
				if math.Abs(n-expected[p.title][name]) > 0.01 {
					t.Errorf("%s: %s: %v, not %v", p.title, name, n, expected[p.title][name])
				}
			}
			continue
		}
		if expected[p.title] == nil {
			t.Errorf("%s: nothing says what it has to show", p.title)
		}
		for name, n := range expected[p.title] {
			if math.Abs(got[name]-n) > 0.01 {
				t.Errorf("%s: %q is %v, not %v\n%s", p.title, name, got[name], n, p.expr)
			}
		}
		for name, n := range got {
			if _, ok := expected[p.title][name]; !ok && n != 0 {
				t.Errorf("%s: %q is %v, and did not happen", p.title, name, n)
			}
		}
	}
}

// checkTraces asks for the trace of every session: it has one root, and as many stops
// as there were, each once.
func (e *engines) checkTraces(t *testing.T, machines []machine) {
	t.Helper()
	sessions, spans := 0, 0
	for _, m := range machines {
		for _, store := range m.dir.Stores() {
			snap, err := ledger.ReadFile(t.Context(), store)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.trace(t, fmt.Sprintf("%x", []byte(telemetry.TraceID(snap.Session.ID))))
			if err != nil {
				t.Error(err)
				continue
			}
			sessions++
			spans += len(got)
			names, ids := map[string]int{}, map[string]bool{}
			for _, s := range got {
				names[s.OperationName]++
				if ids[s.SpanID] {
					t.Errorf("%s: span %s is there twice", snap.Session.ID, s.SpanID)
				}
				ids[s.SpanID] = true
			}
			for _, s := range got {
				if s.parent() != "" && !ids[s.parent()] {
					t.Errorf("%s: %s has no parent", snap.Session.ID, s.OperationName)
				}
			}
			if names["session"] != 1 || names["stop"] != len(snap.Stops) || names["courier"] != len(snap.Couriers) {
				t.Errorf("%s: %v of %d stops", snap.Session.ID, names, len(snap.Stops))
			}
		}
	}
	t.Logf("%d traces with %d spans", sessions, spans)
	if sessions != 1000 {
		t.Errorf("%d traces", sessions)
	}
}
