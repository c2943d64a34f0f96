package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/policy"
	"stopgate/pkg/span"
)

// key is one setting: its name, with its table before a dot, who may set it, how a
// file's value is taken, where it goes, and what is shown of it. To add one is to
// add an entry to [keys] and a field to [Config].
type key struct {
	name string
	// project tells that a project may set it. What a project says must never run
	// anything nor reach out of it.
	project bool
	take    func(*Config, raw, Origin) error
	show    func(Config) (value string, from Origin)
	// apply puts what the files say into a policy whose flags do not; given is what
	// its flags say. nil where there is no flag.
	apply func(*policy.Policy, Config)
	given func(policy.Policy) (value string, ok bool)
	// written is what its flags say where that is no choice but still holds: the hold
	// and the patience that install writes. nil where there is no such flag.
	written func(policy.Policy) (value string, ok bool)
	// help says what it is for, example is a value for the template.
	help, example string
}

// keys are all settings there are, in the order in which they are shown; those with
// a table stand behind those without. They are made when they are asked for: most
// runs of the hook ask for none.
func keys() []key {
	history := one(setting[bool]{
		name: "history.keep", field: func(c *Config) *Value[bool] { return &c.History },
		read: boolean, show: strconv.FormatBool, fallback: true,
		help: "keep and ask how commands ended before", example: `false`,
	})
	// Its flag says the contrary.
	history.given = func(p policy.Policy) (string, bool) { return strconv.FormatBool(!p.NoHistory), p.Given("no-history") }
	history.apply = func(p *policy.Policy, c Config) {
		if c.History.Set() && !p.Given("no-history") {
			p.NoHistory = !c.History.V
		}
	}
	return []key{
		one(setting[time.Duration]{
			name: "patience", project: true, field: func(c *Config) *Value[time.Duration] { return &c.Patience },
			read: duration, show: span.Text, fallback: policy.DefaultPatience,
			modes: []string{policy.Gate, policy.Lead}, of: func(p *policy.Policy) *time.Duration { return &p.Patience },
			help: "how long a task is waited for in all, hold after hold", example: `"30m"`,
		}),
		one(setting[time.Duration]{
			name: "hold", project: true, field: func(c *Config) *Value[time.Duration] { return &c.Hold },
			read: duration, show: span.Text,
			modes: []string{policy.Gate}, of: func(p *policy.Policy) *time.Duration { return &p.Hold },
			help: "how long a stop is held at a time; 0s blocks at once", example: `"9m30s"`,
		}),
		one(setting[bool]{
			name: "observe", project: true, field: func(c *Config) *Value[bool] { return &c.Observe },
			read: boolean, show: strconv.FormatBool,
			modes: []string{policy.Gate}, of: func(p *policy.Policy) *bool { return &p.Observe },
			help: "decide and record as usual, never block", example: `true`,
		}),
		list("ignore", false,
			"commands that are not waited for, as regular expressions", `['^\./start-lab\b']`),
		list("wait-for", true,
			"commands that are waited for though they look as if they never ended", `['^npm run dev:check\b']`),
		one(setting[string]{
			name: "lead.when", flag: "lead", field: func(c *Config) *Value[string] { return &c.Lead },
			read: oneOf(policy.LeadHeadless, policy.LeadAlways, policy.LeadNever), show: word, fallback: policy.LeadHeadless,
			modes: []string{policy.Lead}, of: func(p *policy.Policy) *string { return &p.Lead },
			help: "when the coordinator's own stop is held: headless, always or never", example: `"always"`,
		}),
		history,
	}
}

// setting is a key with one value, of which the strongest file's counts.
type setting[T any] struct {
	name     string
	project  bool
	field    func(*Config) *Value[T]
	read     func(raw) (T, error)
	show     func(T) string
	fallback T
	// flag is the flag that says the same, the name where it is "", in these modes
	// of the hook; of is its place in a policy.
	flag          string
	modes         []string
	of            func(*policy.Policy) *T
	help, example string
}

func one[T any](s setting[T]) key {
	k := key{
		name: s.name, project: s.project, help: s.help, example: s.example,
		take: func(c *Config, r raw, from Origin) error {
			v, err := s.read(r)
			if err == nil {
				*s.field(c) = Value[T]{V: v, From: from}
			}
			return err
		},
		show: func(c Config) (string, Origin) {
			if v := *s.field(&c); v.Set() {
				return s.show(v.V), v.From
			}
			return s.show(s.fallback), Default
		},
	}
	if s.of == nil {
		return k
	}
	flag := cmp.Or(s.flag, s.name)
	k.given = func(p policy.Policy) (string, bool) {
		return s.show(*s.of(&p)), slices.Contains(s.modes, p.Mode) && p.Given(flag)
	}
	k.written = func(p policy.Policy) (string, bool) {
		return s.show(*s.of(&p)), slices.Contains(s.modes, p.Mode) && p.Written(flag)
	}
	k.apply = func(p *policy.Policy, c Config) {
		if v := *s.field(&c); v.Set() && slices.Contains(s.modes, p.Mode) && !p.Given(flag) {
			*s.of(p) = v.V
		}
	}
	return k
}

// list is a key with patterns, of which those of all files count. wait tells that
// they are those of commands to wait for.
func list(name string, wait bool, help, example string) key {
	return key{
		name: name, project: true, help: help, example: example,
		take: func(c *Config, r raw, from Origin) error {
			all, err := patterns(r)
			for _, re := range all {
				c.Patterns = append(c.Patterns, policy.Pattern{Expr: re, Wait: wait, From: string(from)})
			}
			return err
		},
		show: func(c Config) (string, Origin) {
			var texts []string
			from := Default
			for _, p := range c.Patterns {
				if p.Wait != wait {
					continue
				}
				if from == Default {
					from = Origin(p.From)
				}
				text := strconv.Quote(p.Expr.String())
				if Origin(p.From) != from {
					text += " (" + p.From + ")"
				}
				texts = append(texts, text)
			}
			return strings.Join(texts, ", "), from
		},
	}
}

func word(s string) string { return s }
