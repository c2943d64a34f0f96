//go:build hostile && linux

package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// world is one session on disk. Every agent a1, a2, … of it has launched a shell
// b-a1, b-a2, … of its own.
type world struct {
	t       *testing.T
	dir     string
	session string
	state   string
	tmp     string
	// listed are agents whose tasks the client lists with every stop.
	listed []string
}

var worlds atomic.Int64

// newWorld makes a session that every user may reach.
func newWorld(t *testing.T) *world {
	t.Helper()
	n := worlds.Add(1)
	w := &world{t: t, dir: filepath.Join(base, fmt.Sprintf("w%d", n)), session: fmt.Sprintf("5e551000-0000-4000-8000-%012d", n)}
	w.state, w.tmp = filepath.Join(w.dir, "state"), filepath.Join(w.dir, "tmp")
	for _, dir := range []string{w.dir, filepath.Join(w.dir, "p", w.session, "subagents"), filepath.Join(w.dir, "tasks"), w.tmp} {
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	w.write(w.main(), `{"type":"user","timestamp":"2026-03-01T12:00:00Z","message":{"role":"user","content":"go"}}`+"\n")
	t.Cleanup(func() { _ = os.RemoveAll(w.dir) })
	return w
}

func (w *world) main() string { return filepath.Join(w.dir, "p", w.session+".jsonl") }

func (w *world) transcript(agent string) string {
	return filepath.Join(w.dir, "p", w.session, "subagents", "agent-"+agent+".jsonl")
}

func (w *world) output(task string) string { return filepath.Join(w.dir, "tasks", task+".output") }

func taskOf(agent string) string { return "b-" + agent }

func (w *world) dirOf() state.Dir { return state.At(w.state) }

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil { //realtime: its time is of no matter
		w.t.Fatal(err)
	}
}

