//go:build hostile && linux

package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// processorTime is what a process has used so far, by the scheduler's clock.
func processorTime(pid int) time.Duration {
	total := time.Duration(0)
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is constant
	for _, path := range tasks {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		fields := strings.Fields(string(data))
		if len(fields) > 0 {
			n, _ := strconv.ParseInt(fields[0], 10, 64)
			total += time.Duration(n)
		}
	}
	return total
}

// openFiles are the files that a process has open.
func openFiles(pid int) []string {
	var out []string
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is constant
	for _, link := range links {
		if name, err := os.Readlink(link); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// memoryPeak is the most memory that a process had so far, in bytes.
func memoryPeak(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for _, text := range strings.Split(string(data), "\n") {
		if rest, ok := strings.CutPrefix(text, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

func quantile(d []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
