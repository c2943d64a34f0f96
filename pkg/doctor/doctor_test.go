package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/live"
	"stopgate/pkg/config"
	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/settings"
	"stopgate/pkg/setup"
	"stopgate/pkg/state"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }

// source is a settings file, as a test wants it.
type source setup.SettingsFile

// registered is a settings file with the entries of a choice.
func registered(scope string, change func(*setup.Choice)) source {
	c := setup.Default()
	if change != nil {
		change(&c)
	}
	return with(scope, setup.Entries("/data/stopgate/bin/hook", c)...)
}

// refused is a file with our entries that some clients read nothing of.
func refused(since, until string) source {
	s := registered("user", nil)
	s.Offences = []settings.Offence{{
		ShapeError: settings.ShapeError{Line: 1, Column: 2, Path: "env", Problem: "is null", Mend: "x"}, Since: since, Until: until,
	}}
	return s
}

func with(scope string, entries ...settings.Entry) source {
	s := source{Scope: scope, Path: "/" + scope + ".json"}
	for _, e := range entries {
		s.Hooks = append(s.Hooks, hookOf(e))
	}
	return s
}

func hookOf(e settings.Entry) setup.Hook {
	return setup.Hook{Found: settings.Found{Entry: e, Path: fmt.Sprintf("hooks.%s[0]", e.Event)}, Program: e.Command, Flags: e.Args}
}

func (s source) looking(v settings.Conditions) source { s.Conditions = v; return s }
func (s source) env(name, value string) source {
	return s.looking(settings.Conditions{Env: map[string]string{name: value}})
}