func (w *world) append(path, text string) {
	w.t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666) //realtime: the clock of a world is the machine's
	if err == nil {
		_, err = file.WriteString(text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// The lines of an agent that launches its shell and then says that it waits.
func (w *world) launch(agent string) string {
	task := taskOf(agent)
	return w.call(agent, task) + w.answer(agent, task) + w.says(agent, "I wait.")
}

func (w *world) call(agent, task string) string {
	return line(map[string]any{"type": "assistant", "isSidechain": true, "agentId": agent, "timestamp": stamp(), "message": map[string]any{"role": "assistant", "content": []any{
		map[string]any{"type": "tool_use", "id": "toolu_" + task, "name": "Bash", "input": map[string]any{"command": "make", "run_in_background": true}}}}})
}

func (w *world) answer(agent, task string) string {
	return line(map[string]any{"type": "user", "isSidechain": true, "agentId": agent, "timestamp": stamp(), "message": map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": "toolu_" + task, "content": "Command running in background with ID: " + task + ". Output is being written to: " + w.output(task) + "."}}}})
}

func (w *world) says(agent, text string) string {
	return line(map[string]any{"type": "assistant", "isSidechain": true, "agentId": agent, "timestamp": stamp(), "message": map[string]any{"role": "assistant", "content": []any{
		map[string]any{"type": "text", "text": text}}}})
}

// ends is the line of the coordinator's transcript that tells a task's end.
func (w *world) ends(task string) string {
	return line(map[string]any{"type": "queue-operation", "operation": "enqueue", "timestamp": stamp(), "content": "<task-notification>\n<task-id>" + task + "</task-id>\n<status>completed</status>\n<summary>Background command \"make\" completed (exit code 0)</summary>\n</task-notification>"})
}

func stamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

func line(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

// agent makes the files of an agent.
func (w *world) agent(agent string) {
	w.t.Helper()
	w.write(w.transcript(agent), w.launch(agent))
	w.write(strings.TrimSuffix(w.transcript(agent), ".jsonl")+".meta.json", `{"agentType":"general-purpose"}`)
	w.write(w.output(taskOf(agent)), "working\n")
}

// payload is a stop of the agent while its shell runs; change alters it.
func (w *world) payload(agent string, change ...func(map[string]any)) []byte {
	var tasks []any
	for _, owner := range append([]string{agent}, w.listed...) {
		if len(tasks) == 0 || owner != agent {
			tasks = append(tasks, map[string]any{"id": taskOf(owner), "type": "shell", "status": "running", "description": "make", "command": "make"})
		}
	}
	p := map[string]any{
		"session_id": w.session, "transcript_path": w.main(), "cwd": w.dir, "prompt_id": stamp(), "permission_mode": "default",
		"agent_id": agent, "agent_type": "general-purpose", "hook_event_name": "SubagentStop", "stop_hook_active": false,
		"agent_transcript_path": w.transcript(agent), "last_assistant_message": "I wait.",
		"background_tasks": tasks,
		"session_crons":    []any{},
	}
	for _, c := range change {
		c(p)
	}
	data, err := json.Marshal(p)
	if err != nil {
		w.t.Fatal(err)
	}
	return data
}

func set(key string, value any) func(map[string]any) {
	return func(p map[string]any) { p[key] = value }
}

// env is an ordinary environment.
func (w *world) env() []string {
	return []string{"STOPGATE_STATE_DIR=" + w.state, "TMPDIR=" + w.tmp, "HOME=" + w.dir, "PATH=/usr/bin:/bin", "CLAUDE_CODE_ENTRYPOINT=cli"}
}

// setup is how one process is run. The zero value of everything but the payload
// is the ordinary way.
type setup struct {
	args []string
	// payload is what comes on stdin, which is closed after it unless open.
	payload []byte
	open    bool
	feed    func(io.Writer)
	// stdin is the file in stdin's place.
	stdin *os.File
	env   []string
	// shell is what a shell does before it becomes the hook: `umask 0; run "$@"`,
	// where run replaces it.
	shell string
	// unshare gives it a mount namespace of its own; the shell must call "$@".
	unshare bool
	uid     uint32
	measure bool
	program string
	limit   time.Duration
}

// result is a finished process.
type result struct {
	code   int
	signal syscall.Signal // 0 for none
	stdout string
	stderr string
	took   time.Duration
	usage  usage
}

func (w *world) command(ctx context.Context, s setup) *exec.Cmd {
	program := s.program
	if program == "" {
		program = hook
	}
	argv := append([]string{program}, s.args...)
	if s.shell != "" {
		argv = append([]string{"/bin/sh", "-c", `run() { exec "$@"; }; ` + s.shell, "sh"}, argv...)
	}
	if s.unshare {
		argv = append([]string{"unshare", "-m"}, argv...)
	}
	env := s.env
	if env == nil {
		env = w.env()
	}
	if s.measure {
		argv = append([]string{os.Args[0]}, argv...)
		env = append([]string{envMeasure + "=" + filepath.Join(w.dir, "usage")}, env...)
	}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env = env
	if s.uid != 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: s.uid, Gid: s.uid}}
	}
	return c
}

// run runs the hook once.
func (w *world) run(s setup) result {
	w.t.Helper()
	limit := s.limit
	if limit == 0 {
		limit = 60 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := w.command(ctx, s)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	c.WaitDelay = 5 * time.Second
	var in io.WriteCloser
	if s.stdin != nil {
		c.Stdin = s.stdin
	} else {
		var err error
		if in, err = c.StdinPipe(); err != nil {
			w.t.Fatal(err)
		}
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	if in != nil {
		switch {
		case s.feed != nil:
			go s.feed(in)
		default:
			go func() {
				_, _ = in.Write(s.payload) // it may have ended without reading
				if !s.open {
					_ = in.Close()
				}
			}()
		}
	}
	_ = c.Wait() // what became of it is in the state
	r := result{took: time.Since(began), stdout: stdout.String(), stderr: stderr.String(), code: c.ProcessState.ExitCode()}
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.signal = status.Signal()
	}
	if s.measure {
		data, err := os.ReadFile(filepath.Join(w.dir, "usage"))
		if err == nil {
			err = json.Unmarshal(data, &r.usage)
		}
		if err != nil {
			w.t.Errorf("not measured: %v: %s", err, r.stderr)
		}
	}
	return r
}

// verdicts
const (
	blocks  = "block"
	allows  = "allow"
	decides = "either"
)

// holds looks at what must hold of every answer: exit code 0, nothing on stdout
// or one whole block, and the time.
func (w *world) holds(r result, want string) {
	w.t.Helper()
	if r.code != 0 || r.signal != 0 {
		w.t.Errorf("exit code %d, signal %v, stderr %.2000q", r.code, r.signal, r.stderr)
	}
	if r.took > workLimit+*slack {
		w.t.Errorf("took %v", r.took)
	}
	switch {
	case r.stdout == "":
		if want == blocks {
			w.t.Error("let the stop through")
			w.explain()
		}
	case want == allows:
		w.t.Errorf("blocked: %s", r.stdout)
	default:
		reasonOf(w.t, r.stdout)
	}
}

// explain shows what the hook logged.
func (w *world) explain() {
	w.t.Helper()
	paths, _ := filepath.Glob(filepath.Join(w.dir, "*", "*", "hook.log"))
	for _, path := range append(paths, filepath.Join(w.state, "hook.log")) {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if data, err := os.ReadFile(path); err == nil {
			w.t.Logf("%s: %.3000s", path, data)
		}
	}
}

// reasonOf is the reason of an answer, which must be one whole block.
func reasonOf(t *testing.T, stdout string) string {
	t.Helper()
	var answer map[string]string
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&answer); err != nil || dec.More() {
		t.Errorf("answered %q: %v", stdout, err)
		return ""
	}
	if len(answer) != 2 || answer["decision"] != "block" || answer["reason"] == "" {
		t.Errorf("answered %q", stdout)
	}
	return answer["reason"]
}

// works looks whether an ordinary event is answered as it should be: by a block
// for an agent that was never seen before.
func (w *world) works() {
	w.t.Helper()
	agent := fmt.Sprintf("after%d", worlds.Add(1))
	w.agent(agent)
	w.holds(w.run(setup{payload: w.payload(agent)}), blocks)
	w.sound()
}

// sound runs bbolt's own check on every store.
func (w *world) sound() {
	w.t.Helper()
	for _, path := range w.dirOf().Stores() {
		// In a process of its own: the check follows whatever the pages say.
		c := exec.Command(os.Args[0], path)
		c.Env = append(os.Environ(), envCheck+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			w.t.Errorf("%s: %v: %.600s", filepath.Base(path), err, out)
		}
	}
}

// envCheck makes this program check the store that its argument names.
const envCheck = "STOPGATE_HOSTILE_CHECK"

func sound(path string) (err error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		return err
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: 2 * time.Second, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.View(func(tx *bolt.Tx) error {
		var found error
		for e := range tx.Check() {
			found = errors.Join(found, e)
		}
		return found
	})
}

// snapshot reads the session's store.
func (w *world) snapshot() ledger.Snapshot {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	snap, err := ledger.Read(ctx, w.dirOf(), w.session, nil)
	if err != nil {
		w.t.Errorf("read the store: %v", err)
	}
	return snap
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
}
