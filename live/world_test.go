//go:build live

package live

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

// world is one session under test: a client, its model, its hooks, its tasks.
type world struct {
	t        *testing.T
	scenario scenario
	version  string
	host     client.Host
	mode     mode

	ctx     context.Context
	home    string
	scripts scripts
	server  *model.Server
	session *client.Session
	record  *record
	ended   string                    // how the client went
	gone    atomic.Pointer[time.Time] // when
	fates   []fate
	cell    string // what the session showed, for the table
	// line is what the status line was seen to show, screen what was drawn last.
	line, screen string
	// cutShort: the client ended before everything was played.
	cutShort bool
	left     []string // what it left running
	// aloof: held agents are left held.
	aloof    bool
	attended map[string]bool // runs of the gate whose agents' tasks were let go
	looked   time.Time       // when the ledger was last asked
	heldLast []happening
}

// Limits of a session. Nothing waits longer.
const (
	sessionLimit = 90 * time.Second
	// settled: no request and no event for this long, nothing in flight. The
	// client wakes an agent within about 0.2 s of its task's end.
	settled = 1500 * time.Millisecond
	// parked: every agent has ended its turn and nothing more comes of it.
	parked = 700 * time.Millisecond
)

func newWorld(t *testing.T, c clientUnderTest, s scenario, host client.Host, m mode) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(s.Limit, sessionLimit))
	home, err := os.MkdirTemp("", "sg")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, scenario: s, version: c.Version, host: host, mode: m, ctx: ctx, home: home, record: newRecord(home)}
	if err := os.Mkdir(filepath.Join(home, "tasks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.writeFiles(home); err != nil {
		t.Fatal(err)
	}
	dump := ""
	if *dumpFlag != "" {
		dump = filepath.Join(home, "requests")
		if err := os.Mkdir(dump, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.scripts = s.Scripts(w)
	w.server, err = model.Start(w.scripts, dump)
	if err != nil {
		t.Fatal(err)
	}
	entries := append([]entry{}, m.Entries...)
	if s.Register != nil {
		entries = s.Register(entries)
	}
	config := client.Config{Bin: c.Bin, Host: host, Home: home, BaseURL: w.server.URL,
		Prompt: model.Prompt(lead), Args: s.Args, Env: s.Env}
	if m.Installed {
		w.hookctl(append([]string{"install"}, s.Install...)...)
	} else {
		config.Settings = settings(w.record.file, under.Hook, entries, s.Configured)
		config.Env = append([]string{stateEnv + "=" + w.state()}, s.Env...)
	}
	w.session, err = client.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-w.session.Done()
		now := time.Now()
		w.gone.Store(&now)
	}()
	t.Cleanup(func() {
		_ = w.session.Kill()
		w.session.Gone()
		_ = w.server.Close()
		cancel()
		if *dumpFlag != "" {
			_ = os.MkdirAll(*dumpFlag, 0o755)
			to := filepath.Join(*dumpFlag, strings.NewReplacer("/", "_").Replace(t.Name()))
			_ = os.RemoveAll(to)
			_ = os.WriteFile(filepath.Join(home, "stdout.log"), []byte(w.session.Output()), 0o600)
			_ = os.WriteFile(filepath.Join(home, "stderr.log"), []byte(w.session.Errors()), 0o600)
			_ = os.RemoveAll(filepath.Join(home, "tmp", "cc-socks"))
			if err := os.CopyFS(to, os.DirFS(home)); err != nil {
				t.Log("dump:", err)
			}
		}
		_ = os.RemoveAll(home)
	})
	return w
}

// prompt types a prompt and waits until the model was asked because of it.
func (w *world) prompt(text string) {
	w.t.Helper()
	before := len(w.server.Asked())
	arrived := func() bool { return len(w.server.Asked()) > before }
	if err := w.session.Send(w.ctx, text, arrived); err != nil {
		w.t.Fatalf("%v\n%s", err, w.story())
	}
	w.wait("the model is asked", 20*time.Second, arrived)
}

// stops are the SubagentStop events of the agent that plays a script, each
// registration's run of them.
func (w *world) stops(script string) []happening {
	if w.mode.Installed {
		return w.turnEnds(script)
	}
	var out []happening
	for _, h := range w.record.All() {
		if h.Event == "SubagentStop" && h.Entry != courierName && speaker(h.Last) == script && !w.ephemeral(h) {
			out = append(out, h)
		}
	}
	return out
}

// ephemeral tells the client's internal forks: nothing ever started them and
// they leave nothing on disk.
func (w *world) ephemeral(h happening) bool { return h.Event == "SubagentStop" && !h.Meta }

func (w *world) ephemerals() []happening {
	var out []happening
	if w.mode.Installed {
		for _, a := range w.server.Asked() {
			if a.Ephemeral() {
				out = append(out, happening{line: line{At: a.At}, Event: "SubagentStop"})
			}
		}
		return out
	}
	for _, h := range w.record.All() {
		if w.ephemeral(h) && h.Entry != courierName {
			out = append(out, h)
		}
	}
	return out
}

const stateEnv = "STOPGATE_STATE_DIR"

// state is the state folder: what is installed has its own.
func (w *world) state() string {
	if w.mode.Installed {
		return filepath.Join(w.home, ".local", "state", "stopgate")
	}
	return filepath.Join(w.home, "state")
}

// wait fails the test when the condition does not come true in time.
func (w *world) wait(what string, limit time.Duration, cond func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, limit)
	defer cancel()
	if err := w.server.Wait(ctx, w.attending(cond)); err != nil {
		w.t.Fatalf("never happened: %s\n%s", what, w.story())
	}
}

