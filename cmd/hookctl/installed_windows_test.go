package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const session = "11111111-2222-3333-4444-555555555555"

// person is somebody on Windows: a home folder with blanks and letters of other
// scripts, and settings as an editor there writes them.
type person struct {
	*testing.T
	home, programs string
	env            []string
	hook           string
	// entries are the arguments of what install registered, by mode.
	entries map[string][]string
}

const settings = "\ufeff{\r\n  \"model\": \"x\",\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n"

func newPerson(t *testing.T) *person {
	t.Helper()
	programs := os.Getenv("STOPGATE_PROGRAMS")
	if programs == "" {
		t.Skip("set STOPGATE_PROGRAMS to a folder with both programs in it")
	}
	p := &person{T: t, programs: programs, home: filepath.Join(t.TempDir(), "Jörg Müller 日本"), entries: map[string][]string{}}
	for _, name := range []string{"SystemRoot", "PATH", "WINEPREFIX", "WINEDEBUG", "WINEDLLOVERRIDES"} {
		p.env = append(p.env, name+"="+os.Getenv(name))
	}
	p.env = append(p.env, "USERPROFILE="+p.home, "APPDATA="+p.path("AppData", "Roaming"), "TEMP="+p.path("Temp"), "TMP="+p.path("Temp"), "CLAUDE_CODE_ENTRYPOINT=cli")
	p.write(p.path(".claude", "settings.json"), settings)
	p.write(p.path("Temp", "x"), "")
	return p
}

func (p *person) path(parts ...string) string {
	return filepath.Join(append([]string{p.home}, parts...)...)
}

func (p *person) write(path, text string) {
	p.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		p.Fatal(err)
	}
}

func (p *person) add(path, text string) {
	p.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		p.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		p.Fatal(err)
	}
}

