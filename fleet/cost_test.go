//go:build fleet

package fleet

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stopgate/pkg/ledger"
)

// collector takes everything, and counts the requests and their bytes.
func collector(t *testing.T) (url string, requests, bytes *atomic.Int64) {
	t.Helper()
	requests, bytes = new(atomic.Int64), new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		requests.Add(1)
		bytes.Add(n)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, requests, bytes
}

func (m machine) command(t *testing.T, endpoint string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := hookctl()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, append([]string{"export"}, args...)...)
	c.Env = []string{"HOME=" + m.home, "STOPGATE_STATE_DIR=" + m.dir.Path(), "OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint}
	c.Stderr = os.Stderr
	return c
}

// One machine sends a thousand sessions at once.
func TestWhatAThousandSessionsCost(t *testing.T) {
	machines, _ := team(t, 1, 1000)
	url, requests, bytes := collector(t)
	c := machines[0].command(t, url, "--once")
	began := time.Now()
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	memory := usage.Maxrss << 10
	t.Logf("%v, %v of a processor, %.1f MB at the most; %d requests of %.1f MB", took.Round(time.Millisecond), c.ProcessState.UserTime()+c.ProcessState.SystemTime(), float64(memory)/1e6, requests.Load(), float64(bytes.Load())/1e6)
	if took > 5*time.Second || memory > 64<<20 {
		t.Errorf("limits are 5s and 64 MB")
	}
	again := machines[0].command(t, url, "--once")
	began = time.Now()
	if err := again.Run(); err != nil {
		t.Fatal(err)
	}
	t.Logf("with nothing new: %v", time.Since(began).Round(time.Millisecond))
}

// Twenty sessions live: in each something is recorded every few seconds, and a service
// follows them.
func TestWhatFollowingCosts(t *testing.T) {
	const span = 2 * time.Minute
	machines, _ := team(t, 1, 20)
	m := machines[0]
	var ids []string
	for _, store := range m.dir.Stores() {
		snap, err := ledger.ReadFile(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, snap.Session.ID)
	}
	url, requests, _ := collector(t)
	c := m.command(t, url, "--follow")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill() }()
	time.Sleep(5 * time.Second) // what was there at first is not counted
	before := used(t, c.Process.Pid)
	events := 0
	for began := time.Now(); time.Since(began) < span; time.Sleep(200 * time.Millisecond) {
		id := ids[events%len(ids)]
		events++
		err := ledger.Update(t.Context(), m.dir, id, time.Now(), func(tx *ledger.Tx) error {
			tx.Session.LastEventAt, tx.Session.Ended = time.Now(), time.Time{}
			if events%5 == 0 {
				tx.AddStop(ledger.Stop{Time: time.Now(), AgentID: "a85c14a6928672ba4", Verdict: ledger.Allow, Code: "no-tasks", Duration: 4 * time.Millisecond})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	cpu := used(t, c.Process.Pid) - before
	share := 100 * cpu.Seconds() / span.Seconds()
	t.Logf("%.3f %% of a processor for %d events in %v; %d requests", share, events, span, requests.Load())
	if share > 0.2 {
		t.Error("the limit is 0.2 %")
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("at its end: %v", err)
	}
}
