// Package config is what a person, and a project, say in files: how long to wait,
// and for what. The person's is ~/.config/stopgate/config.toml, the project's
// .stopgate.toml, looked for from the session's folder up to the project's root.
// An entry's flags win over the project's file, and that over the person's, so that
// a change needs neither a new session nor another registration.
//
// What goes in is the host and a folder; what comes out is the settings with their
// origins, and what is wrong with the files. A file that cannot be used is as if it
// were not there. It is read only when a decision needs it.
package config

import (
	"path/filepath"
	"slices"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/policy"
)

// ProjectFile is the name of a project's file.
const ProjectFile = ".stopgate.toml"

// Config are the settings of the files. The zero value says nothing.
type Config struct {
	// Patience and Hold are as the flags of those names.
	Patience, Hold Value[time.Duration]
	// Observe is as the flag.
	Observe Value[bool]
	// Patterns are the commands to ignore and to wait for, in the order in which
	// they count: the project's before the person's, and of one file those to wait
	// for first.
	Patterns []policy.Pattern
	// Lead is when a lead holds, as the flag. Only a person says it.
	Lead Value[string]
	// History tells whether to keep how commands ended. Only a person says it.
	History Value[bool]
	// Others are the values in the person's file that only hookctl has a use for.
	Others []Raw
	// PersonPath and ProjectPath are the files that count, "" for none.
	PersonPath, ProjectPath string
}

// Problem is something wrong with a file. Its text quotes what the file says only in
// plain ASCII, cut, so that it can be shown and logged.
type Problem struct {
	// Path is the file, Line where in it, from 1; 0 for the whole of it.
	Path string
	Line int
	// Text is what is wrong, in lower case, without a period.
	Text string
	// Broken tells that the whole file is as if absent; else only what it names is.
	Broken bool
}

// PersonFile is where the person's file is, whether it exists or not; "" where the
// environment names no home.
func PersonFile(env func(name string) string) string {
	if dir := host.ConfigHome(env); dir != "" {
		return filepath.Join(dir, "stopgate", "config.toml")
	}
	return ""
}

// Load reads the files that count for a session in a folder. It never fails: what
// cannot be used is named among the problems.
func Load(h host.Host, cwd string) (Config, []Problem) {
	var c Config
	var problems []Problem
	if path := PersonFile(h.Env); path != "" {
		data, err := readPerson(h.Files, path)
		problems = append(problems, c.add(path, data, err, Person, &c.PersonPath)...)
	}
	for _, file := range projectFiles(h, cwd) {
		data, err := file.read(h.Files)
		problems = append(problems, c.add(file.path(), data, err, Project, &c.ProjectPath)...)
		if c.ProjectPath != "" {
			break // the nearest that can be used
		}
	}
	c.Patterns = inOrder(c.Patterns)
	return c, problems
}

// inOrder are patterns in the order in which they count.
func inOrder(all []policy.Pattern) []policy.Pattern {
	var out []policy.Pattern
	for _, from := range []Origin{Project, Person} {
		for _, wait := range []bool{true, false} {
			for _, p := range all {
				if p.From == string(from) && p.Wait == wait {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// add takes what a file says. Where it is broken, nothing of it counts.
func (c *Config) add(path string, data []byte, err error, from Origin, found *string) []Problem {
	if noSuchFile(err) {
		return nil
	}
	if err != nil {
		return []Problem{{Path: path, Text: reason(err), Broken: true}}
	}
	before := *c
	before.Patterns = slices.Clone(c.Patterns)
	problems, whole := c.parse(path, data, from)
	if !whole {
		*c = before
		return problems
	}
	*found = path
	return problems
}

// Apply is a policy with what the files say, where the entry's own flags do not.
func Apply(p policy.Policy, c Config) policy.Policy {
	for _, k := range keys() {
		if k.apply != nil {
			k.apply(&p, c)
		}
	}
	p.Patterns = append(slices.Clone(p.Patterns), c.Patterns...)
	return p
}

// Row is one setting as `hookctl config` shows it.
type Row struct {
	Key, Value string
	From       Origin
	// Help says what it is for.
	Help string
}

// Rows are all settings with what holds, where these are the entries that are
// registered: what the flags of one say counts before the files, the default last.
func (c Config) Rows(entries ...policy.Policy) []Row {
	c.Patterns = slices.Clone(c.Patterns)
	for _, p := range slices.Backward(entries) {
		for _, re := range slices.Backward(p.Ignore) {
			same := func(q policy.Pattern) bool { return q.From == string(Flag) && q.Expr.String() == re.String() }
			if !slices.ContainsFunc(c.Patterns, same) { // several entries have the same
				c.Patterns = slices.Insert(c.Patterns, 0, policy.Pattern{Expr: re, From: string(Flag)})
			}
		}
	}
	var rows []Row
	for _, k := range keys() {
		row := Row{Key: k.name, Help: k.help}
		row.Value, row.From = k.show(c)
		for _, p := range slices.Backward(entries) {
			if k.given == nil {
				continue
			}
			if value, ok := k.given(p); ok { // the first entry with it counts
				row.Value, row.From = value, Flag
			} else if row.From == Default && k.written != nil {
				if value, ok := k.written(p); ok {
					row.Value = value
				}
			}
		}
		rows = append(rows, row)
	}
	return append(append(rows, c.exportRows()...), c.noticeRows()...)
}

// Overruled are the settings that a file gives and a flag of one of these entries
// as well, so that the file's does not count.
func (c Config) Overruled(entries ...policy.Policy) []string {
	var out []string
	for _, k := range keys() {
		_, from := k.show(c)
		over := func(p policy.Policy) bool { _, ok := k.given(p); return ok }
		if k.given != nil && from != Default && slices.ContainsFunc(entries, over) {
			out = append(out, k.name)
		}
	}
	return out
}
