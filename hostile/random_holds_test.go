//go:build hostile && linux

package hostile

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/handler"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

var holds = flag.Int("holds", 600, "random holds and couriers")

// How a task's end can be known.
const (
	byNews    = "a notification"
	byKill    = "a notification of its kill"
	byMark    = "its output's last line"
	byKilled  = "[killed] under its output"
	byList    = "a list without it"
	byNothing = "nothing"
	byForgery = "nothing: it printed what looks like the last line"
)

// never is later than everything.
const never = time.Duration(math.MaxInt64 / 4)

// ending is what becomes of one own task.
type ending struct {
	job *job
	// at is when it ends, counted from the stop, and known when that can be known.
	at, known time.Duration
	by        string
	killed    bool
	// heard tells that somebody is given the news two seconds later.
	heard bool
}

// scene is a random stop that is held, or stood for by a courier, and what happens
// meanwhile.
type scene struct {
	*play
	began time.Time
	plans []planned
	ends  []*ending
	agent *actor
	// killed is when the hook is killed, cut when something else ends the wait, and by
	// what.
	killed, cut time.Duration
	cutBy       string
	// woken is when the agent itself is given news.
	woken time.Duration
	// busy tells that the coordinator is at work: it may be told the news with its next
	// call.
	busy bool
}

type planned struct {
	at time.Duration
	do func()
}

func (s *scene) at(after time.Duration, do func()) {
	s.plans = append(s.plans, planned{after, do})
}

// due does what is due by now.
func (s *scene) due() {
	now := s.now.Sub(s.began)
	for {
		i := slices.IndexFunc(s.plans, func(p planned) bool { return p.at <= now })
		if i < 0 {
			break
		}
		p := s.plans[i]
		s.plans = slices.Delete(s.plans, i, i+1)
		p.do()
	}
	if s.killed > 0 && now >= s.killed {
		s.gone[s.pid] = true
		runtime.Goexit() // as a signal ends it: between two of its steps
	}
}

func newScene(t *testing.T, dir string, n uint64, courier bool) *scene {
	s := &scene{play: newPlay(t, dir, n), cut: never, woken: never}
	if s.version < "2.1.235" && s.chance(50) {
		s.version = "2.1.332"
		s.must(os.Remove(s.file("main")))
		s.put(s.file("main"), s.line("user", s.actors[0], map[string]any{"role": "user", "content": "go"}))
	}
	s.agent = &actor{id: "a1", parent: "main"}
	s.actors = append(s.actors, s.agent)
	s.put(s.file("a1"), s.line("user", s.agent, map[string]any{"role": "user", "content": "do it"}))
	s.put(strings.TrimSuffix(s.file("a1"), ".jsonl")+".meta.json", `{"agentType":"general-purpose","name":"builder","description":"x"}`)
	s.event("SubagentStart", map[string]any{"agent_id": "a1", "agent_type": "general-purpose"})
	if s.busy = s.chance(30); !s.busy {
		s.put(s.file("main"), s.line("assistant", s.actors[0], map[string]any{"role": "assistant", "stop_reason": "end_turn", "content": []any{map[string]any{"type": "text", "text": "I wait."}}}))
	}
	for range 1 + s.rng.IntN(3) {
		s.ends = append(s.ends, s.task())
	}
	s.now = s.now.Add(5 * time.Second)
	s.put(s.file("a1"), s.says(s.agent, "I wait."))
	s.began = s.now
	for _, e := range s.ends {
		s.plan(e)
	}
	s.interrupt(courier)
	s.waits = s.due
	return s
}

func (s *scene) task() *ending {
	j := &job{id: s.id("b"), kind: "shell", owner: "a1"}
	s.jobs = append(s.jobs, j)
	call := s.agent.call()
	s.put(s.file("a1"), s.use(s.agent, call, "Bash", map[string]any{"command": "make", "run_in_background": true}))
	s.put(s.file("a1"), s.gives(s.agent, call, "Command running in background with ID: "+j.id+". Output is being written to: "+s.output(j.id)+". More."))
	s.put(s.output(j.id), "working\n")
	e := &ending{job: j, at: time.Duration(2+s.rng.IntN(50)) * time.Second, by: pick(s.rng, byNews, byNews, byNews, byKill, byMark, byKilled, byList, byNothing, byForgery)}
	if s.version < "2.1.235" && (e.by == byMark || e.by == byKilled) {
		e.by = byForgery // what looks like a last line is the command's own there
	}
	return e
}

