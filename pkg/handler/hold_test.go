package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stopgate/pkg/clocks"
	"stopgate/pkg/fate"
	"stopgate/pkg/gate"
	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

// session is a session on disk with an agent "a1" that has a shell "b1" running,
// and a clock whose sleeping makes planned things happen.
type session struct {
	t      testing.TB
	dir    string
	clock  *planned
	parent int
	gone   map[int]bool
	// started are the marks of the processes' starts; nil knows none.
	started map[int]string
	// line is the client's command line; entrypoint and env are its variables.
	line       string
	entrypoint string
	env        map[string]string
	// client is the client's process; strangers tells that it is none of the
	// hook's ancestors.
	client    int
	strangers bool
	hungUp    bool
	// self is the hook's path, "" where it is unknown.
	self string
	// watch is how files are watched; nil cannot.
	watch func() (host.Watcher, error)
	// background tells that the agent lists itself.
	background bool
	// keep is how long a session is kept unused: its ledger bears the machine's
	// time, which may be years from the test's.
	keep string
	// leave is what the kernel tells with once the hook runs: that one of waiters is
	// gone; nil until then, and where it does not tell.
	tells   bool
	leave   context.CancelFunc
	waiters []int
	// onPath is told each file that is asked for.
	onPath func(name string)
}

const (
	testSession = "11111111-2222-3333-4444-555555555555"
	testAgent   = "a1"
)

// planned is a clock that moves by sleeping and then does what is due.
type planned struct {
	mu    sync.Mutex
	now   time.Time
	plans []plan
	slept time.Duration
}

type plan struct {
	at time.Time
	do func()
}

func (c *planned) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *planned) Sleep(ctx context.Context, d time.Duration) bool {
	c.mu.Lock()
	if ctx.Err() != nil {
		c.mu.Unlock()
		return false
	}
	c.now = c.now.Add(d)
	c.slept += d
	var due []plan
	rest := c.plans[:0]
	for _, p := range c.plans {
		if p.at.After(c.now) {
			rest = append(rest, p)
		} else {
			due = append(due, p)
		}
	}
	c.plans = rest
	c.mu.Unlock()
	for _, p := range due {
		p.do()
	}
	return true
}

func newSession(t testing.TB) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir(), parent: 100, gone: map[int]bool{}, line: "claude", entrypoint: "cli", client: 200, keep: "36500d"}
	s.clock = &planned{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	s.appendTo(s.main(), `{"type":"user","message":{"role":"user","content":"go"}}`)
	s.appendTo(s.agentFile(testAgent), s.call("toolu_b", "Bash", `{"command":"make","run_in_background":true}`))
	s.appendTo(s.agentFile(testAgent), s.launched("toolu_b", "b1"))
	s.appendTo(s.agentFile(testAgent), s.says("I wait."))
	s.write(strings.TrimSuffix(s.agentFile(testAgent), ".jsonl")+".meta.json", `{"agentType":"general-purpose","name":"builder"}`)
	s.write(s.output("b1"), "working\n")
	return s
}

func (s *session) main() string { return filepath.Join(s.dir, "p", testSession+".jsonl") }
func (s *session) agentFile(id string) string {
	return filepath.Join(s.dir, "p", testSession, "subagents", "agent-"+id+".jsonl")
}
func (s *session) output(task string) string {
	return filepath.Join(s.dir, "tasks", task+".output")
}
func (s *session) state() state.Dir { return state.At(filepath.Join(s.dir, "state")) }

func (s *session) stamp() string { return s.clock.Now().Format(time.RFC3339Nano) }

func (s *session) call(id, tool, input string) string {
	return fmt.Sprintf(`{"type":"assistant","version":"2.1.332","timestamp":%q,"message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, s.stamp(), id, tool, input)
}

func (s *session) launched(id, task string) string {
	text := fmt.Sprintf("Command running in background with ID: %s. Output is being written to: %s. More.", task, s.output(task))
	return fmt.Sprintf(`{"type":"user","version":"2.1.332","timestamp":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}}`, s.stamp(), id, quote(text))
}

func (s *session) says(text string) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"role":"assistant","content":[{"type":"text","text":%s}]}}`, s.stamp(), quote(text))
}

