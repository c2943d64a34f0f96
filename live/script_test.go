//go:build live

package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/live/model"
)

// The scripts of the scenarios are made from these. Every text that ends a turn
// begins with the script's name, so that a stop's last_assistant_message tells
// whose it is.

// says is the text that a script ends a turn with.
func says(script, format string, args ...any) []model.Block {
	return []model.Block{model.Text(script + ": " + fmt.Sprintf(format, args...))}
}

// speaker is the script whose text it is.
func speaker(text string) string {
	name, _, ok := strings.Cut(text, ": ")
	if !ok {
		return ""
	}
	return name
}

// shell launches the task called label in the background.
func (w *world) shell(label string) model.Block {
	return model.Launch(label, "Bash", map[string]any{
		"command": w.command(label), "description": label, "run_in_background": true})
}

// work is a foreground command that does something for a while.
func work(seconds float64) model.Block {
	return model.Use("Bash", map[string]any{
		"command":     fmt.Sprintf(`python3 -c "import time;time.sleep(%g)"; echo worked`, seconds),
		"description": "work"})
}

// agent starts another script as a subagent.
func agent(script string, background bool, more ...any) model.Block {
	input := map[string]any{"description": script, "prompt": model.Prompt(script),
		"subagent_type": "general-purpose", "run_in_background": background}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] == nil {
			delete(input, more[i].(string))
			continue
		}
		input[more[i].(string)] = more[i+1]
	}
	return model.Launch(script, "Agent", input)
}

// steps is a script that does one step a turn and then says that its turn ends,
// each time it is asked again, with what it was told.
func steps(name string, list ...[]model.Block) model.Script {
	return func(turn int, r model.Request) []model.Block {
		if turn < len(list) {
			return list[turn]
		}
		switch {
		case r.Feedback() != "":
			return says(name, "was blocked, ends turn %d all the same", turn)
		case r.Notified():
			return says(name, "was notified")
		}
		return says(name, "ends its turn %d", turn)
	}
}

// obeying is the same for an agent that does what a block or a notification asks
// for: it waits for its tasks in the foreground and then reports in full.
func (w *world) obeying(name string, list ...[]model.Block) model.Script {
	plain := steps(name, list...)
	return func(turn int, r model.Request) []model.Block {
		if out, ok := r.Results()["await"]; ok {
			return says(name, "complete final report: %s", out)
		}
		if r.Feedback() != "" || (r.Notified() && turn >= len(list)) {
			return []model.Block{w.await(name)}
		}
		return plain(turn, r)
	}
}

// await waits in the foreground for every task that the script launched, for at
// most five seconds, and shows their output files. It lets the tasks end soon
// after the waiting began.
func (w *world) await(owner string) model.Block {
	var cmd []string
	for _, t := range w.shells() {
		if t.Owner != owner || slices.Contains(w.scenario.Stopped, t.Label) {
			continue
		}
		label := t.Label
		if !slices.Contains(w.scenario.Endless, label) {
			time.AfterFunc(300*time.Millisecond, func() { w.release(label) })
		}
		cmd = append(cmd, fmt.Sprintf("i=0; until [ -e %s ] || [ $i -ge 50 ]; do sleep 0.1; i=$((i+1)); done", w.path(label, "done")))
		if _, out, ok := strings.Cut(t.Result, "written to: "); ok {
			out, _, _ = strings.Cut(out, ".output")
			cmd = append(cmd, "cat "+out+".output")
		}
	}
	b := model.Use("Bash", map[string]any{"command": strings.Join(append(cmd, "true"), "; "), "description": "wait", "timeout": 15000})
	b.Label = "await"
	return b
}

// working is an agent that calls a tool each time before it ends its turn.
func working(name string) model.Script {
	return func(turn int, _ model.Request) []model.Block {
		if turn%2 == 0 {
			return []model.Block{work(0.1)}
		}
		return says(name, "ends its turn %d", turn)
	}
}