// plan makes the end happen.
func (s *scene) plan(e *ending) {
	say := func(line string) func() { return func() { s.put(s.output(e.job.id), line) } }
	news := func(status string) func() {
		return func() {
			text := fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<output-file>%s</output-file>\n<status>%s</status>\n<summary>Background command completed (exit code 0)</summary>\n</task-notification>", e.job.id, s.output(e.job.id), status)
			s.put(s.file("main"), s.line("queue-operation", s.actors[0], nil, "operation", "enqueue", "content", text))
		}
	}
	e.known = e.at
	switch e.by {
	case byNews:
		s.at(e.at, news(pick(s.rng, "completed", "failed")))
	case byKill:
		e.killed = true
		s.at(e.at, news(pick(s.rng, "killed", "stopped", "cancelled")))
	case byMark:
		e.known += 5 * time.Second
		s.at(e.at, say("x\n\n[exited with code 3]\n"))
	case byKilled:
		e.known, e.killed = e.known+5*time.Second, true
		s.at(e.at, say("x\n\n[killed]\n"))
	case byList:
		e.known += 2 * time.Second
		s.at(e.at, func() { s.lists(e) })
	case byForgery:
		e.known = never
		s.at(e.at, say("[exited with code 0]\n"))
		for more := 3 * time.Second; more < 150*time.Second; more += 3 * time.Second {
			s.at(e.at+more, say(pick(s.rng, "[killed]\n", "building\n", "[exited with code 0]\n")))
		}
	default:
		e.known = never
	}
	if e.by == byNews && s.chance(40) {
		e.heard = true
		to := pick(s.rng, s.actors[0], s.agent)
		if to == s.agent {
			s.woken = min(s.woken, e.at+2*time.Second) // it goes on with the news
		} else {
			s.busy = true
		}
		s.at(e.at+2*time.Second, func() {
			s.put(s.file(to.id), s.line("user", to, map[string]any{"role": "user", "content": "<task-notification>\n<task-id>" + e.job.id + "</task-id>\n<status>completed</status>\n</task-notification>"}))
		})
	}
	s.note("%s ends after %v, known by %s (heard %v)", e.job.id, e.at, e.by, e.heard)
}

// lists is an event whose list names what runs without this task.
func (s *scene) lists(ended *ending) {
	list := []any{}
	for _, e := range s.ends {
		if e != ended && (e.known == never || s.began.Add(e.at).After(s.now)) {
			list = append(list, map[string]any{"id": e.job.id, "type": "shell", "status": "running"})
		}
	}
	waits := s.waits
	s.waits = nil
	s.pid++
	s.event("Stop", map[string]any{"background_tasks": list})
	s.pid--
	s.waits = waits
}

// interrupt plans what else may end the wait.
func (s *scene) interrupt(courier bool) {
	at := time.Duration(3+s.rng.IntN(60)) * time.Second
	nested := func(do func()) func() {
		return func() {
			waits := s.waits
			s.waits = nil
			s.pid++
			do()
			s.pid--
			s.waits = waits
		}
	}
	dir := state.At(filepath.Join(s.dir, "state"))
	causes := map[string]func(){
		"message": func() {
			main := s.actors[0]
			s.put(s.file("main"), s.use(main, main.call(), "SendMessage", map[string]any{"to": "a1", "message": "hurry"}))
		},
		"gone":  func() { s.parent = 1 },
		"off":   func() { s.must(dir.SwitchOff("", time.Time{})) },
		"end":   nested(func() { s.event("SessionEnd", nil) }),
		"start": nested(func() { s.event("SubagentStart", map[string]any{"agent_id": "a1", "agent_type": "general-purpose"}) }),
		"release": func() {
			s.must(ledger.Update(s.t.Context(), dir, playSession, s.now, func(tx *ledger.Tx) error {
				for _, e := range s.ends {
					tx.Release(e.job.id)
				}
				return nil
			}))
		},
	}
	kinds := []string{"message", "gone", "off", "end", "start", "release", "", "", "", "", ""}
	if courier {
		causes["acts"] = func() { s.put(s.file("a1"), s.says(s.agent, "more")) }
		kinds[0] = "acts"
	}
	if s.cutBy = pick(s.rng, kinds...); s.cutBy != "" {
		s.cut = at
		s.at(at, causes[s.cutBy])
		s.note("%s after %v", s.cutBy, at)
	}
}

