//go:build unix

// Command bench measures the hook as a whole process, against an empty Go
// program and against grep, and prints medians and ratios of one run. Run it from
// the module's folder:
//
//	go run ./bench
//
// Absolute times depend on the machine; the ratios are what is promised. It needs
// a Unix with grep and about 1.1 GB of room in the temp folder.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

func main() {
	rounds := flag.Int("rounds", 200, "runs of each quick measurement")
	size := flag.Int64("size", 1<<30, "bytes of the long transcript")
	span := flag.Duration("waiting", 45*time.Second, "how long hooks that wait are measured; 0 for not at all")
	only := flag.Bool("only-waiting", false, "measure nothing else")
	looks := flag.Bool("only-looks", false, "measure what people run, and nothing else")
	events := flag.Bool("only-events", false, "measure the start and single events, and nothing else")
	flag.Parse()
	if err := run(*rounds, *size, *span, *only, *looks, *events); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir, hook, hookctl, empty string
	failed                    bool
}

func run(rounds int, size int64, span time.Duration, only, looks, events bool) (err error) {
	b := &bench{}
	if b.dir, err = os.MkdirTemp("", "stopgate-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.build(); err != nil {
		return err
	}
	// The long transcript comes first: a process counts as its own the memory that this
	// one had when it was started.
	measures := append([]func() error{func() error { return b.long(size) }}, b.quick(rounds)...)
	measures = append(measures,
		func() error { return b.statusLine(rounds) },
		func() error { return b.looks(rounds) },
		func() error { return b.many(min(rounds, 60), 1500) },
		func() error { return b.crowd(32) },
		func() error { return b.crowd(150) })
	waiting := []func() error{
		func() error { return b.waiting(1, false, span) },
		func() error { return b.waiting(50, true, span) },
	}
	switch {
	case looks:
		measures = []func() error{func() error { return b.statusLine(rounds) }, func() error { return b.looks(rounds) }}
	case events:
		measures = b.quick(rounds)
	case only:
		measures = waiting
	default:
		measures = append(measures, waiting...)
	}
	for _, measure := range measures {
		if err := measure(); err != nil {
			return err
		}
	}
	if b.failed {
		return errors.New("a limit was missed")
	}
	return nil
}

// build makes the hook and the empty program in the same way, and copies both, as
// install does: a file that the linker wrote is mapped in smaller pieces.
func (b *bench) build() error {
	empty := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	b.hook, b.hookctl, b.empty = filepath.Join(b.dir, "hook"), filepath.Join(b.dir, "hookctl"), filepath.Join(b.dir, "empty")
	built := filepath.Join(b.dir, "built")
	for out, src := range map[string]string{b.hook: "./cmd/hook", b.hookctl: "./cmd/hookctl", b.empty: empty} {
		c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", built, src)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w: %s", src, err, text)
		}
		data, err := os.ReadFile(built)
		if err == nil {
			err = errors.Join(os.WriteFile(out, data, 0o700), os.Remove(built)) //nolint:gosec // a program
		}
		if err != nil {
			return err
		}
	}
	info, err := os.Stat(b.hook)
	if err != nil {
		return err
	}
	fmt.Printf("hook is %.1f MB\n\n%-58s %9s %9s %7s %7s\n", float64(info.Size())/1e6, "whole processes, medians", "hook", "other", "ratio", "limit")
	return nil
}

// row prints one measurement and notes a missed limit; 0 is none.
func (b *bench) row(what string, hook, other time.Duration, limit float64) {
	ratio := float64(hook) / float64(other)
	mark := ""
	switch {
	case limit > 0 && ratio > limit:
		mark, b.failed = fmt.Sprintf(" %7.2f  missed", limit), true
	case limit > 0:
		mark = fmt.Sprintf(" %7.2f", limit)
	}
	fmt.Printf("%-58s %7.2fms %7.2fms %7.2f%s\n", what, ms(hook), ms(other), ratio, mark)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// result is one finished process.
type result struct {
	took   time.Duration
	code   int
	stdout string
	memory int64 // peak, bytes
}

func (b *bench) exec(stateDir, stdin string, command ...string) (result, error) {
	in, err := os.Open(os.DevNull)
	if stdin != "" {
		in, err = os.Open(stdin)
	}
	if err != nil {
		return result{}, err
	}
	defer in.Close() //nolint:errcheck // only read
	c := exec.CommandContext(context.Background(), command[0], command[1:]...)
	var out bytes.Buffer
	c.Stdin, c.Stdout = in, &out
	c.Env = append(os.Environ(), state.EnvDir+"="+stateDir)
	began := time.Now()
	err = c.Run()
	r := result{took: time.Since(began), stdout: out.String()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r, err
	}
	r.code = c.ProcessState.ExitCode()
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss * 1024
	}
	return r, nil
}

