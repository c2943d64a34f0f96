//go:build hostile && linux

package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/handler"
	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

var (
	sessions = flag.Int("sessions", 2000, "random sessions")
	seed     = flag.Uint64("seed", 0, "the one random session to run; 0 runs all")
)

// job is a background task as it truly is.
type job struct {
	id, kind, owner string
	// born is when it was launched.
	born       time.Time
	persistent bool
	over       bool
	// told tells that its launch stands where a hook can read it: on the owner's
	// transcript, flushed, or in an event.
	told bool
	// charged is how many blocks it was the reason of.
	charged int
}

// actor is the coordinator or an agent.
type actor struct {
	id, parent string
	calls      int
	chain      int
	// lagging are lines that are not on disk yet.
	lagging []string
	said    string
}

// play is one random session: what happens is written as the client writes it, and the
// model keeps who truly launched what.
type play struct {
	t       *testing.T
	rng     *rand.Rand
	dir     string
	now     time.Time
	version string
	actors  []*actor
	jobs    []*job
	// waits are lines that come to disk while a hook waits for them.
	waits func()
	story []string
	ids   int
	wrong string
	// pid is the process of the hook, parent its parent and gone the processes that
	// have ended.
	pid, parent int
	gone        map[int]bool
}

const playSession = "5e551000-0000-4000-8000-00000000beef"

// Now is the time of the session.
func (p *play) Now() time.Time { return p.now }

// Sleep lets time pass, in which lines come to disk.
func (p *play) Sleep(ctx context.Context, d time.Duration) bool {
	p.now = p.now.Add(d)
	if p.waits != nil {
		p.waits()
	}
	return ctx.Err() == nil
}

func newPlay(t *testing.T, dir string, n uint64) *play {
	p := &play{t: t, rng: rand.New(rand.NewPCG(n, 11)), dir: dir, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), pid: 4242, parent: 100, gone: map[int]bool{}}
	p.version = pick(p.rng, "2.1.150", "2.1.198", "2.1.220", "2.1.235", "2.1.300", "2.1.332")
	p.actors = []*actor{{id: "main"}}
	p.put(p.file("main"), p.line("user", p.actors[0], map[string]any{"role": "user", "content": "go"}))
	return p
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func (p *play) chance(percent int) bool { return p.rng.IntN(100) < percent }

func (p *play) id(begin string) string {
	p.ids++
	return fmt.Sprintf("%s%07x", begin, p.ids*7919)
}

func (p *play) file(who string) string {
	if who == "main" {
		return filepath.Join(p.dir, "p", playSession+".jsonl")
	}
	return filepath.Join(p.dir, "p", playSession, "subagents", "agent-"+who+".jsonl")
}

func (p *play) output(task string) string {
	return filepath.Join(p.dir, "tasks", task+".output")
}

func (p *play) put(path, text string) { hosttest.Append(p.t, p.now, path, text) }

func (p *play) line(kind string, a *actor, message any, more ...any) string {
	l := map[string]any{"type": kind, "timestamp": p.now.UTC().Format("2006-01-02T15:04:05.000Z"), "version": p.version, "message": message}
	if a.id != "main" {
		l["isSidechain"] = true
		if p.version != "2.1.150" {
			l["agentId"] = a.id
		}
	}
	for i := 0; i+1 < len(more); i += 2 {
		l[more[i].(string)] = more[i+1]
	}
	return line(l)
}

// writes adds lines to an actor's transcript, at once or behind what lags there.
func (p *play) writes(a *actor, late bool, lines ...string) {
	if late || len(a.lagging) > 0 {
		a.lagging = append(a.lagging, lines...)
		return
	}
	p.put(p.file(a.id), strings.Join(lines, ""))
}

func (p *play) flush(a *actor) {
	if len(a.lagging) > 0 {
		p.put(p.file(a.id), strings.Join(a.lagging, ""))
		a.lagging = nil
	}
	for _, j := range p.jobs {
		j.told = j.told || j.owner == a.id
	}
}

