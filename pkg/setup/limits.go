package setup

import (
	"fmt"
	"strings"
	"time"

	"stopgate/pkg/clocks"
	"stopgate/pkg/gate"
	"stopgate/pkg/host"
	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
	"stopgate/pkg/span"
)

// answering is how much longer than a hold an entry's timeout must be at the very
// least.
const answering = 10 * time.Second

// Limits are the client's own clocks, against which what is registered runs.
type Limits struct {
	clocks.Clocks
	// StallBy says what set the stall limit, "" for nothing.
	StallBy string
	// Chain is how many blocks in a row an agent gets.
	Chain int
}

// Limits are those of a session here, with these settings. The host tells what kind
// of session this is run in, if it is; its zero value says nothing of that.
func (w World) Limits(h host.Host, sources []SettingsFile) Limits {
	env := func(name string) string {
		value, _ := Value(w.Env, sources, name)
		return value
	}
	h.Env = env
	l := Limits{Clocks: clocks.Read(h), Chain: clocks.Chain(env, gate.MaxChain)}
	for _, name := range []string{clocks.EnvStreamIdle, clocks.EnvStall} {
		if _, where := Value(w.Env, sources, name); where != "" && l.Stall != clocks.DefaultStall {
			l.StallBy = name + " in " + where
		}
	}
	return l
}

// Longest is how long a hold may be.
func (l Limits) Longest() time.Duration { return l.Hold(policy.MaxHold, policy.MaxHold).For }

// A Strain is a way in which an entry cannot wait as long as it says.
type Strain struct {
	// Text says what happens, Mend what to do.
	Text, Mend string
	// Broken: it does not work as it says; else it is only worth knowing. Lost:
	// the hook cannot answer at all.
	Broken, Lost bool
}

// Strains are those of an entry that holds or waits, the worst first.
func (l Limits) Strains(h Hook) []Strain {
	p, err := h.Policy()
	if err != nil {
		return nil
	}
	wait, name := p.Hold, "a hold"
	switch p.Mode {
	case policy.Courier:
		wait, name = p.For, "a courier's wait"
	case policy.Lead:
		wait, name = p.Patience, "the coordinator's hold"
	}
	timeout, given := TimeoutOf(h.Entry), fmt.Sprintf("a timeout of %d s", h.Timeout)
	if h.Timeout == 0 {
		given = "no timeout, so the client's own of " + span.Text(timeout) + ","
	}
	var all []Strain
	needs := fmt.Sprintf(`"timeout": %d`, timeoutFor(wait))
	switch {
	case timeout <= wait:
		all = append(all, Strain{Broken: true, Lost: true, Mend: again + ", or " + needs,
			Text: fmt.Sprintf("%s under %s of %s: the client ends the hook before it answers, and lets the stop through", given, name, span.Text(wait))})
	case timeout < wait+answering:
		all = append(all, Strain{Broken: true, Mend: again + ", or " + needs,
			Text: fmt.Sprintf("%s under %s of %s leaves no time to answer", given, name, span.Text(wait))})
	}
	if p.Mode != policy.Gate || p.Hold == 0 {
		return all
	}
	if p.Hold > l.Longest() {
		mend := again
		if !h.former() {
			mend += " --hold " + span.Text(l.Longest())
		}
		all = append(all, Strain{Broken: true, Mend: mend,
			Text: fmt.Sprintf("a hold of %s comes up to the %s without progress after which the client fails an agent and kills its tasks; --patience is how long a task is waited for in all", span.Text(p.Hold), span.Text(l.Stall))})
	}
	if most := time.Duration(l.Chain) * min(p.Hold, l.Longest()); p.Patience > most {
		all = append(all, Strain{
			Text: fmt.Sprintf("a patience of %s is more than the %d holds that an agent gets in a row: one that only ends its turn again and again is let go after %s", span.Text(p.Patience), l.Chain, span.Text(most))})
	}
	return all
}

// TimeoutOf is how long the client waits for an entry's hook.
func TimeoutOf(e settings.Entry) time.Duration {
	if e.Timeout == 0 {
		return clocks.DefaultTimeout
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

// former tells whether an entry holds as former versions of install registered by
// themselves: nobody chose that.
func (h Hook) former() bool {
	line := strings.Join(h.Args, " ")
	if h.ByHand || h.Shell || h.Timeout != formerTimeout || !strings.HasPrefix(line, "gate --hold 10m") || strings.Contains(line, "--patience") {
		return false
	}
	p, err := h.Policy()
	return err == nil && p.Hold == formerDefault
}
