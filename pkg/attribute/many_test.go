package attribute

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/event"
	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// BenchmarkATaskOfNobody asks the transcripts of 1,500 agents that were read before.
func BenchmarkATaskOfNobody(b *testing.B) {
	dir := b.TempDir()
	main := filepath.Join(dir, "s.jsonl")
	agents := filepath.Join(dir, "s", "subagents")
	line := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"x"}]}}` + "\n")
	if err := os.MkdirAll(agents, 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range 1500 {
		path := filepath.Join(agents, fmt.Sprintf("agent-a%016x.jsonl", i))
		if err := os.WriteFile(path, line, 0o600); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(agents, fmt.Sprintf("agent-a%016x.meta.json", i)), []byte("{}"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(main, line, 0o600); err != nil {
		b.Fatal(err)
	}
	e := event.Event{SessionID: "s", TranscriptPath: main, AgentID: "a0000000000000001", RegistryGiven: true, LastMessageGiven: true, LastMessage: "x", Tasks: []event.Task{{ID: "b1", Type: "shell", Status: "running"}}}
	store := state.At(filepath.Join(dir, "state"))
	h := host.Host{Clock: host.System().Clock}
	for range b.N {
		snap, err := ledger.Read(context.Background(), store, "s", []string{e.AgentID, "b1"})
		if err != nil {
			b.Fatal(err)
		}
		found := Find(context.Background(), h, e, snap)
		err = ledger.Update(context.Background(), store, "s", time.Now(), func(tx *ledger.Tx) error {
			tx.Merge(found.Learned)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// What is asked for a task of nobody, stop after stop: each situation, and whether the
// transcript of another agent that launched it is seen.
func TestTranscriptsThatWereReadBefore(t *testing.T) {
	t.Parallel()
	store := func(w *world) state.Dir { return state.At(filepath.Join(w.dir, "state")) }
	read := func(w *world) string {
		w.t.Helper()
		e := w.stop("b1")
		snap, err := ledger.Read(w.t.Context(), store(w), "s", []string{e.AgentID, "b1"})
		if err != nil {
			w.t.Fatal(err)
		}
		found := w.find(e, snap)
		err = ledger.Update(w.t.Context(), store(w), "s", w.clock.now, func(tx *ledger.Tx) error {
			tx.Merge(found.Learned)
			return nil
		})
		if err != nil {
			w.t.Fatal(err)
		}
		return found.Owners["b1"].Owner
	}
	other := says("I am another agent.") + launched("b0", true, false)
	for name, r := range map[string]struct {
		meanwhile func(w *world)
		want      string
	}{
		"nothing has changed":                         {func(*world) {}, ""},
		"one has gained the launch":                   {func(w *world) { w.put("a2", other+launched("b1", true, false)) }, "a2"},
		"one that had half a line has the other half": {func(w *world) { w.put("a3", says("x")+launched("b1", true, false)) }, "a3"},
		"an agent is new":                             {func(w *world) { w.put("a4", launched("b1", true, false)) }, "a4"},
		"a workflow's agent is new": {func(w *world) {
			hosttest.Write(w.t, w.clock.now, filepath.Join(filepath.Dir(w.path("a1")), "workflows", "wf_1", "agent-a5.jsonl"), launched("b1", true, false))
		}, "a5"},
		"one is another file of the same name": {func(w *world) {
			if err := os.Remove(w.path("a2")); err != nil {
				w.t.Fatal(err)
			}
			w.put("a2", launched("b1", true, false))
		}, "a2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("a2", other)
			w.put("a3", says("x")+`{"type":"assistant","mess`)
			for range 2 {
				if owner := read(w); owner != "" {
					t.Fatalf("launched by %s", owner)
				}
			}
			w.clock.now = w.clock.now.Add(time.Minute)
			r.meanwhile(w)
			if got := read(w); got != r.want {
				t.Errorf("launched by %q, want %q", got, r.want)
			}
		})
	}

	// One that looks as it did is not opened: what only a look into it could tell is
	// not seen.
	w := newWorld(t)
	w.put("a2", other)
	read(w)
	info, err := os.Stat(w.path("a2"))
	if err != nil {
		t.Fatal(err)
	}
	w.put("a2", (launched("b1", true, false) + strings.Repeat(" ", len(other)))[:len(other)])
	if err := os.Chtimes(w.path("a2"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := read(w); got != "" {
		t.Errorf("a file that looks as it did was read: %q", got)
	}
}
