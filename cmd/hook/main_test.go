//go:build !windows

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/policy"
	"stopgate/pkg/state"
	"stopgate/pkg/version"
)

// hook and faulty are the program as it ships, and the build that can be made to
// crash.
var hook, faulty string

func TestMain(m *testing.M) {
	code := func() int {
		dir, err := os.MkdirTemp("", "hook-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		// Another user runs the program in some tests.
		if err := os.Chmod(dir, 0o755); err != nil {
			panic(err)
		}
		hook, faulty = filepath.Join(dir, "hook"), filepath.Join(dir, "faulty")
		for out, tags := range map[string]string{hook: "", faulty: "faults"} {
			build := exec.Command("go", "build", "-tags", tags, "-o", out, ".")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if said, err := build.CombinedOutput(); err != nil {
				panic(fmt.Sprintf("%v: %s", err, said))
			}
		}
		return m.Run()
	}()
	os.Exit(code)
}

const session = "11111111-2222-3333-4444-555555555555"

// world is a session on disk whose agent has a shell running, so that its stop
// is blocked where nothing is in the way.
type world struct {
	t     *testing.T
	dir   string
	state string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "hook-world-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, dir: dir}
	// Another user works in here in some tests, where that of testing is closed.
	if err := os.Chmod(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.state = filepath.Join(w.dir, "state")
	w.write(w.transcript(), `{"type":"assistant","version":"2.1.332","timestamp":"2026-11-30T12:00:00Z","message":{"content":[{"type":"tool_use","id":"toolu_b","name":"Bash","input":{"run_in_background":true}}]}}
{"type":"user","version":"2.1.332","timestamp":"2026-11-30T12:00:01Z","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_b","content":"Command running in background with ID: b1. Output is being written to: /tmp/b1.output."}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"I wait."}]}}
`)
	w.write(strings.TrimSuffix(w.transcript(), ".jsonl")+".meta.json", "{}")
	return w
}

func (w *world) transcript() string {
	return filepath.Join(w.dir, "p", session, "subagents", "agent-a1.jsonl")
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) payload() string {
	data, err := json.Marshal(map[string]any{
		"session_id": session, "transcript_path": filepath.Join(w.dir, "p", session+".jsonl"), "cwd": w.dir, "hook_event_name": "SubagentStop",
		"agent_id": "a1", "agent_type": "x", "agent_transcript_path": w.transcript(), "last_assistant_message": "I wait.",
		"background_tasks": []map[string]string{{"id": "b1", "type": "shell", "status": "running"}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// cmd runs the hook with the stop on stdin.
func (w *world) cmd(args ...string) *exec.Cmd {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, hook, args...)
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + w.dir, state.EnvDir + "=" + w.state}
	cmd.Stdin = strings.NewReader(w.payload())
	return cmd
}

// shell runs the hook behind a line of shell that arranges something; $HOOK is
// the program.
func (w *world) shell(line string) *exec.Cmd {
	w.t.Helper()
	cmd := w.cmd()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", line}
	cmd.Env = append(cmd.Env, "HOOK="+hook)
	return cmd
}

// run runs it and tells how it ended; a block is the only thing ever printed.
func (w *world) run(cmd *exec.Cmd) (blocked bool) {
	w.t.Helper()
	var stdout, stderr strings.Builder
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	began := time.Now()
	err := cmd.Run()
	if err != nil {
		w.t.Errorf("%v: %v\n%s", cmd.Args, err, stderr.String())
	}
	if took := time.Since(began); took > 15*time.Second {
		w.t.Errorf("it took %v", took)
	}
	if stderr.Len() > 0 {
		w.t.Errorf("stderr: %s", stderr.String())
	}
	if stdout.Len() == 0 {
		return false
	}
	var answer struct{ Decision, Reason string }
	if err := json.Unmarshal([]byte(stdout.String()), &answer); err != nil || answer.Decision != "block" || !strings.Contains(answer.Reason, "b1 (shell") {
		w.t.Errorf("answered %q, %v", stdout.String(), err)
	}
	return true
}

// The set-ups in which a hook may find itself: it exits with 0 and says nothing
// but, where it can know, that the agent shall go on.
func TestHostileSetUps(t *testing.T) {
	t.Parallel()
	asNobody := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		return cmd
	}
	const block, allow, either = "block", "allow", "either"
	cases := []struct {
		name string
		cmd  func(w *world) *exec.Cmd
		want string
		root bool // needs the right to become another user
	}{
		{"nothing in the way", func(w *world) *exec.Cmd { return w.cmd() }, block, false},
		{"the mode by name", func(w *world) *exec.Cmd { return w.cmd("gate", "--blocks", "2") }, block, false},
		{"observing", func(w *world) *exec.Cmd { return w.cmd("--observe") }, allow, false},
		{"an unknown flag", func(w *world) *exec.Cmd { return w.cmd("--bogus") }, allow, false},
		{"an unknown mode", func(w *world) *exec.Cmd { return w.cmd("guard") }, allow, false},
		{"a bad value", func(w *world) *exec.Cmd { return w.cmd("--blocks=many") }, allow, false},
		{"switched off", func(w *world) *exec.Cmd {
			cmd := w.cmd()
			cmd.Env = append(cmd.Env, state.EnvDisable+"=1")
			return cmd
		}, allow, false},
		{"an empty environment", func(w *world) *exec.Cmd { return w.shell(`exec env -i TMPDIR="$TMPDIR" "$HOOK"`) }, block, false},
		{"no home and no folder for temporary files", func(w *world) *exec.Cmd {
			return w.shell(`exec env -i TMPDIR="$TMPDIR/missing" "$HOOK"`)
		}, allow, false},
		{"a home that is a file", func(w *world) *exec.Cmd {
			w.write(filepath.Join(w.dir, "home"), "")
			return w.shell(`exec env -i TMPDIR="$TMPDIR" HOME="$TMPDIR/home" "$HOOK"`)
		}, block, false},
		{"a home that does not exist", func(w *world) *exec.Cmd {
			return w.shell(`exec env -i TMPDIR="$TMPDIR" HOME="$TMPDIR/new/home" "$HOOK"`)
		}, block, false},
		{"the working folder is gone", func(w *world) *exec.Cmd {
			return w.shell(`mkdir gone && cd gone && rmdir ../gone && exec "$HOOK"`)
		}, block, false},
		{"another locale", func(w *world) *exec.Cmd { return w.shell(`exec env LC_ALL=C LANG=C "$HOOK"`) }, block, false},
		{"stdout is closed", func(w *world) *exec.Cmd { return w.shell(`exec "$HOOK" >&-`) }, allow, false},
		{"stderr is closed", func(w *world) *exec.Cmd { return w.shell(`exec "$HOOK" 2>&-`) }, block, false},
		{"stdin is closed", func(w *world) *exec.Cmd { return w.shell(`exec "$HOOK" <&-`) }, allow, false},
		{"all three are closed", func(w *world) *exec.Cmd { return w.shell(`exec "$HOOK" <&- >&- 2>&-`) }, allow, false},
		{"stdout is full", func(w *world) *exec.Cmd { return w.shell(`exec "$HOOK" >/dev/full`) }, allow, false},
		{"nobody reads stdout", func(w *world) *exec.Cmd {
			cmd := w.cmd()
			r, to, err := os.Pipe()
			if err != nil {
				w.t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				w.t.Fatal(err)
			}
			w.t.Cleanup(func() { _ = to.Close() })
			cmd.Stdout = to
			return cmd
		}, allow, false},
		{"stdin is a folder", func(w *world) *exec.Cmd { return w.shell(`exec "$HOOK" <.`) }, allow, false},
		{"stdin is empty", func(w *world) *exec.Cmd { return w.shell(`exec "$HOOK" </dev/null`) }, allow, false},
		{"stdin is a file", func(w *world) *exec.Cmd {
			w.write(filepath.Join(w.dir, "payload"), w.payload())
			return w.shell(`exec "$HOOK" <payload`)
		}, block, false},
		{"stdin has no end", func(w *world) *exec.Cmd { return w.shell(`exec "$HOOK" </dev/zero`) }, allow, false},
		{"stdin comes in three bytes", func(w *world) *exec.Cmd {
			return w.shell(`dd bs=3 status=none | "$HOOK"`)
		}, block, false},
		{"no umask", func(w *world) *exec.Cmd { return w.shell(`umask 0; exec "$HOOK"`) }, block, false},
		{"a umask that takes everything", func(w *world) *exec.Cmd { return w.shell(`umask 0777; exec "$HOOK"`) }, either, false},
		{"no room in any file", func(w *world) *exec.Cmd { return w.shell(`ulimit -f 0; exec "$HOOK"`) }, allow, false},
		{"room for one page", func(w *world) *exec.Cmd { return w.shell(`ulimit -f 8; exec "$HOOK"`) }, either, false},
		{"few open files", func(w *world) *exec.Cmd { return w.shell(`ulimit -n 9; exec "$HOOK"`) }, either, false},
		{"the state folder is a file", func(w *world) *exec.Cmd {
			w.write(w.state, "")
			return w.cmd()
		}, block, false}, // the temporary folder serves
		{"the state folder is a link to nowhere", func(w *world) *exec.Cmd {
			if err := os.Symlink("nowhere", w.state); err != nil {
				w.t.Fatal(err)
			}
			return w.cmd()
		}, block, false},
		{"the sessions are a file", func(w *world) *exec.Cmd {
			w.write(filepath.Join(w.state, "sessions"), "")
			return w.cmd()
		}, block, false},
		{"the log is a folder", func(w *world) *exec.Cmd {
			w.write(filepath.Join(w.state, "hook.log", "x"), "")
			return w.cmd()
		}, block, false},
		{"the store is a folder", func(w *world) *exec.Cmd {
			w.write(filepath.Join(w.store(), "x"), "")
			return w.cmd()
		}, block, false},
		{"the lock is a folder", func(w *world) *exec.Cmd {
			w.write(filepath.Join(state.At(w.state).LockPath(session), "x"), "")
			return w.cmd()
		}, allow, false},
		{"the store is empty", func(w *world) *exec.Cmd {
			w.write(w.store(), "")
			return w.cmd()
		}, block, false},
		{"the store is garbage", func(w *world) *exec.Cmd {
			w.write(w.store(), strings.Repeat("garbage", 9999))
			return w.cmd()
		}, block, false},
		{"the state folder cannot be written", func(w *world) *exec.Cmd {
			w.fill()
			w.open(w.state)
			return asNobody(w.cmd())
		}, allow, true},
		{"no folder can be written", func(w *world) *exec.Cmd { return asNobody(w.cmd()) }, allow, true},
		{"the transcript cannot be read", func(w *world) *exec.Cmd {
			if err := errors.Join(os.Chmod(w.transcript(), 0), os.MkdirAll(filepath.Join(w.state, "sessions"), 0o777), os.Chown(filepath.Join(w.state, "sessions"), 65534, 65534), os.Chown(w.state, 65534, 65534)); err != nil {
				w.t.Fatal(err)
			}
			return asNobody(w.cmd())
		}, allow, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.root && os.Getuid() != 0 {
				t.Skip("only root can become another user")
			}
			w := newWorld(t)
			cmd := c.cmd(w)
			got := allow
			if w.run(cmd) {
				got = block
			}
			if c.want != either && got != c.want {
				log, _ := os.ReadFile(state.At(w.state).LogPath())
				t.Errorf("got %s, want %s; log: %s", got, c.want, log)
			}
			// Whatever happened, the next stop works.
			if !c.root {
				w.run(w.cmd())
			}
		})
	}
}

func (w *world) store() string { return state.At(w.state).Store(session) }

// fill makes a store of several pages.
func (w *world) fill() {
	w.t.Helper()
	err := ledger.Update(w.t.Context(), state.At(w.state), session, time.Now(), func(tx *ledger.Tx) error {
		for i := range 400 {
			tx.PutAgent(ledger.Agent{ID: fmt.Sprintf("a%08d", i), Transcript: strings.Repeat("t", 90)})
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// open lets others read what is below a folder, and not write.
func (w *world) open(root string) {
	w.t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return os.Chmod(path, 0o644)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// With no umask at all, nobody else can read what is kept.
func TestModesWithoutUmask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if !w.run(w.shell(`umask 0; exec "$HOOK"`)) {
		t.Error("not blocked")
	}
	seen := 0
	err := filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		seen++
		return err
	})
	if err != nil || seen < 4 {
		t.Errorf("saw %d files, %v", seen, err)
	}
}

// The payload is whole and the pipe stays open: no end is waited for.
func TestStdinIsNeverClosed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    func(w *world) string
		atLeast time.Duration
		blocked bool
	}{
		"a whole payload": {(*world).payload, 0, true},
		"half a payload":  {func(w *world) string { return w.payload()[:200] }, 4 * time.Second, false},
		"nothing":         {func(*world) string { return "" }, 4 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cmd := w.cmd()
			r, to, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer to.Close()
			cmd.Stdin = r
			if _, err := to.WriteString(c.text(w)); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if w.run(cmd) != c.blocked {
				t.Errorf("want blocked %v", c.blocked)
			}
			if took := time.Since(began); took < c.atLeast || c.atLeast == 0 && took > 4*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// What cannot be caught ends in a signal, which the client takes for an error,
// and never with the exit code 2, which it takes for a block.
func TestFaultsThatCannotBeCaught(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"panic", "deadlock", "nil pointer in another goroutine", "concurrent map writes", "stack overflow", "out of memory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cmd := w.cmd()
			cmd.Path = faulty
			cmd.Env = append(cmd.Env, "HOOK_FAULT="+name)
			err := cmd.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("ended with %v", err)
			}
			status, ok := exit.Sys().(syscall.WaitStatus)
			if !ok || !status.Signaled() || status.Signal() != syscall.SIGABRT || status.CoreDump() {
				t.Errorf("ended with %v", err)
			}
			if cores, err := filepath.Glob(filepath.Join(w.dir, "core*")); err != nil || len(cores) > 0 {
				t.Errorf("left %v behind, %v", cores, err)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		cmd := w.cmd()
		cmd.Path = faulty
		if !w.run(cmd) {
			t.Error("the build that can crash does not work otherwise")
		}
	})
}

// A signal ends the hook at once: it installs no handler that could outlive one.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // whoever runs the tests ignores it, and a child inherits that
		}
		w := newWorld(t)
		cmd := w.cmd()
		r, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = r
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err = cmd.Wait()
		_ = to.Close()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != -1 || time.Since(began) > 3*time.Second {
			t.Errorf("%v: ended with %v after %v", sig, err, time.Since(began))
		}
	}
}

