//go:build live

package live

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// A run that nobody attends, with `hookctl install` in its home: its first (only)
// result must hold the work of the agents that the coordinator started in the
// background and whose own tasks take longer than their turn.

// unattended is a host of which the result is read as its users do.
type unattended struct {
	name string
	host client.Host
	args []string
	env  []string
	// first: the host stops reading at the first result.
	first bool
	// sdk: the official SDK runs the client.
	sdk string
	// install are further words of `hookctl install`, settings those of the client's
	// --settings; kill ends the client when its coordinator is held.
	install  []string
	settings string
	kill     bool
	// lead plays the coordinator, leading if nil; more are further scripts.
	lead func(w *world, agents ...string) model.Script
	more func(w *world) scripts
	// again are the arguments of a second run in the same home, whose coordinator is
	// the script again; SESSION is the first one's id.
	again []string
}

var unattendedHosts = []unattended{
	{name: "print-json", host: client.Print},
	{name: "print-text", host: client.Print, args: []string{"--output-format", "text"}},
	{name: "stream-ci", host: client.SDK, env: []string{"CI=true"}},
	{name: "first-result-ci", host: client.SDK, env: []string{"CI=true"}, first: true},
	{name: "sdk-string-ci", sdk: "string"},
	{name: "sdk-stream-ci", sdk: "stream"},
}

// agentTime is how long the agents' own tasks take.
const agentTime = 12 * time.Second

// oneTool is what the coordinator is asked for when it was held.
const oneTool = "Call one tool"

// leading is a coordinator that does what it is told, and whose every text tells
// which results it has seen.
func leading(agents ...string) model.Script { return leadingAs(lead, agents...) }

func leadingAs(name string, agents ...string) model.Script {
	return func(turn int, r model.Request) blocks {
		if turn == 0 && len(agents) > 0 {
			var launch blocks
			for _, a := range agents {
				launch = append(launch, agent(a, true))
			}
			return launch
		}
		if strings.Contains(r.Feedback(), oneTool) || strings.Contains(r.Feedback(), "its news waits") {
			return blocks{work(0.2)}
		}
		var seen []string
		for _, a := range agents {
			if strings.Contains(r.AllText(), result("of-"+a)) {
				seen = append(seen, a)
			}
		}
		return says(name, "answer: results of %s", strings.Join(seen, " and "))
	}
}

// TestLead: on every host that nobody attends, the first result holds the work of
// all agents; without stopgate it does not; the run ends by itself.
func TestLead(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	if *smokeFlag || *realtimeFlag > 0 {
		t.Skip("only the whole suite plays the hosts of runs that nobody attends")
	}
	for _, c := range under.Clients {
		for _, h := range unattendedHosts {
			t.Run(c.Version+"/"+h.name, func(t *testing.T) {
				t.Parallel()
				r := playUnattended(t, c, h, true, "a", "b")
				if want := "lead: answer: results of a and b"; len(r.results) != 1 || r.results[0] != want {
					t.Errorf("results %q, want one: %q\n%s", r.results, want, r.story)
				}
				if r.exit != 0 || len(r.left) > 0 {
					t.Errorf("exit code %d, left running %q", r.exit, r.left)
				}
				without := playUnattended(t, c, h, false, "a", "b")
				t.Logf("took %s, the coordinator was asked %d times; without stopgate %s and %d, %d results, the first %q",
					r.took.Round(100*time.Millisecond), r.asked, without.took.Round(100*time.Millisecond), without.asked, len(without.results), slices.Concat(without.results, []string{""})[0])
			})
		}
	}
}

// TestLeadLeavesOthersAlone: a coordinator without agents, and one with a foreground
// agent only, gives the result that it gives without stopgate, to the byte.
func TestLeadLeavesOthersAlone(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	if *smokeFlag || *realtimeFlag > 0 {
		t.Skip("only the whole suite")
	}
	for _, c := range under.Clients {
		for name, h := range map[string]unattended{
			"without agents":          unattendedHosts[0],
			"a foreground agent only": {name: "front", host: client.Print, lead: withFront, more: onlyFront},
		} {
			t.Run(c.Version+"/"+name, func(t *testing.T) {
				t.Parallel()
				with, without := playUnattended(t, c, h, true), playUnattended(t, c, h, false)
				if !slices.Equal(with.results, without.results) || with.exit != without.exit || with.asked != without.asked {
					t.Errorf("with %q, without %q", with.results, without.results)
				}
				t.Logf("took %s with and %s without", with.took.Round(10*time.Millisecond), without.took.Round(10*time.Millisecond))
			})
		}
	}
}

// withFront is a coordinator that lets an agent work in the foreground, and onlyFront
// that agent, which leaves nothing behind.
func withFront(*world, ...string) model.Script {
	return steps(lead, blocks{agent("front", false)})
}

func onlyFront(*world) scripts { return scripts{"front": steps("front", blocks{work(0.5)})} }

type unattendedRun struct {
	results []string
	exit    int
	left    []string
	took    time.Duration
	asked   int
	story   string
}