// over tells whether the client has ended.
func (w *world) over() bool {
	select {
	case <-w.session.Done():
		return true
	default:
		return false
	}
}

// waitOr waits for a condition and, if it does not come true, says so and goes
// on.
func (w *world) waitOr(what string, limit time.Duration, cond func() bool, otherwise func()) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, limit)
	defer cancel()
	if w.server.Wait(ctx, w.attending(cond)) != nil {
		w.t.Logf("never happened: %s", what)
		otherwise()
	}
}

// busy tells whether an answer that calls a tool still waits for its result.
func (w *world) busy() bool {
	last := map[string]model.Asked{}
	for _, a := range w.server.Asked() {
		if !a.Ephemeral() {
			last[a.Request.Script] = a
		}
	}
	for _, a := range last {
		if slices.ContainsFunc(a.Answer, isCall) && !slices.ContainsFunc(a.Answer, isLast) {
			return true
		}
	}
	return false
}

func isCall(b model.Block) bool { return b.Type == "tool_use" }

// slowness is how many times slower than usual this machine is now: its load
// per core.
func slowness() float64 {
	var load float64
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(data), &load)
	}
	return min(max(1, load/float64(runtime.NumCPU())), 6)
}

// quiet waits until nothing has happened for d, longer on a busy machine, and
// nothing is in flight but stops that are held and couriers.
func (w *world) quiet(d time.Duration) {
	w.t.Helper()
	d = time.Duration(float64(d) * slowness())
	w.wait("quiet", 60*time.Second, func() bool {
		if w.over() {
			return true
		}
		var latest time.Time
		if asked := w.server.Asked(); len(asked) > 0 {
			latest = asked[len(asked)-1].At
		}
		held := w.heldNow()
		for _, h := range w.record.All() {
			if h.Ended == nil {
				if h.Entry == courierName || slices.ContainsFunc(held, func(o happening) bool { return o.Run == h.Run }) {
					continue // waits on purpose
				}
				if !h.running() {
					continue // the client ended it: a prompt does that to a suggestion's
				}
				return false
			}
			if h.Ended.At.After(latest) {
				latest = h.Ended.At
			}
		}
		return !latest.IsZero() && time.Since(latest) >= d && !w.busy()
	})
}

// A task is a shell command that runs until it is released, prints a result
// that its command line does not hold, and leaves a mark.

func (w *world) path(label, what string) string {
	return filepath.Join(w.home, "tasks", label+"."+what)
}

// command is the command line of the task called label.
func (w *world) command(label string) string {
	return fmt.Sprintf("until [ -e %s ]; do sleep 0.1; done; echo RESULT-$((6*7))-%s; touch %s",
		w.path(label, "go"), label, w.path(label, "done"))
}

// result is what the task called label prints.
func result(label string) string { return "RESULT-42-" + label }

// release lets the task called label end.
func (w *world) release(label string) {
	_ = os.WriteFile(w.path(label, "go"), nil, 0o600)
}

func (w *world) released(label string) bool {
	_, err := os.Stat(w.path(label, "go"))
	return err == nil
}

// finished tells whether the task called label came to its own end.
func (w *world) finished(label string) bool {
	_, err := os.Stat(w.path(label, "done"))
	return err == nil
}

