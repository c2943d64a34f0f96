package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

var update = flag.Bool("update", false, "write the golden files anew")

// run runs hookctl in process at a fixed time.
func run(t *testing.T, env map[string]string, clock host.Clock, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	if _, set := env[state.EnvDir]; !set {
		env[state.EnvDir] = filepath.Join(t.TempDir(), "state")
	}
	var out, errs bytes.Buffer
	code = Main(Names[0], host.Host{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Args: args,
		Env: func(name string) string { return env[name] }, Clock: clock,
		Self: func() string { return "" }, Parent: func() int { return 1 }, Alive: func(int) bool { return true },
	})
	return code, out.String(), errs.String()
}

// The screens of a recording, as golden files: run with -update after looking
// at them.
func TestScreens(t *testing.T) {
	captures, err := filepath.Abs("../replay/testdata/captures")
	if err != nil {
		t.Fatal(err)
	}
	screens := []struct {
		name, columns string
		args          []string
	}{
		{"demo", "", []string{"demo"}},
		{"demo_80_columns", "80", []string{"demo"}},
		{"replay_doubled", "120", []string{"replay", "--doubled", "--without", "SubagentStart", filepath.Join(captures, "2.1.220", "team-tui")}},
	}
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			code, stdout, stderr := run(t, map[string]string{"COLUMNS": s.columns}, &steady{}, s.args...)
			if code != exitDone || stderr != "" {
				t.Errorf("exit code %d, stderr %q", code, stderr)
			}
			golden(t, s.name, withoutReason(stdout))
		})
	}
}

// withoutReason takes out the words to the agent, which pkg/gate pins.
func withoutReason(text string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "  | ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew); got\n%s\nwant\n%s", path, got, want)
	}
}