// pairs runs two commands in turn and returns their medians.
func (b *bench) pairs(rounds int, hook, other func(i int) (result, error)) (time.Duration, time.Duration, error) {
	var ours, theirs []time.Duration
	for i := range rounds + 3 {
		x, err := hook(i)
		if err != nil {
			return 0, 0, err
		}
		y, err := other(i)
		if err != nil {
			return 0, 0, err
		}
		if i >= 3 { // the first ones warm up
			ours, theirs = append(ours, x.took), append(theirs, y.took)
		}
	}
	return quantile(ours, 0.5), quantile(theirs, 0.5), nil
}

func quantile(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}

const (
	session = "0e3a5b1c-7d2f-4c6e-9a8b-1f2d3c4b5a69"
	agent   = "a0123456789abcdef"
)

// world is a session on disk.
type world struct{ dir, main, agent, state string }

func (b *bench) world(name string) (world, error) {
	dir := filepath.Join(b.dir, name)
	w := world{
		dir:   dir,
		main:  filepath.Join(dir, "p", session+".jsonl"),
		agent: filepath.Join(dir, "p", session, "subagents", "agent-"+agent+".jsonl"),
		state: filepath.Join(dir, "state"),
	}
	if err := os.MkdirAll(filepath.Dir(w.agent), 0o700); err != nil {
		return w, err
	}
	meta := strings.TrimSuffix(w.agent, ".jsonl") + ".meta.json"
	return w, errors.Join(
		os.WriteFile(w.main, []byte("{\"type\":\"user\",\"message\":{\"content\":\"go\"}}\n"), 0o600),
		os.WriteFile(meta, []byte(`{"agentType":"general-purpose"}`), 0o600))
}

// payload writes a stop of the agent with tasks running; n makes it differ.
func (w world) payload(n int, agentType string, tasks ...string) (string, error) {
	list := []map[string]string{}
	for _, t := range tasks {
		list = append(list, map[string]string{"id": t, "type": "shell", "status": "running", "description": "x", "command": "make"})
	}
	data, err := json.Marshal(map[string]any{
		"session_id": session, "transcript_path": w.main, "cwd": w.dir, "prompt_id": fmt.Sprint(n), "permission_mode": "default",
		"agent_id": agent, "agent_type": agentType, "hook_event_name": "SubagentStop", "stop_hook_active": false,
		"agent_transcript_path": w.agent, "last_assistant_message": "done", "background_tasks": list, "session_crons": []string{},
	})
	if err != nil {
		return "", err
	}
	path := filepath.Join(w.dir, fmt.Sprintf("payload-%d.json", n))
	return path, os.WriteFile(path, data, 0o600)
}

// lines are a launch and the agent's last words.
func launch(task, output string) string {
	call := "toolu_" + task
	return fmt.Sprintf(`{"parentUuid":"x","isSidechain":true,"agentId":%q,"message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"make","run_in_background":true}}]},"type":"assistant","timestamp":"2026-11-30T12:54:04.205Z","version":"2.1.332"}`+"\n"+
		`{"parentUuid":"x","isSidechain":true,"agentId":%q,"type":"user","message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":"Command running in background with ID: %s. Output is being written to: %s/%s.output."}]},"timestamp":"2026-11-30T12:54:04.441Z","version":"2.1.332"}`+"\n",
		agent, call, agent, call, task, output, task)
}

func lastWords() string {
	return fmt.Sprintf(`{"parentUuid":"x","isSidechain":true,"agentId":%q,"message":{"role":"assistant","content":[{"type":"text","text":"done"}]},"type":"assistant","timestamp":"2026-11-30T12:54:05.000Z","version":"2.1.332"}`+"\n", agent)
}

func (b *bench) ephemeral(rounds int) error {
	w, err := b.world("ephemeral")
	if err != nil {
		return err
	}
	// An internal fork has neither a transcript nor a meta file of its own.
	if err := os.RemoveAll(filepath.Dir(w.agent)); err != nil {
		return err
	}
	in, err := w.payload(0, "", "b1")
	if err != nil {
		return err
	}
	hook, empty, err := b.pairs(rounds,
		func(int) (result, error) { return b.exec(w.state, in, b.hook) },
		func(int) (result, error) { return b.exec(w.state, in, b.empty) })
	if err != nil {
		return err
	}
	b.row("an ephemeral event : an empty program", hook, empty, 1.3)
	return nil
}

// thirty are 30 kB.
var thirty = strings.Repeat("a line of some output\n", 1400)