func (s *session) ended(task, status, summary string) string {
	text := fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<status>%s</status>\n<summary>%s</summary>\n</task-notification>", task, status, summary)
	return fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"content":%s}`, s.stamp(), quote(text))
}

func (s *session) notified(task string) string {
	text := fmt.Sprintf("[SYSTEM NOTIFICATION - x]\n<task-notification>\n<task-id>%s</task-id>\n<status>completed</status>\n</task-notification>", task)
	return fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"role":"user","content":%s}}`, s.stamp(), quote(text))
}

func quote(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // as the client writes it
	if err := enc.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

func (s *session) appendTo(path, line string) {
	s.t.Helper()
	hosttest.Append(s.t, s.clock.Now(), path, line+"\n")
}

func (s *session) write(path, text string) {
	s.t.Helper()
	hosttest.Write(s.t, s.clock.Now(), path, text)
}

// after plans something for so long after now.
func (s *session) after(d time.Duration, do func()) {
	s.clock.plans = append(s.clock.plans, plan{s.clock.now.Add(d), do})
}

// stopPayload is the agent's stop with tasks running.
func (s *session) stopPayload(active bool, tasks ...string) string {
	var list []map[string]string
	for _, id := range tasks {
		kind := "shell"
		if strings.HasPrefix(id, "a") {
			kind = "subagent"
		}
		list = append(list, map[string]string{"id": id, "type": kind, "status": "running", "command": "make"})
	}
	if list == nil {
		list = []map[string]string{}
	}
	if s.background {
		list = append(list, map[string]string{"id": testAgent, "type": "subagent", "status": "running"})
	}
	payload, err := json.Marshal(map[string]any{
		"session_id": testSession, "transcript_path": s.main(), "cwd": s.dir, "hook_event_name": "SubagentStop",
		"agent_id": testAgent, "agent_type": "general-purpose", "agent_transcript_path": s.agentFile(testAgent),
		"last_assistant_message": "I wait.", "stop_hook_active": active, "background_tasks": list,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(payload)
}

// host is the world of one run of the hook.
func (s *session) host(payload string, args []string) host.Host {
	return host.Host{
		Stdin: strings.NewReader(payload), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Args: args, Clock: s.clock, PID: 4242,
		Env: func(name string) string {
			switch name {
			case state.EnvDir:
				return s.state().Path()
			case clocks.EnvClient:
				return strconv.Itoa(s.client)
			case clocks.EnvEntrypoint:
				return s.entrypoint
			case state.EnvKeep:
				return s.keep
			}
			return s.env[name]
		},
		Watch:  s.watch,
		HungUp: func() bool { return s.hungUp },
		Gone: func(ctx context.Context, pids ...int) (context.Context, bool) {
			if !s.tells {
				return ctx, false
			}
			s.waiters = pids
			ctx, s.leave = context.WithCancel(ctx)
			return ctx, true
		},
		Ancestors: func() []int {
			if s.strangers {
				return []int{s.parent}
			}
			return []int{s.parent, s.client}
		},
		Command: func(pid int) ([]string, bool) {
			if pid != s.client {
				return []string{"sh"}, true
			}
			return strings.Fields(s.line), true
		},
		Files: host.Files{Map: func(name string) string {
			if s.onPath != nil {
				s.onPath(name)
			}
			return name
		}},
		Self:   func() string { return s.self },
		Parent: func() int { return s.parent },
		Alive:  func(pid int) bool { return !s.gone[pid] },
		Started: func(pid int) (string, bool) {
			mark, known := s.started[pid]
			return mark, known
		},
	}
}

// run is one run of the hook.
func (s *session) run(payload string, args ...string) (code int, out Outcome, stdout, stderr string) {
	s.t.Helper()
	var o, e bytes.Buffer
	h := s.host(payload, args)
	h.Stdout, h.Stderr = &o, &e
	code, out = Run(h)
	return code, out, o.String(), e.String()
}

func (s *session) snapshot() ledger.Snapshot {
	s.t.Helper()
	snap, err := ledger.Read(s.t.Context(), s.state(), testSession, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

func (s *session) lastStop() ledger.Stop {
	s.t.Helper()
	stops := s.snapshot().Stops
	if len(stops) == 0 {
		s.t.Fatal("no stop was recorded")
	}
	return stops[len(stops)-1]
}

func TestAHeldStop(t *testing.T) {
	const hold = "--hold=60s"
	tests := []struct {
		name string
		// meanwhile plans what happens in the hold.
		meanwhile func(*session)
		code      gate.Code
		block     bool
		// says must all stand in the reason.
		says []string
		// atMost bounds how long it was held.
		atMost time.Duration
	}{
		{
			"whose task exits is blocked with the outcome",
			func(s *session) {
				s.after(9*time.Second, func() {
					s.write(s.output("b1"), "working\nRESULT 42\n\n[exited with code 3]\n")
					s.appendTo(s.main(), s.ended("b1", "failed", "Background command failed with exit code 3"))
				})
			},
			gate.TaskEnded, true, []string{"b1 (shell) exited with code 3 after 9s", "b1.output", "give your complete final report"}, 9200 * time.Millisecond,
		},
		{
			"whose task's end only the output file tells is blocked with the outcome",
			func(s *session) {
				s.after(2*time.Second, func() { s.write(s.output("b1"), "x\n[exited with code 0]\n") })
			},
			gate.TaskEnded, true, []string{"exited with code 0"}, 2200*time.Millisecond + fate.QuietEnd,
		},
		{
			"whose task's end only the coordinator's transcript tells is blocked with the outcome",
			func(s *session) {
				s.after(2*time.Second, func() { s.appendTo(s.main(), s.ended("b1", "completed", "done (exit code 0)")) })
			},
			gate.TaskEnded, true, []string{"exited with code 0 after 2s"}, 2200 * time.Millisecond,
		},
		{
			"whose task never ends is blocked at the deadline",
			func(*session) {},
			gate.HoldOver, true, []string{"b1 (shell, running for 1m00s)", "your next stop is held again for it, up to 59m00s more"}, 60 * time.Second,
		},
		{
			"whose task was stopped is let through",
			func(s *session) {
				s.after(3*time.Second, func() { s.write(s.output("b1"), "x\n[killed]\n") })
			},
			gate.TasksStopped, false, nil, 3200*time.Millisecond + fate.QuietEnd,
		},
		{
			"whose task the coordinator stopped, on a client without marks, is let through",
			func(s *session) {
				s.after(3*time.Second, func() {
					s.appendTo(s.main(), s.call("toolu_s", "TaskStop", `{"task_id":"b1"}`))
					s.appendTo(s.main(), fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"toolu_s","content":"{\"message\":\"Successfully stopped task: b1 (make)\"}"}]}}`, s.stamp()))
				})
			},
			gate.TasksStopped, false, nil, 3200 * time.Millisecond,
		},
		{
			"is ended by a message to the agent's id",
			func(s *session) {
				s.after(5*time.Second, func() {
					s.appendTo(s.main(), s.call("toolu_m", "SendMessage", `{"to":"a1","message":"hurry"}`))
				})
			},
			gate.MessageWaits, true, []string{"a message to you waits", "b1 (shell, running for 5s)"}, 5200 * time.Millisecond,
		},
		{
			"is ended by a message to the agent's name",
			func(s *session) {
				s.after(time.Second, func() {
					s.appendTo(s.main(), s.call("toolu_m", "SendMessage", `{"to":"builder","message":"hurry"}`))
				})
			},
			gate.MessageWaits, true, []string{"a message to you waits"}, 1200 * time.Millisecond,
		},
		{
			"is ended by a message to a teammate of the oldest client, whose file holds its name as its type",
			func(s *session) {
				s.write(transcript.MetaPath(s.agentFile(testAgent)), `{"agentType":"ping"}`)
				s.after(time.Second, func() {
					s.appendTo(s.main(), s.call("toolu_m", "SendMessage", `{"to":"ping","message":"hurry","type":"message","recipient":"ping"}`))
				})
			},
			gate.MessageWaits, false, nil, 1200 * time.Millisecond,
		},
		{
			"is not ended by a message to somebody else, nor by an old one",
			func(s *session) {
				s.clock.now = s.clock.now.Add(-time.Minute)
				s.appendTo(s.main(), s.call("toolu_0", "SendMessage", `{"to":"a1","message":"old"}`))
				s.clock.now = s.clock.now.Add(time.Minute)
				s.after(time.Second, func() {
					s.appendTo(s.main(), s.call("toolu_m", "SendMessage", `{"to":"tester","message":"hurry"}`))
				})
			},
			gate.HoldOver, true, nil, 60 * time.Second,
		},
		{
			"is let through when stopgate is switched off",
			func(s *session) {
				s.after(time.Second, func() {
					if err := s.state().SwitchOff("", time.Time{}); err != nil {
						s.t.Error(err)
					}
				})
			},
			gate.Disabled, false, nil, 1200 * time.Millisecond,
		},
		{
			"is let through when its session ends",
			func(s *session) {
				s.after(time.Second, func() {
					s.run(fmt.Sprintf(`{"hook_event_name":"SessionEnd","session_id":%q}`, testSession))
				})
			},
			gate.SessionOver, false, nil, 1300 * time.Millisecond,
		},
		{
			"is let through when its parent is gone",
			func(s *session) { s.after(time.Second, func() { s.parent = 1 }) },
			gate.SessionOver, false, nil, 1200 * time.Millisecond,
		},
		{
			"is let through when its client is gone",
			func(s *session) { s.after(time.Second, func() { s.gone[200] = true }) },
			gate.SessionOver, false, nil, 1200 * time.Millisecond,
		},
		{
			"is let through when the kernel tells that nobody waits",
			func(s *session) {
				s.tells = true
				s.after(time.Second, func() {
					if want := []int{s.parent, s.client}; !slices.Equal(s.waiters, want) {
						s.t.Errorf("watched for the end of %v, want %v", s.waiters, want)
					}
					s.leave()
				})
			},
			gate.SessionOver, false, nil, 1100 * time.Millisecond,
		},
		{
			"is let through when a person releases its task",
			func(s *session) {
				s.after(time.Second, func() {
					err := ledger.Update(s.t.Context(), s.state(), testSession, s.clock.Now(), func(tx *ledger.Tx) error { tx.Release("b1"); return nil })
					if err != nil {
						s.t.Error(err)
					}
				})
			},
			gate.Excused, false, nil, 1300 * time.Millisecond,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			test.meanwhile(s)
			code, out, stdout, _ := s.run(s.stopPayload(false, "b1"), hold)
			if code != 0 || out.Err != nil {
				t.Fatalf("exit code %d, error %v", code, out.Err)
			}
			if out.Decision.Code != test.code || (stdout != "") != test.block {
				t.Errorf("answered %s (%q), want %s", out.Decision.Code, stdout, test.code)
			}
			for _, want := range test.says {
				if !strings.Contains(out.Reason, want) {
					t.Errorf("the reason does not say %q:\n%s", want, out.Reason)
				}
			}
			if out.Held > test.atMost {
				t.Errorf("held for %s, want at most %s", out.Held, test.atMost)
			}
			snap := s.snapshot()
			if len(snap.Holds) != 0 {
				t.Errorf("a hold is left: %+v", snap.Holds)
			}
			if want := btoi(test.block && test.code != gate.MessageWaits); snap.Charged["b1"] != want {
				t.Errorf("%d blocks were charged, want %d", snap.Charged["b1"], want)
			}
			stop := snap.Stops[len(snap.Stops)-1]
			if stop.Code != string(test.code) || stop.Held != out.Held || (stop.Verdict == ledger.Block) != test.block {
				t.Errorf("recorded %+v", stop)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestAHoldIsClaimedWhileItLastsAndADuplicateIsLetThroughAtOnce(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.after(time.Second, func() {
		snap := s.snapshot()
		if len(snap.Holds) != 1 || snap.Holds[0].PID != 4242 || len(snap.Holds[0].Tasks) != 1 || snap.Charged["b1"] != 0 {
			t.Errorf("while held the ledger says %+v, charged %v", snap.Holds, snap.Charged)
		}
		before := s.clock.Now()
		_, out, stdout, _ := s.run(s.stopPayload(false, "b1"), "--hold=60s")
		if out.Decision.Code != gate.Duplicate || stdout != "" || !s.clock.Now().Equal(before) {
			t.Errorf("the duplicate was answered %s (%q)", out.Decision.Code, stdout)
		}
		s.write(s.output("b1"), "[exited with code 0]\n")
	})
	if _, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold=60s"); out.Decision.Code != gate.TaskEnded {
		t.Errorf("answered %s", out.Decision.Code)
	}
	if stops := s.snapshot().Stops; len(stops) != 1 {
		t.Errorf("%d stops were recorded, want 1", len(stops))
	}
}

func TestAHoldWhoseProcessDiedIsChargedNothing(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	err := ledger.Update(t.Context(), s.state(), testSession, s.clock.Now(), func(tx *ledger.Tx) error {
		tx.PutHold(ledger.Hold{AgentID: testAgent, Tasks: []string{"b1"}, Since: s.clock.Now(), Until: s.clock.Now().Add(time.Hour), Process: ledger.Process{PID: 77}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.clock.now = s.clock.now.Add(time.Minute)
	if _, out, _, _ := s.run(s.stopPayload(false, "b1"), "--hold=2s"); out.Decision.Code != gate.HoldOver || !out.Decision.Block {
		t.Errorf("answered %s", out.Decision.Code)
	}
}

func TestAHeldStopNamesWhatEndedAndWhatDidNot(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.appendTo(s.agentFile(testAgent), s.call("toolu_c", "Bash", `{"command":"x","run_in_background":true}`))
	s.appendTo(s.agentFile(testAgent), s.launched("toolu_c", "b2"))
	s.after(3*time.Second, func() { s.write(s.output("b2"), "[exited with code 0]\n") })
	_, out, _, _ := s.run(s.stopPayload(false, "b1", "b2"), "--hold=10s")
	if out.Decision.Code != gate.HoldOver {
		t.Fatalf("answered %s", out.Decision.Code)
	}
	for _, want := range []string{"b1 (shell, running for 10s)", "b2 (shell) exited with code 0 after 3s"} {
		if !strings.Contains(out.Reason, want) {
			t.Errorf("the reason does not say %q:\n%s", want, out.Reason)
		}
	}
	if stop := s.lastStop(); len(stop.Ended) != 1 || stop.Ended[0] != "b2" {
		t.Errorf("recorded as ended: %v", stop.Ended)
	}
}

func TestAStopWithoutBudgetIsNotHeld(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.run(s.stopPayload(false, "b1"), "--hold=1s", "--patience=0")
	s.clock.now = s.clock.now.Add(time.Minute)
	slept := s.clock.slept
	_, out, stdout, _ := s.run(s.stopPayload(true, "b1"), "--hold=1s", "--patience=0")
	if out.Decision.Code != gate.BudgetSpent || stdout != "" || s.clock.slept != slept {
		t.Errorf("answered %s (%q) after sleeping %s", out.Decision.Code, stdout, s.clock.slept-slept)
	}
}

func TestAnIgnoredCommandIsNeitherHeldForNorBlocked(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	payload := strings.Replace(s.stopPayload(false, "b1"), `"command":"make"`, `"command":"npm run dev"`, 1)
	_, out, stdout, _ := s.run(payload, "--hold=10s")
	if out.Decision.Code != gate.Excused || stdout != "" || s.clock.slept != 0 {
		t.Errorf("answered %s (%q) after sleeping %s", out.Decision.Code, stdout, s.clock.slept)
	}
	if !s.snapshot().Launches["b1"].Ignored {
		t.Error("the launch is not marked as ignored")
	}
}

// A child agent has ended when its end was told, it did not start again since,
// and owns no unfinished task.
func TestAHoldForAChildAgent(t *testing.T) {
	child := func(s *session) {
		s.appendTo(s.agentFile(testAgent), s.call("toolu_a", "Agent", `{"prompt":"x"}`))
		s.appendTo(s.agentFile(testAgent), fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"toolu_a","content":"Async agent launched successfully.\nagentId: ac1 (x"}]}}`, s.stamp()))
		s.appendTo(s.agentFile("ac1"), s.call("toolu_x", "Bash", `{"command":"y","run_in_background":true}`))
		s.appendTo(s.agentFile("ac1"), s.launched("toolu_x", "b9"))
		s.write(s.output("b9"), "y\n")
	}
	tests := []struct {
		name      string
		meanwhile func(*session)
		code      gate.Code
		atLeast   time.Duration
	}{
		{"that ends without own work is over with its end", func(s *session) {
			s.after(time.Second, func() { s.write(s.output("b9"), "[exited with code 0]\n") })
			s.after(10*time.Second, func() { s.appendTo(s.main(), s.ended("ac1", "completed", `Agent "c" finished`)) })
		}, gate.TaskEnded, 10 * time.Second},
		{"that parked goes on until its own end", func(s *session) {
			s.after(time.Second, func() {
				s.appendTo(s.main(), s.ended("ac1", "completed", `Agent "c" is waiting on its own background work`))
			})
			s.after(20*time.Second, func() { s.write(s.output("b9"), "[exited with code 0]\n") })
			s.after(21*time.Second, func() { s.appendTo(s.agentFile("ac1"), s.says("woken")) })
			s.after(30*time.Second, func() { s.appendTo(s.main(), s.ended("ac1", "completed", `Agent "c" finished`)) })
		}, gate.TaskEnded, 30 * time.Second},
		{"that nobody wakes is over when its task is", func(s *session) {
			s.after(time.Second, func() { s.appendTo(s.main(), s.ended("ac1", "completed", `Agent "c" finished`)) })
			s.after(20*time.Second, func() { s.write(s.output("b9"), "[exited with code 0]\n") })
		}, gate.TaskEnded, 20*time.Second + fate.QuietEnd},
		{"whose last lines come late is over with its end", func(s *session) {
			s.after(time.Second, func() { s.write(s.output("b9"), "[exited with code 0]\n") })
			s.after(10*time.Second, func() {
				late := s.says("last words")
				s.clock.now = s.clock.now.Add(10 * time.Millisecond)
				s.appendTo(s.main(), s.ended("ac1", "completed", `Agent "c" finished`))
				s.after(300*time.Millisecond, func() { s.appendTo(s.agentFile("ac1"), late) })
			})
		}, gate.TaskEnded, 10 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			child(s)
			test.meanwhile(s)
			_, out, _, _ := s.run(s.stopPayload(false, "ac1"), "--hold=60s")
			if out.Decision.Code != test.code || out.Held < test.atLeast || out.Held > test.atLeast+3*time.Second {
				t.Errorf("answered %s after %s, want %s after %s", out.Decision.Code, out.Held, test.code, test.atLeast)
			}
		})
	}
}
