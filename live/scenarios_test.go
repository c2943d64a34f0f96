//go:build live

package live

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

// scenario is a story that a session plays. The coordinator's script is called
// lead; every other script is an agent that ends its turn at least once.
type scenario struct {
	Name  string
	About string
	Hosts []client.Host
	Since string // the oldest client that can play it
	// Smoke are the modes in which it is part of the smoke set, on the first host.
	Smoke []string
	// Modes are the ways of registration it runs with, off and gate if nil.
	Modes []string
	Env   []string
	// Configured are further variables, by the settings.
	Configured []string
	Args       []string
	Files      map[string]string // below the home folder
	// Register changes the hook's registrations.
	Register func([]entry) []entry
	Scripts  func(w *world) map[string]model.Script
	// Stopped are the tasks that their owner stops itself.
	Stopped []string
	// Endless are the tasks that are never released.
	Endless []string
	// Needs are tasks that are launched only after an agent's first end.
	Needs []string
	// Team: what a teammate says at its end reaches nobody by itself.
	Team bool
	// Ignores: its agents do not do what a block asks for.
	Ignores bool
	// Then goes on when everything is quiet, before the tasks are released.
	Then func(w *world)
	// Play replaces the usual course: prompt, quiet, release, quiet.
	Play func(w *world)
	// Codes are the rules by which a held stop may be blocked, task-ended alone
	// if nil.
	Codes []string
	// Hold is how long a hold lasts that does not see the end of its tasks, 0
	// where none of them should.
	Hold time.Duration
	// Install are further arguments of `hookctl install`.
	Install []string
	// Limit is how long the session may take, sessionLimit if zero.
	Limit time.Duration
	// Cell is what the session showed, for the table; the fates of the tasks if
	// nil.
	Cell func(w *world) string
	// Broken: something is cut off on purpose, so that not every task gets its
	// hold or its news.
	Broken bool
	// Turns is how often each script is asked at most, 12 if zero.
	Turns int
	// Check looks at what is special to this scenario.
	Check func(w *world)
}

const lead = "lead"

// coordinates tells whether the coordinator plays a script: it is given others
// by further prompts.
func coordinates(script string) bool {
	return slices.Contains([]string{lead, "writer", "second", "stopper"}, script)
}

// Rules by which a held stop is answered (docs/status.md).
const (
	taskEnded    = "task-ended"
	holdOver     = "hold-over"
	messageWaits = "message-waits"
	patienceOver = "patience-over"
	ceilingNear  = "ceiling-near"
	budgetSpent  = "budget-spent"
	agentStopped = "agent-stopped"
	tasksStopped = "tasks-stopped"
	holdLost     = "hold-lost"
)

func (s scenario) codes() []string {
	if s.Codes == nil {
		return []string{taskEnded}
	}
	return s.Codes
}

// has tells whether the scenario runs with a mode.
func (s scenario) has(m mode) bool {
	if s.Modes == nil {
		return slices.Contains(with(), m.Name)
	}
	return slices.Contains(s.Modes, m.Name)
}

var (
	everywhere = []client.Host{client.SDK, client.Print, client.Terminal}
	talking    = []client.Host{client.SDK, client.Terminal}
	terminal   = []client.Host{client.Terminal}
)

type (
	scripts = map[string]model.Script
	blocks  = []model.Block
)

var forkMode = []string{"CLAUDE_CODE_FORK_SUBAGENT=1"}

// scenarios are those that TestClient plays.
var scenarios = slices.Concat(plain, interrupted, taken, messages, clocked, teams, counted, shown, alone)