func (a *actor) call() string {
	a.calls++
	return fmt.Sprintf("toolu_%s_%d", a.id, a.calls)
}

func (p *play) use(a *actor, call, tool string, input any) string {
	return p.line("assistant", a, map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": call, "name": tool, "input": input}}})
}

func (p *play) gives(a *actor, call string, content any, more ...any) string {
	return p.line("user", a, map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": content}}}, more...)
}

func (p *play) says(a *actor, text string) string {
	a.said = text
	return p.line("assistant", a, map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}})
}

func (p *play) sentence(j *job) (tool string, input map[string]any, text string, answer map[string]any) {
	where := ". Output is being written to: " + p.output(j.id) + ". You will be notified when it completes."
	switch j.kind {
	case event.TypeMonitor:
		text = "Monitor started (task " + j.id + ", timeout 300000ms)" + where
		if j.persistent {
			text = "Monitor started (task " + j.id + ", persistent)" + where
		}
		return "Monitor", map[string]any{"command": "tail x", "persistent": j.persistent}, text, map[string]any{"taskId": j.id, "persistent": j.persistent}
	case event.TypeSubagent:
		return "Agent", map[string]any{"prompt": "do it", "run_in_background": true}, "Async agent launched successfully.\nagentId: " + j.id + " (internal ID)\noutput_file: " + p.output(j.id),
			map[string]any{"agentId": j.id, "status": "async_launched"}
	}
	input = map[string]any{"command": "make " + j.id}
	switch p.rng.IntN(4) {
	case 0:
		text = "Command did not complete within its 120000ms timeout and was moved to the background (ID: " + j.id + ")" + where
	case 1:
		text = "Command was manually backgrounded by user with ID: " + j.id + where
	default:
		input["run_in_background"] = true
		text = "Command running in background with ID: " + j.id + where
	}
	return "Bash", input, text, map[string]any{"stdout": "", "backgroundTaskId": j.id}
}

// launches is a launch of any kind by somebody.
func (p *play) launches(kind string) {
	a := pick(p.rng, p.actors...)
	if kind == event.TypeSubagent && a.id != "main" && p.chance(50) {
		a = p.actors[0]
	}
	j := &job{id: p.id(map[string]string{event.TypeShell: "b", event.TypeMonitor: "m", event.TypeSubagent: "a"}[kind]), kind: kind, owner: a.id, born: p.now}
	j.persistent = kind == event.TypeMonitor && p.chance(30)
	tool, input, text, answer := p.sentence(j)
	call := a.call()
	first, second := p.use(a, call, tool, input), ""
	p.now = p.now.Add(200 * time.Millisecond)
	if a.id == "main" || p.chance(20) {
		second = p.gives(a, call, text, "toolUseResult", answer)
	} else if p.chance(50) {
		second = p.gives(a, call, []any{map[string]any{"type": "text", "text": text}})
	} else {
		second = p.gives(a, call, text)
	}
	if p.chance(10) {
		first, second = second, first
	}
	late := a.id != "main" && p.chance(20)
	p.writes(a, late, first, second)
	p.jobs = append(p.jobs, j)
	j.told = len(a.lagging) == 0
	if kind != event.TypeSubagent {
		hosttest.Write(p.t, p.now, p.output(j.id), "working\n")
	} else {
		agent := &actor{id: j.id, parent: a.id}
		p.put(p.file(j.id), p.line("user", agent, map[string]any{"role": "user", "content": "do it"}))
		meta := map[string]any{"agentType": "general-purpose", "description": "x"}
		if p.version >= "2.1.220" && a.id != "main" {
			meta["parentAgentId"] = a.id
		}
		hosttest.Write(p.t, p.now, strings.TrimSuffix(p.file(j.id), ".jsonl")+".meta.json", line(meta))
		p.actors = append(p.actors, agent)
		if p.chance(70) {
			p.event("SubagentStart", map[string]any{"agent_id": j.id, "agent_type": "general-purpose"})
		}
	}
	if p.chance(50) {
		more := map[string]any{"tool_name": tool, "tool_use_id": call, "tool_input": input, "tool_response": answer}
		if a.id != "main" {
			more["agent_id"], more["agent_type"] = a.id, "general-purpose"
		}
		p.event("PostToolUse", more)
		j.told = true
	}
	p.note("%s launches %s %s (late %v)", a.id, kind, j.id, late)
}

