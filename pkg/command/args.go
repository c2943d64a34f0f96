package command

import "strings"

// call is one command with its words told apart.
type call struct {
	// path is the program and its subcommands, as the table has them.
	path []string
	line *line
	opts []opt
	// args are the words that are neither options nor their values, behind the
	// subcommand; all those before it too.
	args, all []string
	// words are all words behind the program as they stand.
	words []string
	// free are the args that cannot be the value of an option before them.
	free []string
	// command are the words from the first that a wrapper runs.
	command []string
}

// opt is one option that was given.
type opt struct {
	name, value string
	// last tells that no argument follows at once, which could be its value.
	last bool
}

// read tells the words of a command apart. Without a line of the table nothing
// is known of its options.
func read(name string, words []string, lines []*line) *call {
	c := &call{path: []string{name}, words: words, line: &line{}}
	for _, l := range lines {
		if len(l.subs) == 0 {
			c.line = l
		}
	}
	root := c.line
	bound := false // the last word was an option, whose value this may be
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			c.args = append(c.args, words[i+1:]...)
			c.free = append(c.free, words[i+1:]...)
			c.command = words[i+1:]
			return c
		case c.line.rest.has(w):
			c.command = words[i+1:]
			return c
		case len(w) > 1 && w[0] == '-':
			n := c.option(words[i:])
			i += n
			bound = n == 0 && !strings.Contains(w, "=")
		case c.argument(w, lines, root):
			bound = false
		case c.line.stop && len(c.args) > c.line.skip:
			c.command = words[i:]
			c.args = append(c.args, words[i+1:]...)
			c.free = append(c.free, words[i:]...)
			return c
		default:
			if !bound {
				c.free = append(c.free, w)
			}
			bound = false
		}
	}
	return c
}

// argument takes a word that is no option, and tells whether it is a subcommand.
func (c *call) argument(w string, lines []*line, root *line) bool {
	c.all = append(c.all, w)
	found := false
	for _, l := range lines {
		if l.reached(c.all) && (len(l.subs) >= len(c.line.subs) || l.deep) {
			found = true
			l.root, l.long = root, l.long || root.long
			c.line = l
			c.args, c.free = nil, nil
			c.path = c.path[:1:1]
			for i, sub := range l.subs {
				c.path = append(c.path, sub.find(c.all[len(c.all)-len(l.subs)+i]))
			}
		}
	}
	if !found {
		c.args = append(c.args, w)
	}
	return found
}

// option takes an option, and tells how many of the words behind it are its value.
// Several letters behind one dash are as many options, or one long one: some
// programs write theirs so, whatever the table says.
func (c *call) option(words []string) int {
	w := words[0]
	next := ""
	if len(words) > 1 {
		next = words[1]
	}
	last := next == "" || next[0] == '-'
	if len(next) > 1 && next[0] == '-' && (next[1] < '0' || next[1] > '9') {
		words = words[:1] // an option is nobody's value
		next = ""
	}
	if strings.HasPrefix(w, "--") || c.line.long {
		name, value, given := strings.Cut(w, "=")
		if !given && (c.line.takes(name) || next == "false") && len(words) > 1 {
			c.opts = append(c.opts, opt{name, next, last})
			return 1
		}
		c.opts = append(c.opts, opt{name, value, last || given})
		return 0
	}
	name, value, given := strings.Cut(w, "=")
	if len(name) > 2 {
		c.opts = append(c.opts, opt{name, value, last})
	}
	if letters := strings.Trim(name[1:], "0123456789"); len(letters) > 5 || given && len(letters) > 2 {
		return 0 // a long option behind one dash
	}
	for i := 1; i < len(w); i++ {
		name := "-" + w[i:i+1]
		if w[i] >= '0' && w[i] <= '9' && i < len(w)-1 {
			continue // tail -100f
		}
		if c.line.takes(name) {
			if i+1 < len(w) {
				c.opts = append(c.opts, opt{name, strings.TrimPrefix(w[i+1:], "="), true})
				return 0
			}
			c.opts = append(c.opts, opt{name, next, true})
			return min(1, len(words)-1)
		}
		if value, given := strings.CutPrefix(w[i+1:], "="); given {
			c.opts = append(c.opts, opt{name, value, true})
			return 0
		}
		c.opts = append(c.opts, opt{name, "", last})
	}
	if next == "false" {
		c.opts[len(c.opts)-1].value = next
		return 1
	}
	return 0
}

// never, ends and unclear are the verdict on a call, by the words that decided
// besides the program and its subcommands.
func (c *call) never(words ...string) verdict   { return c.verdict(Never, words) }
func (c *call) ends(words ...string) verdict    { return c.verdict(Ends, words) }
func (c *call) unclear(words ...string) verdict { return c.verdict(Unclear, words) }

//go:noinline
func (c *call) verdict(a Answer, words []string) verdict {
	return verdict{answer: a, words: c.with(words...)}
}

// with are the program and its subcommands, and further words.
//
//go:noinline
func (c *call) with(words ...string) []string {
	return append(append(make([]string, 0, len(c.path)+len(words)), c.path...), words...)
}

// has tells whether one of these options was given, and not switched off.
//
//go:noinline
func (c *call) has(names list) bool { return c.given(names) != "" }

// given is the first option that is one of these, and not switched off, or "".
// Behind a ~ stands what its value must hold.
func (c *call) given(names list) string {
	for _, o := range c.opts {
		if !falsy(o.value) && names.has(o.name) {
			return names.find(o.name)
		}
	}
	found := ""
	if strings.Contains(string(names), "~") {
		names.each(func(n string) bool {
			name, part, valued := strings.Cut(n, "~")
			for _, o := range c.opts {
				if valued && o.name == name && strings.Contains(o.value, part) {
					found = name
				}
			}
			return found != ""
		})
	}
	return found
}

// value is the value of the first option that is one of these.
//
//go:noinline
func (c *call) value(names list) (string, bool) {
	for _, o := range c.opts {
		if names.has(o.name) {
			return o.value, true
		}
	}
	return "", false
}

// switchedOff is the first of these options that was given with a no, or "".
func (c *call) switchedOff(names list) string {
	for _, o := range c.opts {
		name := o.name
		if rest, no := strings.CutPrefix(name, "--no-"); no {
			name = "--" + rest
		} else if !falsy(o.value) {
			continue
		}
		if found := names.find(name); found != "" {
			return found
		}
	}
	return ""
}

//go:noinline
func falsy(value string) bool { return list("false,no,off,0,none,never").has(value) }