func TestChecks(t *testing.T) {
	gate := func(timeout int, args ...string) settings.Entry {
		return settings.Entry{Event: "SubagentStop", Command: "/h/hook", Args: append([]string{}, args...), Timeout: timeout}
	}
	proved := func(e settings.Entry, err error) []setup.Proof {
		return []setup.Proof{{Hook: hookOf(e), Want: "blocks the stop", Took: 5 * time.Millisecond, Err: err}}
	}
	plugged := source{Scope: settings.User, Path: "/user.json", Plugin: "stopgate@x"}
	for _, c := range []struct {
		check, situation string
		sources          []source
		env              map[string]string
		host             host.Host
		facts            facts // everything else
		status           Status
		found, mend      string // parts of it
	}{
		{check: "config", situation: "none", status: OK, found: "no file of a person"},
		{check: "config", situation: "both", facts: facts{config: config.Config{PersonPath: "/h/config.toml", ProjectPath: "/p/.stopgate.toml"}}, status: OK, found: "/h/config.toml, /p/.stopgate.toml"},
		{check: "config", situation: "a key that nobody knows", facts: facts{config: config.Config{ProjectPath: "/p/.stopgate.toml"}, problems: []config.Problem{{Path: "/p/.stopgate.toml", Line: 3, Text: "colour: no setting that is known here"}}}, status: Warn, found: "/p/.stopgate.toml: line 3: colour: no setting", mend: "hookctl config check"},
		{check: "config", situation: "a broken file", facts: facts{problems: []config.Problem{{Path: "/p/.stopgate.toml", Text: "larger than 64 kB", Broken: true}}}, status: Warn, found: "larger than 64 kB (the whole file is passed over)"},
		{check: "config", situation: "an entry's flag is in the way", sources: []source{registered("user", func(c *setup.Choice) { c.Patience = 2 * time.Hour })}, facts: facts{config: config.Config{Patience: config.Value[time.Duration]{V: time.Minute, From: config.Person}, PersonPath: "/h/config.toml"}}, status: Note, found: "what they say of patience does not count"},
		{check: "config", situation: "what install writes is not in the way", sources: []source{registered("user", nil)}, facts: facts{config: config.Config{Patience: config.Value[time.Duration]{V: time.Minute, From: config.Person}, PersonPath: "/h/config.toml"}}, status: OK, found: "/h/config.toml"},
		{check: "config", situation: "a hold that the entry's timeout ends", sources: []source{registered("user", nil)}, facts: facts{config: config.Config{Hold: config.Value[time.Duration]{V: 20 * time.Minute, From: config.Person}, PersonPath: "/h/config.toml"}}, status: Warn, found: "a hold of 20m does not fit the timeout of 11m", mend: "a longer timeout"},
		{check: "settings", situation: "none", status: Note, found: "no settings file"},
		{check: "settings", situation: "one", sources: []source{registered("user", nil)}, status: OK, found: "user /user.json"},
		{check: "settings", situation: "one is no JSON", sources: []source{{Scope: "local", Path: "/local.json", Err: errors.New("line 1, column 2: x")}, registered("user", nil)},
			status: Fail, found: "/local.json: line 1, column 2: x", mend: "mend that file"},

		{check: "entries", situation: "none", status: Fail, found: "no settings", mend: "hookctl install"},
		{check: "entries", situation: "the recommended set", sources: []source{registered("user", nil)}, status: OK,
			found: "user: gate --hold 9m30s --patience 1h, courier --for 2h, SubagentStart, PostToolUse, SessionEnd, lead --patience 1h"},
		{check: "entries", situation: "split over two scopes", sources: []source{with("user", gate(0)), registered("local", nil)}, status: OK, found: "user: gate; local: gate --hold 9m30s --patience 1h"},
		{check: "entries", situation: "by the plugin", sources: []source{plugged}, status: OK, found: "by the plugin stopgate@x in user"},
		{check: "entries", situation: "the gate alone", sources: []source{with("user", gate(0))}, status: Warn, found: "missing: SubagentStart, PostToolUse, SessionEnd", mend: "hookctl install"},
		{check: "entries", situation: "no gate", sources: []source{with("user", settings.Entry{Event: "SessionEnd", Command: "/h/hook", Args: []string{}})}, status: Fail, found: "no gate on SubagentStop"},
		{check: "entries", situation: "a gate with flags it does not know", sources: []source{with("user", gate(0, "--new"))}, status: Fail, found: "no gate"},
		{check: "entries", situation: "no courier", sources: []source{registered("user", func(c *setup.Choice) { c.Courier = false })}, status: Note, found: "no courier", mend: "--no-courier=false"},
		{check: "entries", situation: "another matcher", sources: []source{func() source {
			s := registered("user", nil)
			s.Hooks[3].Matcher = "Bash"
			return s
		}()}, status: Note, found: `"Bash"`},

		{check: "entries", situation: "a gate for one kind of agent", sources: []source{func() source {
			s := registered("user", nil)
			for i := range s.Hooks {
				s.Hooks[i].Matcher = "Explore"
			}
			return s
		}()}, status: Warn, found: `"Explore" of SubagentStop only those agents`, mend: "/user.json"},
		{check: "entries", situation: "and one for all", sources: []source{registered("user", nil), with("local", settings.Entry{Event: "SubagentStop", Matcher: "Explore", Command: "/h/hook", Args: []string{}})}, status: OK},

		{check: "entries", situation: "such a gate, and no courier", sources: []source{func() source {
			s := registered("user", func(c *setup.Choice) { c.Courier = false })
			s.Hooks[0].Matcher = "reviewer"
			return s
		}()}, status: Warn, found: `"reviewer" of SubagentStop only those agents are guarded; no courier`, mend: "/user.json"},
		{check: "entries", situation: "a matcher that matches everything", sources: []source{func() source {
			s := registered("user", nil)
			s.Hooks[0].Matcher, s.Hooks[1].Matcher = ".+", "*"
			return s
		}()}, status: OK},
		{check: "entries", situation: "a courier for one kind of agent", sources: []source{func() source {
			s := registered("user", nil)
			s.Hooks[1].Matcher = "Explore"
			return s
		}()}, status: Warn, found: "only those agents have a courier", mend: "/user.json"},
		{check: "entries", situation: "a courier that is waited for", sources: []source{func() source {
			s := registered("user", nil)
			s.Hooks[1].AsyncRewake = false
			return s
		}()}, status: Fail, found: "has no asyncRewake", mend: `"asyncRewake": true`},
		{check: "entries", situation: "a gate that is not waited for", sources: []source{func() source {
			s := registered("user", nil)
			s.Hooks[0].Async = true
			return s
		}()}, status: Fail, found: "can block nothing", mend: "take async"},

		{check: "hook", situation: "nothing registered", status: Note, found: "nothing registered"},
		{check: "hook", situation: "it blocks", facts: facts{proofs: proved(gate(0), nil)}, status: OK, found: "/h/hook: blocks the stop (5ms)"},
		{check: "hook", situation: "it does not", facts: facts{proofs: proved(gate(0, "--x"), errors.New("no such file"))}, status: Fail, found: "/h/hook --x on SubagentStop: no such file", mend: "hookctl install"},
		{check: "hook", situation: "through a shell", facts: facts{proofs: proved(settings.Entry{Event: "SubagentStop", Command: "/h/hook gate", Shell: true}, nil)}, status: Note, found: "shell"},
		{check: "hook", situation: "a relative path", facts: facts{proofs: []setup.Proof{{Hook: hookOf(settings.Entry{Event: "SubagentStop", Command: "bin/hook", Args: []string{}}), Skipped: "not tried: bin/hook is another program in each folder"}}}, status: Warn, found: "in each folder", mend: "hookctl install"},
		{check: "hook", situation: "a program that install did not put there", facts: facts{proofs: append(proved(gate(0), nil), setup.Proof{Hook: hookOf(gate(0)), Skipped: "not tried: it is another's"})}, status: Note, found: "/h/hook: blocks the stop (5ms); not tried: it is another's"},
		{check: "hook", situation: "a program that is gone", facts: facts{reinstall: "get it back", proofs: proved(gate(0), &fs.PathError{Op: "stat", Path: "/h/hook", Err: fs.ErrNotExist})}, status: Fail, found: "/h/hook on SubagentStop: stat /h/hook", mend: "get it back"},
		{check: "hook", situation: "a variable that no program of Go can read", facts: facts{proofs: []setup.Proof{{Hook: hookOf(gate(0)), Err: errors.New("exit code 2: malformed"), Mend: "mend GOMEMLIMIT"}}}, status: Fail, found: "malformed", mend: "mend GOMEMLIMIT"},

		{check: "settings", situation: "hooks are null", sources: []source{{Scope: "local", Path: "/local.json", Misfit: errors.New("line 1, column 2: x")}}, status: Fail, found: "/local.json: line 1, column 2: x", mend: "mend that place in the file, then hookctl install"},
		{check: "entries", situation: "a gate that somebody wrote", sources: []source{func() source {
			s := registered("user", nil)
			s.Hooks[0].ByHand = true
			return s
		}()}, status: OK, found: "user: gate --hold 9m30s --patience 1h (by a line of your own), courier"},

		{check: "owner", situation: "all the same", facts: facts{person: "dev"}, status: OK, found: "belongs to dev"},
		{check: "owner", situation: "root's", facts: facts{person: "dev", strangers: []setup.Stranger{{Path: "/h/a b", Owner: "root"}, {Path: "/h/a b/x", Owner: "root"}, {Path: "/h/c", Owner: "root"}}}, status: Warn,
			found: "3 files and folders belong to root, who is not whose home this is, so the hook may not be able to write: /h/a b, /h/c", mend: "sudo chown -R dev: '/h/a b' '/h/c'"},
		{check: "owner", situation: "of a user without an entry", facts: facts{person: "54321", strangers: []setup.Stranger{{Path: "/h", Owner: "root"}, {Path: "/h-2", Owner: "root"}, {Path: "/h/c", Owner: "root"}}}, status: Warn, found: ": /h, /h-2", mend: "sudo chown -R 54321 '/h' '/h-2'"},
		{check: "settings", situation: "a key that each client minds", sources: []source{refused("", "")}, status: Fail, found: "/user.json: line 1, column 2: env is null; x: each client that was tried reads nothing of such a file", mend: "mend that place in the file"},
		{check: "settings", situation: "an entry that some clients mind", sources: []source{refused("", "2.1.245")}, status: Warn, found: "each client up to 2.1.245"},
		{check: "settings", situation: "and this one does", sources: []source{refused("", "2.1.245")}, facts: facts{version: "2.1.220"}, status: Fail, found: "each client up to 2.1.245"},
		{check: "settings", situation: "and this one does not", sources: []source{refused("", "2.1.245")}, facts: facts{version: "2.1.300"}, status: OK, found: "user /user.json"},
		{check: "settings", situation: "this one has begun to", sources: []source{refused("2.1.300", "")}, facts: facts{version: "2.1.300"}, status: Fail, found: "each client since 2.1.300"},
		{check: "hook", situation: "no room to try", facts: facts{proofErr: errors.New("disk full")}, status: Warn, found: "disk full"},

		{check: "timeout", situation: "the recommended set", sources: []source{registered("user", nil)}, status: OK, found: "gate --hold 9m30s --patience 1h under a timeout of 11m, courier --for 2h under a timeout of 2h1m"},
		{check: "timeout", situation: "shorter than the hold", sources: []source{with("local", gate(300, "--hold", "9m"))}, status: Fail, found: "/local.json hooks.SubagentStop[0]: a timeout of 300 s under a hold of 9m: the client ends", mend: `"timeout": 600`},
		{check: "timeout", situation: "none, so the client's default, under a hold as long", sources: []source{with("user", gate(0, "--hold", "10m"))}, status: Fail, found: "no timeout, so the client's own of 10m"},
		{check: "timeout", situation: "none, under a hold near the client's default", sources: []source{with("project", gate(0, "--hold", "9m55s"))}, status: Warn, found: "/project.json hooks.SubagentStop[0]: no timeout"},
		{check: "timeout", situation: "the client's default under a short hold", sources: []source{with("user", gate(0, "--hold", "1m", "--patience", "5m"))}, status: OK},
		{check: "timeout", situation: "just longer", sources: []source{with("user", gate(545, "--hold", "9m"))}, status: Warn, found: "no time to answer", mend: `"timeout": 600`},
		{check: "timeout", situation: "the courier's default of two hours", sources: []source{with("user", gate(600, "courier"))}, status: Fail, found: "courier's wait of 2h"},
		{check: "timeout", situation: "the coordinator's hold longer than its timeout", sources: []source{with("user", settings.Entry{Event: "Stop", Command: "/h/hook", Args: []string{"lead", "--patience", "2h"}, Timeout: 3660})}, status: Fail, found: "a timeout of 3660 s under the coordinator's hold of 2h", mend: `"timeout": 7260`},
		{check: "timeout", situation: "no hold", sources: []source{with("user", gate(30))}, status: OK},
		{check: "timeout", situation: "nothing", status: Note},
		{check: "timeout", situation: "as former versions registered it, in a project", sources: []source{registered("user", nil), with("project", gate(660, "gate", "--hold", "10m"))}, status: Warn,
			found: "/project.json hooks.SubagentStop[0]: a hold of 10m comes up to the 10m", mend: "hookctl install"},
		{check: "timeout", situation: "a hold of half an hour", sources: []source{with("local", gate(1860, "--hold", "30m"))}, status: Warn, found: "a hold of 30m", mend: "hookctl install --hold 9m30s"},
		{check: "timeout", situation: "exactly half a minute below the stall limit", sources: []source{with("local", gate(660, "--hold", "9m30s"))}, status: OK},
		{check: "timeout", situation: "a shorter stall limit in the settings", sources: []source{registered("user", nil), with("local").env("CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS", "120000")}, status: Warn, found: "to the 2m without", mend: "--hold 1m30s"},
		{check: "timeout", situation: "a longer one in the environment", env: map[string]string{"CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS": "3600000"}, sources: []source{with("user", gate(1860, "--hold", "30m"))}, status: OK},
		{check: "timeout", situation: "more patience than seven holds", sources: []source{with("user", gate(660, "--hold", "9m", "--patience", "3h"))}, status: Note, found: "is let go after 1h3m"},
		{check: "timeout", situation: "the plugin of a former version", sources: []source{plugged}, facts: facts{plugins: []setup.SettingsFile{setup.SettingsFile(with("plugin", gate(660, "gate", "--hold", "10m")))}}, status: Warn, found: "/plugin.json hooks.SubagentStop[0]: a hold of 10m", mend: "plugin build"},

		{check: "clocks", situation: "the client's own", status: OK, found: "no progress for 10m (the client's own), so a hold ends after 9m30s"},
		{check: "clocks", situation: "a short stall limit", env: map[string]string{"CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS": "15000"}, status: OK, found: "for 15s (CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS in the environment), so a hold ends after 5s"},
		{check: "clocks", situation: "a long idle time of the stream", sources: []source{with("user").env("CLAUDE_STREAM_IDLE_TIMEOUT_MS", "900000")}, status: OK, found: "for 20m (CLAUDE_STREAM_IDLE_TIMEOUT_MS in user settings)"},
		{check: "clocks", situation: "run by an agent of a print run", host: host.Host{Ancestors: func() []int { return []int{7} }, Command: func(int) ([]string, bool) { return []string{"claude", "-p", "x"}, true }}, status: OK, found: "; this is run in a session of the kind print, told by its command line"},
		{check: "clocks", situation: "no ceiling, and a low cap", env: map[string]string{"CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS": "0", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "3"}, status: OK, found: "; a print run waits for agents in the background as long as they take"},
		{check: "clocks", situation: "nonsense", env: map[string]string{"CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS": "-1", "CLAUDE_STREAM_IDLE_TIMEOUT_MS": "soon"}, status: OK, found: "for 10m"},

		{check: "doubled", situation: "once", sources: []source{registered("user", nil)}, status: OK},
		{check: "doubled", situation: "in two scopes", sources: []source{registered("user", nil), registered("project", nil)}, status: Warn, found: "SubagentStop 2 times (user, project); SubagentStop courier 2 times", mend: "hookctl uninstall"},
		{check: "doubled", situation: "twice in one file", sources: []source{with("user", gate(0), gate(0, "--hold", "1m"))}, status: Warn, found: "SubagentStop 2 times (user, user)"},
		{check: "doubled", situation: "and the plugin", sources: []source{plugged, registered("local", nil)}, status: Note, found: "by the plugin stopgate@x"},
		{check: "doubled", situation: "the plugin alone", sources: []source{plugged}, status: OK},

		{check: "policy", situation: "nothing said", sources: []source{registered("user", nil)}, status: OK},
		{check: "policy", situation: "hooks disabled", sources: []source{registered("user", nil).looking(settings.Conditions{DisableAllHooks: yes()})}, status: Fail, found: "disableAllHooks in /user.json"},
		{check: "policy", situation: "disabled, and enabled by a stronger scope", sources: []source{with("user").looking(settings.Conditions{DisableAllHooks: yes()}), with("local").looking(settings.Conditions{DisableAllHooks: no()})}, status: OK},
		{check: "policy", situation: "only managed hooks", sources: []source{registered("user", nil), with("managed").looking(settings.Conditions{AllowManagedHooksOnly: yes()})}, status: Fail, found: "allowManagedHooksOnly in /managed.json"},
		{check: "policy", situation: "only managed hooks, and ours are", sources: []source{registered("managed", nil).looking(settings.Conditions{AllowManagedHooksOnly: yes()})}, status: OK},
		{check: "policy", situation: "only managed hooks, said by a user", sources: []source{with("user").looking(settings.Conditions{AllowManagedHooksOnly: yes()})}, status: OK},

		{check: "switch", situation: "on", status: OK},
		{check: "switch", situation: "off for ever", facts: facts{state: stateFacts{off: "the off switch"}}, status: Warn, found: "off by the off switch", mend: "hookctl on"},
		{check: "switch", situation: "off for a while", facts: facts{state: stateFacts{off: "the off switch", until: now.Add(time.Hour)}}, status: Note, found: "until 20"},

		{check: "switch", situation: "off here", env: map[string]string{state.EnvDisable: "yes"}, status: Warn, found: "STOPGATE_DISABLE=yes in the environment", mend: "the environment"},
		{check: "switch", situation: "off by a settings file", sources: []source{with("local").env(state.EnvDisable, "1")}, status: Warn, found: "STOPGATE_DISABLE=1 in local settings", mend: "take it out of local settings"},
		{check: "switch", situation: "off here, on by a settings file", env: map[string]string{state.EnvDisable: "1"}, sources: []source{with("local").env(state.EnvDisable, "0")}, status: OK},

		{check: "state", situation: "a path that leads elsewhere from each folder", sources: []source{with("user").env(state.EnvDir, "~/s")}, status: Warn, found: "STOPGATE_STATE_DIR=~/s in user settings is no absolute path", mend: "whole path"},
		{check: "state", situation: "the hook has another one", sources: []source{with("user").env(state.EnvDir, "/s")}, facts: facts{state: stateFacts{path: "/h/.local/state/stopgate"}}, status: Warn, found: "it looks at /h/.local", mend: "for your shell"},
		{check: "state", situation: "both have the same", env: map[string]string{state.EnvDir: "/s"}, sources: []source{with("user").env(state.EnvDir, "/s")}, facts: facts{state: stateFacts{path: "/s"}}, status: OK},
		{check: "state", situation: "usable", facts: facts{state: stateFacts{path: "/s"}}, status: OK, found: "/s can be written and locked"},
		{check: "state", situation: "not there yet", facts: facts{state: stateFacts{path: "/s", missing: true}}, status: OK, found: "will be made"},
		{check: "state", situation: "read-only", facts: facts{state: stateFacts{path: "/s", err: errors.New("read-only")}}, status: Fail, found: "/s: read-only", mend: "STOPGATE_STATE_DIR"},
		{check: "state", situation: "no home", facts: facts{state: stateFacts{err: errors.New("no home")}}, status: Fail, mend: "set HOME"},
		{check: "state", situation: "broken sessions", facts: facts{state: stateFacts{path: "/s"}, sessions: sessionFacts{count: 3, unreadable: 1}}, status: Warn, found: "1 of 3 sessions"},

		{check: "recorded", situation: "nothing", status: Note, found: "no event", mend: "start a new session"},
		{check: "recorded", situation: "only ephemeral events", facts: facts{sessions: sessionFacts{ephemeral: 3}}, status: Note, found: "3 times"},
		{check: "recorded", situation: "a moment ago", facts: facts{sessions: sessionFacts{id: "65f459a2-9db1", event: "SubagentStop", at: now.Add(-3 * time.Second)}}, status: OK, found: "SubagentStop of session 65f459a2, 3s ago"},
		{check: "recorded", situation: "days ago", facts: facts{sessions: sessionFacts{id: "x", event: "SessionEnd", at: now.Add(-100 * time.Hour)}}, status: OK, found: "4 days ago"},

		{check: "client", situation: "unknown", status: Note, found: "no transcript"},
		{check: "client", situation: "a tested one", facts: facts{version: "2.1.220"}, status: OK, found: "2.1.220, tested: without the gate an agent never hears"},
		{check: "client", situation: "between two tested ones", facts: facts{version: "2.1.310"}, status: OK, found: "between the tested 2.1.300 and 2.1.332"},
		{check: "client", situation: "newer than all", facts: facts{version: "2.2.0"}, status: Note, found: "newer than the newest tested one, 2.1.332"},
		{check: "client", situation: "older than all", facts: facts{version: "2.1.146"}, status: Note, found: "older than the oldest tested one, 2.1.150"},
		{check: "client", situation: "without background_tasks", facts: facts{version: "2.1.140"}, status: Fail, found: "no stop is ever blocked", mend: "update"},
		{check: "client", situation: "without the exec form", facts: facts{version: "2.1.99"}, status: Fail, found: "no args", mend: "update"},

		{check: "background", situation: "on", status: OK},
		{check: "background", situation: "off in the environment", env: map[string]string{envNoBackground: "1"}, status: Note, found: "in the environment"},
		{check: "background", situation: "off in project settings", sources: []source{with("project").env(envNoBackground, "true")}, status: Note, found: "in project settings"},
		{check: "background", situation: "off in the environment, on again by a scope", env: map[string]string{envNoBackground: "1"}, sources: []source{with("user").env(envNoBackground, "0")}, status: OK},

		{check: "cap", situation: "the client's own", sources: []source{registered("user", nil)}, status: OK, found: "8 blocks in a row (the client's own), --blocks 1"},
		{check: "cap", situation: "none", env: map[string]string{envCap: "0"}, status: OK, found: "no cap"},
		{check: "cap", situation: "below --blocks", env: map[string]string{envCap: "2"}, sources: []source{registered("user", func(c *setup.Choice) { c.Blocks = 3 })}, status: Warn, found: "--blocks 3 asks for more", mend: envCap},
		{check: "cap", situation: "lowered, but enough for one task", sources: []source{registered("user", nil).env(envCap, "3")}, status: Note, found: "not for an agent that leaves 4 tasks"},
		{check: "cap", situation: "more blocks than stopgate gives", sources: []source{registered("user", func(c *setup.Choice) { c.Blocks = 9 })}, status: Note, found: "at most 7"},
		{check: "cap", situation: "no number", env: map[string]string{envCap: "many"}, status: OK, found: "is no number"},

		{check: "teams", situation: "off", status: OK},
		{check: "teams", situation: "on, fork mode unpinned", env: map[string]string{envTeams: "1"}, status: Warn, found: "switched on remotely", mend: `"CLAUDE_CODE_FORK_SUBAGENT": "0"`},
		{check: "teams", situation: "on in settings, fork mode on", sources: []source{with("user").env(envTeams, "1")}, env: map[string]string{envFork: "1"}, facts: facts{version: "2.1.235"}, status: Warn, found: "fork mode is on (the environment)"},
		{check: "teams", situation: "on, fork mode pinned off", sources: []source{with("user").env(envFork, "0")}, env: map[string]string{envTeams: "true"}, status: OK, found: "pinned off (user settings)"},
		{check: "teams", situation: "on, fork mode pinned off and on again by a stronger scope", sources: []source{with("user").env(envFork, "0"), with("local").env(envFork, "1")}, env: map[string]string{envTeams: "1"}, status: Warn},
		{check: "teams", situation: "on, with a client in which it does no harm", env: map[string]string{envTeams: "1"}, facts: facts{version: "2.1.300"}, status: OK, found: "2.1.300"},
		{check: "teams", situation: "on, with the last client in which it does", env: map[string]string{envTeams: "1"}, facts: facts{version: "2.1.235"}, status: Warn},
	} {
		t.Run(c.check+"/"+c.situation, func(t *testing.T) {
			f := c.facts
			f.now, f.sources = now, nil
			for _, s := range c.sources {
				f.sources = append(f.sources, setup.SettingsFile(s))
			}
			f.short = func(p string) string { return p }
			f.env = func(name string) string { return c.env[name] }
			f.limits = setup.World{Host: host.Host{Env: f.env}}.Limits(c.host, f.sources)
			i := slices.IndexFunc(checks, func(k struct {
				name string
				ask  func(facts) Check
			}) bool {
				return k.name == c.check
			})
			got := checks[i].ask(f)
			if got.Status != c.status || !strings.Contains(got.Found, c.found) || !strings.Contains(got.Mend, c.mend) {
				t.Errorf("got %+v\nwant %s, %q, %q", got, c.status, c.found, c.mend)
			}
			if got.Found == "" || (got.Status == Warn || got.Status == Fail) && got.Mend == "" && c.check != "hook" && c.check != "state" && c.check != "entries" {
				t.Errorf("says too little: %+v", got)
			}
		})
	}
}