func (s *scene) must(err error) {
	if err != nil {
		s.t.Fatal(err)
	}
}

// all is when the ends of all tasks can be known, and whether all were killed.
func (s *scene) all() (at time.Duration, killed bool) {
	killed = true
	for _, e := range s.ends {
		at, killed = max(at, e.known), killed && e.killed
	}
	return at, killed
}

func (s *scene) payload() map[string]any {
	list := []any{}
	for _, e := range s.ends {
		list = append(list, map[string]any{"id": e.job.id, "type": "shell", "status": "running", "command": "make"})
	}
	return map[string]any{
		"session_id": playSession, "transcript_path": s.file("main"), "cwd": s.dir, "hook_event_name": "SubagentStop", "agent_id": "a1", "agent_type": "general-purpose",
		"agent_transcript_path": s.file("a1"), "last_assistant_message": "I wait.", "stop_hook_active": false, "background_tasks": list, "prompt_id": s.id("p"),
	}
}

// first tells which of the times comes first, and whether another comes too close to
// tell.
func first(times map[string]time.Duration) (what string, at time.Duration, close bool) {
	at = never
	for name, t := range times {
		if t < at {
			what, at = name, t
		}
	}
	for name, t := range times {
		close = close || name != what && t-at < 3*time.Second
	}
	return what, at, close
}

// held plays a stop that is held, and looks at the answer and the record.
func (s *scene) held() {
	hold := time.Duration(10+s.rng.IntN(50)) * time.Second
	args := []string{"gate", "--hold", hold.String()}
	if s.chance(30) {
		args = append(args, "--patience", hold.String())
	}
	all, killed := s.all()
	what, at, close := first(map[string]time.Duration{"ended": all, "cut": s.cut, "deadline": hold})
	if at > 8*time.Second && s.chance(20) {
		s.killed = time.Duration(1+s.rng.IntN(int(at/time.Second)-4)) * time.Second
		s.note("the hook is killed after %v", s.killed)
	}
	s.note("held for %v at the most", hold)
	out, stdout := s.hook(s.payload(), args...)
	snap := s.snapshot()
	if s.killed > 0 {
		s.lost(stdout, snap)
		return
	}
	if len(snap.Holds) != 0 || len(snap.Stops) != 1 || len(snap.Acts) == 0 || snap.Acts[0].Deed != ledger.Held || snap.Stops[0].Seq <= snap.Acts[0].Seq {
		s.fail("recorded %+v, %+v, holds %+v", snap.Acts, snap.Stops, snap.Holds)
		return
	}
	code := out.Decision.Code
	block := stdout != ""
	for _, e := range s.ends {
		if want := map[bool]int{true: 1}[block && code != gate.MessageWaits]; snap.Charged[e.job.id] != want {
			s.fail("%s: %s was charged %d, want %d", code, e.job.id, snap.Charged[e.job.id], want)
		}
	}
	if close {
		return
	}
	want := map[string]gate.Code{"message": gate.MessageWaits, "gone": gate.SessionOver, "off": gate.Disabled, "end": gate.SessionOver, "start": gate.SessionOver, "release": gate.Excused}[s.cutBy]
	switch {
	case what == "ended" && killed:
		want = gate.TasksStopped
	case what == "ended":
		want = gate.TaskEnded
	case what == "deadline" && len(args) > 3:
		want = gate.PatienceOver
	case what == "deadline":
		want = gate.HoldOver
	}
	blocks := map[gate.Code]bool{gate.TaskEnded: true, gate.MessageWaits: true, gate.HoldOver: true, gate.PatienceOver: true}
	if code != want || block != blocks[want] || out.Held < at-300*time.Millisecond || out.Held > at+3*time.Second {
		s.fail("answered %s after %v (blocked %v), want %s after %v", code, out.Held, block, want, at)
	}
}

