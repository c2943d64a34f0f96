//go:build hostile && linux

package hostile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stopgate/pkg/process"
)

// nodePrograms are the programs that come from npm, with the versions that were
// tried.
const nodePrograms = `{"private": true, "dependencies": {"vite": "7.1.12", "vitest": "3.2.4", "typescript": "7.0.2", "nodemon": "3.1.14"}}`

// project is what the programs work on.
var project = map[string]string{
	"index.html":    `<script type="module" src="/main.js"></script>`,
	"main.js":       "console.log(1)\n",
	"a.ts":          "let x: number = 1\n",
	"tsconfig.json": `{"compilerOptions": {"noEmit": true, "types": []}, "files": ["a.ts"]}`,
	"package.json":  `{"name": "p", "private": true, "scripts": {"dev": "vite --port 0 --host 127.0.0.1"}}`,
	"server.mjs":    `import http from 'node:http'; http.createServer((q, r) => r.end('x')).listen(0, '127.0.0.1')`,
	"sum.test.mjs":  `import { test } from 'vitest'; test('sum', () => {})`,
	"log":           "a line\n",
	// A test run that listens for its own tests and works, but prints nothing.
	"busy.mjs": `import http from 'node:http'
import crypto from 'node:crypto'
const server = http.createServer((q, r) => r.end(crypto.pbkdf2Sync('x', 'y', 20000, 32, 'sha256')))
server.listen(0, '127.0.0.1', async () => {
  for (const end = Date.now() + 600_000; Date.now() < end;) {
    await (await fetch('http://127.0.0.1:' + server.address().port)).arrayBuffer()
    await new Promise((go) => setTimeout(go, 100))
  }
})`,
}

// program is one real program in the background.
type program struct {
	name, command string
	// want is what it must come to within the time, and may what it may come to on
	// the way besides working and being quiet.
	want process.Kind
	// rests wants its clock for the idle to have run: it will be idle after ten
	// minutes.
	rests bool
	// needs is a program without which it cannot be tried.
	needs string
	uid   uint32
}

var programs = []program{
	{name: "python's http server", command: `python3 -m http.server --bind 127.0.0.1 0`, want: process.Serves, needs: "python3"},
	{name: "node's http server", command: `node server.mjs`, want: process.Serves, needs: "node"},
	{name: "a server whose output goes elsewhere", command: `node server.mjs > server.log 2>&1`, want: process.Serves, needs: "node"},
	{name: "node --watch", command: `node --watch server.mjs`, want: process.Serves, needs: "node"},
	{name: "a debugger that waits", command: `node --inspect-brk=127.0.0.1:0 main.js`, want: process.Serves, needs: "node"},
	{name: "vite", command: `npx vite --port 0 --host 127.0.0.1`, want: process.Serves, needs: "npm"},
	{name: "vite behind a script, in a pipe", command: `npm run dev 2>&1 | cat; echo $?`, want: process.Serves, needs: "npm"},
	{name: "tsc --watch", command: `npx tsc --watch`, want: process.Serves, needs: "npm"},
	{name: "nodemon", command: `npx nodemon server.mjs`, want: process.Serves, needs: "npm"},
	{name: "vitest in watch mode", command: `npx vitest --watch`, want: process.Serves, needs: "npm"},
	{name: "tail -f", command: `tail -f log`, want: process.Serves},
	{name: "a daemon whose launcher has ended", command: `(setsid python3 -m http.server --bind 127.0.0.1 0 &)`, want: process.Serves, needs: "python3"},

	{name: "a test run that listens and is busy", command: `node busy.mjs`, want: process.Works, needs: "node"},
	{name: "a tree that forks all the time", command: `while :; do /bin/true; done`, want: process.Works},
	{name: "a tree that prints", command: `while sleep 1; do echo x; done`, want: process.Works},

	{name: "a quiet sleep", command: `sleep 300; echo done`, want: process.Quiet, rests: true},
	{name: "a poll loop", command: `until [ -e never ]; do sleep 1; done`, want: process.Quiet, rests: true},
	{name: "a poll loop that asks a server", command: `until curl -sf http://127.0.0.1:9/ >/dev/null; do sleep 2; done`, rests: true, needs: "curl"},
	{name: "a poll loop with an interpreter", command: `until python3 -c 'import json, sys; sys.exit(1)'; do sleep 5; done`, rests: true, needs: "python3"},
	{name: "a poll loop without rest", command: `until [ -e never ]; do sleep 0.2; done`, rests: true},
	{name: "a client of a daemon", command: `DOCKER_HOST=unix://$PWD/daemon.sock docker events`, want: process.Quiet, rests: true, needs: "docker"},
	{name: "200 processes", command: `for i in $(seq 198); do sleep 300 & done; wait`, want: process.Quiet, rests: true},

	{name: "a daemon that leads its output elsewhere, whose launcher has ended", command: `(setsid python3 -m http.server --bind 127.0.0.1 0 >/dev/null 2>&1 & echo $! >daemon.pid); sleep 5`, want: process.Gone, needs: "python3"},
	{name: "a command that ends", command: `sleep 5; echo done`, want: process.Gone},
	{name: "a task of another user", command: `sleep 300; echo done`, want: process.Unknown, uid: 65534},
}

