package doctor

import (
	"strconv"
	"strings"

	"stopgate/pkg/policy"
)

// filesUsable tells of the person's and the project's settings files.
func filesUsable(f facts) Check {
	var wrong []string
	for _, p := range f.problems {
		text := f.short(p.Path) + ": "
		if p.Line > 0 {
			text += "line " + strconv.Itoa(p.Line) + ": "
		}
		if text += p.Text; p.Broken {
			text += " (the whole file is passed over)"
		}
		wrong = append(wrong, text)
	}
	if len(wrong) > 0 {
		return Check{Status: Warn, Found: strings.Join(wrong, "; "), Mend: "mend that place, then hookctl config check"}
	}
	var read []string
	for _, path := range []string{f.config.PersonPath, f.config.ProjectPath} {
		if path != "" {
			read = append(read, f.short(path))
		}
	}
	if len(read) == 0 {
		return Check{Status: OK, Found: "no file of a person or a project: the entries' flags and the defaults hold"}
	}
	found := strings.Join(read, ", ")
	var entries []policy.Policy
	for _, h := range f.hooks() {
		if h.err == nil {
			entries = append(entries, h.policy)
		}
	}
	if over := f.config.Overruled(entries...); len(over) > 0 {
		return Check{Status: Note, Found: found + "; what they say of " + strings.Join(over, ", ") + " does not count: a registered entry has it as a flag", Mend: "hookctl config shows what holds"}
	}
	return Check{Status: OK, Found: found}
}
