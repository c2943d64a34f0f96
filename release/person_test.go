//go:build release

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// person is somebody with an empty home, and nothing of Go's on PATH.
type person struct {
	t    *testing.T
	home string
	// env are variables beside HOME and PATH.
	env []string
	// path is what stands before the system's folders on PATH.
	path string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{t: t, home: filepath.Join(t.TempDir(), "home of é")}
	if err := os.MkdirAll(p.home, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := p.command("sh", "-c", "command -v go").CombinedOutput(); err == nil {
		t.Fatalf("a Go is on PATH: %s", out)
	}
	return p
}

func (p *person) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = p.home
	cmd.Env = append([]string{"HOME=" + p.home, "PATH=" + p.path + "/usr/bin:/bin", "TMPDIR=" + os.TempDir()}, p.env...)
	if !strings.Contains(program, "/") {
		for _, dir := range filepath.SplitList(p.path + "/usr/bin:/bin") {
			if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
				cmd.Path, cmd.Err = filepath.Join(dir, program), nil
				break
			}
		}
	}
	return cmd
}

// does runs a program that must succeed, and returns all that it says.
func (p *person) does(program string, args ...string) string {
	p.t.Helper()
	out, err := p.command(program, args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// sees is does, with what must be in the output.
func (p *person) sees(want, program string, args ...string) {
	p.t.Helper()
	if out := p.does(program, args...); !strings.Contains(out, want) {
		p.t.Errorf("%s %v does not say %q:\n%s", program, args, want, out)
	}
}

// installed is a file of the installation.
func (p *person) installed(name string) string {
	return filepath.Join(p.home, ".local", "share", "stopgate", "bin", name)
}

// gate is the command line that the settings register for a stop.
func (p *person) gate() []string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.home, ".claude", "settings.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		p.t.Fatal(err)
	}
	for _, group := range settings.Hooks["SubagentStop"] {
		for _, entry := range group.Hooks {
			if len(entry.Args) > 0 && entry.Args[0] == "gate" {
				return append([]string{entry.Command}, entry.Args...)
			}
		}
	}
	p.t.Fatalf("no gate is registered: %s", data)
	return nil
}

// traceless checks that nothing that install made is in the home.
func (p *person) traceless() {
	p.t.Helper()
	for _, name := range []string{".local", ".claude"} {
		if _, err := os.Lstat(filepath.Join(p.home, name)); err == nil {
			p.t.Errorf("%s is left over:\n%s", name, p.does("find", filepath.Join(p.home, name)))
		}
	}
}

// session is one on disk whose agent ends its turn while a shell of its own runs.
type session struct{ dir, id string }

const task = "blxqppgqo"

func (p *person) session(id string) session {
	p.t.Helper()
	s := session{dir: filepath.Join(p.home, "session "+id), id: id}
	now := time.Now().UTC()
	p.writes(s.transcript(), `{"type":"user","sessionId":"`+id+`","message":{"content":"go"}}`+"\n")
	p.writes(s.agent("jsonl"), `{"type":"assistant","isSidechain":true,"agentId":"a1","version":"2.1.332","timestamp":"`+now.Add(-2*time.Second).Format(time.RFC3339)+`","message":{"content":[{"type":"tool_use","id":"toolu_b","name":"Bash","input":{"command":"make","run_in_background":true}}]}}
{"type":"user","isSidechain":true,"agentId":"a1","version":"2.1.332","timestamp":"`+now.Add(-time.Second).Format(time.RFC3339)+`","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_b","content":"Command running in background with ID: `+task+`. Output is being written to: `+s.output()+`."}]}}
{"type":"assistant","isSidechain":true,"agentId":"a1","timestamp":"`+now.Format(time.RFC3339)+`","message":{"content":[{"type":"text","text":"I wait."}]}}
`)
	p.writes(s.agent("meta.json"), `{"agentType":"x"}`)
	p.writes(s.output(), "working\n")
	return s
}

func (s session) transcript() string { return filepath.Join(s.dir, s.id+".jsonl") }
func (s session) agent(ext string) string {
	return filepath.Join(s.dir, s.id, "subagents", "agent-a1."+ext)
}
func (s session) output() string { return filepath.Join(s.dir, "tasks", task+".output") }

// ends writes what the client writes when the task has ended.
func (p *person) ends(s session) {
	p.t.Helper()
	text, err := json.Marshal("<task-notification>\n<task-id>" + task + "</task-id>\n<tool-use-id>toolu_b</tool-use-id>\n<output-file>" + s.output() +
		"</output-file>\n<status>completed</status>\n<summary>Background command \"make\" completed (exit code 0)</summary>\n</task-notification>")
	if err != nil {
		p.t.Fatal(err)
	}
	p.appends(s.output(), "[exited with code 0]\n")
	p.appends(s.transcript(), `{"type":"queue-operation","operation":"enqueue","timestamp":"`+time.Now().UTC().Format(time.RFC3339Nano)+`","sessionId":"`+s.id+`","content":`+string(text)+"}\n")
}

func (p *person) writes(path, text string) {
	p.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) appends(path, text string) {
	p.t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		p.t.Fatal(err)
	}
}

// hold is a stop that the registered gate has been asked about and not answered.
type hold struct {
	p      *person
	s      session
	cmd    *exec.Cmd
	stdout *strings.Builder
}

// stops sends the stop of the session's agent through the registered command line,
// and waits until it is held.
func (p *person) stops(s session) hold {
	p.t.Helper()
	line := p.gate()
	h := hold{p, s, p.command(line[0], line[1:]...), &strings.Builder{}}
	h.cmd.Stdin, h.cmd.Stdout = strings.NewReader(p.stop(s)), h.stdout
	if err := h.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = h.cmd.Process.Kill() })
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		// It fails beside a ledger of a newer version.
		said, _ := p.command(p.installed("hookctl"), "status", "--all").CombinedOutput()
		if strings.Contains(string(said), "held") {
			return h
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the stop is not held; it answered %q:\n%s", h.stdout, said)
		}
	}
}

// stop is the event of the session's agent.
func (p *person) stop(s session) string {
	p.t.Helper()
	payload, err := json.Marshal(map[string]any{
		"session_id": s.id, "transcript_path": s.transcript(), "cwd": s.dir, "hook_event_name": "SubagentStop", "stop_hook_active": false,
		"agent_id": "a1", "agent_type": "x", "agent_transcript_path": s.agent("jsonl"), "last_assistant_message": "I wait.",
		"background_tasks": []map[string]string{{"id": task, "type": "shell", "status": "running", "command": "make"}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return string(payload)
}

// answers lets the task end, and checks that the agent is told how it ended.
func (h hold) answers() {
	h.p.t.Helper()
	h.p.ends(h.s)
	if err := h.cmd.Wait(); err != nil {
		h.p.t.Errorf("the gate ended with %v", err)
	}
	var answer struct{ Decision, Reason string }
	if err := json.Unmarshal([]byte(h.stdout.String()), &answer); err != nil || answer.Decision != "block" || !strings.Contains(answer.Reason, task) {
		h.p.t.Errorf("the gate answered %q, %v", h.stdout, err)
	}
}
