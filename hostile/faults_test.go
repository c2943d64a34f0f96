//go:build hostile && linux

package hostile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The faults that no Go program can catch, in a build of the hook that has them:
// each ends in a signal, which the client takes for an error, and never in exit
// code 2, which would block.
func TestUncatchableFaultsEndInASignal(t *testing.T) {
	source, err := filepath.Abs("../pkg/handler/handler.go")
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	// Before the work begins, and inside it.
	const before, inside = "\tp, err := policy.Parse(h.Args)\n", "\t\t\tdone <- res\n\t\t}()\n"
	for _, c := range []struct {
		name, at, fault string
		caught          bool
	}{
		{"a deadlock", before, "select {}", false},
		{"a deadlock of locks", before, "var l sync.Mutex; l.Lock(); l.Lock()", false},
		{"a stack overflow", inside, "var deeper func(int) int; deeper = func(n int) int { return deeper(n+1) + n }; deeper(0)", false},
		{"a stack overflow of the main goroutine", before, "var deeper func(int) int; deeper = func(n int) int { return deeper(n+1) + n }; deeper(0)", false},
		{"a concurrent map write", inside, "m := map[int]int{}; for range 4 { go func() { for { m[1]++ } }() }; select {}", false},
		{"unlocking what is not locked", inside, "var l sync.Mutex; l.Unlock()", false},
		{"a panic in a goroutine of its own", inside, `go func() { panic("lost") }(); select {}`, false},
		{"memory without end", inside, "debug.SetMaxStack(1 << 40); var all [][]byte; for i := 0; ; i++ { all = append(all, make([]byte, 1<<40)); _ = all }", false},
		{"a panic", before, `panic("early")`, true},
		{"a panic inside", inside, `panic("inside")`, true},
		{"a nil pointer", inside, "var nothing *int; *nothing = 1", true},
		{"a panic while panicking", inside, `defer func() { panic("again") }(); panic("once")`, true},
		{"the end of the goroutine", inside, "runtime.Goexit()", true},
		{"work without end", inside, "for { time.Sleep(time.Second) }", true},
		{"a loop without end", inside, "for { }", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			bad := strings.Replace(string(good), c.at, c.at+"\t\t"+c.fault+"\n", 1)
			bad = strings.Replace(bad, "import (\n", "import (\n\t\"runtime\"\n\t\"sync\"\n", 1)
			if strings.Count(string(good), c.at) != 1 {
				t.Fatalf("%q is not in %s once", c.at, source)
			}
			bad += "\nvar _ sync.Mutex\n\nvar _ = runtime.GOOS\n"
			file, overlay := filepath.Join(w.dir, "handler.go"), filepath.Join(w.dir, "overlay.json")
			w.write(file, bad)
			data, err := json.Marshal(map[string]any{"Replace": map[string]string{source: file}})
			if err != nil {
				t.Fatal(err)
			}
			w.write(overlay, string(data))
			program := filepath.Join(base, "bin", "faulty")
			if err := build(program, "../cmd/hook", "-overlay", overlay); err != nil {
				t.Fatal(err)
			}
			w.agent("a1")
			for _, args := range [][]string{nil, {"courier"}} {
				r := w.run(setup{program: program, payload: w.payload("a1"), args: args})
				switch {
				case c.caught:
					w.holds(r, allows)
				case r.signal != syscall.SIGABRT || r.stdout != "":
					t.Errorf("exit code %d, signal %v, %q", r.code, r.signal, r.stdout)
				}
				if r.took > workLimit+*slack {
					t.Errorf("took %v", r.took)
				}
			}
			if _, err := os.Stat("core"); err == nil {
				t.Error("left a core file")
			}
		})
	}
}
