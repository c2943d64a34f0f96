//go:build hostile && linux

package hostile

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stopgate/pkg/handler"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// A crowd of 150 hooks at once, each for an agent of its own that has a task: all
// of them block, and all of them are recorded.
func TestCrowds(t *testing.T) {
	const crowd = 150
	for _, sessions := range []int{1, 50} {
		t.Run(fmt.Sprintf("%d sessions", sessions), func(t *testing.T) {
			home := newWorld(t)
			worlds := make([]*world, sessions)
			for i := range worlds {
				worlds[i] = newWorld(t)
				worlds[i].state = home.state // one state folder
			}
			results := make([]result, crowd)
			var all sync.WaitGroup
			begin := make(chan struct{})
			for i := range crowd {
				w, agent := worlds[i%sessions], fmt.Sprintf("a%d", i)
				w.agent(agent)
				all.Add(1)
				go func() {
					defer all.Done()
					<-begin
					results[i] = w.run(setup{payload: w.payload(agent)})
				}()
			}
			began := time.Now()
			close(begin)
			all.Wait()
			took := time.Since(began)
			var times []time.Duration
			for i, r := range results {
				times = append(times, r.took)
				worlds[i%sessions].holds(r, blocks)
			}
			stops, charged := 0, 0
			for _, w := range worlds {
				snap := w.snapshot()
				stops += len(snap.Stops)
				for _, n := range snap.Charged {
					charged += n
				}
				if err := sound(w.dirOf().Store(w.session)); err != nil {
					t.Error(err)
				}
			}
			if stops != crowd || charged != crowd {
				t.Errorf("of %d stops %d are recorded and %d charged", crowd, stops, charged)
			}
			t.Logf("%d hooks in %v: median %v, 95 of 100 within %v", crowd, took.Round(time.Millisecond), quantile(times, 0.5).Round(time.Millisecond), quantile(times, 0.95).Round(time.Millisecond))
			home.free()
		})
	}
	nothingLeft(t, time.Second)
}

