//go:build live

package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// recorderArg makes the test binary a hook: it writes down what the client
// says, runs the real hook with the same input and hands on its answer.
//
//	live.test -record FILE ENTRY DELAY [HOOK ARG...]
//
// Without HOOK it only records. DELAY holds the input back from the running
// hook, as a slow machine would.
const recorderArg = "-record"

// line is one line of the record.
type line struct {
	At    time.Time
	Run   string // one run of the recorder: a begin and, if it was not killed, an end
	Entry string // which registration
	Phase string // begin or end

	Payload json.RawMessage   `json:",omitempty"`
	Meta    bool              // the agent's .meta.json was on disk
	Env     map[string]string `json:",omitempty"` // of the variables in surroundings
	Parents [][]string        `json:",omitempty"` // the command lines above the hook, nearest first

	Exit   int
	Signal string
	Stdout string
	Stderr string
	Took   time.Duration
}

func recorder(args []string) int {
	file, entry := args[0], args[1]
	delay, _ := time.ParseDuration(args[2])
	in, _ := io.ReadAll(os.Stdin)
	run := fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano())
	var p struct {
		Transcript string `json:"agent_transcript_path"`
	}
	_ = json.Unmarshal(in, &p)
	meta := false
	if base, ok := strings.CutSuffix(p.Transcript, ".jsonl"); ok {
		_, err := os.Stat(base + ".meta.json")
		meta = err == nil
	}
	begin := time.Now()
	payload := json.RawMessage(in)
	if !json.Valid(in) {
		payload, _ = json.Marshal(string(in))
	}
	appendLine(file, line{At: begin, Run: run, Entry: entry, Phase: "begin", Payload: payload, Meta: meta,
		Env: surroundings(), Parents: parents()})
	end := line{Run: run, Entry: entry, Phase: "end"}
	if len(args) > 3 {
		var out, errs bytes.Buffer
		cmd := exec.Command(args[3], args[4:]...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		stdin, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			end.Exit, end.Stderr = 127, err.Error()
		} else {
			sig := make(chan os.Signal, 1)
			signal.Notify(sig, syscall.SIGTERM, syscall.SIGINT)
			over := make(chan struct{})
			go func() {
				select {
				case <-time.After(delay):
				case <-over:
				}
				_, _ = stdin.Write(in)
				_ = stdin.Close()
			}()
			parent := os.Getppid()
			go func() {
				for tick := time.NewTicker(100 * time.Millisecond); ; {
					select {
					case s := <-sig:
						_ = cmd.Process.Signal(s)
					case <-over:
						return
					case <-tick.C:
						// The client died: leave as it would, so that the
						// hook sees its own parent change.
						if os.Getppid() != parent {
							os.Exit(0)
						}
					}
				}
			}()
			err = cmd.Wait()
			close(over)
			end.Exit = cmd.ProcessState.ExitCode()
			if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
				end.Signal = ws.Signal().String()
			}
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				end.Stderr = err.Error()
			}
			end.Stdout, end.Stderr = out.String(), end.Stderr+errs.String()
			end.Took = time.Since(begin) - delay
		}
	}
	end.At = time.Now()
	appendLine(file, end)
	fmt.Fprint(os.Stdout, end.Stdout)
	fmt.Fprint(os.Stderr, end.Stderr)
	if end.Signal != "" {
		return 143
	}
	return end.Exit
}

// variables are those of the client's that a hook judges its surroundings by.
var variables = []string{"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_PID", "AI_AGENT", stallEnv, ceilingEnv}

func surroundings() map[string]string {
	out := map[string]string{}
	for _, name := range variables {
		if v, ok := os.LookupEnv(name); ok {
			out[name] = v
		}
	}
	return out
}

// parents are the command lines of the processes above this one, each beginning
// with its pid, up to the test.
func parents() [][]string {
	var out [][]string
	for pid := os.Getppid(); pid > 1 && len(out) < 4; {
		cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			break
		}
		out = append(out, append([]string{strconv.Itoa(pid)}, strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00")...))
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			pid, _ = strconv.Atoi(fields[1])
			continue
		}
		break
	}
	return out
}

func appendLine(file string, l line) {
	b, err := json.Marshal(l)
	if err != nil {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(b, '\n')) // one write: lines of parallel hooks do not mix
}

// task is an entry of background_tasks.
type task struct {
	ID, Type, Status, Description string
}

// happening is one run of a hook entry: the event, and the answer.
type happening struct {
	line                // the begin
	Ended         *line // nil while it runs, or if it was killed
	Event         string
	Session       string
	Agent         string
	AgentType     *string
	Tool          string
	Last          string // last_assistant_message
	StopActive    bool
	Transcript    string
	Tasks         []task
	Response      json.RawMessage
	ToolUse       string
	decision, why string
}

// running tells whether the hook has a process.
func (h happening) running() bool {
	pid, _, _ := strings.Cut(h.Run, "-")
	cmdline, _ := os.ReadFile("/proc/" + pid + "/cmdline")
	return bytes.Contains(cmdline, []byte(recorderArg)) // ids are used again soon
}

// Blocked tells whether the hook blocked this stop, and with which reason.
func (h happening) Blocked() (string, bool) { return h.why, h.decision == "block" }

// record reads a session's record.
type record struct {
	file string
	mu   sync.Mutex
	size int64 // of the file when it was last read
	last []happening
}

func newRecord(dir string) *record { return &record{file: filepath.Join(dir, "record.jsonl")} }

// All is everything so far, in the order of beginnings.
func (r *record) All() []happening {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fi, err := os.Stat(r.file); err != nil || fi.Size() == r.size {
		return slices.Clone(r.last)
	}
	data, _ := os.ReadFile(r.file)
	var out []happening
	at := map[string]int{}
	for _, raw := range bytes.SplitAfter(data, []byte("\n")) {
		var l line
		if !bytes.HasSuffix(raw, []byte("\n")) || json.Unmarshal(raw, &l) != nil {
			continue
		}
		if l.Phase == "end" {
			if i, ok := at[l.Run]; ok {
				end := l
				out[i].Ended = &end
				var a struct{ Decision, Reason string }
				if json.Unmarshal([]byte(l.Stdout), &a) == nil {
					out[i].decision, out[i].why = a.Decision, a.Reason
				}
			}
			continue
		}
		var p struct {
			Event      string          `json:"hook_event_name"`
			Session    string          `json:"session_id"`
			Agent      string          `json:"agent_id"`
			AgentType  *string         `json:"agent_type"`
			Tool       string          `json:"tool_name"`
			Last       string          `json:"last_assistant_message"`
			StopActive bool            `json:"stop_hook_active"`
			Transcript string          `json:"agent_transcript_path"`
			Tasks      []task          `json:"background_tasks"`
			Response   json.RawMessage `json:"tool_response"`
			ToolUse    string          `json:"tool_use_id"`
		}
		_ = json.Unmarshal(l.Payload, &p) // what does not fit stays empty
		at[l.Run] = len(out)
		out = append(out, happening{line: l, Event: p.Event, Session: p.Session, Agent: p.Agent, AgentType: p.AgentType,
			Tool: p.Tool, Last: p.Last, StopActive: p.StopActive, Transcript: p.Transcript, Tasks: p.Tasks,
			Response: p.Response, ToolUse: p.ToolUse})
	}
	r.size, r.last = int64(len(data)), slices.Clone(out)
	return out
}
