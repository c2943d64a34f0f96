//go:build live

package live

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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
	notes[seen{w.version, w.scenario.Name, w.host, w.mode.Name}] = w.cell()
}

const compatibilityHead = `# Compatibility

What became of the background tasks of agents, on each client and host, as seen
by ` + "`go test -tags live ./live/... -args -write`" + `, which wrote this file. live/README.md
says how.

A task is named by its owner. *Finished* tasks came to their own end; *killed*
ones were ended by the client when the agent stopped; the ones *gone with the
client* had no time to finish. *In the report*: the task's output reached whoever
launched the agent, in the agent's final report. *Told*: the client sent a
notification of the task's end. *Blocked*: the gate blocked the agent's stop for
it. An empty cell was not run.
`

// table is the text of docs/compatibility.md.
func table(notes map[seen]string, versions []string) string {
	var b strings.Builder
	b.WriteString(compatibilityHead)
	for _, s := range scenarios {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n| client | host |", s.Name, strings.ToUpper(s.About[:1])+s.About[1:])
		for _, m := range modes {
			fmt.Fprintf(&b, " %s |", m.Column)
		}
		b.WriteString("\n|---|---|" + strings.Repeat("---|", len(modes)) + "\n")
		for _, v := range versions {
			for _, h := range s.Hosts {
				row := fmt.Sprintf("| %s | %s |", v, h)
				some := false
				for _, m := range modes {
					cell, ok := notes[seen{v, s.Name, h, m.Name}]
					some = some || ok
					row += " " + strings.ReplaceAll(cell, "; ", "<br>") + " |"
				}
				if some {
					b.WriteString(row + "\n")
				}
			}
		}
	}
	return b.String()
}

// report ends a run: a full one without failures may write the table.
func report(code int) int {
	if !*writeFlag || code != 0 {
		return code
	}
	var ran []string
	for _, c := range under.Clients {
		ran = append(ran, c.Version)
	}
	if !slices.Equal(ran, Versions) || *smokeFlag || *onlyFlag != "" {
		fmt.Fprintln(os.Stderr, "live: -write needs a full run over the versions of versions.go")
		return 1
	}
	if err := os.WriteFile(filepath.FromSlash(compatibility), []byte(table(notes, ran)), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		return 1
	}
	return 0
}
