package clocks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
)

// world is a host with an environment and, by process, command lines; the hook's
// ancestors are 20, 30 and 40.
func world(env map[string]string, lines map[int]string) host.Host {
	return host.Host{
		Env:       func(name string) string { return env[name] },
		Ancestors: func() []int { return []int{20, 30, 40} },
		Command: func(pid int) ([]string, bool) {
			line, ok := lines[pid]
			return strings.Fields(line), ok
		},
	}
}

func TestWhichHostItIs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		env    map[string]string
		lines  map[int]string
		kind   Kind
		client int
	}{
		{"a terminal", map[string]string{EnvEntrypoint: "cli"}, map[int]string{20: "/opt/claude --settings x"}, Terminal, 20},
		{"a terminal that says that it is attended", map[string]string{EnvEntrypoint: "cli", EnvAttended: "1"}, map[int]string{20: "claude"}, Terminal, 20},
		{"a print run", map[string]string{EnvEntrypoint: "sdk-cli"}, map[int]string{20: "/opt/claude -p hello"}, Print, 20},
		{"a print run with streamed output", map[string]string{EnvEntrypoint: "sdk-cli"}, map[int]string{20: "claude --print --output-format stream-json hello"}, Print, 20},
		{"a run with streamed input", map[string]string{EnvEntrypoint: "sdk-cli"}, map[int]string{20: "claude -p --input-format stream-json --output-format stream-json"}, Stream, 20},
		{"a run with streamed input, in one word", map[string]string{EnvEntrypoint: "sdk-ts"}, map[int]string{20: "claude --input-format=stream-json"}, Stream, 20},
		{"a print run that a terminal's command started", map[string]string{EnvEntrypoint: "cli"}, map[int]string{20: "claude -p hello", 30: "bash", 40: "claude"}, Print, 20},
		{"a print run for whose output is no terminal", map[string]string{EnvEntrypoint: "sdk-cli", EnvAttended: "0"}, map[int]string{20: "claude hello"}, Print, 20},
		{"behind a shell", map[string]string{EnvEntrypoint: "sdk-cli"}, map[int]string{20: "sh -c hook", 30: "claude -p hello"}, Print, 30},
		{"behind a wrapper that the client's variable looks through", map[string]string{EnvClient: "40"}, map[int]string{20: "wrapper", 30: "sh", 40: "/opt/renamed -p hello"}, Print, 40},
		{"the client's variable names a process that is no ancestor", map[string]string{EnvClient: "7", EnvEntrypoint: "cli"}, map[int]string{20: "claude -p hello", 7: "claude"}, Print, 20},
		{"run by a JavaScript runtime", map[string]string{EnvEntrypoint: "sdk-cli"}, map[int]string{20: "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js -p hello"}, Print, 20},
		{"no command line, a terminal by the environment", map[string]string{EnvEntrypoint: "cli"}, nil, Terminal, 0},
		{"no command line, the SDK by the environment", map[string]string{EnvEntrypoint: "sdk-ts"}, nil, Stream, 0},
		{"no command line, print or streamed", map[string]string{EnvEntrypoint: "sdk-cli"}, nil, Unknown, 0},
		{"no command line, attended by nobody", map[string]string{EnvEntrypoint: "cli", EnvAttended: "0"}, nil, Unknown, 0},
		{"nothing at all", nil, nil, Unknown, 0},
		{"a prompt that speaks of streaming", map[string]string{EnvEntrypoint: "sdk-cli"}, map[int]string{20: "claude -p explain--input-format=stream-json"}, Print, 20},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := Read(world(test.env, test.lines))
			if c.Kind != test.kind || c.Client != test.client {
				t.Errorf("%q, client %d, want %q, %d", c.Kind, c.Client, test.kind, test.client)
			}
			if rewakes := test.kind == Terminal || test.kind == Stream; c.Rewakes() != rewakes {
				t.Errorf("an asyncRewake hook runs beside the stop: %v", c.Rewakes())
			}
			if bounded := test.kind == Print || test.kind == Unknown; c.Quiet() > 0 != bounded {
				t.Errorf("let go %s after the coordinator's last line", c.Quiet())
			}
		})
	}
}

func TestTheClientsLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		env     map[string]string
		stall   time.Duration
		ceiling time.Duration
		chain   int
	}{
		{"its own", nil, 10 * time.Minute, 10 * time.Minute, 7},
		{"a short stall limit", map[string]string{EnvStall: "15000"}, 15 * time.Second, 10 * time.Minute, 7},
		{"a long stream idle time moves the stall limit", map[string]string{EnvStreamIdle: "900000"}, 20 * time.Minute, 10 * time.Minute, 7},
		{"a short stream idle time does not", map[string]string{EnvStreamIdle: "1000"}, 10 * time.Minute, 10 * time.Minute, 7},
		{"no ceiling", map[string]string{EnvCeiling: "0"}, 10 * time.Minute, 0, 7},
		{"a short ceiling", map[string]string{EnvCeiling: "15000"}, 10 * time.Minute, 15 * time.Second, 7},
		{"a cap of three", map[string]string{EnvCap: "3"}, 10 * time.Minute, 10 * time.Minute, 2},
		{"a cap of one", map[string]string{EnvCap: "1"}, 10 * time.Minute, 10 * time.Minute, 1},
		{"no cap", map[string]string{EnvCap: "0"}, 10 * time.Minute, 10 * time.Minute, 7},
		{"garbage", map[string]string{EnvStall: "soon", EnvCeiling: "x", EnvCap: "many"}, 10 * time.Minute, 10 * time.Minute, 7},
		{"absurdly long", map[string]string{EnvStall: "9223372036854775807", EnvCeiling: "9223372036854775807"}, 1000 * time.Hour, 1000 * time.Hour, 7},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := world(test.env, nil)
			if c := Read(h); c.Stall != test.stall || c.Ceiling != test.ceiling || Chain(h.Env, 7) != test.chain {
				t.Errorf("stall %s, ceiling %s, chain %d", c.Stall, c.Ceiling, Chain(h.Env, 7))
			}
		})
	}
}

func TestHowLongAHoldMayBe(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	ten := Clocks{Stall: 10 * minute, Timeout: 11 * minute}
	tests := []struct {
		name       string
		clocks     Clocks
		want, left time.Duration
		limit      Limit
	}{
		{"as long as it was asked for", ten, 2 * minute, time.Hour, Limit{2 * minute, ByHold}},
		{"until the patience is over", ten, 9 * minute, 3 * minute, Limit{3 * minute, ByPatience}},
		{"half a minute less than the stall limit", ten, 30 * minute, time.Hour, Limit{10*minute - 30*time.Second, ByStall}},
		{"five seconds under a short stall limit", Clocks{Stall: 15 * time.Second}, minute, time.Hour, Limit{5 * time.Second, ByStall}},
		{"not at all under one that is shorter still", Clocks{Stall: 5 * time.Second}, minute, time.Hour, Limit{0, ByStall}},
		{"less than the entry's timeout", Clocks{Stall: 10 * minute, Timeout: minute}, 9 * minute, time.Hour, Limit{45 * time.Second, ByTimeout}},
		{"a good part of a short timeout", Clocks{Stall: 10 * minute, Timeout: 8 * time.Second}, 9 * minute, time.Hour, Limit{6 * time.Second, ByTimeout}},
		{"by nothing but the wish without a stall limit", Clocks{}, 30 * minute, time.Hour, Limit{30 * minute, ByHold}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.clocks.Hold(test.want, test.left); got != test.limit {
				t.Errorf("%v, want %v", got, test.limit)
			}
		})
	}
}

func TestWhoAttends(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	tests := []struct {
		name     string
		clocks   Clocks
		ci       string
		headless bool
	}{
		{"a print run", Clocks{Kind: Print}, "", true},
		{"a print run of an older client under CI", Clocks{Kind: Print}, "true", true},
		{"a program's stream, perhaps a person's window", Clocks{Kind: Stream, Attended: &no}, "", false},
		{"a program's stream under CI", Clocks{Kind: Stream, Attended: &no}, "1", true},
		{"a stream that a person attends, under CI", Clocks{Kind: Stream, Attended: &yes}, "1", false},
		{"a CI variable that says no", Clocks{Kind: Stream}, "false", false},
		{"a terminal", Clocks{Kind: Terminal}, "", false},
		{"a terminal in which CI is set", Clocks{Kind: Terminal}, "true", false},
		{"an unknown host", Clocks{}, "true", false},
	}
	for _, test := range tests {
		env := func(name string) string { return map[string]string{"CI": test.ci}[name] }
		if got := test.clocks.Headless(env); got != test.headless {
			t.Errorf("%s: headless %v", test.name, got)
		}
	}
}