// The versions stand in three places: here, in the live suite that runs them,
// and in the table that it writes.
func TestTestedVersionsAreTheLiveOnes(t *testing.T) {
	if !reflect.DeepEqual(Tested, live.Versions) {
		t.Errorf("Tested %v, live.Versions %v", Tested, live.Versions)
	}
	data, err := os.ReadFile("../../docs/compatibility.md")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("docs/compatibility.md has not been written yet")
	}
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+\.\d+\.\d+) \|`).FindAllStringSubmatch(string(data), -1) {
		if !slices.Contains(rows, m[1]) {
			rows = append(rows, m[1])
		}
	}
	slices.SortFunc(rows, func(a, b string) int {
		if older(a, b) {
			return -1
		}
		return 1
	})
	if !reflect.DeepEqual(rows, Tested) {
		t.Errorf("docs/compatibility.md tells of %v, Tested %v", rows, Tested)
	}
}

func TestNumber(t *testing.T) {
	for version, ok := range map[string]bool{"2.1.332": true, "2.1": false, "2.1.x": false, "": false, "2.1.-3": false, "2.1.332.1": false} {
		if _, got := number(version); got != ok {
			t.Errorf("number(%q) %v", version, got)
		}
	}
}

// machine is a world with an empty home and a doctor in it.
func machine(t *testing.T) (Doctor, string) {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{"HOME": home, "LOCALAPPDATA": home, "USERPROFILE": home, state.EnvDir: filepath.Join(home, "state")}
	return Doctor{
		World: setup.World{Host: host.Host{Env: func(n string) string { return env[n] }}, Cwd: home},
		Now:   now,
	}, home
}

// Where the hook falls back to the temp folder, the state is not as it should be.
func TestAStateFolderThatCannotBeOne(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	for situation, lay := range map[string]func(dir string) error{
		"a link to nowhere": func(dir string) error { return os.Symlink("/gone/away", dir) },
		"a file":            func(dir string) error { hosttest.Write(t, now, dir, ""); return nil },
		"a file inside it": func(dir string) error {
			hosttest.Write(t, now, filepath.Join(dir, "sessions"), "")
			return nil
		},
		"a link to nowhere inside it": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Symlink("/gone/away", filepath.Join(dir, "sessions")))
		},
	} {
		d, home := machine(t)
		if err := lay(filepath.Join(home, "state")); err != nil {
			t.Fatal(err)
		}
		got := stateUsable(facts{now: now, short: func(p string) string { return p }, env: d.World.Env, state: d.state(t.Context())})
		if got.Status != Fail || !strings.Contains(got.Found, "makes do with "+state.Fallback()) {
			t.Errorf("%s: %+v", situation, got)
		}
	}
}

func TestStateIsTriedAndLeftAsItWas(t *testing.T) {
	d, home := machine(t)
	dir := filepath.Join(home, "state")
	if got := d.state(t.Context()); got.err != nil || !got.missing {
		t.Errorf("missing folder: %+v", got)
	}
	if entries, _ := os.ReadDir(home); len(entries) != 0 {
		t.Errorf("left %v", entries)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := d.state(t.Context()); got.err != nil || got.missing {
		t.Errorf("empty folder: %+v", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left %v", entries)
	}
	if err := state.At(dir).SwitchOff("", now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := d.state(t.Context()); got.off == "" || !got.until.Equal(now.Add(time.Hour)) {
		t.Errorf("switched off: %+v", got)
	}
	if runtime.GOOS != "windows" && os.Getuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		if got := d.state(t.Context()); got.err == nil {
			t.Errorf("read-only folder: %+v", got)
		}
	}
}

// The latest session is the one told of; the version comes from the latest whose
// transcript can be read.
func TestSessions(t *testing.T) {
	d, home := machine(t)
	transcript := filepath.Join(home, "main.jsonl")
	hosttest.Write(t, now, transcript, `{"version":"2.1.220"}`+"\n"+`{"version":"2.1.235"}`+"\n"+`{"x":1}`+"\n"+`{"version":"2.1.3`)
	dir := state.At(filepath.Join(home, "state"))
	for id, s := range map[string]ledger.Session{
		"session-old":    {Transcript: transcript, LastEvent: "SessionEnd", LastEventAt: now.Add(-time.Hour)},
		"session-latest": {Transcript: filepath.Join(home, "gone.jsonl"), LastEvent: "SubagentStop", LastEventAt: now.Add(-time.Minute)},
	} {
		err := ledger.Update(t.Context(), dir, id, now, func(tx *ledger.Tx) error {
			tx.Session.Transcript, tx.Session.LastEvent, tx.Session.LastEventAt = s.Transcript, s.LastEvent, s.LastEventAt
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	hosttest.Write(t, now, dir.Store("session-broken"), "garbage that is no store")
	got, version := d.sessions(t.Context())
	want := sessionFacts{count: 3, unreadable: 1, id: "session-latest", event: "SubagentStop", at: now.Add(-time.Minute)}
	got.at = got.at.UTC()
	if got != want || version != "2.1.235" {
		t.Errorf("%+v, %q\nwant %+v", got, version, want)
	}
}

func TestLastVersionOfALongTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	text := `{"version":"2.1.150"}` + "\n" + strings.Repeat(`{"no":"`+strings.Repeat("x", 1000)+`"}`+"\n", 100) +
		`{"version":"2.1.332"}` + "\n" + strings.Repeat(`{"no":"`+strings.Repeat("x", 1000)+`"}`+"\n", 100)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := lastVersion(host.Files{}, path); got != "2.1.332" {
		t.Errorf("got %q", got)
	}
	for _, path := range []string{"", path + ".gone", t.TempDir()} {
		if got := lastVersion(host.Files{}, path); got != "" {
			t.Errorf("%q: got %q", path, got)
		}
	}
}
