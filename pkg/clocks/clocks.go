// Package clocks knows the client's own clocks, against which a waiting hook runs:
// how long an agent may make no progress, how long a print run waits for what works
// in the background, how many blocks in a row it takes, how long it waits for the
// hook itself, and which kind of host it is. The environment and the client's
// command line go in, a value comes out. Where something cannot be had, the
// cautious answer stands.
//
// It decides nothing of a stop. Every fact of the client in it has its place in
// docs/client.md (the client's clocks).
package clocks

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/host"
)

// Kind is the way in which a session is had.
type Kind string

// The kinds of hosts.
const (
	// Unknown is a host of which nothing could be learned. It is treated as the
	// most impatient one.
	Unknown Kind = ""
	// Terminal is a person at a terminal.
	Terminal Kind = "terminal"
	// Stream is a program that streams its messages in; it may be a person's window.
	Stream Kind = "stream"
	// Print is a run with one prompt, which is over when its work is.
	Print Kind = "print"
)

// Variables of the hook's environment (docs/client.md: the client's clocks).
const (
	EnvStall      = "CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS"
	EnvStreamIdle = "CLAUDE_STREAM_IDLE_TIMEOUT_MS"
	EnvCeiling    = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS"
	EnvCap        = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
	EnvEntrypoint = "CLAUDE_CODE_ENTRYPOINT"
	EnvAttended   = "CLAUDE_CODE_SESSION_ATTENDED"
	// EnvClient is the client's process id, on newer clients.
	EnvClient = "CLAUDE_PID"
)

// The client's own values where nothing sets them.
const (
	DefaultStall   = 10 * time.Minute
	DefaultCeiling = 10 * time.Minute
	DefaultCap     = 8
	// DefaultTimeout is how long the client waits for a hook whose entry says
	// nothing (docs/client.md: the hook contract).
	DefaultTimeout = 10 * time.Minute
)

// idleGrace is what the client adds to the stream's idle time.
const idleGrace = 5 * time.Minute

// Margins that a hold keeps from the client's clocks.
const (
	// StallMargin is how much before the stall limit a hold ends.
	StallMargin = 30 * time.Second
	// LeastHold is how long a hold is at least where the stall limit is short.
	LeastHold = 5 * time.Second
	// CeilingMargin is the time that an agent gets for its report before a print
	// run is over, at most; of a short ceiling it is a third.
	CeilingMargin = 90 * time.Second
	// TimeoutMargin is how much before its own entry's timeout a hold ends, at
	// most; of a short timeout it is a quarter.
	TimeoutMargin = 15 * time.Second
)

// Clocks is what was found of one session's client. The zero value is a client of
// which nothing is known, not even its defaults; [Read] gives those.
type Clocks struct {
	Kind Kind
	// By says what told the kind: "command line", "environment" or "".
	By string
	// Client is the client's process, 0 where it was not found.
	Client int
	// Stall is how long an agent may make no progress before the client fails it;
	// 0 for no limit. A running hook counts as no progress.
	Stall time.Duration
	// Ceiling is how long a print run waits for agents in the background after
	// the coordinator's last turn; 0 for no limit.
	Ceiling time.Duration
	// Cap is how many blocks in a row the client takes; 0 for no bound.
	Cap int
	// Timeout is how long the client waits for this hook; 0 where it was not asked
	// for ([ReadHold]).
	Timeout time.Duration
	// TimeoutBy is the file whose entry sets Timeout; "" for the client's default.
	TimeoutBy string
	// Attended tells whether a person attends the session; nil where nothing says
	// so.
	Attended *bool

	words []string // the client's command line
}

// Read finds the clocks of the client that runs this hook.
func Read(h host.Host) Clocks {
	c := Clocks{
		Stall:   milliseconds(h.Env(EnvStall), 0),
		Ceiling: DefaultCeiling,
		Cap:     blockCap(h.Env),
	}
	if c.Stall <= 0 {
		c.Stall = max(DefaultStall, milliseconds(h.Env(EnvStreamIdle), 0)+idleGrace)
	}
	if text := h.Env(EnvCeiling); text != "" {
		c.Ceiling = max(0, milliseconds(text, DefaultCeiling))
	}
	switch h.Env(EnvAttended) {
	case "1", "true":
		yes := true
		c.Attended = &yes
	case "0", "false":
		no := false
		c.Attended = &no
	}
	c.words = c.find(h)
	c.Kind, c.By = kind(c.words, h.Env(EnvEntrypoint), c.Attended)
	return c
}

// ReadHold is [Read] with the timeout of the hook's own entry for an event and a mode,
// for which settings files are looked into: only a hold needs it.
func ReadHold(h host.Host, event, mode string) Clocks {
	c := Read(h)
	c.Timeout, c.TimeoutBy = timeout(h, c.words, event, mode)
	return c
}

func blockCap(env func(string) string) int {
	if n, err := strconv.Atoi(env(EnvCap)); err == nil {
		return max(0, n)
	}
	return DefaultCap
}