// started is a program that runs.
type started struct {
	program
	output string
	cmd    *exec.Cmd
	task   *process.Task
	// reached is set once it has come to what it must.
	reached bool
	// log is what its verdicts were, without repetitions of a kind.
	log  []string
	last process.Verdict
}

// watchFor is how long the programs are watched; those that must come to
// something longer, up to watchLimit, where the machine is slow.
const (
	watchFor   = 75 * time.Second
	watchLimit = 4 * time.Minute
	watchStep  = 2 * time.Second
)

// TestPrograms starts real programs as the client starts a background shell, and
// looks at all of them at once for a little more than a minute.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	modules := install(t)
	var watch process.Watch
	watch.Client = os.Getpid()
	var running []*started
	for i, p := range programs {
		switch _, err := exec.LookPath(p.needs); {
		case p.uid != 0 && os.Getuid() != 0:
			t.Logf("%s: needs root", p.name)
			continue
		case p.needs == "docker" && err != nil:
			t.Logf("%s: no docker here (not tried)", p.name)
			continue
		case p.needs != "" && err != nil || p.needs == "npm" && modules == "":
			missing(t, p.name+": needs "+p.needs)
			continue
		}
		s := begin(t, filepath.Join(dir, fmt.Sprint(i)), modules, p)
		s.task = watch.Add(s.output)
		running = append(running, s)
	}
	took := follow(t, &watch, running)
	for _, s := range running {
		t.Run(s.name, func(t *testing.T) { s.check(t) })
	}
	slices.Sort(took)
	t.Logf("%d looks at %d tasks with %d processes: fastest %v, median %v", len(took), len(running), counted(running), took[0], took[len(took)/2])
}

// missing says that something cannot be tried: on the machine that decides, that
// is a failure.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Error(what)
	} else {
		t.Log(what, "(not tried)")
	}
}

// follow looks again and again until all have come to what they must, and tells
// how long the looks took.
func follow(t *testing.T, watch *process.Watch, running []*started) (took []time.Duration) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(watchStep) {
		before := time.Now()
		watch.Look(before)
		took = append(took, time.Since(before))
		open := 0
		for _, s := range running {
			if v := s.task.Verdict; v.Kind != s.last.Kind {
				s.log = append(s.log, fmt.Sprintf("%3.0f s %s", time.Since(begun).Seconds(), v))
			}
			s.last = s.task.Verdict
			if s.reached = s.reached || s.settled(); !s.reached {
				open++
			}
		}
		if past := time.Since(begun); past >= watchFor && open == 0 || past >= watchLimit {
			return took
		}
	}
}

// settled tells whether a program is what it must come to.
func (s *started) settled() bool {
	v := s.task.Verdict
	return (s.want == "" || v.Kind == s.want || s.want == process.Quiet && v.Kind == process.Works) && (!s.rests || s.task.State().Idle >= time.Minute)
}

// check looks at what became of a program.
func (s *started) check(t *testing.T) {
	t.Helper()
	if !s.reached {
		t.Errorf("%v, idle %v; want %s", s.last, s.task.State().Idle, s.want)
	}
	for _, line := range s.log {
		_, text, _ := strings.Cut(line, " s ")
		kind, _, _ := strings.Cut(text, ":")
		switch k := process.Kind(kind); k {
		case process.Works, process.Quiet, s.want:
		default:
			t.Errorf("was taken for something else: %s", line)
		}
	}
	if t.Failed() {
		data, _ := os.ReadFile(s.output)
		t.Logf("%s\n%s\nits output:\n%.3000s", s.command, strings.Join(s.log, "\n"), data)
	} else {
		t.Logf("%v (idle %v)", s.last, s.task.State().Idle.Round(time.Second))
	}
	// It was only looked at.
	if s.want != process.Gone && len(s.task.PIDs) == 0 && s.uid == 0 {
		t.Error("none of its processes is left")
	}
}

func counted(running []*started) (n int) {
	for _, s := range running {
		n += len(s.task.PIDs)
	}
	return n
}