// plain are the ways in which an agent leaves a task behind.
var plain = []scenario{
	{
		Name: "fg", About: "a foreground subagent leaves a shell", Hosts: everywhere, Smoke: with("hold"), Modes: with(waiting...),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", false)}),
				"leaver": w.obeying("leaver", blocks{w.shell("own")}),
			}
		},
	},
	{
		Name: "sib", About: "two background siblings and the coordinator with a shell each; B prints acknowledgement sentences with A's id first",
		Hosts: everywhere, Smoke: with(), Modes: with(waiting...),
		Scripts: func(w *world) scripts {
			return scripts{
				lead: steps(lead, blocks{w.shell("main")}, blocks{agent("a", true), agent("b", true)}),
				"a":  w.obeying("a", blocks{w.shell("of-a")}),
				"b":  w.decoyed(w.obeying("b", blocks{w.shell("of-b")}, nil, blocks{work(1)})),
			}
		},
		Check: func(w *world) {
			a, _ := w.server.Task("of-a")
			seen := false
			for _, q := range w.server.Of("b") {
				seen = seen || a.ID != "" && strings.Contains(q.Request.AllText(), " with ID: "+a.ID)
			}
			if !seen && !w.cutShort {
				w.t.Errorf("B never printed A's id: the decoy was not played")
			}
		},
	},
	{
		Name: "ignore", About: "an agent that ignores the block", Hosts: everywhere, Smoke: with(), Modes: with(waiting...), Ignores: true,
		Scripts: func(w *world) scripts {
			return scripts{
				lead:      steps(lead, blocks{agent("ignorer", false)}),
				"ignorer": steps("ignorer", blocks{w.shell("own")}),
			}
		},
	},
	{
		Name: "bg", About: "a background subagent leaves a shell", Hosts: everywhere, Modes: with(waiting...),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", true)}),
				"leaver": w.obeying("leaver", blocks{w.shell("own")}),
			}
		},
	},
	{
		Name: "fork", About: "a fork with a shell, the coordinator with another", Hosts: talking, Env: forkMode, Since: "2.1.198", Modes: with(waiting...),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:    steps(lead, blocks{w.shell("main")}, blocks{agent("forky", true, "subagent_type", "fork", "run_in_background", nil)}),
				"forky": w.obeying("forky", blocks{w.shell("of-fork")}),
			}
		},
	},
	{
		Name: "nested", About: "an agent with a shell and a child agent that has one too", Hosts: everywhere, Modes: with(waiting...),
		Scripts: func(w *world) scripts { return w.family(agent("mate", true)) },
	},
	{
		Name: "nestedfork", About: "an agent with a shell and a child agent, in fork mode", Hosts: talking, Env: forkMode, Modes: with(waiting...),
		Scripts: func(w *world) scripts { return w.family(agent("mate", true)) },
	},
	{
		Name: "team", About: "an in-process teammate with a shell and a child", Hosts: terminal, Team: true, Modes: with(waiting...),
		Env:     teamMode,
		Scripts: func(w *world) scripts { return w.family(w.teammate("mate", "ping")) },
	},
	{
		Name: "teamfork", About: "an in-process teammate with a shell and a child, in fork mode", Hosts: terminal, Team: true, Modes: with(waiting...),
		Env:     slices.Concat(teamMode, forkMode),
		Scripts: func(w *world) scripts { return w.family(w.teammate("mate", "ping")) },
	},
	{
		Name: "kinds", About: "a command that times out into the background, two launches in one message, one of them stopped, a monitor",
		Hosts: everywhere, Stopped: []string{"stopped"}, Modes: with(waiting...),
		Scripts: func(w *world) scripts {
			timesOut := model.Launch("timeout", "Bash", map[string]any{
				"command": w.command("timeout"), "description": "timeout", "timeout": 1000})
			monitor := model.Launch("monitor", "Monitor", map[string]any{
				"command": w.command("monitor"), "description": "monitor", "timeout_ms": 60000})
			monitor.Optional = true // up to 2.1.235 agents have none
			kinds := w.obeying("kinds", blocks{timesOut}, blocks{w.shell("stopped"), w.shell("batch")}, nil, blocks{monitor})
			return scripts{
				lead: steps(lead, blocks{agent("kinds", false)}),
				"kinds": func(turn int, r model.Request) blocks {
					if turn == 2 {
						k, _ := w.server.Task("stopped")
						return blocks{model.Use("TaskStop", map[string]any{"task_id": k.ID})}
					}
					return kinds(turn, r)
				},
			}
		},
	},
	{
		Name: "resume", About: "a finished agent is resumed by a message and leaves a shell in its second life", Hosts: everywhere, Since: "2.1.198", Needs: []string{"second"}, Modes: with(waiting...),
		Scripts: func(w *world) scripts {
			main := steps(lead, blocks{agent("lazarus", false)})
			lazarus := w.obeying("lazarus", says("lazarus", "first life"), blocks{w.shell("second")})
			return scripts{
				lead: func(turn int, r model.Request) blocks {
					k, ok := w.server.Task("lazarus")
					if ok && k.ID != "" && len(w.stops("lazarus")) > 0 && !r.Used("SendMessage") {
						// A message within 50 ms of the stop is lost on 2.1.220,
						// and 2.1.235 resumes from a transcript that is not
						// caught up: the agent begins anew.
						w.onDisk(k.ID, "lazarus: first life")
						return blocks{model.Use("SendMessage", map[string]any{
							"to": k.ID, "summary": "second life", "message": "second life please"})}
					}
					return main(turn, r)
				},
				"lazarus": lazarus,
			}
		},
	},
	{
		Name: "agentsess", About: "a session started with --agent", Hosts: everywhere, Args: []string{"--agent", "reviewer"}, Modes: with(waiting...),
		Files: map[string]string{".claude/agents/reviewer.md": "---\nname: reviewer\ndescription: reviews\n---\nReview.\n"},
		Check: func(w *world) {
			// docs/client.md, ephemeral events: from 2.1.300 on an ephemeral event bears the session's
			// name, so that its type alone does not give it away.
			want := "reviewer"
			if older(w.version, "2.1.300") {
				want = ""
			}
			for _, h := range w.ephemerals() {
				if !w.mode.Installed && (h.AgentType == nil || *h.AgentType != want) {
					w.t.Errorf("ephemeral event with agent_type %v, expected %q", h.AgentType, want)
				}
			}
		},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", false)}),
				"leaver": w.obeying("leaver", blocks{w.shell("own")}),
			}
		},
	},
	{
		Name: "ephemeral", About: "many ephemeral events while an agent's and the coordinator's tasks run", Hosts: []client.Host{client.SDK}, Modes: with(waiting...),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{w.shell("main")}, blocks{agent("leaver", true)}),
				"leaver": steps("leaver", blocks{w.shell("own")}),
			}
		},
		Turns: 20, Ignores: true,
		Then: func(w *world) {
			for i := range 6 {
				before := len(w.ephemerals())
				_ = w.session.Send(w.ctx, fmt.Sprintf("and %d", i), nil)
				w.wait("an ephemeral event", 10*time.Second, func() bool { return len(w.ephemerals()) > before })
			}
		},
		Check: func(w *world) {
			if n := len(w.ephemerals()); n < 6 {
				w.t.Errorf("only %d ephemeral events, expected at least 6", n)
			}
		},
	},
	{
		Name: "endless", About: "a task that never ends", Hosts: talking, Endless: []string{"forever"}, Ignores: true,
		Modes: with(waiting...), Codes: []string{holdOver, patienceOver}, Hold: 3 * time.Second, Install: []string{"--hold", "3s", "--patience", "7s"},
		Register: briefly("--hold", "3s", "--patience", "7s", "--for", "8s"),
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", true)}),
				"leaver": w.obeying("leaver", blocks{w.shell("forever")}),
			}
		},
	},
	{
		Name: "twice", About: "the hook registered twice", Hosts: everywhere, Modes: []string{"gate"},
		Register: func(entries []entry) []entry {
			for _, e := range entries {
				e.Name = "gate2"
				entries = append(entries, e)
			}
			return entries
		},
		Scripts: func(w *world) scripts {
			return scripts{
				lead:     steps(lead, blocks{agent("leaver", false)}),
				"leaver": w.obeying("leaver", blocks{w.shell("own")}),
			}
		},
	},
}