// tool measures a tool call that launched nothing, with so much printed.
func (b *bench) tool(rounds int, what, stdout string, limit float64) error {
	w, err := b.world(fmt.Sprint("tool-", len(stdout)))
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{
		"session_id": session, "transcript_path": w.main, "cwd": w.dir, "hook_event_name": "PostToolUse", "agent_id": agent, "agent_type": "general-purpose",
		"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": map[string]string{"command": "make"}, "tool_response": map[string]any{"stdout": stdout, "stderr": "", "interrupted": false},
	})
	if err != nil {
		return err
	}
	in := filepath.Join(w.dir, "payload.json")
	if err := os.WriteFile(in, data, 0o600); err != nil {
		return err
	}
	hook, empty, err := b.pairs(rounds,
		func(int) (result, error) { return b.exec(w.state, in, b.hook) },
		func(int) (result, error) { return b.exec(w.state, in, b.empty) })
	if err != nil {
		return err
	}
	if _, err := os.Stat(w.state); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a tool call that launched nothing left something: %w", err)
	}
	b.row(what+" : an empty program", hook, empty, limit)
	return nil
}

// first measures a session's first stop where nothing was ever recorded. Its files are
// made in memory where that can be had: on a disk the cost of making them is that of
// the file system, and after many deletions ten times as high on some.
func (b *bench) first(rounds int) (err error) {
	w, err := b.world("first")
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.agent, []byte(launch("b1", w.dir)+lastWords()), 0o600); err != nil {
		return err
	}
	in, err := w.payload(0, "general-purpose", "b1")
	if err != nil {
		return err
	}
	states := w.state
	if memory, tempErr := os.MkdirTemp("/dev/shm", "stopgate-bench-"); tempErr == nil {
		states = memory
		defer func() { err = errors.Join(err, os.RemoveAll(memory)) }()
	}
	blocks := 0
	hook, empty, err := b.pairs(rounds,
		func(i int) (result, error) {
			r, err := b.exec(filepath.Join(states, fmt.Sprint(i)), in, b.hook)
			blocks += strings.Count(r.stdout, `"decision":"block"`)
			return r, err
		},
		func(int) (result, error) { return b.exec(states, "", b.empty) })
	if err != nil {
		return err
	}
	if blocks != rounds+3 {
		return fmt.Errorf("%d of %d first stops were blocked", blocks, rounds+3)
	}
	b.row("the first stop in a new state folder : an empty program", hook, empty, 2.3)
	return nil
}

func (b *bench) deciding(rounds int) error {
	w, err := b.world("deciding")
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.agent, []byte(launch("b1", w.dir)+lastWords()), 0o600); err != nil {
		return err
	}
	blocks := 0
	hook, empty, err := b.pairs(rounds,
		func(i int) (result, error) {
			in, err := w.payload(i, "general-purpose", "b1")
			if err != nil {
				return result{}, err
			}
			// A store of its own for every seven: no agent is blocked more often.
			r, err := b.exec(filepath.Join(w.state, fmt.Sprint(i/7)), in, b.hook, "--blocks", "100")
			blocks += strings.Count(r.stdout, `"decision":"block"`)
			return r, err
		},
		func(int) (result, error) { return b.exec(w.state, "", b.empty) })
	if err != nil {
		return err
	}
	if blocks != rounds+3 {
		return fmt.Errorf("%d of %d deciding stops were blocked", blocks, rounds+3)
	}
	b.row("a stop that is decided and blocked : an empty program", hook, empty, 3)
	return nil
}

// long measures a transcript of size bytes, cold and then a little longer, beside
// a short one.
func (b *bench) long(size int64) error {
	w, err := b.world("long")
	if err != nil {
		return err
	}
	if err := fillTranscript(w, size); err != nil {
		return err
	}
	in, err := w.payload(0, "general-purpose", "b1")
	if err != nil {
		return err
	}
	var hooks, greps []time.Duration
	var memory int64
	late := 0
	for i := range 5 {
		g, err := b.exec(w.state, "", "grep", "-c", "tool_use", w.agent)
		if err != nil {
			return err
		}
		h, err := b.exec(filepath.Join(w.state, fmt.Sprint(i)), in, b.hook)
		if err != nil {
			return err
		}
		if !strings.Contains(h.stdout, `"decision":"block"`) {
			late++
		}
		hooks, greps, memory = append(hooks, h.took), append(greps, g.took), max(memory, h.memory)
	}
	b.row(fmt.Sprintf("%.1f GB of transcript read cold : grep -c on it", float64(size)/(1<<30)), quantile(hooks, 0.5), quantile(greps, 0.5), 4)
	if late > 0 {
		b.failed = true
		fmt.Printf("  in %d of 5 runs the end was not reached in the hook's time: missed\n", late)
	}
	mark := ""
	if memory > 32<<20 {
		mark, b.failed = "  missed", true
	}
	fmt.Printf("%-58s %7.1fMB %9s %7s %5dMB%s\n", "  its peak memory", float64(memory)/(1<<20), "", "", 32, mark)

	short, err := b.world("short")
	if err != nil {
		return err
	}
	if err := fillTranscript(short, 10_000); err != nil {
		return err
	}
	next := func(w world, stateDir string) func(int) (result, error) {
		return func(i int) (result, error) {
			f, err := os.OpenFile(w.agent, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return result{}, err
			}
			task := fmt.Sprintf("b%d", 100+i)
			_, err = f.WriteString(filler(10_000) + launch(task, w.dir) + lastWords())
			if err := errors.Join(err, f.Close()); err != nil {
				return result{}, err
			}
			in, err := w.payload(100+i, "general-purpose", task)
			if err != nil {
				return result{}, err
			}
			return b.exec(stateDir, in, b.hook)
		}
	}
	if _, err := b.exec(filepath.Join(short.state, "0"), in, b.hook); err != nil {
		return err
	}
	long, few, err := b.pairs(50, next(w, filepath.Join(w.state, "0")), next(short, filepath.Join(short.state, "0")))
	if err != nil {
		return err
	}
	b.row("the next stop on it, 10 kB later : the same on a short one", long, few, 1.5)
	return os.Remove(w.agent)
}