func playUnattended(t *testing.T, c clientUnderTest, h unattended, installed bool, agents ...string) unattendedRun {
	t.Helper()
	home, err := os.MkdirTemp("", "sg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	w := &world{t: t, home: home}
	scripts := scripts{lead: leading(agents...)}
	if h.lead != nil {
		scripts[lead] = h.lead(w, agents...)
	}
	for i, a := range agents {
		scripts[a] = w.patient(a, blocks{sleeping("of-"+a, agentTime+time.Duration(i)*300*time.Millisecond)})
	}
	if h.more != nil {
		maps.Copy(scripts, h.more(w))
	}
	server, err := model.Start(scripts, *dumpFlag)
	if err != nil {
		t.Fatal(err)
	}
	w.server = server
	t.Cleanup(func() { _ = server.Close() })
	env := append([]string{"STOPGATE_STATE_DIR=" + filepath.Join(home, "state")}, h.env...)
	if installed {
		install(t, home, h.install...)
	}
	if h.settings != "" {
		h.args = append([]string{"--settings", h.settings}, h.args...)
	}
	began := time.Now()
	var r unattendedRun
	if h.sdk != "" {
		r = runSDK(t, c, h, home, server.URL, env)
	} else {
		r = runClient(t, c, h, model.Prompt(lead), home, server.URL, env)
	}
	if h.again != nil {
		for _, a := range h.again {
			h.args = append(slices.Clone(h.args), strings.ReplaceAll(a, "SESSION", server.Asked()[0].Request.Session))
		}
		second := runClient(t, c, h, model.Prompt(again), home, server.URL, env)
		r.results = append(r.results, second.results...)
	}
	r.took = time.Since(began)
	for _, a := range server.Asked() {
		if a.Request.Script == lead && !a.Ephemeral() {
			r.asked++
		}
		r.story += fmt.Sprintf("%6.1f %s/%d: %s\n", a.At.Sub(began).Seconds(), a.Request.Script, a.Request.Turn, brief(a.Answer))
	}
	deadline := time.Now().Add(3 * time.Second)
	for len(client.Running(home)) > 0 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	r.left = slices.Collect(maps.Values(client.Running(home)))
	return r
}

// coordinatorHeld tells whether the coordinator of the session in a home is held.
func coordinatorHeld(home string) bool {
	stores, _ := filepath.Glob(filepath.Join(home, "state", "sessions", "*.db"))
	for _, store := range stores {
		snap, err := ledger.ReadFile(context.Background(), store)
		if err == nil && slices.ContainsFunc(snap.Holds, func(h ledger.Hold) bool { return h.AgentID == transcript.Main }) {
			return true
		}
	}
	return false
}

// install registers stopgate in a home as a person would.
func install(t *testing.T, home string, more ...string) {
	t.Helper()
	cmd := exec.Command(under.Hookctl, append([]string{"install"}, more...)...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "STOPGATE_STATE_DIR=" + filepath.Join(home, "state")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
}

func runClient(t *testing.T, c clientUnderTest, h unattended, prompt, home, url string, env []string) (r unattendedRun) {
	t.Helper()
	s, err := client.Start(client.Config{Bin: c.Bin, Host: h.host, Home: home, BaseURL: url, Prompt: prompt, Args: h.args, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Kill(); s.Gone() })
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	if h.host == client.SDK {
		if err := s.Send(ctx, prompt, nil); err != nil {
			t.Fatal(err)
		}
	}
	for ctx.Err() == nil {
		select {
		case <-s.Done():
		case <-time.After(50 * time.Millisecond):
			if h.host == client.SDK && len(s.Results()) > 0 {
				if h.first {
					_ = s.Kill() // as a host does that has what it wants
				} else {
					s.CloseInput()
				}
			}
			if h.kill && coordinatorHeld(home) {
				_ = s.Kill()
			}
			continue
		}
		break
	}
	if r.results = s.Results(); slices.Contains(h.args, "text") {
		r.results = []string{strings.TrimSpace(s.Output())}
	}
	if r.exit = s.ExitCode(); h.first {
		r.exit = 0
		s.Gone()
	}
	return r
}

// sdkHost is a program over the official SDK that prints each result and, like the
// client's own CI action, stops at the first one.
const sdkHost = `
import { query } from "@anthropic-ai/claude-agent-sdk";
const [bin, prompt, kind] = process.argv.slice(2);
async function* stream() { yield { type: "user", message: { role: "user", content: prompt }, parent_tool_use_id: null, session_id: "" }; }
for await (const m of query({ prompt: kind === "string" ? prompt : stream(), options: {
  pathToClaudeCodeExecutable: bin, settingSources: ["user", "project", "local"], permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, env: process.env } })) {
  if (m.type === "result") { console.log(JSON.stringify({ type: "result", result: m.result })); break; }
}
process.exit(0);
`

func runSDK(t *testing.T, c clientUnderTest, h unattended, home, url string, env []string) (r unattendedRun) {
	t.Helper()
	if under.SDK == "" {
		t.Fatal(under.NoSDK)
	}
	if err := client.Prepare(home); err != nil {
		t.Fatal(err)
	}
	host := filepath.Join(home, "host.mjs")
	if err := os.WriteFile(host, []byte(sdkHost), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(under.SDK, "node_modules"), filepath.Join(home, "node_modules")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", host, c.Bin, model.Prompt(lead), h.sdk)
	cmd.Dir = client.Project(home)
	cmd.Env = append(append(client.Environment(home, url), env...), "CI=true")
	cmd.Stderr = io.Discard
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var v struct{ Type, Result string }
		if json.Unmarshal(lines.Bytes(), &v) == nil && v.Type == "result" {
			r.results = append(r.results, v.Result)
		}
	}
	_ = cmd.Wait() // the exit code says it
	r.exit = cmd.ProcessState.ExitCode()
	client.End(home)
	return r
}
