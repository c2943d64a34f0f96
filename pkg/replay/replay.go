// Package replay sends a recorded session through the real handler, event by
// event, as the recording client did: with the transcripts cut to what was on
// disk at each moment. A folder of recorded files goes in; each event's outcome
// comes out. testdata/captures/README.md describes the folder.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/handler"
	"stopgate/pkg/host"
	"stopgate/pkg/state"
)

// Recording is one recorded session.
type Recording struct {
	files  fs.FS
	events []recorded
	expect map[int]Expect
	// sources are the transcripts' lines by their path relative to claude/.
	sources map[string][][]byte
	begun   time.Time
}

type recorded struct {
	T       float64         `json:"t"`
	Lines   map[string]int  `json:"lines"`
	Meta    []string        `json:"meta"`
	Payload json.RawMessage `json:"payload"`
}

// Expect is the right answer to one SubagentStop, where the recording has one.
type Expect struct {
	Event          int               `json:"event"`
	Agent          string            `json:"agent"`
	Verdict        string            `json:"verdict"`
	Own            []string          `json:"own"`
	Owners         map[string]string `json:"owners"`
	NoLaunchRecord []string          `json:"no_launch_record"`
	Late           map[string]int    `json:"late"`
}

// The folders that recorded paths stand for.
const (
	recordedConfig  = "/home/dev/.claude/"
	recordedOutputs = "/tmp/claude-1000/"
)

// Load reads a recording.
func Load(files fs.FS) (*Recording, error) {
	r := &Recording{files: files, expect: map[int]Expect{}, sources: map[string][][]byte{}}
	data, err := fs.ReadFile(files, "events.jsonl")
	if err != nil {
		return nil, fmt.Errorf("not a recording: %w", err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var e recorded
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("events.jsonl: line %d: %w", i+1, err)
		}
		r.events = append(r.events, e)
	}
	data, err = fs.ReadFile(files, "expect.jsonl")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var e Expect
		if len(line) == 0 {
			continue
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("expect.jsonl: line %d: %w", i+1, err)
		}
		r.expect[e.Event] = e
	}
	err = fs.WalkDir(files, "claude", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".jsonl" {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		r.sources[strings.TrimPrefix(name, "claude/")] = bytes.SplitAfter(data, []byte("\n"))
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.begun = r.firstTime()
	return r, nil
}

// firstTime is the clock's time at the first event, from the times in the
// transcripts: no line that was on disk at an event is younger than the event.
func (r *Recording) firstTime() time.Time {
	var begun time.Time
	for _, e := range r.events {
		for name, n := range e.Lines {
			lines := r.sources[name]
			// Later lines say more, and the last ones say enough.
			for _, line := range lines[max(0, min(n, len(lines))-8):min(n, len(lines))] {
				at, err := time.Parse(time.RFC3339, gjson.GetBytes(line, "timestamp").Str)
				if at = at.Add(-time.Duration(e.T * float64(time.Second))); err == nil && at.After(begun) {
					begun = at
				}
			}
		}
	}
	if begun.IsZero() {
		return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	}
	return begun
}

// Version is the client that was recorded, "" where no line names it.
func (r *Recording) Version() string {
	for _, lines := range r.sources {
		for _, line := range lines {
			if v := gjson.GetBytes(line, "version").Str; v != "" {
				return v
			}
		}
	}
	return ""
}

// Events is how many events were recorded.
func (r *Recording) Events() int { return len(r.events) }

// Expect is the right answer to an event, if the recording has one.
func (r *Recording) Expect(i int) (Expect, bool) {
	e, ok := r.expect[i]
	return e, ok
}

// Descriptions maps the agents' ids to what their launchers called them.
func (r *Recording) Descriptions() map[string]string {
	out := map[string]string{}
	_ = fs.WalkDir(r.files, "claude", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".meta.json") {
			data, _ := fs.ReadFile(r.files, name) // an unreadable one describes nobody
			id := strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "agent-"), ".meta.json")
			out[id] = gjson.GetBytes(data, "description").Str
		}
		return nil
	})
	return out
}

// Options vary a play.
type Options struct {
	// Args are the hook's arguments.
	Args []string
	// Without leaves out events of these names, as if they were not registered.
	Without []string
	// Doubled sends every event twice at once, as if registered twice.
	Doubled bool
}

// Step is one event of a play.
type Step struct {
	// Index is the event's number in the recording, from 0.
	Index int
	// Time is the recorded time.
	Time time.Time
	// Outcomes are what the handler did: one, or two for a doubled event.
	Outcomes []handler.Outcome
	// Answers are what it printed.
	Answers []string
	// ExitCodes are what it returned.
	ExitCodes []int
}

// Play is a running replay, with its files and state in a folder of its own.
type Play struct {
	rec   *Recording
	root  string
	clock *clock
	// State is the replay's state folder.
	State state.Dir
	// Files maps the recorded paths to the replay's folder.
	Files host.Files
}

