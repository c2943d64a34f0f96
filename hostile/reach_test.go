//go:build hostile && linux

package hostile

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// goOpens is what Go itself opens: the size of huge pages, the processors that a
// control group allows, and the time zone.
var goOpens = []string{"/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "/proc/self/cgroup", "/proc/self/mountinfo", "/sys/fs/cgroup/", "/etc/localtime"}

var opened = regexp.MustCompile(`(?:openat|open|openat2|creat)\((?:[^,"]+, )?"([^"]*)"`)

// Traced system calls: what the hook opens is what the event names, what lies
// beside that, the state folder, and what Go opens itself. It never makes a socket
// and never starts a program.
func TestWhatTheHookReaches(t *testing.T) {
	needStrace(t)
	w := newWorld(t)
	for _, agent := range []string{"a1", "a2", "a3"} {
		w.agent(agent)
	}
	w.write(filepath.Join(w.dir, "p", "elsewhere.jsonl"), w.launch("a1"))
	w.write(filepath.Join(w.dir, "p", "notes.txt"), "private")
	w.write(filepath.Join(w.dir, "p", w.session, "subagents", "notes.txt"), "private")
	more := func(p map[string]any) {
		tasks, _ := p["background_tasks"].([]any)
		p["background_tasks"] = append(tasks, map[string]any{"id": "unknown", "type": "shell", "status": "running"}, map[string]any{"id": "a2", "type": "subagent", "status": "running"})
	}
	var reached []string
	for _, s := range []setup{
		{payload: w.payload("a1", more)},
		{payload: w.payload("a2", more), args: []string{"gate", "--hold", "300ms"}},
		{payload: w.payload("a3", more), args: []string{"courier", "--for", "500ms"}},
		{payload: w.payload("e1", set("agent_type", ""))},
		{payload: w.payload("e2", set("agent_type", "reviewer"))},
		{payload: w.event("SubagentStart", map[string]any{"agent_id": "a4"})},
		{payload: w.event("PostToolUse", map[string]any{"tool_name": "Bash", "tool_response": map[string]any{"backgroundTaskId": "b9"}})},
		{payload: w.event("SessionEnd", nil)},
		{payload: []byte("garbage")},
		{payload: w.payload("a1"), args: []string{"--unknown"}},
	} {
		_, text := w.traced(s, "-e", "trace=%file,%network,%process,ptrace,process_vm_readv,bpf,io_uring_setup")
		for _, call := range strings.Split(text, "\n") {
			if i := strings.IndexByte(call, ' '); i >= 0 {
				call = strings.TrimSpace(call[i:])
			}
			name, _, _ := strings.Cut(call, "(")
			switch name {
			case "socket", "connect", "bind", "listen", "accept4", "sendto", "sendmsg", "recvfrom", "socketpair", "fork", "vfork", "ptrace", "bpf", "io_uring_setup", "process_vm_readv":
				t.Errorf("%s", call)
			case "clone", "clone3":
				if !strings.Contains(call, "CLONE_THREAD") {
					t.Errorf("starts a process: %s", call)
				}
			}
			m := opened.FindStringSubmatch(call)
			if m == nil || strings.Contains(call, "= -1 ENOENT") && strings.HasPrefix(m[1], w.dir) {
				continue
			}
			reached = append(reached, m[1])
		}
	}
	// The client's command line and kind, the timeout of our own entry, and what the
	// person's and the project's files say; and, for a hold, which processes there are
	// and what those of the task do.
	clientsOwn := regexp.MustCompile(`^/proc$|^[0-9]+/(stat|io|fd|fdinfo/[0-9]+|net/tcp6?|task/[0-9]+/children)$|^/proc/([0-9]+|self)/(cmdline|stat)$|^/etc/claude-code/managed-settings\.json$|/\.claude/settings(\.local)?\.json$|^\.stopgate\.toml$|/stopgate/config\.toml$`)
	slices.Sort(reached)
	reached = slices.Compact(reached)
	agents := filepath.Join(w.dir, "p", w.session, "subagents")
	for _, path := range reached {
		ok := strings.HasPrefix(path, w.state+"/") || path == w.state || path == w.main() || path == agents || strings.HasPrefix(path, agents+"/workflows") ||
			strings.HasPrefix(path, agents+"/agent-") && (strings.HasSuffix(path, ".jsonl") || strings.HasSuffix(path, ".meta.json")) ||
			strings.HasPrefix(path, filepath.Join(w.dir, "tasks")+"/") && strings.HasSuffix(path, ".output") ||
			clientsOwn.MatchString(path) || path == w.dir // the project, for its .stopgate.toml
		if ok {
			continue
		}
		if !slices.ContainsFunc(goOpens, func(g string) bool { return path == g || strings.HasSuffix(g, "/") && strings.HasPrefix(path, g) }) {
			t.Errorf("opened %s", path)
		}
		t.Log("Go itself opened", path)
	}
	t.Logf("%d files opened", len(reached))
}

// A secret in every field that is not an id, a path, a type or a name, and on every
// line, is found nowhere in the state folder, whatever becomes of the event.
func TestASecretIsKeptNowhere(t *testing.T) {
	const secret = "xyzzy-c0ffee-secret"
	w := newWorld(t)
	text := func(n int) string { return fmt.Sprintf("%s %d", secret, n) }
	agent := "a1"
	w.agent(agent)
	noise := func(owner string) string {
		base := map[string]any{"timestamp": stamp(), "uuid": text(1), "cwd": text(2), "gitBranch": text(3), "slug": text(4), "userType": text(5)}
		if owner != "" {
			base["agentId"] = owner
		}
		var b strings.Builder
		add := func(more map[string]any) {
			record := map[string]any{}
			for k, v := range base {
				record[k] = v
			}
			for k, v := range more {
				record[k] = v
			}
			b.WriteString(line(record))
		}
		message := func(role string, content any) map[string]any {
			return map[string]any{"type": role, "message": map[string]any{"role": role, "content": content}}
		}
		add(message("user", text(10)))
		add(message("user", "[SYSTEM NOTIFICATION "+text(11)+"]\n<task-notification><task-id>b9</task-id><status>completed</status><summary>"+text(12)+"</summary><result>"+text(13)+"</result></task-notification>"))
		add(message("assistant", []any{map[string]any{"type": "text", "text": text(14)}, map[string]any{"type": "thinking", "thinking": text(15)}}))
		for _, tool := range []string{"Bash", "Monitor", "Agent", "Workflow", "SendMessage", "TaskStop", "mcp__server__tool"} {
			id := "toolu_" + tool + owner
			add(message("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": tool, "input": map[string]any{"command": text(20), "description": text(21), "prompt": text(22), "message": text(23), "to": "a7", "task_id": "b7", "run_in_background": true}}}))
			if tool == "Workflow" {
				continue // stays without an answer
			}
			add(map[string]any{"type": "user", "toolUseResult": map[string]any{"stdout": text(24), "backgroundTaskId": "c-" + tool, "taskId": "c-" + tool, "agentId": "c-" + tool, "status": "async_launched", "prompt": text(25), "description": text(26)},
				"message": map[string]any{"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": "Command running in background with ID: c-" + tool + ". " + text(27)}}}})
			add(message("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text(28)}}))
		}
		add(map[string]any{"type": "queue-operation", "operation": "enqueue", "content": "<task-notification><task-id>b8</task-id><status>completed</status><summary>" + text(30) + " (exit code 0)</summary><event>" + text(31) + "</event></task-notification>"})
		add(map[string]any{"type": "queue-operation", "operation": "enqueue", "content": "<task-notification><task-id>" + text(32) + "</task-id><status>" + text(33) + "</status><output-file>" + text(34) + "</output-file></task-notification>"})
		add(map[string]any{"type": "attachment", "attachment": map[string]any{"type": "queued_command", "prompt": "<task-notification><task-id>b8</task-id><status>completed</status></task-notification> " + text(35)}})
		add(map[string]any{"type": "summary", "summary": text(36)})
		add(map[string]any{"type": "system", "content": text(37), "subtype": text(38)})
		b.WriteString("torn " + text(39) + `{"type":"user","message":{"content":"` + text(40) + "\n")
		return b.String()
	}
	w.append(w.main(), noise(""))
	w.append(w.transcript(agent), noise(agent))
	w.write(w.transcript("a2"), noise("a2"))
	w.write(strings.TrimSuffix(w.transcript(agent), ".jsonl")+".meta.json", line(map[string]any{"agentType": "general-purpose", "description": text(50), "prompt": text(51), "requestShape": text(52)}))
	w.append(w.output(taskOf(agent)), text(53)+"\n")
	change := func(p map[string]any) {
		p["last_assistant_message"], p["prompt_id"], p["permission_mode"], p["effort"], p["unknown"] = text(60), text(61), text(62), map[string]any{"level": text(63)}, text(64)
		p["session_crons"] = []any{map[string]any{"id": text(65), "prompt": text(66)}}
		tasks, _ := p["background_tasks"].([]any)
		for i, one := range append(tasks, map[string]any{"id": "unknown", "type": "shell", "status": "running"}) {
			task, _ := one.(map[string]any)
			task["command"], task["description"], task["server"], task["tool"], task["name"], task["extra"] = text(70+i), text(80+i), text(90+i), text(91+i), text(92+i), text(93+i)
		}
	}
	input := map[string]any{"command": text(100), "description": text(101), "prompt": text(102), "run_in_background": true}
	response := map[string]any{"stdout": text(103), "stderr": text(104), "backgroundTaskId": "b1", "agentId": "b2", "taskId": "b3", "status": "async_launched", "prompt": text(105), "description": text(106)}
	trace := append(w.env(), "STOPGATE_LOG=trace", "SECRET="+secret)
	for _, s := range []setup{
		{payload: w.event("PostToolUse", map[string]any{"tool_name": "Bash", "tool_input": input, "tool_response": response, "tool_use_id": "toolu_1"})},
		{payload: w.event("PostToolUse", map[string]any{"tool_name": "Agent", "tool_input": input, "tool_response": response})},
		{payload: w.event("PostToolUse", map[string]any{"tool_name": "Monitor", "tool_input": input, "tool_response": []any{map[string]any{"type": "text", "text": "Monitor started (task b4) " + text(107)}}})},
		{payload: w.event("SubagentStart", map[string]any{"agent_id": agent, "prompt": text(108)})},
		{payload: w.event("SessionStart", map[string]any{"source": text(109), "model": text(110)})},
		{payload: w.event("Stop", map[string]any{"last_assistant_message": text(111)})},
		{payload: w.event("UserPromptSubmit", map[string]any{"prompt": text(112)})},
		{payload: w.payload(agent, change)},
		{payload: w.payload(agent, change, set("stop_hook_active", true))},
		{payload: w.payload("a2", change), args: []string{"gate", "--hold", "200ms"}},
		{payload: w.payload(agent, change), args: []string{"courier", "--for", "300ms"}},
		{payload: w.payload("e1", change, set("agent_type", ""))},
		{payload: w.payload("e2", change, set("agent_type", "reviewer"))},
		{payload: []byte(`{"hook_event_name":"SubagentStop","last_assistant_message":"` + text(113))},
		{payload: []byte(text(114))},
		{payload: w.event("SessionEnd", map[string]any{"reason": text(115)})},
	} {
		s.env = trace
		s.limit = 30 * time.Second
		w.run(s)
	}
	files := 0
	err := filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, form := range []string{secret, "c0ffee", "xyzzy"} {
			if at := bytes.Index(data, []byte(form)); at >= 0 {
				t.Errorf("%s holds %q", path, data[max(0, at-80):min(len(data), at+80)])
				break
			}
		}
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("looked at %d files, %v", files, err)
	}
}