// filler is about n bytes of an agent's ordinary lines.
func filler(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"parentUuid":"x","isSidechain":true,"agentId":%q,"message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_f%d","name":"Read","input":{"file_path":"/src/file%d.go"}}]},"type":"assistant","timestamp":"2026-11-30T12:50:00.000Z","version":"2.1.332"}`+"\n", agent, i, i)
		fmt.Fprintf(&b, `{"parentUuid":"x","isSidechain":true,"agentId":%q,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_f%d","type":"tool_result","content":"%s"}]},"timestamp":"2026-11-30T12:50:00.100Z","version":"2.1.332"}`+"\n", agent, i, strings.Repeat(`func f() { return \"x\" }\n`, 60))
		fmt.Fprintf(&b, `{"parentUuid":"x","isSidechain":true,"agentId":%q,"message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_g%d","name":"Bash","input":{"command":"go test ./..."}}]},"type":"assistant","timestamp":"2026-11-30T12:50:00.000Z","version":"2.1.332"}`+"\n", agent, i)
		fmt.Fprintf(&b, `{"parentUuid":"x","isSidechain":true,"agentId":%q,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_g%d","type":"tool_result","content":"ok  \\t x 0.1s"}]},"timestamp":"2026-11-30T12:50:00.100Z","version":"2.1.332"}`+"\n", agent, i)
	}
	return b.String()
}

func fillTranscript(w world, size int64) error {
	f, err := os.Create(w.agent)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	block := filler(int(min(size, 1<<20)))
	for n := int64(0); n < size; n += int64(len(block)) {
		if _, err := out.WriteString(block); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	_, err = out.WriteString(launch("b1", w.dir) + lastWords())
	return errors.Join(err, out.Flush(), f.Close())
}

// crowd lets n agents of one session stop at once.
func (b *bench) crowd(n int) error {
	w, err := b.world(fmt.Sprintf("crowd-%d", n))
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.agent, []byte(launch("b1", w.dir)+lastWords()), 0o600); err != nil {
		return err
	}
	inputs := make([]string, n)
	for i := range inputs {
		if inputs[i], err = w.payload(i, "general-purpose", "b1"); err != nil {
			return err
		}
	}
	together := func(command func(i int) (result, error)) ([]result, error) {
		results := make([]result, n)
		errs := make([]error, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { results[i], errs[i] = command(i) })
		}
		all.Wait()
		return results, errors.Join(errs...)
	}
	empties, err := together(func(int) (result, error) { return b.exec(w.state, "", b.empty) })
	if err != nil {
		return err
	}
	hooks, err := together(func(i int) (result, error) { return b.exec(w.state, inputs[i], b.hook, "--blocks", "1000") })
	if err != nil {
		return err
	}
	var ours, theirs []time.Duration
	failed := 0
	for i := range n {
		ours, theirs = append(ours, hooks[i].took), append(theirs, empties[i].took)
		if hooks[i].code != 0 {
			failed++
		}
	}
	snap, err := ledger.Read(context.Background(), state.At(w.state), session, nil)
	if err != nil {
		return err
	}
	if lost := n - len(snap.Stops); failed > 0 || lost != 0 {
		return fmt.Errorf("%d stops at once: %d failed, %d lost", n, failed, lost)
	}
	p95, base := quantile(ours, 0.95), quantile(theirs, 0.95)
	if n != 32 {
		fmt.Printf("%-58s %7.2fms %7.2fms %7.2f\n", fmt.Sprintf("%d stops of one session at once, none lost: p95", n), ms(p95), ms(base), float64(p95)/float64(base))
		return nil
	}
	limit := (3*float64(base) + float64(64*time.Millisecond)) / float64(base)
	b.row(fmt.Sprintf("%d stops of one session at once, none lost: p95", n), p95, base, limit)
	return nil
}
