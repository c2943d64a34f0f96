package model

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Script answers one request of its conversation. No blocks means an answer
// without content, which ends the turn.
type Script func(turn int, r Request) []Block

// Asked is one recorded request and its answer.
type Asked struct {
	At      time.Time
	Request Request
	Answer  []Block
}

// Ephemeral tells whether the client asked for itself, in a copy of the
// conversation that nobody sees.
func (a Asked) Ephemeral() bool { return a.Request.ephemeral() }

// Task is a launch that a script made and the client confirmed.
type Task struct {
	ID, Label string
	Owner     string // the launcher's script
	Tool      string
	Agent     bool
	ToolUseID string
	Result    string // the text that confirmed it
}

// Server answers as the scripts say. Its zero value is not usable: see Start.
type Server struct {
	URL string

	scripts map[string]Script
	dump    string // folder for raw requests, or ""

	http *http.Server
	mu   sync.Mutex
	// changed is closed and replaced whenever the record grows.
	changed chan struct{}
	asked   []Asked
	uses    map[string]Block // tool_use id -> block
	owner   map[string]string
	tasks   []Task
	odd     []string
	lacks   map[string]bool // labels of optional calls that were not possible
	n       int
}

// Start serves on a free port of loopback until Close. Where dump names a
// folder, every request is written there: to look at, never to keep.
func Start(scripts map[string]Script, dump string) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("model server: %w", err)
	}
	s := &Server{
		URL: "http://" + ln.Addr().String(), scripts: scripts, dump: dump,
		changed: make(chan struct{}), uses: map[string]Block{}, owner: map[string]string{},
		lacks: map[string]bool{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"input_tokens":100}`)
	})
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(ln) }()
	return s, nil
}

// Close ends the server and every request in flight.
func (s *Server) Close() error { return s.http.Close() }

// Asked is a copy of the record so far. Requests of the client's own helpers
// are not in it.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

// Of is the record of one conversation.
func (s *Server) Of(script string) []Asked {
	var out []Asked
	for _, a := range s.Asked() {
		if a.Request.Script == script {
			out = append(out, a)
		}
	}
	return out
}

// Tasks are the launches known so far.
func (s *Server) Tasks() []Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Task(nil), s.tasks...)
}

// Task finds a launch by its label.
func (s *Server) Task(label string) (Task, bool) {
	for _, t := range s.Tasks() {
		if t.Label == label {
			return t, true
		}
	}
	return Task{}, false
}

// Odd is what a script could not do, in words: a tool that was not there, a
// launch that gave no id.
func (s *Server) Odd() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.odd...)
}

// Lacks tells whether the optional call with this label was not possible.
func (s *Server) Lacks(label string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lacks[label]
}

// Changed returns a channel that is closed at the next request.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Wait waits until the condition holds; it is asked again after every request
// and every 50 ms.
func (s *Server) Wait(ctx context.Context, cond func() bool) error {
	for {
		c := s.Changed()
		if cond() {
			return nil
		}
		select {
		case <-c:
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			if cond() {
				return nil
			}
			return ctx.Err()
		}
	}
}

// launched reads a task's id from the text that confirms its launch.
var launched = regexp.MustCompile(`(?:\bID: |\(ID: |\(task |\bagentId: |Task ID: |agent_id: )([A-Za-z0-9@_-]+)`)

func (s *Server) messages(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return
	}
	r, err := parse(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Session, r.Agent = hr.Header.Get(sessionHeader), hr.Header.Get(agentHeader)
	s.mu.Lock()
	s.n++
	n := s.n
	r.labels = make(map[string]Block, len(s.uses))
	for k, v := range s.uses {
		r.labels[k] = v
	}
	s.learn(r)
	s.mu.Unlock()
	if s.dump != "" {
		head, _ := json.Marshal(hr.Header)
		_ = os.WriteFile(filepath.Join(s.dump, fmt.Sprintf("%04d.json", n)), append(append(head, '\n'), body...), 0o600)
	}

	var answer []Block
	script, ok := s.scripts[r.Script]
	switch {
	case len(r.Tools) == 0:
		answer = s.help(r)
	case !ok:
		s.note("a conversation without a script: " + r.Script)
		answer = []Block{Text("no script")}
	default:
		answer = s.fit(r, script(r.Turn, r))
	}

	s.mu.Lock()
	for i := range answer {
		if answer[i].Type == "tool_use" {
			answer[i].ID = fmt.Sprintf("toolu_%06d_%d", n, i)
			s.uses[answer[i].ID] = answer[i]
			s.owner[answer[i].ID] = r.Script
		}
	}
	if len(r.Tools) > 0 {
		s.asked = append(s.asked, Asked{time.Now(), r, answer})
		close(s.changed)
		s.changed = make(chan struct{})
	}
	s.mu.Unlock()

	if r.Stream {
		stream(w, n, answer)
	} else {
		plain(w, n, answer)
	}
}

// help answers what the client asks for itself, without tools.
func (s *Server) help(r Request) []Block {
	if helper, ok := s.scripts[Helper]; ok {
		if answer := helper(r.Turn, r); answer != nil {
			return answer
		}
	}
	return []Block{Text("ok")}
}

// The headers in which the client says whose request it is. A teammate's agent
// is called name@team there; the coordinator's requests have none.
const (
	sessionHeader = "X-Claude-Code-Session-Id"
	agentHeader   = "X-Claude-Code-Agent-Id"
)

// learn notes the launches that a request's results confirm. Only results of
// launching calls count, whatever other results may print.
func (s *Server) learn(r Request) {
	for _, b := range r.news() {
		if b.Type != "tool_result" {
			continue
		}
		use := s.uses[b.ToolUseID]
		if !use.Launches || s.owner[b.ToolUseID] != r.Script {
			continue
		}
		known := false
		for _, t := range s.tasks {
			known = known || t.ToolUseID == b.ToolUseID
		}
		if known {
			continue
		}
		text := b.ResultText()
		id := ""
		if m := launched.FindStringSubmatch(text); m != nil {
			id = m[1]
		}
		agent := use.Name == "Agent" || use.Name == "Task"
		if (b.IsError || id == "") && !agent { // an agent that was interrupted gives an error
			s.odd = append(s.odd, fmt.Sprintf("%s of %s launched nothing: %.200s", use.Label, r.Script, text))
			continue
		}
		s.tasks = append(s.tasks, Task{ID: id, Label: use.Label, Owner: r.Script, Tool: use.Name, Agent: agent, ToolUseID: b.ToolUseID, Result: text})
	}
}

func (s *Server) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.odd = append(s.odd, text)
}

// fit makes an answer possible on this client: older names, deferred tools.
func (s *Server) fit(r Request, answer []Block) []Block {
	var missing []string
	answer = append([]Block{}, answer...) // scripts may share theirs
	for i, b := range answer {
		if b.Type != "tool_use" {
			continue
		}
		if b.Name == "Agent" && !r.Has("Agent") && r.Has("Task") {
			answer[i].Name = "Task"
			continue
		}
		if !r.Has(b.Name) {
			missing = append(missing, b.Name)
		}
	}
	if missing == nil {
		return answer
	}
	searched := false
	for _, b := range r.news() {
		searched = searched || (b.Type == "tool_result" && r.labels[b.ToolUseID].Name == searchTool)
	}
	if !r.Has(searchTool) || searched {
		if s.substitute(r, answer) {
			return answer
		}
		s.note(fmt.Sprintf("%s has no tool %s", r.Script, strings.Join(missing, ", ")))
		return []Block{Text("no tool " + strings.Join(missing, ", "))}
	}
	return []Block{Use(searchTool, map[string]any{"query": "select:" + strings.Join(missing, ","), "max_results": 5})}
}

// substitute puts a command that does nothing in place of the optional calls
// that are not possible; it tells whether that was enough.
func (s *Server) substitute(r Request, answer []Block) bool {
	for i, b := range answer {
		if b.Type != "tool_use" || r.Has(b.Name) {
			continue
		}
		if !b.Optional {
			return false
		}
		s.mu.Lock()
		s.lacks[b.Label] = true
		s.mu.Unlock()
		answer[i] = Use("Bash", map[string]any{"command": "true", "description": "no " + b.Name})
	}
	return true
}

func stopReason(answer []Block) string {
	for _, b := range answer {
		if b.Type == "tool_use" {
			return "tool_use"
		}
	}
	return "end_turn"
}

// message is the frame of an answer; its usage is what the client goes by when it
// compacts a conversation.
func message(n int, answer []Block) map[string]any {
	tokens := 100
	for _, b := range answer {
		tokens = max(tokens, b.Tokens)
	}
	return map[string]any{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": "claude-scripted",
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": tokens, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
	}
}

func plain(w http.ResponseWriter, n int, answer []Block) {
	m := message(n, answer)
	content := make([]any, 0, len(answer))
	for _, b := range answer {
		content = append(content, b)
	}
	m["content"], m["stop_reason"] = content, stopReason(answer)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(m)
}

func stream(w http.ResponseWriter, n int, answer []Block) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(name string, v map[string]any) {
		v["type"] = name
		data, _ := json.Marshal(v)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
	}
	send("message_start", map[string]any{"message": message(n, answer)})
	for i, b := range answer {
		start := map[string]any{"type": b.Type}
		delta := map[string]any{"type": "text_delta", "text": b.Text}
		if b.Type == "text" {
			start["text"] = ""
		} else {
			start["id"], start["name"], start["input"] = b.ID, b.Name, map[string]any{}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(b.Input)}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": start})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stopReason(answer), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": 10},
	})
	send("message_stop", map[string]any{})
}