// Ids, paths, types and names of a megabyte each: what is kept of an event is small.
func TestWhatIsKeptOfAnEventIsSmall(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", 1<<20)
	w.agent("a1")
	for i := range 3 {
		id := fmt.Sprint(i) + long
		for _, payload := range [][]byte{
			w.event("SubagentStart", map[string]any{"agent_id": "a1", "agent_type": id, "cwd": id, "transcript_path": id, "agent_transcript_path": id}),
			w.event("SubagentStart", map[string]any{"agent_id": id, "session_id": id}),
			w.event("SessionStart", map[string]any{"agent_type": id, "cwd": id}),
			w.event("TeammateIdle", map[string]any{"agent_id": "a1", "team_name": id, "teammate_name": id}),
			w.event("PostToolUse", map[string]any{"agent_id": "a1", "agent_type": id, "tool_name": "Agent", "tool_use_id": id, "tool_response": map[string]any{"agentId": fmt.Sprint("c", i), "status": "async_launched", "outputFile": id}}),
			w.payload("a1", set("agent_type", id), set("cwd", id), set("agent_transcript_path", w.transcript("a1"))),
			w.payload("a1", set("agent_type", id), set("background_tasks", []any{map[string]any{"id": id, "type": "shell"}, map[string]any{"id": fmt.Sprint("c", i), "type": id}})),
			w.payload(id, set("session_id", id)),
		} {
			w.holds(w.run(setup{payload: payload}), decides)
		}
	}
	if got := size(t, w.state); got > 400_000 {
		t.Errorf("%d bytes are kept", got)
	}
	w.works()
}
