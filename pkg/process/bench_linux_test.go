package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A look at a tree of 200 processes; the limit is 10 ms.
func BenchmarkLookAt200(b *testing.B) {
	output := filepath.Join(b.TempDir(), "x.output")
	f, err := os.Create(output)
	if err != nil {
		b.Fatal(err)
	}
	c := exec.Command("/bin/sh", "-c", `for i in $(seq 199); do sleep 600 & done; echo ready; wait`)
	c.Stdout, c.Stderr = f, f
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	for {
		if info, _ := f.Stat(); info.Size() > 0 {
			break
		}
	}
	b.ResetTimer()
	for range b.N {
		t, ok := Look(output)
		if !ok || len(t.Processes) != 200 || !t.Deep {
			b.Fatal(len(t.Processes), ok, t.Deep)
		}
	}
	b.StopTimer()
	tree, _ := Look(output)
	for _, pid := range tree.PIDs() {
		p, _ := os.FindProcess(pid)
		_ = p.Kill()
	}
	_ = c.Wait()
}
