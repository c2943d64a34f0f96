package client

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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

// Host is a way to run the client.
type Host string

// The hosts. SDK is stream-json with progress summaries and prompt suggestions
// on, which make ephemeral events.
const (
	Print    Host = "print"
	SDK      Host = "sdk"
	Terminal Host = "terminal"
)

// Keys of the terminal.
const (
	Esc   = "\x1b"
	Enter = "\r"
	CtrlC = "\x03"
)

// Key is the dummy key that every session uses. It opens nothing.
const Key = "sk-ant-api03-not-a-key-0000000000"

// Config says how a session is run. All folders exist already.
type Config struct {
	Bin      string // the client
	Host     Host
	Home     string // a folder of the session's own: HOME, TMPDIR and project are in it
	BaseURL  string // the model server, on loopback
	Settings any    // written as the --settings file; nil passes none
	Prompt   string // of a Print session
	Args     []string
	Env      []string // further NAME=value
}

// Session is one running client.
type Session struct {
	host Host
	home string
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{}

	mu     sync.Mutex
	out    bytes.Buffer
	errs   bytes.Buffer
	grown  time.Time
	exited error
}

// Project is the folder in which the client runs.
func Project(home string) string { return filepath.Join(home, "project") }

// Prepare makes the folders of a home and the file by which the client asks nothing.
func Prepare(home string) error {
	project := Project(home)
	for _, d := range []string{project, filepath.Join(home, "tmp"), filepath.Join(home, ".claude")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	approved := Key
	if len(approved) > 20 {
		approved = approved[len(approved)-20:]
	}
	trust := map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}
	return writeJSON(filepath.Join(home, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
		"projects":              map[string]any{project: trust},
		"customApiKeyResponses": map[string]any{"approved": []string{Key, approved}, "rejected": []string{}},
	})
}

func writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o600)
}

// Environment is the whole environment of a client that lives in home and asks the
// model at url.
func Environment(home, url string) []string {
	return []string{
		"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "PATH=" + os.Getenv("PATH"), "PWD=" + Project(home),
		"TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/bash",
		"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + Key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1",
		"IS_SANDBOX=1", // without it the client refuses to run as root
	}
}

// Start prepares the home folder and starts the client.
func Start(c Config) (*Session, error) {
	if err := Prepare(c.Home); err != nil {
		return nil, err
	}
	args := []string{"--dangerously-skip-permissions"}
	if c.Settings != nil {
		file := filepath.Join(c.Home, "settings.json")
		if err := writeJSON(file, c.Settings); err != nil {
			return nil, err
		}
		args = append(args, "--settings", file)
	}
	args = append(args, c.Args...)
	switch c.Host {
	case Print:
		args = append(args, "-p", c.Prompt)
		if !slices.Contains(args, "--output-format") {
			args = append(args, "--output-format", "json")
		}
	case SDK:
		args = append(args, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
	}
	cmd := exec.Command(c.Bin, args...)
	cmd.Dir = Project(c.Home)
	cmd.Env = append(Environment(c.Home, c.BaseURL), c.Env...)
	s := &Session{host: c.Host, home: c.Home, cmd: cmd, done: make(chan struct{})}
	if err := s.start(c.Host == Terminal); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if c.Host == SDK {
		s.line(map[string]any{"type": "control_request", "request_id": "r1", "request": map[string]any{
			"subtype": "initialize", "agentProgressSummaries": true, "promptSuggestions": true}})
	}
	return s, nil
}

func (s *Session) start(terminal bool) error {
	var drained sync.WaitGroup
	if terminal {
		tty, err := pty.StartWithAttrs(s.cmd, &pty.Winsize{Rows: 50, Cols: 160}, ownSession(true))
		if err != nil {
			return err
		}
		s.in = tty
		drained.Add(1)
		go func() {
			defer drained.Done()
			s.drain(tty, &s.out) // ends with EIO when the client ends
		}()
	} else {
		s.cmd.SysProcAttr = ownSession(false)
		in, err := s.cmd.StdinPipe()
		if err != nil {
			return err
		}
		s.in = in
		s.cmd.Stdout = writer(func(b []byte) { s.grow(&s.out, b) })
		s.cmd.Stderr = writer(func(b []byte) { s.grow(&s.errs, b) })
		// A child of the client may keep the pipes open after its end.
		s.cmd.WaitDelay = 500 * time.Millisecond
		if err := s.cmd.Start(); err != nil {
			return err
		}
		if s.host == Print {
			_ = in.Close()
		}
	}
	go func() {
		err := s.cmd.Wait()
		s.mu.Lock()
		s.exited = err
		s.mu.Unlock()
		close(s.done)
	}()
	return nil
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

func (s *Session) drain(r io.Reader, to *bytes.Buffer) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		s.grow(to, buf[:n])
		if err != nil {
			return
		}
	}
}