// A store that was cut short raises a fault in the memory map; cut while it is
// open it does so at any moment.
func TestTruncatedStores(t *testing.T) {
	t.Parallel()
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.fill()
		data, err := os.ReadFile(w.store())
		if err != nil {
			t.Fatal(err)
		}
		for size := 0; size < len(data); size += 5 * 4096 {
			w.write(w.store(), string(data[:size]))
			w.run(w.cmd())
		}
	})
	t.Run("while it is open", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.fill()
		data, err := os.ReadFile(w.store())
		if err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			for r := rand.New(rand.NewPCG(1, 1)); ; {
				select {
				case <-stop:
					return
				default:
					_ = os.Truncate(w.store(), int64(r.IntN(len(data)/4096))*4096)
					_ = os.WriteFile(w.store(), data, 0o600)
				}
			}
		})
		for range 40 {
			w.run(w.cmd())
		}
		close(stop)
		all.Wait()
	})
}

// Many hooks of one session at once: every one is answered, none is lost.
func TestACrowd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const crowd = 40
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() {
			cmd := w.cmd()
			cmd.Stdin = strings.NewReader(strings.Replace(w.payload(), "I wait.", fmt.Sprintf("I wait. %d", i), 1))
			w.run(cmd)
		})
	}
	all.Wait()
	snap, err := ledger.Read(t.Context(), state.At(w.state), session, nil)
	if err != nil || len(snap.Stops) != crowd || snap.Charged["b1"] != 1 {
		t.Errorf("%d stops, charged %v, %v", len(snap.Stops), snap.Charged, err)
	}
}

// What a person chose for the plugin counts, and is recorded with the stop.
func TestPatienceOfThePlugin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.cmd("gate", "--patience", "1h")
	cmd.Env = append(cmd.Env, policy.EnvPatience+"=0")
	w.run(cmd)
	snap, err := ledger.Read(t.Context(), state.At(w.state), session, nil)
	if err != nil || len(snap.Stops) != 1 || !slices.Contains(snap.Stops[0].Policy, "--patience=0s") {
		t.Errorf("%+v, %v", snap.Stops, err)
	}
}

// Which version it is, on the stream that is not the client's.
func TestVersion(t *testing.T) {
	t.Parallel()
	cmd := newWorld(t).cmd("--version")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if stdout, err := cmd.Output(); err != nil || len(stdout) > 0 || !strings.HasPrefix(stderr.String(), "hook "+version.Number()+" ") {
		t.Errorf("stdout %q, stderr %q, %v", stdout, stderr.String(), err)
	}
}

// The help is for people, and people are not the client.
func TestHelp(t *testing.T) {
	t.Parallel()
	said, err := newWorld(t).cmd("--help").CombinedOutput()
	if err != nil || !strings.Contains(string(said), "--blocks") {
		t.Errorf("%v: %s", err, said)
	}
}
