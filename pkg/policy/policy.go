// Package policy is what the hook was told to do: its command line, and which
// commands are not meant to end. It knows nothing of a session.
package policy

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/span"
)

// The modes of the hook.
const (
	// Gate answers stops and records the other events.
	Gate = "gate"
	// Courier waits beside the gate and wakes the coordinator for an orphan.
	Courier = "courier"
	// Lead holds the coordinator's own stop where nobody attends.
	Lead = "lead"
)

// When a [Lead] holds.
const (
	LeadHeadless = "headless" // where nobody attends the run
	LeadAlways   = "always"
	LeadNever    = "never"
)

// EnvLead takes the place of --lead for one job.
const EnvLead = "STOPGATE_LEAD"

// Policy is one parsed command line. The zero value is not usable; [Parse] gives
// the defaults.
type Policy struct {
	// Mode is [Gate], [Courier] or [Lead].
	Mode string
	// Lead says when a lead holds: [LeadHeadless], [LeadAlways] or [LeadNever].
	Lead string
	// Blocks is how many blocks one task may be the reason of; at least 0.
	Blocks int
	// Observe decides and records as usual and never blocks.
	Observe bool
	// Hold is how long a stop is held for its tasks at a time; 0 blocks at once.
	Hold time.Duration
	// Patience is how long a task is waited for in all, hold after hold; 0 is one
	// hold. It means nothing without Hold.
	Patience time.Duration
	// For is how long a courier waits for its tasks.
	For time.Duration
	// NoHistory keeps and asks nothing of what became of commands.
	NoHistory bool
	// Ignore are the user's own patterns of commands not to wait for.
	Ignore []*regexp.Regexp
	// Patterns are those of the files (pkg/config), in the order in which they count.
	// What --ignore says counts before them.
	Patterns []Pattern
	// given are the flags that the command line names.
	given map[string]bool
}

// Given tells whether the command line chooses a flag, without its dashes. What a
// file says of it does not count then. The hold and the patience that install writes
// into its entries unless told otherwise are no choice.
func (p Policy) Given(flag string) bool {
	switch {
	case flag == "hold" && p.Hold == InstalledHold, flag == "patience" && p.Patience == DefaultPatience:
		return false
	}
	return p.given[flag]
}

// Written tells whether the command line has a flag, without its dashes, be it a choice
// or not.
func (p Policy) Written(flag string) bool { return p.given[flag] }

// Defaults and bounds.
const (
	DefaultBlocks = 1
	DefaultFor    = 2 * time.Hour
	// InstalledHold is the hold that install registers unless told otherwise: as long
	// as the client's stall limit allows (docs/client.md: the client's clocks).
	InstalledHold = 9*time.Minute + 30*time.Second
	// DefaultPatience is --patience where it is not given.
	DefaultPatience = time.Hour
	// MaxHold bounds --hold, --patience and --for; beyond it is a slip of the pen.
	MaxHold = 24 * time.Hour
)

// ErrHelp is returned by [Parse] for -h and --help.
var ErrHelp = flag.ErrHelp

// ModeOf is the mode that arguments ask for, by their first word alone; "" for one
// that is unknown, and for help.
func ModeOf(args []string) string {
	for _, arg := range args {
		if arg == "-h" || arg == "-help" || arg == "--help" {
			return ""
		}
	}
	switch {
	case len(args) == 0 || strings.HasPrefix(args[0], "-"):
		return Gate
	case args[0] == Gate || args[0] == Courier || args[0] == Lead:
		return args[0]
	}
	return ""
}