// Chain is how many blocks in a row the client takes from us, of at most so many:
// one fewer than forces a stop, since another hook may block too. It needs the
// environment alone.
func Chain(env func(string) string, most int) int {
	n := blockCap(env)
	if n <= 0 {
		return most
	}
	return min(most, max(1, n-1))
}

func milliseconds(text string, otherwise time.Duration) time.Duration {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return otherwise
	}
	const most = int64(1000 * time.Hour / time.Millisecond)
	return time.Duration(min(max(n, -1), most)) * time.Millisecond
}

// find looks for the client among the hook's ancestors: the process that the
// environment names, or else the nearest one that goes by the client's name. It
// returns its command line, nil where that cannot be had.
func (c *Clocks) find(h host.Host) []string {
	if h.Ancestors == nil || h.Command == nil {
		return nil
	}
	named, _ := strconv.Atoi(h.Env(EnvClient))
	ancestors := h.Ancestors()
	for _, pid := range ancestors {
		if words, ok := h.Command(pid); ok && pid == named && named > 1 {
			c.Client = pid
			return words
		}
	}
	for _, pid := range ancestors {
		if words, ok := h.Command(pid); ok && isClient(words) {
			c.Client = pid
			return words
		}
	}
	return nil
}

// isClient tells the client's command line: its native program, or the script that
// a JavaScript runtime runs.
func isClient(words []string) bool {
	for _, w := range words[:min(2, len(words))] {
		name := strings.TrimSuffix(filepath.Base(strings.ReplaceAll(w, `\`, "/")), ".exe")
		if name == "claude" || strings.HasSuffix(filepath.ToSlash(w), "claude-code/cli.js") {
			return true
		}
	}
	return false
}

// kind tells the host. The command line is asked first: the variable is inherited
// by a client that another one started (docs/client.md: hosts).
func kind(words []string, entrypoint string, attended *bool) (Kind, string) {
	const line, environment = "command line", "environment"
	once := false
	for i, w := range words {
		switch {
		case w == "--input-format=stream-json", w == "--input-format" && i+1 < len(words) && words[i+1] == "stream-json":
			return Stream, line
		case w == "-p", w == "--print":
			once = true
		}
	}
	switch {
	case once:
		return Print, line
	case attended != nil && *attended:
		return Terminal, environment
	case entrypoint == "sdk-ts", entrypoint == "sdk-py":
		return Stream, environment
	case len(words) > 0 && (entrypoint == "sdk-cli" || attended != nil):
		return Print, environment // its output is no terminal
	case entrypoint == "cli" && attended == nil:
		return Terminal, environment
	case len(words) > 0 && entrypoint == "":
		return Terminal, line
	}
	return Unknown, ""
}

// Rewakes tells whether a hook registered with asyncRewake runs beside the stop on
// this host. In a print run it does not: the stop stays open until that hook
// exits, and its message reaches the agent (docs/client.md: asyncRewake).
func (c Clocks) Rewakes() bool { return c.Kind == Terminal || c.Kind == Stream }

// Headless tells that nobody attends the run: a print run, or one of a program
// under CI. Where it cannot be told it is false, as where a person may sit behind
// the program (docs/client.md: hosts).
func (c Clocks) Headless(env func(string) string) bool {
	switch {
	case c.Attended != nil && *c.Attended:
		return false
	case c.Kind == Print:
		return true
	}
	return c.Kind == Stream && UnderCI(env)
}

// UnderCI tells whether the environment is that of a CI job.
func UnderCI(env func(string) string) bool {
	switch env("CI") {
	case "", "0", "false":
		return false
	}
	return true
}

// Quiet is how long after the coordinator's last line an agent in the background
// must be let go, so that its report still reaches a print run; 0 for no such
// bound.
func (c Clocks) Quiet() time.Duration {
	if c.Ceiling <= 0 || c.Kind == Terminal || c.Kind == Stream {
		return 0
	}
	return c.Ceiling - min(CeilingMargin, c.Ceiling/3)
}

// Limit is how long one hold may be.
type Limit struct {
	For time.Duration
	// By says what limited it, in the words of `hookctl explain`.
	By string
}

// What limits a hold.
const (
	ByHold     = "--hold"
	ByPatience = "patience"
	ByStall    = "stall limit"
	ByTimeout  = "the entry's timeout"
)

// Hold is the length of a hold of which a person wants so much and for which so
// much patience is left. It is 0 where the client would fail the agent before any
// sensible hold were over.
func (c Clocks) Hold(want, left time.Duration) Limit {
	l := Limit{For: want, By: ByHold}
	shorten := func(to time.Duration, by string) {
		if to < l.For {
			l = Limit{For: max(0, to), By: by}
		}
	}
	shorten(left, ByPatience)
	if c.Stall > 0 {
		least := LeastHold
		if c.Stall <= least+time.Second {
			least = 0 // even that would be too long
		}
		shorten(max(c.Stall-StallMargin, least), ByStall)
	}
	if c.Timeout > 0 {
		shorten(c.Timeout-min(TimeoutMargin, c.Timeout/4), ByTimeout)
	}
	return l
}