// quotes is somebody that prints or writes the sentence of a launch that is none of its
// own, or that was never made.
func (p *play) quotes() {
	a := pick(p.rng, p.actors...)
	id := p.id("b")
	if len(p.jobs) > 0 && p.chance(80) {
		id = pick(p.rng, p.jobs...).id
	}
	call := a.call()
	text := "Command running in background with ID: " + id + ". Output is being written to: " + p.output(id) + "."
	switch p.rng.IntN(5) {
	case 0:
		p.writes(a, false, p.says(a, text))
	case 1:
		p.writes(a, false, p.use(a, call, "Bash", map[string]any{"command": "cat log"}), p.gives(a, call, "log:\n"+text))
	case 2:
		p.writes(a, false, p.use(a, call, "Read", map[string]any{"file_path": "/log"}), p.gives(a, call, text))
	case 3:
		p.writes(a, false, p.use(a, call, "Bash", map[string]any{"command": "echo agent"}), p.gives(a, call, "Async agent launched successfully.\nagentId: "+id))
	case 4:
		p.writes(a, false, p.line("user", a, map[string]any{"role": "user", "content": "<task-notification>\n<task-id>x</task-id>\n" + text + "\n</task-notification>"}))
	}
	p.note("%s quotes %s", a.id, id)
}

// resumes is a message that wakes an agent: whoever sends it launches nothing.
func (p *play) resumes() {
	if len(p.actors) < 3 {
		return
	}
	from, to := pick(p.rng, p.actors...), pick(p.rng, p.actors[1:]...)
	if from == to || !slices.ContainsFunc(p.jobs, func(j *job) bool { return j.id == to.id && j.told }) {
		return // who alone is known to have woken an agent may be taken for its launcher
	}
	call, answer := from.call(), map[string]any{"success": true, "resumedAgentId": to.id}
	p.writes(from, false, p.use(from, call, "SendMessage", map[string]any{"to": to.id, "message": "go on"}), p.gives(from, call, strings.TrimSpace(line(answer)), "toolUseResult", answer))
	for _, j := range p.jobs {
		if j.id == to.id {
			j.over = false
		}
	}
	p.note("%s resumes %s", from.id, to.id)
}

// ends is an end of a task, told as the client tells it or not at all.
func (p *play) ends() {
	j := pickRunning(p)
	if j == nil {
		return
	}
	j.over = true
	main := p.actors[0]
	status := pick(p.rng, "completed", "failed", "killed", "stopped")
	if p.chance(60) {
		text := fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<output-file>%s</output-file>\n<status>%s</status>\n<summary>done (exit code 0)</summary>\n</task-notification>", j.id, p.output(j.id), status)
		p.put(p.file("main"), p.line("queue-operation", main, nil, "operation", "enqueue", "content", text))
	}
	p.note("%s ends (%s)", j.id, status)
}

func pickRunning(p *play) *job {
	var run []*job
	for _, j := range p.jobs {
		if !j.over {
			run = append(run, j)
		}
	}
	if len(run) == 0 {
		return nil
	}
	return pick(p.rng, run...)
}

// event runs the hook on an event that is never answered.
func (p *play) event(name string, more map[string]any) {
	all := map[string]any{"session_id": playSession, "transcript_path": p.file("main"), "cwd": p.dir, "hook_event_name": name}
	for k, v := range more {
		all[k] = v
	}
	if _, stdout := p.hook(all, "gate", "--no-history"); stdout != "" {
		p.fail("%s was answered with %q", name, stdout)
	}
}