// The soak: a long day of many sessions, with starts, launches, stops, ephemeral
// events, doubled events and ends. Most of it is handled in this process, each
// event on real files and a store of its own opening; the rest by real hooks.
func TestSoak(t *testing.T) {
	const sessions, cycle = 200, 7
	w0 := newWorld(t)
	worlds := make([]*world, sessions)
	for i := range worlds {
		worlds[i] = newWorld(t)
		worlds[i].state = w0.state
	}
	perSession := *events / sessions
	every := max(1, *events/max(1, *processes))
	var inProcess []float64 // milliseconds of the stops that block, in their order
	ran, failed, blocked, wantBlocked, ephemeral, recorded, spawned := 0, 0, 0, 0, 0, 0, 0
	began := time.Now()
	var early int64
	for round := range perSession {
		if round == perSession/10 {
			early = size(t, w0.state)
		}
		for _, w := range worlds {
			agent := fmt.Sprintf("a%d", round/cycle)
			payload, wantsBlock, stop := []byte(nil), false, false
			switch round % cycle {
			case 0:
				w.agent(agent)
				payload = w.event("SubagentStart", map[string]any{"agent_id": agent, "agent_type": "general-purpose"})
			case 1:
				payload = w.event("PostToolUse", map[string]any{"agent_id": agent, "tool_name": "Bash", "tool_use_id": "toolu_" + taskOf(agent), "tool_input": map[string]any{"run_in_background": true}, "tool_response": map[string]any{"backgroundTaskId": taskOf(agent)}})
			case 2:
				payload = w.payload("", set("agent_id", fmt.Sprintf("e%d", round)), set("agent_type", ""))
				ephemeral++
			case 3:
				payload, wantsBlock, stop = w.payload(agent), true, true
			case 4:
				payload, stop = w.payload(agent, set("stop_hook_active", true)), true
			case 5:
				payload, stop = w.payload(agent, set("background_tasks", []any{})), true
			case 6:
				payload = w.event("Stop", nil)
			}
			if stop {
				recorded++
			}
			if wantsBlock {
				wantBlocked++
			}
			ran++
			var code int
			var out string
			if ran%every == 0 && spawned < *processes {
				spawned++
				r := w.run(setup{payload: payload})
				code, out = r.code, r.stdout
			} else {
				var stdout, stderr bytes.Buffer
				start := time.Now()
				var o handler.Outcome
				code, o = handler.Run(host.Host{
					Stdin: bytes.NewReader(payload), Stdout: &stdout, Stderr: &stderr, Clock: host.SystemClock{}, PID: os.Getpid(),
					Env: func(name string) string {
						if name == state.EnvDir {
							return w.state
						}
						return ""
					},
					Self: func() string { return "" }, Parent: os.Getppid, Alive: func(int) bool { return true },
				})
				if o.Err != nil || stderr.Len() > 0 {
					failed++
					t.Errorf("event %d: %v %s", ran, o.Err, stderr.String())
				}
				out = stdout.String()
				if wantsBlock {
					inProcess = append(inProcess, float64(time.Since(start))/float64(time.Millisecond))
				}
			}
			if code != 0 || (out != "") != wantsBlock {
				failed++
				t.Errorf("event %d (kind %d): exit code %d, %q", ran, round%cycle, code, out)
			}
			if out != "" {
				blocked++
			}
			if failed > 20 {
				t.Fatal("too many failures")
			}
		}
	}
	took := time.Since(began)
	stops, counted := 0, int64(0)
	for _, w := range worlds {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		snap, err := ledger.Read(ctx, w.dirOf(), w.session, nil)
		cancel()
		if err != nil {
			t.Error(err)
		}
		stops += len(snap.Stops)
		counted += w.dirOf().Ephemeral(w.session)
	}
	for _, path := range w0.dirOf().Stores() {
		if err := sound(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if stops != recorded || counted != int64(ephemeral) || blocked != wantBlocked {
		t.Errorf("%d of %d stops are recorded, %d of %d ephemeral events counted, %d of %d blocked", stops, recorded, counted, ephemeral, blocked, wantBlocked)
	}
	bytesNow := size(t, w0.state)
	slope := slopeOf(inProcess)
	tenth := len(inProcess) / 10
	first, last := median(inProcess[:tenth]), median(inProcess[len(inProcess)-tenth:])
	t.Logf("%d events (%d by processes of their own) over %d sessions in %v: %d stops, %d blocked, none lost", ran, spawned, sessions, took.Round(time.Second), stops, blocked)
	t.Logf("a blocked stop took %.2f ms at first and %.2f ms at last; slope %.4f ms per 1000 stops", first, last, slope*1000)
	t.Logf("state: %.1f kB a session after a tenth, %.1f kB at last", float64(early)/sessions/1000, float64(bytesNow)/sessions/1000)
	if last > 1.5*first+1 {
		t.Errorf("a stop took %.2f ms at first and %.2f at last", first, last)
	}
	if bytesNow/sessions > 300_000 {
		t.Errorf("%d bytes of state a session", bytesNow/sessions)
	}
}

// A session that goes on and on: its store is bounded too.
func TestTheStoreOfAnEndlessSessionIsBounded(t *testing.T) {
	w := newWorld(t)
	var sizes []int64
	for i := range 60 {
		err := ledger.Update(t.Context(), w.dirOf(), w.session, time.Now(), func(tx *ledger.Tx) error {
			for j := range 250 {
				agent := fmt.Sprintf("a%d", i*250+j)
				tx.PutAgent(tx.Touch(agent, "general-purpose", w.transcript(agent)))
				tx.Charge(taskOf(agent), 0, false)
				tx.AddStop(ledger.Stop{AgentID: agent, Verdict: ledger.Block, Own: []string{taskOf(agent)}, Listed: []string{taskOf(agent)}})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, size(t, w.state))
	}
	t.Logf("after 15000 stops of as many agents: %d kB (after 5000: %d kB)", sizes[59]/1000, sizes[19]/1000)
	if sizes[59] > 2*sizes[29] || sizes[59] > 16<<20 {
		t.Errorf("grows: %v", sizes)
	}
	began := time.Now()
	w.works()
	if took := time.Since(began); took > workLimit {
		t.Errorf("took %v", took)
	}
}

// event is an event of another name.
func (w *world) event(name string, more map[string]any) []byte {
	p := map[string]any{"session_id": w.session, "transcript_path": w.main(), "cwd": w.dir, "hook_event_name": name}
	for k, v := range more {
		p[k] = v
	}
	return []byte(line(p))
}

func size(t *testing.T, dir string) int64 {
	t.Helper()
	total := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return total
}

func median(values []float64) float64 {
	var d []time.Duration
	for _, v := range values {
		d = append(d, time.Duration(v*1e6))
	}
	return float64(quantile(d, 0.5)) / 1e6
}

// slopeOf is how much the values grow from one to the next, by least squares.
func slopeOf(values []float64) float64 {
	n := float64(len(values))
	var sx, sy, sxx, sxy float64
	for i, v := range values {
		x := float64(i)
		sx, sy, sxx, sxy = sx+x, sy+v, sxx+x*x, sxy+x*v
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
