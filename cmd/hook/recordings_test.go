package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/state"
)

// The program itself over every recorded session: each event is sent to a process,
// with the files as they were on disk then, and every stop answered as it must be.
// pkg/replay asks the same of the handler; this is about the program as built, for
// whatever system and processor it was built.
func TestTheProgramOverRecordings(t *testing.T) {
	t.Parallel()
	captures, err := filepath.Abs("../../pkg/replay/testdata/captures")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob(filepath.Join(captures, "*", "*"))
	if err != nil || len(dirs) < 27 {
		t.Fatalf("%d recordings, %v", len(dirs), err)
	}
	for _, dir := range dirs {
		name, err := filepath.Rel(captures, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			t.Parallel()
			newSession(t, dir).play()
		})
	}
}

// recording is a recorded session laid out in a folder of its own.
type recording struct {
	t          *testing.T
	from, here string
}

func newSession(t *testing.T, dir string) recording {
	t.Helper()
	here, err := os.MkdirTemp("", "hook-recording-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(here) }) // not t.TempDir: a system may not let go of it at once
	return recording{t, dir, here}
}

func (r recording) play() {
	type expected struct {
		Event   int
		Verdict string
		Late    map[string]int
	}
	expect := map[int]expected{}
	for _, line := range r.lines("expect.jsonl") {
		var e expected
		if err := json.Unmarshal(line, &e); err != nil {
			r.t.Fatal(err)
		}
		expect[e.Event] = e
	}
	for i, line := range r.lines("events.jsonl") {
		var e struct {
			Lines   map[string]int
			Meta    []string
			Payload json.RawMessage
		}
		if err := json.Unmarshal(line, &e); err != nil {
			r.t.Fatal(err)
		}
		for name, n := range e.Lines {
			r.lay(name, n)
		}
		// What came late, came before the hook gave up waiting for it.
		for name, n := range expect[i].Late {
			r.lay(name, n)
		}
		for _, name := range e.Meta {
			r.lay(name, -1)
		}
		stdout := r.hook(e.Payload)
		want, isStop := expect[i]
		switch blocked := strings.Contains(stdout, `"decision":"block"`); {
		case isStop && blocked != (want.Verdict == "block"):
			r.t.Errorf("event %d: want %s, got %q", i, want.Verdict, stdout)
		case !isStop && stdout != "":
			r.t.Errorf("event %d: it printed %q", i, stdout)
		}
	}
}

// hook sends an event through the program.
func (r recording) hook(payload []byte) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, hook, "gate", "--hold", "0s", "--patience", "0")
	cmd.Stdin = bytes.NewReader(r.local(payload))
	cmd.Dir = r.here
	// The recorded times are long past, the files are not: nothing is swept.
	cmd.Env = append(os.Environ(), state.EnvDir+"="+filepath.Join(r.here, "state"), state.EnvKeep+"=36500d")
	out, err := cmd.Output()
	if err != nil {
		r.t.Errorf("the hook ended with %v", err)
	}
	return string(out)
}

// lay brings a file to its first n lines; all of them with -1.
func (r recording) lay(name string, n int) {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.from, "claude", filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return // of somebody else
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if lines := bytes.SplitAfter(data, []byte("\n")); n >= 0 {
		data = bytes.Join(lines[:min(n, len(lines))], nil)
	}
	data = r.local(data)
	to := filepath.Join(r.here, "home", ".claude", filepath.FromSlash(name))
	// As the client does: what is there stays, the rest is appended.
	old, err := os.ReadFile(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || !bytes.HasPrefix(data, old) && n >= 0 {
		return
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		r.t.Fatal(err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = f.Write(data[min(len(old), len(data)):])
	if err := errors.Join(err, f.Close()); err != nil {
		r.t.Fatal(err)
	}
}

func (r recording) lines(name string) [][]byte {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.from, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

// recordedPath is a path as it stands in the recordings, in a JSON string.
var recordedPath = regexp.MustCompile(`/(?:home/dev|tmp/claude-1000)(?:/[^\s"'<>\\,;()]*)?`)

// local is a text of the recording with the paths of this machine.
func (r recording) local(text []byte) []byte {
	return recordedPath.ReplaceAllFunc(text, func(path []byte) []byte {
		rest, ok := strings.CutPrefix(string(path), "/home/dev")
		to := filepath.Join(r.here, "home")
		if !ok {
			rest = strings.TrimPrefix(string(path), "/tmp/claude-1000")
			to = filepath.Join(r.here, "tmp")
		}
		quoted, err := json.Marshal(to + filepath.FromSlash(rest))
		if err != nil {
			r.t.Fatal(err)
		}
		return bytes.Trim(quoted, `"`)
	})
}