// says runs hookctl, which is to succeed, and gives what it prints.
func (p *person) says(args ...string) string {
	p.Helper()
	program := filepath.Join(p.programs, "hookctl.exe")
	if p.hook != "" {
		program = filepath.Join(filepath.Dir(p.hook), "hookctl.exe")
	}
	out, err := p.command(program, nil, args...).CombinedOutput()
	if err != nil {
		p.Errorf("hookctl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *person) command(program string, stdin []byte, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Env, c.Dir, c.Stdin = p.env, p.home, bytes.NewReader(stdin)
	return c
}

// install installs, and finds what was registered.
func (p *person) install() {
	p.Helper()
	p.says("install")
	data, err := os.ReadFile(p.path(".claude", "settings.json"))
	if err != nil {
		p.Fatal(err)
	}
	var s struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &s); err != nil {
		p.Fatalf("%v in\n%s", err, data)
	}
	for _, group := range s.Hooks["SubagentStop"] {
		for _, h := range group.Hooks {
			p.hook, p.entries[h.Args[0]] = h.Command, h.Args
		}
	}
	if p.entries["gate"] == nil || p.entries["courier"] == nil || !bytes.HasPrefix(data, []byte("\ufeff")) || bytes.Count(data, []byte("\n")) != bytes.Count(data, []byte("\r\n")) {
		p.Fatalf("registered %v in\n%q", p.entries, data)
	}
}

// agent is a subagent whose shell runs, and which wants to stop.
type agent struct {
	p                  *person
	id, task, out, dir string
}

// leaves writes what is on disk then; dir is the folder of the project's transcripts.
func (p *person) leaves(dir, id string) agent {
	p.Helper()
	a := agent{p, id, "b" + id, p.path("Temp", "claude", "proj", session, "tasks", "b"+id+".output"), dir}
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	text, err := json.Marshal("Command running in background with ID: " + a.task + ". Output is being written to: " + a.out + ".")
	if err != nil {
		p.Fatal(err)
	}
	p.write(a.transcript(), fmt.Sprintf(`{"type":"assistant","agentId":%[1]q,"version":"2.1.332","timestamp":%[2]q,"message":{"content":[{"type":"tool_use","id":"t%[1]s","name":"Bash","input":{"command":"make","run_in_background":true}}]}}
{"type":"user","agentId":%[1]q,"version":"2.1.332","timestamp":%[2]q,"message":{"content":[{"type":"tool_result","tool_use_id":"t%[1]s","content":%[3]s}]}}
{"type":"assistant","agentId":%[1]q,"version":"2.1.332","timestamp":%[2]q,"message":{"content":[{"type":"text","text":"I wait."}]}}
`, id, now, text))
	p.write(strings.TrimSuffix(a.transcript(), ".jsonl")+".meta.json", `{"agentType":"general-purpose"}`)
	p.write(a.out, "working\r\n")
	if _, err := os.Stat(a.main()); errors.Is(err, fs.ErrNotExist) {
		p.write(a.main(), `{"type":"user","version":"2.1.332","message":{"content":"go"}}`+"\n")
	}
	return a
}

func (a agent) main() string { return filepath.Join(a.dir, session+".jsonl") }

func (a agent) transcript() string {
	return filepath.Join(a.dir, session, "subagents", "agent-"+a.id+".jsonl")
}

// stop runs the hook for its stop.
func (a agent) stop(args ...string) *exec.Cmd {
	a.p.Helper()
	payload, err := json.Marshal(map[string]any{
		"session_id": session, "transcript_path": a.main(), "cwd": a.p.home, "hook_event_name": "SubagentStop", "stop_hook_active": false,
		"agent_id": a.id, "agent_type": "general-purpose", "agent_transcript_path": a.transcript(), "last_assistant_message": "I wait.",
		"background_tasks": []map[string]string{{"id": a.task, "type": "shell", "status": "running", "command": "make"}},
	})
	if err != nil {
		a.p.Fatal(err)
	}
	return a.p.command(a.p.hook, payload, args...)
}

// ends tells the end of its shell as the client does.
func (a agent) ends(code int) {
	a.p.add(a.out, fmt.Sprintf("[exited with code %d]\n", code))
	content, err := json.Marshal(fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<output-file>%s</output-file>\n<status>completed</status>\n<summary>Background command \"make\" completed (exit code %d)</summary>\n</task-notification>", a.task, a.out, code))
	if err != nil {
		a.p.Fatal(err)
	}
	a.p.add(a.main(), fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"content":%s}`+"\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), content))
}

// blocked tells whether a hook that has ended answered with a block that says all of this.
func blocked(out []byte, says ...string) bool {
	var answer struct{ Decision, Reason string }
	if json.Unmarshal(out, &answer) != nil || answer.Decision != "block" {
		return false
	}
	for _, text := range says {
		if !strings.Contains(answer.Reason, text) {
			return false
		}
	}
	return true
}

// From install to uninstall as a person there has it, by the programs that are installed.
func TestInstalledOnWindows(t *testing.T) {
	t.Parallel()
	for name, local := range map[string]bool{"as usual": true, "without LOCALAPPDATA": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			if local {
				p.env = append(p.env, "LOCALAPPDATA="+p.path("AppData", "Local"))
			}
			p.install()
			if said := p.says("doctor"); !strings.Contains(said, "ok") {
				t.Errorf("doctor: %s", said)
			}
			proj := p.path(".claude", "projects", "C--Users-Jörg Müller-日本")

			held := p.leaves(proj, "a1")
			hold := held.stop(p.entries["gate"]...)
			var said bytes.Buffer
			hold.Stdout = &said
			if err := hold.Start(); err != nil {
				t.Fatal(err)
			}
			p.until("a1 is held", func() bool { return strings.Contains(p.says("status"), "held") })
			told := p.leaves(proj, "a2")
			courier := told.stop(p.entries["courier"]...)
			var news bytes.Buffer
			courier.Stderr = &news
			if err := courier.Start(); err != nil {
				t.Fatal(err)
			}
			held.ends(3)
			if err := hold.Wait(); err != nil || !blocked(said.Bytes(), "exited with code 3") {
				t.Errorf("%v, %s", err, said.Bytes())
			}
			if out := p.says("wait", "--timeout", "20s", held.task); !strings.Contains(out, "3") {
				t.Errorf("wait: %s", out)
			}
			told.ends(0)
			if err := courier.Wait(); courier.ProcessState.ExitCode() != 2 || !strings.Contains(news.String(), told.task) {
				t.Errorf("the courier: %v, %s", err, news.Bytes())
			}
			if log := p.says("log"); !strings.Contains(log, "a1") || !strings.Contains(log, "a2") {
				t.Errorf("log: %s", log)
			}

			// A program that runs cannot be removed there: the installed one says so.
			if said := p.says("uninstall", "--purge"); !strings.Contains(said, "hookctl.exe") {
				t.Errorf("it says nothing of itself: %s", said)
			}
			p.hook = ""
			p.says("uninstall", "--purge")
			if data, err := os.ReadFile(p.path(".claude", "settings.json")); err != nil || string(data) != settings {
				t.Errorf("left %q, %v", data, err)
			}
			_ = filepath.WalkDir(p.home, func(path string, _ fs.DirEntry, _ error) error {
				if strings.Contains(strings.ToLower(strings.TrimPrefix(path, p.home)), "stopgate") {
					t.Errorf("left %s", path)
				}
				return nil
			})
		})
	}
}

func (p *person) until(what string, is func() bool) {
	p.Helper()
	for began := time.Now(); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			p.Fatalf("never: %s", what)
		}
	}
}

// Thirty hooks of one session at once: each stop is answered, none is lost.
func TestCrowdOnWindows(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.env = append(p.env, "LOCALAPPDATA="+p.path("AppData", "Local"))
	p.install()
	proj := p.path(".claude", "projects", "p")
	var all sync.WaitGroup
	for i := range 30 {
		a := p.leaves(proj, fmt.Sprintf("a%d", i+10))
		all.Go(func() {
			if out, err := a.stop("gate", "--hold", "0s").Output(); err != nil || !blocked(out, a.task) {
				t.Errorf("%s: %v, %q", a.id, err, out)
			}
		})
	}
	all.Wait()
	if n := strings.Count(p.says("log", "--stops", "--json", "-n", "100"), `"verdict":"block"`); n != 30 {
		t.Errorf("%d of 30 blocks are recorded", n)
	}
}

// A hold that is killed is recorded as what it was, and the next stop is guarded.
func TestKilledHoldOnWindows(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.env = append(p.env, "LOCALAPPDATA="+p.path("AppData", "Local"))
	p.install()
	a := p.leaves(p.path(".claude", "projects", "p"), "a1")
	hold := a.stop(p.entries["gate"]...)
	if err := hold.Start(); err != nil {
		t.Fatal(err)
	}
	p.until("it is held", func() bool { return strings.Contains(p.says("status"), "held") })
	if err := hold.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = hold.Wait()
	a.p.add(a.transcript(), `{"type":"assistant","agentId":"a1","version":"2.1.332","message":{"content":[{"type":"text","text":"Still."}]}}`+"\n")
	if out, err := a.stop("gate", "--hold", "0s", "--blocks", "2").Output(); err != nil || !blocked(out, a.task) {
		t.Errorf("%v, %q", err, out)
	}
	if log := p.says("log", "--json"); !strings.Contains(log, "hold-lost") {
		t.Errorf("log: %s", log)
	}
}

// Somebody has the log open and lets nobody in; transcripts lie deeper than 260 letters.
func TestLockedLogAndLongPathsOnWindows(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.env = append(p.env, "LOCALAPPDATA="+p.path("AppData", "Local"))
	p.install()
	deep := p.path(".claude", "projects", strings.Repeat("d", 120), strings.Repeat("e", 120))
	a := p.leaves(deep, "a1")
	if out, err := a.stop("gate", "--hold", "0s").Output(); err != nil || !blocked(out, a.task) {
		t.Errorf("%v, %q", err, out)
	}
	log := ""
	_ = filepath.WalkDir(p.home, func(path string, _ fs.DirEntry, _ error) error {
		if filepath.Base(path) == "hook.log" {
			log = path
		}
		return nil
	})
	name, err := syscall.UTF16PtrFromString(log)
	if err != nil || log == "" {
		t.Fatalf("no log: %v", err)
	}
	locked, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.CloseHandle(locked) //nolint:errcheck // only locked
	b := p.leaves(deep, "a2")
	if out, err := b.stop("gate", "--hold", "0s").Output(); err != nil || !blocked(out, b.task) {
		t.Errorf("with the log locked: %v, %q", err, out)
	}
}
