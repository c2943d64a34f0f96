package settings

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Diff is the unified diff between two states of a file, with three lines of
// context and name in its header; "" when they are equal. nil is no file. Line
// ends are shown as they are.
func Diff(old, now []byte, name string) string {
	d := difflib.UnifiedDiff{
		A: lines(old), FromFile: name,
		B: lines(now), ToFile: name,
		Context: 3,
	}
	if old == nil {
		d.FromFile = "/dev/null"
	}
	if now == nil {
		d.ToFile = "/dev/null"
	}
	text, _ := difflib.GetUnifiedDiffString(d) // a strings.Builder does not fail
	return text
}

// lines splits behind line feeds and marks a last line that has none.
func lines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	all := strings.SplitAfter(string(b), "\n")
	if last := len(all) - 1; all[last] == "" {
		all = all[:last]
	} else {
		all[last] += "\n\\ No newline at end of file\n"
	}
	return all
}
