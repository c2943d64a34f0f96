package setup

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
)

// Variables of the client that bound a hold (docs/client.md: the client's clocks).
const (
	envStall      = "CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS"
	envStreamIdle = "CLAUDE_STREAM_IDLE_TIMEOUT_MS"
	envCap        = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
)

const (
	// defaultStall is how long the client lets an agent make no progress.
	defaultStall = 10 * time.Minute
	// idleGrace is what it adds to a longer idle time of the stream.
	idleGrace = 5 * time.Minute
	// stallMargin is how much before that a hold must end.
	stallMargin = 30 * time.Second
	// leastHold is how long a hold is at least where the limit is short.
	leastHold = 5 * time.Second
	// defaultTimeout is the client's for an entry that names none
	// (docs/client.md: the hook contract).
	defaultTimeout = 600 * time.Second
	// answering is how much longer than a hold an entry's timeout must be at the
	// very least.
	answering = 10 * time.Second
)

// Limits are the client's own clocks, against which what is registered runs.
type Limits struct {
	// Stall is how long an agent may make no progress before the client fails it;
	// a hook that runs counts as none. StallBy says what set it, "" for nothing.
	Stall   time.Duration
	StallBy string
	// Chain is how many blocks in a row an agent gets.
	Chain int
}

// Limits are those of a session here, with these settings.
func (w World) Limits(sources []Source) Limits {
	l := Limits{Stall: defaultStall, Chain: gate.MaxChain}
	milliseconds := func(name string) (time.Duration, string) {
		text, where := Value(w.Env, sources, name)
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || n <= 0 {
			return 0, ""
		}
		return time.Duration(min(n, int64(policy.MaxHold/time.Millisecond))) * time.Millisecond, name + " in " + where
	}
	if d, by := milliseconds(envStall); d > 0 {
		l.Stall, l.StallBy = d, by
	} else if d, by := milliseconds(envStreamIdle); d+idleGrace > defaultStall {
		l.Stall, l.StallBy = d+idleGrace, by
	}
	text, _ := Value(w.Env, sources, envCap)
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n > 0 {
		l.Chain = max(1, min(l.Chain, n-1))
	}
	return l
}

// Longest is how long a hold may be.
func (l Limits) Longest() time.Duration { return max(leastHold, l.Stall-stallMargin) }

// A Strain is a way in which an entry cannot wait as long as it says.
type Strain struct {
	// Text says what happens, Mend what to do.
	Text, Mend string
	// Broken: it does not work as it says; else it is only worth knowing. Lost:
	// the hook cannot answer at all.
	Broken, Lost bool
}

// Strains are those of an entry that holds or waits, the worst first.
func (l Limits) Strains(e settings.Entry) []Strain {
	p, err := Policy(e)
	if err != nil {
		return nil
	}
	wait, name := p.Hold, "a hold"
	if p.Mode == policy.Courier {
		wait, name = p.For, "a courier's wait"
	}
	timeout, given := TimeoutOf(e), fmt.Sprintf("a timeout of %d s", e.Timeout)
	if e.Timeout == 0 {
		given = "no timeout, so the client's own of " + Span(timeout) + ","
	}
	var all []Strain
	needs := fmt.Sprintf(`"timeout": %d`, timeoutFor(wait))
	switch {
	case timeout <= wait:
		all = append(all, Strain{Broken: true, Lost: true, Mend: again + ", or " + needs,
			Text: fmt.Sprintf("%s under %s of %s: the client ends the hook before it answers, and lets the stop through", given, name, Span(wait))})
	case timeout < wait+answering:
		all = append(all, Strain{Broken: true, Mend: again + ", or " + needs,
			Text: fmt.Sprintf("%s under %s of %s leaves no time to answer", given, name, Span(wait))})
	}
	if p.Mode != policy.Gate || p.Hold == 0 {
		return all
	}
	if p.Hold > l.Longest() {
		mend := again
		if !formerHold(e) {
			mend += " --hold " + Span(l.Longest())
		}
		all = append(all, Strain{Broken: true, Mend: mend,
			Text: fmt.Sprintf("a hold of %s comes up to the %s without progress after which the client fails an agent and kills its tasks; --patience is how long a task is waited for in all", Span(p.Hold), Span(l.Stall))})
	}
	if most := time.Duration(l.Chain) * min(p.Hold, l.Longest()); p.Patience > most {
		all = append(all, Strain{
			Text: fmt.Sprintf("a patience of %s is more than the %d holds that an agent gets in a row: one that only ends its turn again and again is let go after %s", Span(p.Patience), l.Chain, Span(most))})
	}
	return all
}

// TimeoutOf is how long the client waits for an entry's hook.
func TimeoutOf(e settings.Entry) time.Duration {
	if e.Timeout == 0 {
		return defaultTimeout
	}
	return time.Duration(e.Timeout) * time.Second
}

// again is the command that puts an installation right.
const again = "hookctl install"

// What install registered before holds were kept below the client's stall limit.
const (
	formerDefault = 10 * time.Minute
	formerTimeout = 660
)

// formerHold tells whether an entry holds as former versions of install registered by
// themselves: nobody chose that.
func formerHold(e settings.Entry) bool {
	line := strings.Join(e.Args, " ")
	if e.Shell || e.Timeout != formerTimeout || !strings.HasPrefix(line, "gate --hold 10m") || strings.Contains(line, "--patience") {
		return false
	}
	p, err := Policy(e)
	return err == nil && p.Hold == formerDefault
}
