package config

import (
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/policy"
)

// key is one setting: its name, with its table before a dot, who may set it, how a
// file's value is taken, and what is shown of it. To add one is to add a line to
// [keys] and a field to [Config].
type key struct {
	name string
	// project tells that a project may set it. What a project says must never run
	// anything nor reach out of it.
	project bool
	take    func(*Config, raw, Origin) error
	show    func(Config) (value string, from Origin)
	// help says what it is for, example is a value for the template.
	help, example string
}

// keys are all settings there are, in the order in which they are shown; those with
// a table stand behind those without. They are made when they are asked for: most
// runs of the hook ask for none.
func keys() []key {
	return []key{
		one("patience", true, func(c *Config) *Value[time.Duration] { return &c.Patience }, duration, span, policy.DefaultPatience,
			"how long a task is waited for in all, hold after hold", `"30m"`),
		one("hold", true, func(c *Config) *Value[time.Duration] { return &c.Hold }, duration, span, 0,
			"how long a stop is held at a time; 0s blocks at once", `"9m30s"`),
		one("observe", true, func(c *Config) *Value[bool] { return &c.Observe }, boolean, strconv.FormatBool, false,
			"decide and record as usual, never block", `true`),
		list("ignore", false,
			"commands that are not waited for, as regular expressions", `['^\./start-lab\b']`),
		list("wait-for", true,
			"commands that are waited for though they look as if they never ended", `['^npm run dev:check\b']`),
		one("lead.when", false, func(c *Config) *Value[string] { return &c.Lead }, oneOf(policy.LeadHeadless, policy.LeadAlways, policy.LeadNever), word, policy.LeadHeadless,
			"when the coordinator's own stop is held: headless, always or never", `"always"`),
		one("history.keep", false, func(c *Config) *Value[bool] { return &c.History }, boolean, strconv.FormatBool, true,
			"keep how commands ended before", `false`),
	}
}

// one is a key with one value, of which the strongest file's counts.
func one[T any](name string, project bool, field func(*Config) *Value[T], read func(raw) (T, error), show func(T) string, fallback T, help, example string) key {
	return key{
		name: name, project: project, help: help, example: example,
		take: func(c *Config, r raw, from Origin) error {
			v, err := read(r)
			if err == nil {
				*field(c) = Value[T]{V: v, From: from}
			}
			return err
		},
		show: func(c Config) (string, Origin) {
			if v := *field(&c); v.Set() {
				return show(v.V), v.From
			}
			return show(fallback), Default
		},
	}
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
				texts = append(texts, strconv.Quote(p.Expr.String()))
				if Origin(p.From) != from {
					texts[len(texts)-1] += " (" + p.From + ")"
				}
			}
			return strings.Join(texts, ", "), from
		},
	}
}

func word(s string) string { return s }

// span writes a duration as a person would: 10m, not 10m0s.
func span(d time.Duration) string {
	text := d.String()
	if d >= time.Minute {
		text = strings.TrimSuffix(text, "0s")
	}
	if d >= time.Hour {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