func (p *play) hook(payload map[string]any, args ...string) (handler.Outcome, string) {
	h, out, errs := p.host(payload, args...)
	code, outcome := handler.Run(h)
	if code != 0 || errs.Len() > 0 {
		p.fail("exit code %d, stderr %q", code, errs.String())
	}
	return outcome, out.String()
}

// host is the world of one run of the hook.
func (p *play) host(payload map[string]any, args ...string) (h host.Host, out, errs *bytes.Buffer) {
	data, err := json.Marshal(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return host.Host{
		Stdin: bytes.NewReader(data), Stdout: out, Stderr: errs, Args: args, Clock: p, PID: p.pid,
		Env: func(name string) string {
			switch name {
			case state.EnvDir:
				return filepath.Join(p.dir, "state")
			case state.EnvKeep:
				return "36500d"
			case state.EnvLog:
				return "disabled"
			case clocks.EnvEntrypoint:
				return "cli"
			}
			return ""
		},
		Self: func() string { return "" }, Parent: func() int { return p.parent }, Alive: func(pid int) bool { return !p.gone[pid] },
	}, out, errs
}

func (p *play) snapshot() ledger.Snapshot {
	snap, err := ledger.Read(p.t.Context(), state.At(filepath.Join(p.dir, "state")), playSession, nil)
	if err != nil {
		p.fail("the store cannot be read: %v", err)
	}
	return snap
}

// stops is a stop of an agent, and what must be true of its answer.
func (p *play) stops() {
	if len(p.actors) < 2 {
		return
	}
	a := pick(p.rng, p.actors[1:]...)
	p.now = p.now.Add(time.Duration(3+p.rng.IntN(5)) * time.Second)
	p.writes(a, false, p.says(a, fmt.Sprintf("I wait. %d", a.calls)))
	a.calls++
	late := len(a.lagging) > 0
	if late { // the lines come to disk while the hook runs
		at := p.now.Add(time.Duration(p.rng.IntN(250)) * time.Millisecond)
		p.waits = func() {
			if !p.now.Before(at) {
				p.flush(a)
			}
		}
	}
	path := p.file(a.id)
	switch p.rng.IntN(12) {
	case 0:
		path = p.file(pick(p.rng, p.actors...).id) // somebody else's
	case 1:
		path = "/"
	case 2:
		path = ""
	}
	var list []map[string]string
	var own []string
	want, affordable := map[string]bool{}, false
	for _, j := range p.jobs {
		if j.over {
			continue
		}
		list = append(list, map[string]string{"id": j.id, "type": j.kind, "status": "running", "command": "make"})
		if j.owner == a.id && j.id != a.id {
			own = append(own, j.id)
			want[j.id] = j.told || late
			affordable = affordable || !j.persistent && j.charged < 1
		}
	}
	payload := map[string]any{
		"session_id": playSession, "transcript_path": p.file("main"), "cwd": p.dir, "hook_event_name": "SubagentStop", "agent_id": a.id, "agent_type": "general-purpose",
		"agent_transcript_path": path, "last_assistant_message": a.said, "stop_hook_active": a.chain > 0, "background_tasks": list, "prompt_id": p.id("p"),
	}
	if list == nil {
		payload["background_tasks"] = []any{}
	}
	out, stdout := p.hook(payload, "gate", "--hold=0s", "--no-history")
	p.waits = nil
	p.flush(a)
	var got []string
	for _, t := range out.Facts.Own {
		got = append(got, t.ID)
	}
	p.note("%s stops with own %v (path %s, late %v): %s, own %v", a.id, own, filepath.Base(path), late, out.Decision.Code, got)
	for _, id := range got {
		if !slices.Contains(own, id) {
			p.fail("%s was taken for the launcher of %s", a.id, id)
		}
	}
	for id, seen := range want {
		if seen && !slices.Contains(got, id) && out.Decision.Code != gate.NoTasks {
			p.fail("%s was not taken for the launcher of %s", a.id, id)
		}
	}
	blocks := affordable && a.chain < gate.MaxChain
	if blocks != (stdout != "") || blocks != out.Decision.Block {
		p.fail("%s was answered %s with %q, want a block %v", a.id, out.Decision.Code, stdout, blocks)
	}
	if blocks {
		a.chain++
		for _, j := range p.jobs {
			if j.owner == a.id && !j.over && !j.persistent {
				j.charged++
			}
		}
	} else {
		a.chain = 0
	}
	if p.chance(25) { // the same event a second time
		p.now = p.now.Add(time.Duration(p.rng.IntN(250)) * time.Millisecond)
		if again, stdout := p.hook(payload, "gate", "--hold=0s", "--no-history"); stdout != "" {
			p.fail("a doubled stop of %s was answered %s", a.id, again.Decision.Code)
		}
	}
}

// step is one thing that happens.
func (p *play) step() {
	p.now = p.now.Add(time.Duration(p.rng.IntN(20_000)) * time.Millisecond)
	switch n := p.rng.IntN(100); {
	case n < 25:
		p.launches(event.TypeShell)
	case n < 32:
		p.launches(event.TypeMonitor)
	case n < 45:
		p.launches(event.TypeSubagent)
	case n < 55:
		p.quotes()
	case n < 60:
		p.resumes()
	case n < 68:
		p.ends()
	case n < 71: // the clock is set
		p.now = p.now.Add(time.Duration(p.rng.IntN(7200)-3600) * time.Second)
		p.note("the clock is set to %s", p.now.Format(time.TimeOnly))
	case n < 73:
		p.event("SessionEnd", nil)
		p.note("the session ends, and goes on")
	case n < 75:
		a := pick(p.rng, p.actors...)
		p.writes(a, false, p.use(a, a.call(), "SendMessage", map[string]any{"to": pick(p.rng, p.actors...).id, "message": "hello"}))
	default:
		p.stops()
	}
}

func (p *play) note(format string, args ...any) {
	p.story = append(p.story, fmt.Sprintf(format, args...))
}

func (p *play) fail(format string, args ...any) {
	if p.wrong == "" {
		p.wrong = fmt.Sprintf(format, args...)
	}
}

// perform plays so many steps of a session, or fewer where something is wrong before.
func perform(t *testing.T, root string, n uint64, steps int) *play {
	dir, err := os.MkdirTemp(root, "play-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := newPlay(t, dir, n)
	for range steps {
		p.step()
		if p.wrong != "" {
			return p
		}
	}
	p.sound()
	return p
}

// sound looks at what is recorded at the end.
func (p *play) sound() {
	snap := p.snapshot()
	for _, j := range p.jobs {
		if snap.Charged[j.id] != j.charged {
			p.fail("%s was charged %d blocks, want %d", j.id, snap.Charged[j.id], j.charged)
		}
	}
	last := uint64(0)
	for _, s := range snap.Stops {
		if s.Seq <= last {
			p.fail("stop %d comes behind %d", s.Seq, last)
		}
		last = s.Seq
	}
}

// Two thousand random sessions: launches of all kinds, transcripts that lag, doubled
// events, quotes, resumes, messages, wrong paths and clocks, each against a model that
// knows who launched what. A session ends with the first thing that is wrong, so its
// story is the shortest that leads there.
func TestRandomSessions(t *testing.T) {
	root := base
	if memory, err := os.MkdirTemp("/dev/shm", "stopgate-plays-"); err == nil {
		root = memory
		defer func() { _ = os.RemoveAll(memory) }()
	}
	first, last := uint64(1), uint64(*sessions)
	if *seed > 0 {
		first, last = *seed, *seed
	}
	failed := 0
	for n := first; n <= last && failed < 5; n++ {
		p := perform(t, root, n, 10+int(n%30))
		if p.wrong != "" {
			failed++
			t.Errorf("session %d (-seed %d), client %s, after %d steps: %s\n  %s", n, n, p.version, len(p.story), p.wrong, strings.Join(p.story, "\n  "))
		}
	}
}