// Start prepares a play below root, an empty folder that the caller removes.
func (r *Recording) Start(root string) (*Play, error) {
	p := &Play{
		rec:   r,
		root:  root,
		clock: &clock{now: r.begun},
		State: state.At(filepath.Join(root, "state")),
	}
	p.Files = host.Files{Map: p.mapped}
	entries, err := fs.ReadDir(r.files, "outputs")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		data, err := fs.ReadFile(r.files, "outputs/"+e.Name())
		if err != nil {
			return nil, err
		}
		if err := p.write(filepath.Join(root, "outputs", e.Name()), data, r.begun); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Clock is the play's clock; it stands at the last event's time.
func (p *Play) Clock() host.Clock { return p.clock }

func (p *Play) mapped(name string) string {
	name = filepath.ToSlash(name) // as recorded, whatever this system joins paths with
	if rest, ok := strings.CutPrefix(name, recordedConfig); ok {
		return filepath.Join(p.root, "claude", filepath.FromSlash(rest))
	}
	if strings.HasPrefix(name, recordedOutputs) {
		return filepath.Join(p.root, "outputs", path.Base(name))
	}
	return name
}

// Run plays all events and gives each step to see.
func (p *Play) Run(o Options, see func(Step)) error {
	for i, e := range p.rec.events {
		at := p.rec.begun.Add(time.Duration(e.T * float64(time.Second)))
		if err := p.disk(e, at); err != nil {
			return err
		}
		name := gjson.GetBytes(e.Payload, "hook_event_name").Str
		if slices.Contains(o.Without, name) {
			continue
		}
		p.clock.set(at)
		if late := p.rec.expect[i].Late; len(late) > 0 {
			p.clock.at(at.Add(lateBy), func() error { return p.lines(late, at.Add(lateBy)) })
		}
		see(p.send(i, at, e.Payload, o))
		if err := p.clock.failed(); err != nil {
			return err
		}
	}
	return nil
}

// lateBy is when lines that were not on disk at an event come there.
const lateBy = 80 * time.Millisecond

func (p *Play) send(i int, at time.Time, payload []byte, o Options) Step {
	times := 1
	if o.Doubled {
		times = 2
	}
	step := Step{Index: i, Time: at, Outcomes: make([]handler.Outcome, times), Answers: make([]string, times), ExitCodes: make([]int, times)}
	var all sync.WaitGroup
	for k := range times {
		all.Go(func() {
			var stdout bytes.Buffer
			step.ExitCodes[k], step.Outcomes[k] = handler.Run(host.Host{
				Stdin:  bytes.NewReader(payload),
				Stdout: &stdout,
				Stderr: &bytes.Buffer{},
				Args:   o.Args,
				Env:    p.env,
				Clock:  p.clock,
				Files:  p.Files,
				Self:   func() string { return "" },
				Parent: func() int { return 1 },
				Alive:  func(int) bool { return true },
			})
			step.Answers[k] = stdout.String()
		})
	}
	all.Wait()
	return step
}

func (p *Play) env(name string) string {
	switch name {
	case state.EnvDir:
		return p.State.Path()
	case state.EnvKeep:
		return forEver // the ledger's file bears the machine's time, not the play's
	}
	return ""
}

// forEver is longer than a machine's clock and a recording are apart.
const forEver = "36500d"

// disk brings the transcripts and meta files to what an event found at that time.
func (p *Play) disk(e recorded, at time.Time) error {
	if err := p.lines(e.Lines, at); err != nil {
		return err
	}
	for _, name := range e.Meta {
		data, err := fs.ReadFile(p.rec.files, "claude/"+name)
		if err != nil {
			return err
		}
		if err := p.write(filepath.Join(p.root, "claude", filepath.FromSlash(name)), data, at); err != nil {
			return err
		}
	}
	return nil
}

// lines appends to transcripts until they hold so many lines.
func (p *Play) lines(want map[string]int, at time.Time) error {
	names := make([]string, 0, len(want))
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		lines := p.rec.sources[name]
		n := min(want[name], len(lines))
		file := filepath.Join(p.root, "claude", filepath.FromSlash(name))
		have, err := host.Files{}.Read(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		already := bytes.Count(have, []byte("\n"))
		if already >= n && err == nil {
			continue
		}
		if _, err := host.MakeDirs(filepath.Dir(file)); err != nil {
			return err
		}
		out, _, err := host.OpenAppend(file)
		if err != nil {
			return err
		}
		_, err = out.Write(bytes.Join(lines[min(already, n):n], nil))
		if err := errors.Join(err, out.Close(), os.Chtimes(file, at, at)); err != nil {
			return err
		}
	}
	return nil
}

func (p *Play) write(name string, data []byte, at time.Time) error {
	if _, err := host.MakeDirs(filepath.Dir(name)); err != nil {
		return err
	}
	return errors.Join(host.Write(name, data, 0o600), os.Chtimes(name, at, at))
}

// clock is the recorded time. Sleeping moves it on, and what is due happens.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	due  time.Time
	what func() error
	err  error
}

// Now implements [host.Clock].
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep implements [host.Clock].
func (c *clock) Sleep(ctx context.Context, d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	c.now = c.now.Add(d)
	if c.what != nil && !c.now.Before(c.due) {
		c.err = errors.Join(c.err, c.what())
		c.what = nil
	}
	return true
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.what = t, nil
}

func (c *clock) at(t time.Time, do func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due, c.what = t, do
}

func (c *clock) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Name is the event's name, for printing.
func (s Step) Name() string { return s.Outcomes[0].Event.Name }

// IsStop tells whether the step is a SubagentStop.
func (s Step) IsStop() bool { return s.Name() == event.SubagentStop }

// Verdict is the answer to a SubagentStop in the words of [Expect]: that of the
// delivery that was answered, where the event came twice.
func (s Step) Verdict() string {
	for _, o := range s.Outcomes {
		switch o.Decision.Code {
		case gate.Duplicate:
			continue
		case gate.Ephemeral:
			return "ephemeral"
		}
		if o.Decision.Block {
			return "block"
		}
		return "allow"
	}
	return ""
}
