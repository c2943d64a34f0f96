//go:build live

package live

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"stopgate/live/client"
	"stopgate/live/model"
)

// ownLine is a status line that somebody has already.
const ownLine = "MY-OWN-LINE"

// shown are sessions in which the status line is looked at on the terminal's screen
// (docs/client.md: the status line).
var shown = []scenario{
	{
		Name: "line", About: "a foreground agent is held, and install --statusline was asked for", Hosts: []client.Host{client.Terminal},
		Modes: []string{"installed"}, Install: []string{"--statusline"}, Scripts: leaverScripts,
		Play: func(w *world) { w.watchLine("") }, Cell: func(w *world) string { return w.line },
	},
	{
		Name: "linebeside", About: "the same below a status line of one's own", Hosts: []client.Host{client.Terminal},
		Modes: []string{"installed"}, Install: []string{"--statusline"}, Scripts: leaverScripts,
		Files: map[string]string{".claude/settings.json": `{"statusLine": {"type": "command", "command": "echo ` + ownLine + `"}}`},
		Play:  func(w *world) { w.watchLine(ownLine) }, Cell: func(w *world) string { return w.line },
	},
}

func leaverScripts(w *world) scripts {
	return scripts{
		lead:     steps(lead, blocks{agent("leaver", false)}),
		"leaver": w.patient("leaver", blocks{w.shell("own")}),
	}
}

// lineIn is how long the client may take to show what the status line says now: it runs
// the command every five seconds.
const lineIn = 25 * time.Second

// watchLine looks at the screen while an agent is held, and after that. Beside is what
// must be there all the time.
func (w *world) watchLine(beside string) {
	const ours = "⏸1held:until["
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.held("leaver")
	w.wait("the screen shows the hold", lineIn, func() bool { return w.drawn(0, ours) })
	w.wait("a screen drawn anew shows it", lineIn, func() bool { return w.redrawn(ours, beside) })
	w.line = "in the hold: ours"
	w.aloof = false
	w.release("own")
	w.wait("no stop is held", lineIn, func() bool { return len(w.heldNow()) == 0 })
	w.noticed()
	w.quiet(settled)
	// The coordinator's last words tell that all of the screen was drawn again.
	w.wait("the screen shows no hold any more", lineIn, func() bool {
		return w.redrawn(lead+":", beside) && !strings.Contains(w.screen, "held:")
	})
	if beside == "" {
		w.line += "; after it: nothing"
		return
	}
	w.line += " below one's own; after it: one's own"
}

// drawn tells whether what was drawn behind some bytes has all of some texts, blanks
// aside: a client moves the cursor over them.
func (w *world) drawn(behind int, texts ...string) bool {
	w.screen = strings.Join(strings.Fields(ansi.Strip(w.session.Output()[behind:])), "")
	for _, text := range texts {
		if !strings.Contains(w.screen, text) {
			return false
		}
	}
	return true
}

// redrawn has the screen drawn anew, by another size of the terminal, and tells whether
// that brought all of some texts.
func (w *world) redrawn(texts ...string) bool {
	before := len(w.session.Output())
	if err := w.session.Resize(); err != nil {
		w.t.Fatal(err)
	}
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if w.drawn(before, texts...) {
			return true
		}
	}
	return false
}
