package setup

import (
	"strconv"
	"time"

	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
	"stopgate/pkg/span"
)

// Choice is what a person chose to have registered.
type Choice struct {
	// Hold is how long the gate holds a stop at a time; 0 blocks at once.
	Hold time.Duration
	// Patience is how long it waits for a task in all; it means nothing without
	// Hold.
	Patience time.Duration
	// Blocks is how many blocks one task may be the reason of.
	Blocks int
	// Courier registers the courier beside the gate.
	Courier bool
	// Extra are further arguments of the gate that a person wrote into the
	// entry; they stay.
	Extra []string
	// CourierFor and CourierExtra are the courier's.
	CourierFor   time.Duration
	CourierExtra []string
	// Lead says when the coordinator's own stop is held, as the hook's --lead;
	// [policy.LeadNever] registers no entry for it. LeadPatience and LeadExtra are
	// that entry's.
	Lead         string
	LeadPatience time.Duration
	LeadExtra    []string
}

// DefaultHold is the hold that install registers unless told otherwise: as long as
// the client's stall limit allows (docs/client.md: the client's clocks).
const DefaultHold = clocks.DefaultStall - clocks.StallMargin

// Default is the recommended set, that of hooks.example.json.
func Default() Choice {
	return Choice{
		Hold: DefaultHold, Patience: policy.DefaultPatience, Blocks: policy.DefaultBlocks,
		Courier: true, CourierFor: policy.DefaultFor,
		Lead: policy.LeadHeadless, LeadPatience: policy.DefaultPatience,
	}
}

const (
	// Launchers is the matcher of the tools that can launch a background task
	// or wake an agent.
	Launchers = "Bash|PowerShell|Monitor|Agent|Task|Workflow|SendMessage|mcp__.*"
	// margin is how much longer the client waits than we do, at least: it must
	// never end a hook that is about to answer.
	margin = time.Minute
	// recordTimeout is for the entries that only record.
	recordTimeout = 10
)

// events are those that entries stand under.
var events = []string{event.SubagentStop, event.SubagentStart, event.PostToolUse, event.SessionEnd, event.Stop}

// Entries are the registrations of a choice for a hook at a path.
func Entries(hook string, c Choice) []settings.Entry {
	gate := []string{policy.Gate}
	if c.Hold > 0 {
		gate = append(gate, "--hold", span.Text(c.Hold))
	}
	if c.Hold > 0 || c.Patience != policy.DefaultPatience {
		gate = append(gate, "--patience", span.Text(c.Patience))
	}
	if c.Blocks != policy.DefaultBlocks {
		gate = append(gate, "--blocks", strconv.Itoa(c.Blocks))
	}
	gate = append(gate, c.Extra...)
	// The timeouts fit the defaults at least: a file may ask for them later.
	all := []settings.Entry{{Event: event.SubagentStop, Command: hook, Args: gate, Timeout: timeoutFor(max(c.Hold, DefaultHold))}}
	if c.Courier {
		all = append(all, settings.Entry{
			Event: event.SubagentStop, Command: hook,
			Args:        append([]string{policy.Courier, "--for", span.Text(c.CourierFor)}, c.CourierExtra...),
			AsyncRewake: true, Timeout: timeoutFor(c.CourierFor),
		})
	}
	none := []string{} // not nil: that would be the shell form
	all = append(all,
		settings.Entry{Event: event.SubagentStart, Command: hook, Args: none, Timeout: recordTimeout},
		settings.Entry{Event: event.PostToolUse, Matcher: Launchers, Command: hook, Args: none, Timeout: recordTimeout},
		settings.Entry{Event: event.SessionEnd, Command: hook, Args: none, Timeout: recordTimeout},
	)
	if c.Lead != "" && c.Lead != policy.LeadNever {
		lead := []string{policy.Lead, "--patience", span.Text(c.LeadPatience)}
		if c.Lead != policy.LeadHeadless {
			lead = append(lead, "--lead", c.Lead)
		}
		all = append(all, settings.Entry{Event: event.Stop, Command: hook, Args: append(lead, c.LeadExtra...), Timeout: timeoutFor(max(c.LeadPatience, policy.DefaultPatience))})
	}
	return all
}

// timeoutFor is the timeout of an entry that waits so long: in seconds, of whole
// minutes.
func timeoutFor(wait time.Duration) int {
	return int((wait+margin+time.Minute-1)/time.Minute) * 60
}

// Adopt takes over what the entries in a settings file say: the flags of the gate and
// the courier there. ok is false where no gate of ours is among them. moved tells that
// the hold there was the default of a former version, which gives way to the new one.
func Adopt(hooks []Hook) (c Choice, moved, ok bool) {
	c = Default()
	c.Courier, c.Lead = false, policy.LeadNever
	for _, h := range hooks {
		p, err := h.Policy()
		if err != nil || h.ByHand || h.Event != event.SubagentStop && h.Event != event.Stop {
			continue
		}
		switch p.Mode {
		case policy.Gate:
			if !ok {
				c.Hold, c.Patience, c.Blocks, c.Extra, ok = p.Hold, p.Patience, p.Blocks, extra(p), true
				if moved = h.former(); moved {
					c.Hold = DefaultHold
				}
			}
		case policy.Courier:
			c.Courier, c.CourierFor, c.CourierExtra = true, p.For, extra(p)
		case policy.Lead:
			c.Lead, c.LeadPatience, c.LeadExtra = p.Lead, p.Patience, extra(p)
		}
	}
	return c, moved, ok
}

// extra are those flags of a policy that install has no option for.
func extra(p policy.Policy) []string {
	var all []string
	if p.Observe {
		all = append(all, "--observe")
	}
	for _, re := range p.Ignore {
		all = append(all, "--ignore", re.String())
	}
	return all
}