func TestWhenAPrintRunNeedsTheReport(t *testing.T) {
	t.Parallel()
	for ceiling, want := range map[time.Duration]time.Duration{
		10 * time.Minute: 8*time.Minute + 30*time.Second, 15 * time.Second: 10 * time.Second, 0: 0,
	} {
		if got := (Clocks{Kind: Print, Ceiling: ceiling}).Quiet(); got != want {
			t.Errorf("ceiling %s: %s, want %s", ceiling, got, want)
		}
	}
}

// The timeout of the hook's own entry stands in whatever settings registered it.
func TestTheTimeoutOfOurOwnEntry(t *testing.T) {
	t.Parallel()
	entry := func(command, args, timeout string) string {
		return `{"hooks":{"SubagentStop":[{"hooks":[{"type":"command","command":"other","timeout":1},{"type":"command","command":"` + command + `"` + args + timeout + `}]}]}}`
	}
	tests := []struct {
		name  string
		files map[string]string // below the folder of the test; SELF stands for the hook
		line  string
		want  time.Duration
		by    string
	}{
		{"the person's settings", map[string]string{"home/.claude/settings.json": entry("SELF", `,"args":["gate","--hold","9m"]`, `,"timeout":60`)}, "claude", time.Minute, "home/.claude/settings.json"},
		{"the project's local settings", map[string]string{"project/.claude/settings.local.json": entry("SELF gate --hold 9m", "", `,"timeout":90`)}, "claude", 90 * time.Second, "project/.claude/settings.local.json"},
		{"the shortest of several", map[string]string{
			"home/.claude/settings.json":    entry("SELF", "", `,"timeout":700`),
			"project/.claude/settings.json": entry("SELF", "", `,"timeout":20`),
		}, "claude", 20 * time.Second, "project/.claude/settings.json"},
		{"an entry that says nothing", map[string]string{"home/.claude/settings.json": entry("SELF", "", "")}, "claude", DefaultTimeout, "home/.claude/settings.json"},
		{"not a courier's", map[string]string{"home/.claude/settings.json": entry("SELF", `,"args":["courier"]`, `,"timeout":3`)}, "claude", DefaultTimeout, ""},
		{"settings that the command line names", map[string]string{"mine.json": entry("SELF", "", `,"timeout":40`)}, "claude --settings DIR/mine.json -p x", 40 * time.Second, "mine.json"},
		{"a link to the hook", map[string]string{"home/.claude/settings.json": entry("LINK", "", `,"timeout":50`)}, "claude", 50 * time.Second, "home/.claude/settings.json"},
		{"garbage", map[string]string{"home/.claude/settings.json": `{"hooks":{"SubagentStop":[3,{"hooks":"x"},{"hooks":[null,{"command":7}]}`}, "claude", DefaultTimeout, ""},
		{"a timeout that is none", map[string]string{"home/.claude/settings.json": entry("SELF", "", `,"timeout":"soon"`)}, "claude", DefaultTimeout, "home/.claude/settings.json"},
		{"no settings", nil, "claude", DefaultTimeout, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			self, link := filepath.Join(dir, "hook"), filepath.Join(dir, "link")
			if err := os.WriteFile(self, nil, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(self, link); err != nil {
				t.Fatal(err)
			}
			for name, text := range test.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.NewReplacer("SELF", filepath.ToSlash(self), "LINK", filepath.ToSlash(link)).Replace(text)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			h := world(map[string]string{"HOME": filepath.Join(dir, "home"), "USERPROFILE": filepath.Join(dir, "home"), "CLAUDE_PROJECT_DIR": filepath.Join(dir, "project")},
				map[int]string{20: strings.ReplaceAll(test.line, "DIR/", dir+string(filepath.Separator))})
			h.Self = func() string { return self }
			c := ReadHold(h, "SubagentStop", "gate")
			by := test.by
			if by != "" {
				by = filepath.Join(dir, by)
			}
			if c.Timeout != test.want || c.TimeoutBy != by {
				t.Errorf("%s by %q, want %s by %q", c.Timeout, c.TimeoutBy, test.want, by)
			}
		})
	}
}
