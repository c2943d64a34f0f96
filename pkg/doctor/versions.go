package doctor

import (
	"strconv"
	"strings"
)

// Tested are the versions of the client that docs/compatibility.md tells of,
// the oldest first.
var Tested = []string{"2.1.150", "2.1.198", "2.1.220", "2.1.235", "2.1.245", "2.1.300", "2.1.332"}

// The client's versions that matter (docs/client.md).
const (
	// execForm is the first that starts a hook without a shell.
	execForm = "2.1.139"
	// withTasks is the first that tells a hook the unfinished tasks.
	withTasks = "2.1.145"
	// deafTeams is the last under which a teammate's child agents, in fork mode,
	// report where the teammate cannot hear them.
	deafTeams = "2.1.235"
)

// behaviours say what becomes of an agent's own task without the gate, up to
// and including a version; docs/compatibility.md has it in full.
var behaviours = []struct{ upTo, what string }{
	{"2.1.220", "without the gate an agent never hears of its own task again"},
	{"2.1.235", "without the gate a foreground agent's task is killed, and of others' ends nobody may be told"},
	{"", "without the gate a foreground agent's task is killed, and a teammate never hears of its own"},
}

// number is a version as numbers.
func number(version string) (n [3]int, ok bool) {
	parts := strings.Split(version, ".")
	if len(parts) != 3 {
		return n, false
	}
	for i, p := range parts {
		if v, err := strconv.Atoi(p); err == nil && v >= 0 {
			n[i] = v
			continue
		}
		return n, false
	}
	return n, true
}

// older tells whether version a is older than b.
func older(a, b string) bool {
	x, _ := number(a)
	y, _ := number(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// around are the tested versions next to one: itself twice, or the nearest
// older and newer one, "" for none.
func around(version string) (below, above string) {
	for _, t := range Tested {
		if !older(version, t) {
			below = t
		}
		if above == "" && !older(t, version) {
			above = t
		}
	}
	return below, above
}