// Parse reads the arguments without the program's name. Every mode, flag or
// value that it does not know is an error: an old binary under newer settings
// must do nothing.
func Parse(args []string) (Policy, error) {
	p := Policy{Mode: Gate, Lead: LeadHeadless, Blocks: DefaultBlocks, Patience: DefaultPatience, For: DefaultFor}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		p.Mode, args = args[0], args[1:]
	}
	if len(args) == 0 && (p.Mode == Gate || p.Mode == Courier || p.Mode == Lead) {
		return p, nil // a set of flags takes longer than to read an event
	}
	set := flag.NewFlagSet("hook", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	duration := func(into *time.Duration) func(string) error {
		return func(text string) error {
			d, err := span.Parse(text)
			if err == nil && (d < 0 || d > MaxHold) {
				err = fmt.Errorf("not between 0 and %s", MaxHold)
			}
			*into = d
			return err
		}
	}
	set.Func("ignore", "", func(text string) error {
		re, err := regexp.Compile(text)
		p.Ignore = append(p.Ignore, re)
		return err
	})
	set.BoolVar(&p.NoHistory, "no-history", false, "")
	switch p.Mode {
	case Gate:
		set.Func("blocks", "", func(text string) error {
			n, err := strconv.Atoi(text)
			switch {
			case err != nil:
				err = errors.New("not a whole number")
			case n < 0:
				err = errors.New("less than 0")
			}
			p.Blocks = n
			return err
		})
		set.BoolVar(&p.Observe, "observe", false, "")
		set.Func("hold", "", duration(&p.Hold))
		set.Func("patience", "", duration(&p.Patience))
	case Courier:
		set.Func("for", "", duration(&p.For))
	case Lead:
		set.Func("patience", "", duration(&p.Patience))
		set.Func("lead", "", func(text string) error {
			if !slices.Contains([]string{LeadHeadless, LeadAlways, LeadNever}, text) {
				return errors.New("not headless, always or never")
			}
			p.Lead = text
			return nil
		})
	default:
		return Policy{}, fmt.Errorf("unknown mode %q", p.Mode)
	}
	if err := set.Parse(args); err != nil {
		return Policy{}, err
	}
	if set.NArg() > 0 {
		return Policy{}, fmt.Errorf("unknown argument %q", set.Arg(0))
	}
	set.Visit(func(f *flag.Flag) {
		if p.given == nil {
			p.given = map[string]bool{}
		}
		p.given[f.Name] = true
	})
	return p, nil
}

// Flags are the parts of the policy that differ from the default, as flags; they
// are stored with each stop.
func (p Policy) Flags() []string {
	var out []string
	if p.Mode != Gate {
		out = append(out, p.Mode)
	}
	if p.Lead != LeadHeadless {
		out = append(out, "--lead="+p.Lead)
	}
	if p.Blocks != DefaultBlocks {
		out = append(out, "--blocks="+strconv.Itoa(p.Blocks))
	}
	if p.Observe {
		out = append(out, "--observe")
	}
	if p.NoHistory {
		out = append(out, "--no-history")
	}
	if p.Hold != 0 {
		out = append(out, "--hold="+p.Hold.String())
	}
	if p.Patience != DefaultPatience {
		out = append(out, "--patience="+p.Patience.String())
	}
	if p.For != DefaultFor {
		out = append(out, "--for="+p.For.String())
	}
	for _, re := range p.Ignore {
		out = append(out, "--ignore="+re.String())
	}
	return out
}

// Usage is what `hook --help` says.
const Usage = `hook is run by Claude Code at its hook events; register it as hooks.example.json
shows. It reads one event on stdin and answers on stdout.

  hook [gate] [--hold DURATION] [--patience DURATION] [--blocks N]
              [--ignore REGEXP]... [--no-history] [--observe]
  hook courier [--for DURATION] [--ignore REGEXP]... [--no-history]
  hook lead [--patience DURATION] [--lead headless|always|never]
            [--ignore REGEXP]... [--no-history]

  --hold DURATION    hold a stop until its tasks end, so long at a time at the
                     most (default 0s: block at once)
  --patience DURATION
                     how long a task is waited for in all, hold after hold
                     (default 1h; 0s: one hold)
  --blocks N         without --hold or patience: how many blocks one task may be
                     the reason of (default 1)
  --ignore REGEXP    do not wait for commands that match; may be repeated
  --no-history       neither ask nor keep what became of commands before
  --observe          decide and record as usual, never block
  --for DURATION     how long a courier waits for a task (default 2h)
  --lead WHEN        when the coordinator's own stop is held for its agents:
                     headless (default: where nobody attends), always, never

An unknown mode, flag or value lets every stop through. People run hookctl.
`
