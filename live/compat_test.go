//go:build live

package live

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"stopgate/live/client"
)

// compatibility is where a full run writes what it saw.
const compatibility = "../docs/compatibility.md"

type seen struct {
	version, scenario string
	host              client.Host
	mode              string
}

var (
	notes   = map[seen]string{}
	notesMu sync.Mutex
)

// note keeps what a session showed, for the table.
func note(w *world) {
	notesMu.Lock()
	defer notesMu.Unlock()
	notes[seen{w.version, w.scenario.Name, w.host, w.mode.Name}] = w.cell
}

const compatibilityHead = `# Compatibility

What became of the background tasks of agents, on each client and host, as seen
by ` + "`go test -tags live ./live -write`" + `, which wrote this file. live/README.md says how.

A task is named by its owner. *Finished* tasks came to their own end; *killed*
ones were ended by the client when the agent stopped; the ones *gone with the
client* had no time to finish. *In the report*: the task's output reached whoever
launched the agent, in the agent's final report. *Told*: the client sent a
notification of the task's end. *Blocked*: the gate blocked the agent's stop for
it; *held*: the gate held the stop until the task had ended, and then blocked it
with the outcome; *held more than once*: a hold was over before the task, and the
next stop was held again. *Woken*: a courier woke the coordinator with the news,
once. An empty cell was not run.

*As installed* is what ` + "`hookctl install`" + ` writes, with a hold and a courier; the columns
before it are the same parts one by one. The hosts: *sdk* streams its messages in,
*print* is ` + "`claude -p \"prompt\"`" + `, *terminal* is a person's. The client's clocks are scaled down
by its own variables, but for the last part, which took 25 minutes.
`

// part is a group of scenarios under one heading.
type part struct {
	Name      string
	Scenarios []scenario
}

// parts are all scenarios, in the order of docs/compatibility.md.
func parts() []part {
	return []part{
		{"What an agent leaves behind", plain},
		{"Somebody ends something", interrupted},
		{"Something is taken from under a hold", taken},
		{"Messages to a held agent", messages},
		{"Tasks that take longer", clocked},
		{"The lead of a team", teams},
		{"How often it is told", counted},
		{"The status line", shown},
		{"Other ways in", ways},
		{"The client alone", alone},
		{"At real time", unscaled()},
	}
}

// table is the text of docs/compatibility.md.
func table(notes map[seen]string, versions []string) string {
	var b strings.Builder
	b.WriteString(compatibilityHead)
	for _, p := range parts() {
		var sections strings.Builder
		for _, s := range p.Scenarios {
			sections.WriteString(section(s, notes, versions))
		}
		if sections.Len() > 0 {
			fmt.Fprintf(&b, "\n## %s\n%s", p.Name, sections.String())
		}
	}
	return b.String()
}

// section is the table of one scenario, "" if nothing of it was ever run.
func section(s scenario, notes map[seen]string, versions []string) string {
	var columns []mode
	for _, m := range slices.Concat(modes, wayModes) {
		if s.has(m) {
			columns = append(columns, m)
		}
	}
	var rows strings.Builder
	for _, v := range versions {
		for _, h := range s.Hosts {
			row, some := fmt.Sprintf("| %s | %s |", v, h), false
			for _, m := range columns {
				cell, ok := notes[seen{v, s.Name, h, m.Name}]
				some = some || ok
				row += " " + strings.ReplaceAll(cell, "; ", "<br>") + " |"
			}
			if some {
				rows.WriteString(row + "\n")
			}
		}
	}
	if rows.Len() == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n| client | host |", s.Name, strings.ToUpper(s.About[:1])+s.About[1:])
	for _, m := range columns {
		fmt.Fprintf(&b, " %s |", m.Column)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n" + rows.String())
	return b.String()
}

// read takes a table's cells out of its text again, so that a run of some
// versions or scenarios leaves the others' rows as they were.
func read(text string) map[seen]string {
	out := map[seen]string{}
	var scenario string
	var columns []string
	for _, l := range strings.Split(text, "\n") {
		if name, ok := strings.CutPrefix(l, "### "); ok {
			scenario = name
		}
		cells := strings.Split(l, "|")
		if len(cells) < 4 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		version, host := cells[1], client.Host(cells[2])
		switch {
		case version == "client":
			columns = cells
			continue
		case version == "" || version[0] < '0' || version[0] > '9':
			continue
		}
		for i := 3; i < min(len(cells), len(columns)); i++ {
			for _, m := range slices.Concat(modes, wayModes) {
				if m.Column == columns[i] && cells[i] != "" {
					out[seen{version, scenario, host, m.Name}] = strings.ReplaceAll(cells[i], "<br>", "; ")
				}
			}
		}
	}
	return out
}

// baseline is what the table says of this session's tasks without the gate.
func (w *world) baseline() map[string]string {
	text, err := os.ReadFile(filepath.FromSlash(compatibility))
	if err != nil {
		return nil
	}
	out := map[string]string{}
	cell := read(string(text))[seen{w.version, w.scenario.Name, w.host, "off"}]
	for _, part := range strings.Split(cell, "; ") {
		if label, fate, ok := strings.Cut(part, ": "); ok {
			out[label] = fate
		}
	}
	return out
}

// report ends a run: it may write what the sessions without failures showed.
func report(code int) int {
	if !*writeFlag {
		return code
	}
	all := map[seen]string{}
	if old, err := os.ReadFile(filepath.FromSlash(compatibility)); err == nil {
		all = read(string(old))
	}
	maps.Copy(all, notes)
	versions := map[string]bool{}
	for k := range all {
		versions[k.version] = true
	}
	list := slices.SortedFunc(maps.Keys(versions), func(a, b string) int {
		if older(a, b) {
			return -1
		}
		return 1
	})
	if err := os.WriteFile(filepath.FromSlash(compatibility), []byte(table(all, list)), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		return 1
	}
	return code
}

func TestTableReadsWhatItWrote(t *testing.T) {
	want := map[seen]string{
		{"2.1.9", "fg", client.SDK, "off"}:        "own: killed",
		{"2.1.9", "fg", client.SDK, "gate"}:       "own: blocked, finished; other: killed",
		{"2.1.10", "sib", client.Terminal, "off"}: "a: finished",
	}
	if got := read(table(want, []string{"2.1.9", "2.1.10"})); !maps.Equal(got, want) {
		t.Errorf("read %v", got)
	}
}