// begin starts a program as the client starts a background shell: a session of its
// own, nothing on stdin, the output file as stdout and stderr, and the command in
// an eval of bash.
func begin(t *testing.T, dir, modules string, p program) *started {
	t.Helper()
	s := &started{program: p, output: filepath.Join(dir, "tasks", "bprogram1.output")}
	work := filepath.Join(dir, "work")
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.output), 0o700), os.MkdirAll(work, 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, text := range project {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil { //realtime: its time is of no matter
			t.Fatal(err)
		}
	}
	if modules != "" {
		if err := os.Symlink(modules, filepath.Join(work, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	if p.needs == "docker" {
		daemon(t, filepath.Join(work, "daemon.sock"))
	}
	out, err := os.Create(s.output) //realtime: its time is of no matter
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s.cmd = exec.Command("/bin/bash", "-c", `shopt -u extglob 2>/dev/null || true && eval "$COMMAND" < /dev/null && pwd -P >| "$WORK/cwd"`)
	s.cmd.Dir = work
	s.cmd.Stdout, s.cmd.Stderr = out, out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if p.uid != 0 {
		s.cmd.Dir = "/"
		s.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: p.uid, Gid: p.uid}
	}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "CI=") { // without it vitest would not watch
			s.cmd.Env = append(s.cmd.Env, e)
		}
	}
	s.cmd.Env = append(s.cmd.Env, "COMMAND="+p.command, "WORK="+work, "HOME="+work)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.cmd.Wait() }() // as the client does
	t.Cleanup(func() { s.end(work) })
	return s
}

// end ends the processes of a program, those that left its session by their ids.
func (s *started) end(work string) {
	tree, _ := process.Look(s.output)
	pids := tree.PIDs()
	if data, err := os.ReadFile(filepath.Join(work, "daemon.pid")); err == nil {
		pid := 0
		if _, err := fmt.Sscan(string(data), &pid); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
}

// daemon is a container engine that answers nothing: its clients wait.
func daemon(t *testing.T, socket string) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	server := &http.Server{BaseContext: func(net.Listener) context.Context { return ctx }, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.43")
		if strings.HasSuffix(r.URL.Path, "/_ping") {
			return
		}
		w.WriteHeader(http.StatusOK)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		<-r.Context().Done()
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() {
		stop()
		_ = server.Close()
	})
}

// install gets the programs that come from npm, once, and returns their folder;
// "" where they cannot be had.
func install(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		return ""
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256([]byte(nodePrograms))
	dir := filepath.Join(cache, "stopgate", "programs-"+hex.EncodeToString(sum[:6]))
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(filepath.Join(modules, ".bin")); err == nil {
		return modules
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	part, err := os.MkdirTemp(filepath.Dir(dir), "part-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(part) }()
	if err := os.WriteFile(filepath.Join(part, "package.json"), []byte(nodePrograms), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund")
	cmd.Dir = part
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Logf("npm install: %v: %.2000s", err, text)
		return ""
	}
	if err := os.Rename(part, dir); err != nil {
		if _, err := os.Stat(modules); err != nil { // or another run was first
			t.Fatal(err)
		}
	}
	return modules
}

// TestTheCostOfALook is what a look at a tree of 200 processes costs: one at what
// they do, and one at what they hold open too.
func TestTheCostOfALook(t *testing.T) {
	s := begin(t, t.TempDir(), "", program{name: "200 processes", command: `for i in $(seq 199); do sleep 300 & done; wait`})
	var watch process.Watch
	s.task = watch.Add(s.output)
	now := time.Now()
	for deadline := now.Add(time.Minute); len(s.task.PIDs) < 200; watch.Look(now) {
		if time.Now().After(deadline) {
			t.Fatalf("%d processes", len(s.task.PIDs))
		}
	}
	measure := func(what string, idle time.Duration) {
		var took []time.Duration
		for range 100 {
			before := time.Now()
			watch.Look(now)
			took = append(took, time.Since(before))
			if len(s.task.PIDs) != 200 || s.task.State().Idle < idle {
				t.Fatalf("%d processes, idle %v", len(s.task.PIDs), s.task.State().Idle)
			}
		}
		slices.Sort(took)
		t.Logf("%s: fastest %v, median %v", what, took[0], took[len(took)/2])
		// What else runs on the machine makes looks slower, never faster.
		if took[0] > 10*time.Millisecond {
			t.Errorf("%s took %v", what, took[0])
		}
	}
	measure("a look at 200 processes", 0)
	for range 4 {
		now = now.Add(20 * time.Second)
		watch.Look(now)
	}
	if s.task.Verdict.Kind != process.Quiet {
		t.Fatal(s.task.Verdict)
	}
	measure("a look at 200 processes and what they hold open", time.Minute)
}
