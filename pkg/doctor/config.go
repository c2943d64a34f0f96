package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stopgate/pkg/config"
	"stopgate/pkg/event"
	"stopgate/pkg/policy"
	"stopgate/pkg/setup"
	"stopgate/pkg/span"
)

// tooLong says where a file asks for a longer hold than the timeout of the entry that
// it is for lets it be; "" for nowhere.
func (f facts) tooLong() (text, mend string) {
	for _, s := range slices.Concat(f.sources, f.plugins) {
		for _, h := range s.Hooks {
			p, err := h.Policy()
			if err != nil || p.Mode == policy.Courier || h.Event != event.SubagentStop && h.Event != event.Stop {
				continue
			}
			asked := config.Apply(p, f.config)
			wait, was := asked.Hold, p.Hold
			if p.Mode == policy.Lead {
				wait, was = asked.Patience, p.Patience
			}
			if timeout := setup.TimeoutOf(h.Entry); wait != was && timeout <= wait {
				return fmt.Sprintf("a hold of %s does not fit the timeout of %s of %s: it ends before", span.Text(wait), span.Text(timeout), f.where(s, h)),
					"a shorter one in the file, or a longer timeout in the entry"
			}
		}
	}
	return "", ""
}

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
	if text, needs := f.tooLong(); text != "" {
		return Check{Status: Warn, Found: found + "; " + text, Mend: needs}
	}
	if over := f.config.Overruled(entries...); len(over) > 0 {
		return Check{Status: Note, Found: found + "; what they say of " + strings.Join(over, ", ") + " does not count: a registered entry has it as a flag", Mend: "hookctl config shows what holds"}
	}
	return Check{Status: OK, Found: found}
}