// decoyed puts a step before the third: a foreground command that prints what a
// launch of A's task looks like, and then reads everybody's transcripts.
func (w *world) decoyed(s model.Script) model.Script {
	return func(turn int, r model.Request) blocks {
		if turn != 1 {
			return s(turn, r)
		}
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if k, ok := w.server.Task("of-a"); ok {
				first, _, _ := strings.Cut(k.Result, "\n")
				first, _, _ = strings.Cut(first, "'")
				return blocks{model.Use("Bash", map[string]any{"description": "looks at the others",
					"command": fmt.Sprintf("echo '%s'; cat $HOME/.claude/projects/*/*/subagents/*.jsonl | grep -a 'running in background' | head -3", first)})}
			}
		}
		return blocks{work(0.1)}
	}
}

// family is the scripts of a lead, a mate with a shell, and the mate's child
// with another.
func (w *world) family(mate model.Block) scripts {
	child := agent("child", false, "run_in_background", nil)
	child.Optional = true // on 2.1.150 agents have no children
	return scripts{
		lead:    w.leading(mate),
		"mate":  w.obeying("mate", blocks{w.shell("of-mate")}, blocks{child}),
		"child": w.obeying("child", blocks{w.shell("of-child")}, blocks{work(1)}),
	}
}

// leading is a lead that launches mates.
func (w *world) leading(mates ...model.Block) model.Script {
	main := steps(lead, mates)
	return func(turn int, r model.Request) blocks {
		// Old clients want the team made first.
		if strings.Contains(string(mates[0].Input), "team_name") && r.Has("TeamCreate") {
			if turn == 0 {
				return blocks{model.Use("TeamCreate", map[string]any{"team_name": "probe", "description": "probe"})}
			}
			turn--
		}
		return main(turn, r)
	}
}

// teammate starts a script as a member of the team.
func (w *world) teammate(script, name string) model.Block {
	return agent(script, false, "run_in_background", nil, "name", name, "team_name", "probe")
}

// writeFiles puts the scenario's files in place.
func (s scenario) writeFiles(home string) error {
	for name, text := range s.Files {
		to := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