// noticed waits until the client has seen the end of every task that came to
// its own end: the coordinator's transcript then holds a notification, whoever
// launched it (docs/client.md: ends). Whom the client tells, it tells right after.
func (w *world) noticed() {
	w.t.Helper()
	var missing []string
	w.waitOr("the client notices the end of its tasks", 20*time.Second, func() bool {
		main := w.mainTranscript()
		missing = nil
		for _, k := range w.shells() {
			ended := w.finished(k.Label)
			if !ended && w.released(k.Label) && w.alive(k.Label) || ended && !strings.Contains(main, "<task-id>"+k.ID+"</task-id>") {
				missing = append(missing, k.Label)
			}
		}
		return missing == nil || w.over()
	}, func() { w.t.Errorf("no notification in the coordinator's transcript for %v", missing) })
}

// onDisk waits, for a script, until an agent's transcript holds a text.
func (w *world) onDisk(agent, text string) {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	_ = w.server.Wait(ctx, func() bool {
		files, _ := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", "*", "subagents", "agent-"+agent+".jsonl"))
		for _, f := range files {
			if data, _ := os.ReadFile(f); strings.Contains(string(data), text) {
				return true
			}
		}
		return false
	})
}

// mainTranscript is the text of the coordinator's transcript.
func (w *world) mainTranscript() string {
	files, _ := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", "*.jsonl"))
	var b strings.Builder
	for _, f := range files {
		data, _ := os.ReadFile(f)
		b.Write(data)
	}
	return b.String()
}

// alive tells whether the task called label has a process.
func (w *world) alive(label string) bool {
	for _, cmd := range client.Running(w.home) {
		if strings.Contains(cmd, w.path(label, "go")) && !strings.Contains(cmd, "claude/claude ") {
			return true
		}
	}
	return false
}

// shells are the launches that are tasks of this kind, as confirmed so far.
func (w *world) shells() []model.Task {
	var out []model.Task
	for _, t := range w.server.Tasks() {
		if !t.Agent {
			out = append(out, t)
		}
	}
	return out
}

// story is what happened, for a person who reads a failure.
func (w *world) story() string {
	var b strings.Builder
	zero := time.Time{}
	type happened struct {
		at   time.Time
		text string
	}
	var all []happened
	for _, a := range w.server.Asked() {
		kind := ""
		if a.Ephemeral() {
			kind = " ephemeral"
		}
		all = append(all, happened{a.At, fmt.Sprintf("asked %s/%d%s: %s", a.Request.Script, a.Request.Turn, kind, brief(a.Answer))})
	}
	for _, h := range w.record.All() {
		text := fmt.Sprintf("event %s %s %s %.60q", h.Event, h.Agent, h.Tool, h.Last)
		for _, k := range h.Tasks {
			text += fmt.Sprintf(" [%s %s %s]", k.ID, k.Type, k.Description)
		}
		if h.Event == "SubagentStop" && !h.Meta {
			text += " no meta"
		}
		if h.Ended == nil {
			text += " (hook never ended)"
		} else if h.Ended.Stdout != "" || h.Ended.Exit != 0 {
			text += fmt.Sprintf(" -> exit %d %s %.300q", h.Ended.Exit, h.Ended.Stderr, h.Ended.Stdout)
		}
		all = append(all, happened{h.At, text})
	}
	for len(all) > 0 {
		first := 0
		for i := range all {
			if all[i].at.Before(all[first].at) {
				first = i
			}
		}
		if zero.IsZero() {
			zero = all[first].at
		}
		fmt.Fprintf(&b, "%7.3f %s\n", all[first].at.Sub(zero).Seconds(), all[first].text)
		all = append(all[:first], all[first+1:]...)
	}
	for _, t := range w.server.Tasks() {
		fmt.Fprintf(&b, "task %s = %s of %s\n", t.ID, t.Label, t.Owner)
	}
	for _, o := range w.server.Odd() {
		fmt.Fprintf(&b, "odd: %s\n", o)
	}
	if w.session != nil {
		if e := w.session.Errors(); e != "" {
			fmt.Fprintf(&b, "stderr: %.500s\n", e)
		}
	}
	fmt.Fprintf(&b, "client ended: %s\n", w.ended)
	return b.String()
}

func brief(bs []model.Block) string {
	var parts []string
	for _, b := range bs {
		if b.Type == "text" {
			parts = append(parts, fmt.Sprintf("%.60q", b.Text))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %s %.70s", b.Name, b.Label, b.Input))
	}
	return strings.Join(parts, ", ")
}
