//go:build fleet

package fleet

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// used is the processor time of a process, as the scheduler counts it.
func used(t *testing.T, pid int) time.Duration {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	sum := time.Duration(0)
	for _, task := range tasks {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, task.Name()))
		if err != nil {
			continue // it has ended
		}
		var ns int64
		if _, err := fmt.Sscan(strings.Fields(string(data))[0], &ns); err == nil {
			sum += time.Duration(ns)
		}
	}
	return sum
}
