//go:build live

package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

// installedHold is how long one hold lasts as `hookctl install` leaves it.
const installedHold = 9*time.Minute + 30*time.Second

// unscaled are sessions at real time: a task that takes as long as -realtime says,
// of an agent that only ends its turns, as `hookctl install` leaves it.
func unscaled() []scenario {
	return []scenario{
		realtime("realfront", "a foreground agent's long task, not scaled (`-realtime 25m`)", "front", false),
		realtime("realback", "a background agent's long task, not scaled (`-realtime 25m`)", "back", true),
	}
}

func realtime(name, about, script string, background bool) scenario {
	return scenario{
		Name: name, About: about, Hosts: []client.Host{client.SDK}, Modes: []string{"installed"},
		Hold: installedHold, Codes: []string{holdOver, taskEnded}, Limit: 20*time.Minute + 2**realtimeFlag,
		Scripts: func(w *world) scripts {
			own := model.Launch("own", "Bash", map[string]any{"description": "own", "run_in_background": true,
				// It tells how far it is, as builds do: what is silent and idle for ten
				// minutes is let go.
				"command": fmt.Sprintf("for i in $(seq %d); do sleep 20; echo step $i; done; echo RESULT-$((6*7))-own; touch %s",
					int(*realtimeFlag/(20*time.Second)), w.path("own", "done"))})
			return scripts{
				lead:   steps(lead, blocks{agent(script, background)}),
				script: w.patient(script, blocks{own}),
			}
		},
		Play: playReal,
		Cell: func(w *world) string {
			return fmt.Sprintf("%s after %s; agent: %s; coordinator: %s", strings.Join(w.fateWords(), "; "),
				w.took("own").Round(time.Second), count(w.asked(script), "turn"), count(w.asked(lead), "turn"))
		},
		Check: checkReal,
	}
}

// TestRealTime runs for as long as -realtime says, and some minutes more.
func TestRealTime(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	if *realtimeFlag == 0 {
		t.Skip("only with -realtime")
	}
	for _, c := range under.Clients {
		for _, s := range unscaled() {
			for _, host := range s.Hosts {
				for _, m := range modes {
					if s.has(m) {
						t.Run(c.Version+"/"+s.Name+"/"+string(host)+"/"+m.Name, func(t *testing.T) {
							t.Parallel()
							play(t, c, s, host, m)
						})
					}
				}
			}
		}
	}
}

func playReal(w *world) {
	w.aloof = true
	w.prompt(model.Prompt(lead))
	w.wait("the coordinator gets the result", 10*time.Minute+2**realtimeFlag, func() bool {
		return w.over() || slices.ContainsFunc(w.observe(), func(f fate) bool { return f.Reported })
	})
	w.quiet(settled)
	w.carried()
	w.quiet(settled)
}

// took is how long it was from the launch of a task until its result was in the
// coordinator's hands.
func (w *world) took(label string) time.Duration {
	k, _ := w.server.Task(label)
	var began time.Time
	for _, a := range w.server.Asked() {
		if a.Request.Script == k.Owner && began.IsZero() {
			began = a.At
		}
		if a.Request.Script == lead && strings.Contains(a.Request.AllText(), result(label)) {
			return a.At.Sub(began)
		}
	}
	return 0
}

// checkReal: as many holds as fit were over, the next one ended with the outcome,
// and the report came soon after the task's end.
func checkReal(w *world) {
	over := int(*realtimeFlag / installedHold)
	for _, codes := range w.blockCodes() {
		if want := append(slices.Repeat([]string{holdOver}, over), taskEnded); !slices.Equal(codes, want) {
			w.t.Errorf("stops were blocked as %v, want %v", codes, want)
		}
	}
	if late := w.took("own") - *realtimeFlag; late < 0 || late > time.Minute {
		w.t.Errorf("the result came %s after the task's end", late)
	}
	if !w.complete(w.agents()[0]) {
		w.t.Error("the result is not in the report")
	}
}