// Following lists what was there, then each stop as it comes, once.
func TestFollowTheLog(t *testing.T) {
	dir := state.At(filepath.Join(t.TempDir(), "state"))
	stop := func(agent string) {
		err := ledger.Update(context.Background(), dir, "session-1", time.Now(), func(tx *ledger.Tx) error {
			tx.AddStop(ledger.Stop{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), AgentID: agent, Verdict: ledger.Allow, Code: "not-own"})
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	stop("a1")
	looks := 0
	clock := &ticking{tick: func() bool {
		switch looks++; looks {
		case 1, 3: // nothing happens
		case 2:
			stop("a2")
		case 4:
			stop("a3")
		case 6:
			return false
		}
		return true
	}}
	code, stdout, stderr := run(t, map[string]string{state.EnvDir: dir.Path()}, clock, "log", "-f", "--all")
	if code != exitDone || stderr != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	var agents []string
	for _, line := range strings.Split(strings.TrimSpace(stdout), "\n") {
		agents = append(agents, strings.Fields(line)[3])
	}
	if got := strings.Join(agents, " "); got != "a1 a2 a3" {
		t.Errorf("listed %s, want a1 a2 a3:\n%s", got, stdout)
	}
}

// A stop that was held came before others, and is answered after them: none of them is
// lost, and they come in the order of their answers, over all sessions.
func TestTheLogLosesNoStop(t *testing.T) {
	dir := state.At(filepath.Join(t.TempDir(), "state"))
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	add := func(session, agent string, came, took time.Duration) {
		t.Helper()
		err := ledger.Update(t.Context(), dir, session, noon, func(tx *ledger.Tx) error {
			tx.AddStop(ledger.Stop{Time: noon.Add(came), Duration: took, Held: took, AgentID: agent, Verdict: ledger.Allow, Code: "not-own"})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Two holds that overlap, one within a third, and one before all of them.
	const m = time.Minute
	add("session-1", "first", -m, 0)
	add("session-1", "short", 4*m, m)
	add("session-2", "elsewhere", 1*m, 5*m)
	add("session-1", "middle", 2*m, 6*m)
	add("session-1", "long", 0, 9*m)
	add("session-1", "clock-set-back", -30*m, m)
	add("session-2", "last", 9*m, m)
	const want = "first short elsewhere middle long clock-set-back last"
	for _, asked := range [][]string{{"log", "--all"}, {"log", "--all", "--json"}, {"log", "--all", "-n", "0"}, {"log", "--all", "-f"}, {"log", "--all", "-f", "--json"}} {
		code, stdout, stderr := run(t, map[string]string{state.EnvDir: dir.Path()}, &ticking{tick: func() bool { return false }}, asked...)
		var agents []string
		for line := range strings.Lines(stdout) {
			if agent := gjson.Get(line, "agent_id").Str; agent != "" {
				agents = append(agents, agent)
			} else {
				agents = append(agents, strings.Fields(line)[3])
			}
		}
		if got := strings.Join(agents, " "); got != want || code != exitDone || stderr != "" {
			t.Errorf("%q lists %s (exit code %d, stderr %q), want %s", asked, got, code, stderr, want)
		}
	}
}

// While the log is followed a record can be begun anew, as after prune --all, and a
// hold that began long ago can end.
func TestFollowingLosesNoStop(t *testing.T) {
	dir := state.At(filepath.Join(t.TempDir(), "state"))
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	add := func(session, agent string, begun time.Time, held time.Duration) {
		t.Helper()
		err := ledger.Update(t.Context(), dir, session, begun, func(tx *ledger.Tx) error {
			tx.AddStop(ledger.Stop{Time: noon, Duration: held, AgentID: agent, Verdict: ledger.Allow, Code: "not-own"})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add("session-1", "one", noon, 0)
	add("session-1", "two", noon, 0)
	steps := []func(){
		func() { add("session-1", "held", noon, time.Hour) },
		func() { add("session-2", "elsewhere", noon, time.Minute) },
		func() {
			if err := dir.Remove(dir.Store("session-1")); err != nil {
				t.Fatal(err)
			}
			add("session-1", "anew", noon.Add(time.Hour), 0)
		},
	}
	clock := &ticking{tick: func() bool {
		if len(steps) == 0 {
			return false
		}
		steps[0]()
		steps = steps[1:]
		return true
	}}
	_, stdout, stderr := run(t, map[string]string{state.EnvDir: dir.Path()}, clock, "log", "-f", "--all")
	var agents []string
	for line := range strings.Lines(stdout) {
		agents = append(agents, strings.Fields(line)[3])
	}
	if got, want := strings.Join(agents, " "), "one two held elsewhere anew"; got != want || stderr != "" {
		t.Errorf("listed %s, want %s; stderr %q", got, want, stderr)
	}
}

// A stop that is recorded while the first ones are read is news for who follows.
func TestFollowingLosesNoStopOfTheFirstLook(t *testing.T) {
	dir := state.At(filepath.Join(t.TempDir(), "state"))
	n, ticks := 0, 0
	clock := &ticking{tick: func() bool { ticks++; return ticks < 3 }}
	clock.look = func() {
		if n++; n > 3 {
			return
		}
		err := ledger.Update(t.Context(), dir, "session-1", time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), func(tx *ledger.Tx) error {
			tx.AddStop(ledger.Stop{AgentID: "a1", Verdict: ledger.Allow, Code: "not-own"})
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	_, stdout, _ := run(t, map[string]string{state.EnvDir: dir.Path()}, clock, "log", "-f", "--all")
	if got := strings.Count(stdout, "not-own"); n < 3 || got != 3 {
		t.Errorf("of 3 stops %d were listed, %d looks", got, n)
	}
}

func TestExplainGivesTheNote(t *testing.T) {
	dir := state.At(filepath.Join(t.TempDir(), "state"))
	err := ledger.Update(t.Context(), dir, "session-1", time.Now(), func(tx *ledger.Tx) error {
		tx.AddStop(ledger.Stop{AgentID: "a1", Verdict: ledger.Allow, Code: "unattributed", Unowned: []string{"b1"}, Note: "not read \x1b[31m to the end"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run(t, map[string]string{state.EnvDir: dir.Path()}, &steady{}, "explain", "1", "--session", "session-1")
	if code != exitDone || stderr != "" || !strings.Contains(stdout, `not read \x1b[31m to the end`) {
		t.Errorf("exit code %d, stderr %q\n%q", code, stderr, stdout)
	}
}

// ticking is a clock that does something whenever it is waited for, and where asked
// whenever it is looked at.
type ticking struct {
	tick func() bool
	look func()
}

func (c ticking) Now() time.Time {
	if c.look != nil {
		c.look()
	}
	return time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
}

func (c ticking) Sleep(context.Context, time.Duration) bool { return c.tick() }

// Under the race detector: nothing of the process is changed while it runs.
func TestTwoCommandLinesAtOnceShareNothing(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"status"}, {"demo"}, {"wait", "b1"}, {"completion", "bash"}, {"nonsense"}, {"version"}, {"doctor"}} {
		for range 2 {
			t.Run(args[0], func(t *testing.T) {
				t.Parallel()
				if code, _, stderr := run(t, map[string]string{}, &steady{}, args...); code == exitDone && stderr != "" {
					t.Errorf("stderr %q", stderr)
				}
			})
		}
	}
}

// Every command has an example, and messages look alike.
func TestHelpIsComplete(t *testing.T) {
	a := &app{h: host.Host{}, name: Names[0]}
	for _, cmd := range a.root().Commands() {
		if cmd.Example == "" || cmd.Long == "" || cmd.Short == "" {
			t.Errorf("%s lacks an example, a short or a long text", cmd.Name())
		}
		if strings.HasSuffix(cmd.Short, ".") || cmd.Short[0] < 'a' || cmd.Short[0] > 'z' {
			t.Errorf("%s: %q is not lower case without a final period", cmd.Name(), cmd.Short)
		}
	}
}