func (s *Session) grow(to *bytes.Buffer, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.Write(b)
	s.grown = time.Now()
}

// Done is closed when the client has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Pid is the client's process id.
func (s *Session) Pid() int { return s.cmd.Process.Pid }

// Output is what the client printed so far; of a terminal, raw.
func (s *Session) Output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// Errors is what the client printed on stderr so far.
func (s *Session) Errors() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errs.String()
}

// Results are the final texts that a Print or SDK client reported, one per turn.
func (s *Session) Results() []string {
	var out []string
	for _, l := range strings.Split(s.Output(), "\n") {
		var v struct {
			Type   string `json:"type"`
			Result string `json:"result"`
		}
		if json.Unmarshal([]byte(l), &v) == nil && v.Type == "result" {
			out = append(out, v.Result)
		}
	}
	return out
}

func (s *Session) line(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own literals
	}
	_, _ = s.in.Write(append(b, '\n')) // a client that is gone shows by its exit
}

// Send gives the client a prompt. arrived tells whether the model was asked; in
// the terminal Enter is pressed again until it was.
func (s *Session) Send(ctx context.Context, prompt string, arrived func() bool) error {
	switch s.host {
	case Print:
		return nil // was given on the command line
	case SDK:
		s.line(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": prompt},
			"parent_tool_use_id": nil, "session_id": ""})
		return nil
	}
	if err := s.quiet(ctx, 700*time.Millisecond); err != nil {
		return fmt.Errorf("terminal never became ready: %w", err)
	}
	if err := s.Press(prompt); err != nil {
		return err
	}
	for range 5 {
		if err := s.quiet(ctx, 400*time.Millisecond); err != nil {
			return err
		}
		if err := s.Press(Enter); err != nil {
			return err
		}
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
			if arrived() {
				return nil
			}
			if err := s.pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return errors.New("the terminal took the prompt but the model was never asked")
}

// Press sends keys to the terminal.
func (s *Session) Press(keys string) error {
	_, err := io.WriteString(s.in, keys)
	return err
}

// Resize makes the terminal one column narrower or wider, so that the client draws it
// anew.
func (s *Session) Resize() error {
	tty, ok := s.in.(*os.File)
	if !ok || s.host != Terminal {
		return errors.New("no terminal")
	}
	rows, columns, err := pty.Getsize(tty)
	if err != nil {
		return err
	}
	return pty.Setsize(tty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns ^ 1)}) //nolint:gosec // its own size
}

// quiet waits until the terminal has shown something and then nothing new for a
// while: it is ready for keys.
func (s *Session) quiet(ctx context.Context, d time.Duration) error {
	for {
		s.mu.Lock()
		shown, since := s.out.Len() > 0, time.Since(s.grown)
		s.mu.Unlock()
		if shown && since >= d {
			return nil
		}
		if err := s.pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

func (s *Session) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-s.done:
		return errors.New("the client has ended")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// End ends the client the way its user would; a client that does not end by
// itself is ended harder. It returns how the client went: by itself, on a
// signal, or killed.
func (s *Session) End() string {
	switch s.host {
	case SDK:
		_ = s.in.Close()
	case Terminal:
		_ = s.Press(CtrlC)
		select {
		case <-s.done:
		case <-time.After(700 * time.Millisecond): // two presses, as a person's
		}
		_ = s.Press(CtrlC)
	}
	for _, step := range []struct {
		how  string
		wait time.Duration
		then func() error
	}{
		{"by itself", 3 * time.Second, s.terminate},
		{"on SIGTERM", 3 * time.Second, s.Kill},
		{"killed", 3 * time.Second, func() error { return nil }},
	} {
		select {
		case <-s.done:
			_ = s.in.Close()
			return step.how
		case <-time.After(step.wait):
			_ = step.then()
		}
	}
	return "never"
}

// CloseInput tells a streaming client that no more comes.
func (s *Session) CloseInput() { _ = s.in.Close() }

// ExitCode is that of a client that has ended; -1 for one that a signal ended.
func (s *Session) ExitCode() int { return s.cmd.ProcessState.ExitCode() }

// End ends every process of a home.
func End(home string) []string { return endAll(home) }

// Crash ends the client alone, as a crash would, with no word to anybody.
func (s *Session) Crash() string {
	_ = s.cmd.Process.Kill()
	<-s.done
	return "crashed"
}

// Gone ends what the session left running, and returns the command lines.
func (s *Session) Gone() []string { return endAll(s.home) }
