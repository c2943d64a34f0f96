package setup

import (
	"os"
	"strconv"
	"strings"
)

// processesOf are the processes that run a program, also one that was removed or
// replaced since.
func processesOf(program string) []int {
	entries, _ := os.ReadDir("/proc") // without it nothing is known
	var all []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		exe, err := os.Readlink("/proc/" + e.Name() + "/exe")
		if err == nil && strings.TrimSuffix(exe, " (deleted)") == program {
			all = append(all, pid)
		}
	}
	return all
}