// lost looks at what is left of a hold that was killed: nothing is answered or charged,
// the next event records it once, and the next stop is guarded.
func (s *scene) lost(stdout string, snap ledger.Snapshot) {
	if stdout != "" || len(snap.Holds) != 1 || len(snap.Stops) != 0 || len(snap.Charged) != 0 {
		s.fail("killed, it answered %q and left %+v, %+v, charged %v", stdout, snap.Holds, snap.Stops, snap.Charged)
		return
	}
	s.killed, s.waits = 0, nil
	s.pid += 10
	s.now = s.now.Add(4 * time.Second)
	for range 2 {
		s.event("SubagentStart", map[string]any{"agent_id": "a2", "agent_type": "x"})
	}
	if snap = s.snapshot(); len(snap.Stops) != 1 || snap.Stops[0].Code != string(gate.HoldLost) || len(snap.Holds) != 0 || len(snap.Charged) != 0 {
		s.fail("afterwards it is recorded as %+v, holds %+v, charged %v", snap.Stops, snap.Holds, snap.Charged)
	}
	if s.parent == 1 || s.cutBy == "off" || s.cutBy == "release" {
		return
	}
	if out, stdout := s.hook(s.payload(), "gate", "--hold=0s"); stdout == "" {
		s.fail("the stop after a hold that was killed was let through: %s", out.Decision.Code)
	}
}

// stood plays a courier, and looks at whom it woke, and how often.
func (s *scene) stood() {
	span := time.Duration(20+s.rng.IntN(60)) * time.Second
	all, _ := s.all()
	over := min(all, span)
	end := over
	if s.busy {
		end = span
	}
	s.note("a courier for %v", span)
	code, _ := s.courier(span)
	s.cut = min(s.cut, s.woken)
	told := []string{}
	near := false
	for _, e := range s.ends {
		near = near || max(e.known-over, over-e.known) < 3*time.Second && all != e.known
		if e.known <= over && !e.killed && !e.heard {
			told = append(told, e.job.id)
		}
	}
	near = near || (all-span).Abs() < 3*time.Second || s.cut > over-3*time.Second && s.cut < end+9*time.Second
	wakes := len(told) > 0 && s.cut > end
	snap := s.snapshot()
	if !near && (code == 2) != wakes {
		s.fail("exit code %d, want a wake %v for %v; recorded %+v", code, wakes, told, snap.Acts)
	}
	if len(snap.Watches) != 0 {
		s.fail("a courier is left: %+v", snap.Watches)
	}
	if n := len(snap.Acts); n < 2 || !slices.ContainsFunc(snap.Acts, func(a ledger.Act) bool { return a.Deed == ledger.Stood }) ||
		slices.ContainsFunc(snap.Acts, func(a ledger.Act) bool { return a.Deed == ledger.Woke }) != (code == 2) {
		s.fail("exit code %d, recorded %+v", code, snap.Acts)
	}
	if again, text := s.courier(5 * time.Second); code == 2 && again == 2 {
		for _, id := range told {
			if strings.Contains(text, id) {
				s.fail("a second courier told of %s again", id)
			}
		}
	}
}

func (s *scene) courier(span time.Duration) (code int, text string) {
	h, _, errs := s.host(s.payload(), "courier", "--for", span.String())
	code, _ = handler.Run(h)
	if (code == 2) != (errs.Len() > 0) || code != 0 && code != 2 {
		s.fail("exit code %d with %q", code, errs)
	}
	return code, errs.String()
}

// Random holds and couriers with a clock of their own: ends of every kind, known by
// every sign or by none, forged ones, news that somebody is given, messages, the off
// switch, ends of the client and the session, releases, and kills of the hook.
func TestRandomHolds(t *testing.T) {
	root := base
	if memory, err := os.MkdirTemp("/dev/shm", "stopgate-scenes-"); err == nil {
		root = memory
		defer func() { _ = os.RemoveAll(memory) }()
	}
	from, to := uint64(1), uint64(*holds)
	if *seed > 0 {
		from, to = *seed, *seed
	}
	failed := 0
	for n := from; n <= to && failed < 5; n++ {
		dir, err := os.MkdirTemp(root, "scene-")
		if err != nil {
			t.Fatal(err)
		}
		courier := n%3 == 0
		s := newScene(t, dir, n, courier)
		if courier {
			s.stood()
		} else {
			s.held()
		}
		if s.wrong != "" {
			failed++
			t.Errorf("scene %d (-seed %d), client %s: %s\n  %s", n, n, s.version, s.wrong, strings.Join(s.story, "\n  "))
		}
		_ = os.RemoveAll(dir)
	}
}
