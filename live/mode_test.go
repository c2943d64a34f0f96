//go:build live

package live

import (
	"os"
	"slices"
	"strings"
	"time"
)

// entry is one registration of a hook. Whatever it runs is recorded.
type entry struct {
	Event, Matcher string
	Name           string
	// Hook is the arguments of the real hook, nil to record only.
	Hook []string
	// Stub runs in the real hook's place, where the client itself is tried.
	Stub *stub
	// Hold back the running hook's input for this long.
	Delay       time.Duration
	AsyncRewake bool
	Timeout     int // seconds
}

// mode is a way to register stopgate; docs/compatibility.md has a column for
// each.
type mode struct {
	Name, Column string
	// Entries beside the recording ones. None: the client as it is.
	Entries []entry
	// Blocks: the gate is among them.
	Blocks bool
	// Holds: the gate holds a stop before it blocks.
	Holds bool
	// Courier: a courier runs beside the stops.
	Courier bool
	// Installed: the client finds what `hookctl install` wrote into the home, and
	// nothing else. Nothing is recorded then; see installed_test.go.
	Installed bool
	// Alone: stubs of ours are registered in stopgate's place.
	Alone bool
}

// ours tells whether stopgate takes part.
func (m mode) ours() bool { return m.Entries != nil || m.Installed }

// launchers is the matcher of the tools that launch tasks.
const launchers = "Bash|PowerShell|Monitor|Agent|Task|Workflow|SendMessage|mcp__.*"

var modes = []mode{
	{Name: "off", Column: "without the gate"},
	{Name: "gate", Column: "with the gate", Blocks: true, Entries: gateEntries()},
	{Name: "hold", Column: "with hold", Blocks: true, Holds: true, Entries: holdEntries()},
	{Name: "courier", Column: "with the courier alone", Courier: true,
		Entries: append([]entry{{Event: "SubagentStop"}, courierEntry}, gateEntries()[1:]...)},
	{Name: "both", Column: "with hold and courier", Blocks: true, Holds: true, Courier: true,
		Entries: append(holdEntries(), courierEntry)},
	{Name: "installed", Column: "as installed", Blocks: true, Holds: true, Courier: true, Installed: true},
	{Name: "alone", Column: "the client alone", Alone: true},
}

// waiting are the modes in which somebody waits for a task.
var waiting = []string{"hold", "courier", "both", "installed"}

// with are the modes off and gate, and further ones.
func with(more ...string) []string { return append([]string{"off", "gate"}, more...) }

// courierName tells a courier's runs in the record.
const courierName = "courier"

var courierEntry = entry{Event: "SubagentStop", Name: courierName, Hook: []string{"courier", "--for", "40s"}, AsyncRewake: true, Timeout: 70}

// holdEntries are those of hooks.example.json, in the times of a test.
func holdEntries() []entry {
	entries := gateEntries()
	entries[0].Hook, entries[0].Timeout = []string{"gate", "--hold", "60s"}, 90
	return entries
}

// briefly is a Register that sets how long a hold and a courier wait: pairs of
// a flag and its value. A flag that an entry lacks is given to the gate.
func briefly(flags ...string) func([]entry) []entry {
	return func(entries []entry) []entry {
		for i, e := range entries {
			if e.Event != "SubagentStop" || e.Hook == nil {
				continue
			}
			hook := slices.Clone(e.Hook)
			for f := 0; f+1 < len(flags); f += 2 {
				switch at := slices.Index(hook, flags[f]); {
				case at >= 0:
					hook[at+1] = flags[f+1]
				case slices.Contains(hook, "--hold") && flags[f] != "--for":
					hook = append(hook, flags[f], flags[f+1])
				}
			}
			entries[i].Hook = hook
		}
		return entries
	}
}

// gateEntries is the recommended set: the gate, and what tells it of launches
// at once.
func gateEntries(args ...string) []entry {
	hook := append([]string{}, args...)
	return []entry{
		{Event: "SubagentStop", Name: "gate", Hook: hook},
		{Event: "SubagentStart", Name: "gate", Hook: hook},
		{Event: "PostToolUse", Matcher: launchers, Name: "gate", Hook: hook},
		{Event: "SessionEnd", Name: "gate", Hook: hook},
	}
}

// recorded are the events that a session's record holds in every mode.
var recorded = []string{"SessionStart", "SubagentStart", "SubagentStop", "PostToolUse", "Stop", "TeammateIdle", "SessionEnd"}

// settings is the client's settings file with the entries in it. An event that
// no entry asks for is recorded by a hook of our own that stays silent.
func settings(file, hook string, entries []entry, env []string) map[string]any {
	exe, _ := os.Executable()
	asked := map[string]bool{}
	for _, e := range entries {
		asked[e.Event] = true
	}
	for _, event := range recorded {
		if !asked[event] {
			entries = append(entries, entry{Event: event})
		}
	}
	hooks := map[string]any{}
	for _, e := range entries {
		args := []string{recorderArg, file, e.Name, e.Delay.String()}
		switch {
		case e.Hook != nil:
			args = append(append(args, hook), e.Hook...)
		case e.Stub != nil:
			args = append(args, exe, stubArg, file, e.Stub.text())
		}
		command := map[string]any{"type": "command", "command": exe, "args": args, "timeout": max(e.Timeout, 60)}
		if e.AsyncRewake {
			command["asyncRewake"] = true
		}
		group := map[string]any{"hooks": []any{command}}
		if e.Matcher != "" {
			group["matcher"] = e.Matcher
		}
		groups, _ := hooks[e.Event].([]any)
		hooks[e.Event] = append(groups, group)
	}
	variables := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		variables[name] = value
	}
	return map[string]any{"hooks": hooks, "env": variables}
}
