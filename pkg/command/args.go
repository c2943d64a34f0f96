package command

import (
	"slices"
	"strings"
)

// call is one command with its words told apart.
type call struct {
	// path is the program and its subcommands, as the table has them.
	path []string
	line line
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
func read(name string, words []string, lines []line) call {
	c := call{path: []string{name}, words: words}
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
		case slices.Contains(c.line.rest, w):
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
func (c *call) argument(w string, lines []line, root line) bool {
	c.all = append(c.all, w)
	found := false
	for _, l := range lines {
		if l.reached(c.all) && (len(l.subs) >= len(c.line.subs) || l.deep) {
			found = true
			c.line = l.under(root)
			c.args, c.free = nil, nil
			c.path = c.path[:1:1]
			for i, sub := range l.subs {
				if given := c.all[len(c.all)-len(l.subs)+i]; slices.Contains(sub, given) {
					c.path = append(c.path, given)
				}
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

// told are the words of the call with the ones that decided.
func (c *call) told(words ...string) []string {
	return append(append(make([]string, 0, len(c.path)+len(words)), c.path...), words...)
}

// has tells whether one of these options was given, and not switched off.
func (c *call) has(names ...string) bool {
	_, ok := c.given(names)
	return ok
}

// given is the first option that is one of these, and not switched off. Behind a ~
// stands what its value must hold.
func (c *call) given(names []string) (string, bool) {
	for _, o := range c.opts {
		for _, n := range names {
			name, part, valued := strings.Cut(n, "~")
			if o.name == name && (valued && strings.Contains(o.value, part) || !valued && !falsy(o.value)) {
				return name, true
			}
		}
	}
	return "", false
}

// value is the value of an option.
func (c *call) value(names ...string) (string, bool) {
	for _, o := range c.opts {
		if slices.Contains(names, o.name) {
			return o.value, true
		}
	}
	return "", false
}

// switchedOff tells whether one of these options was given with a no.
func (c *call) switchedOff(names []string) (string, bool) {
	for _, o := range c.opts {
		for _, name := range names {
			if o.name == name && falsy(o.value) || strings.HasPrefix(name, "--") && o.name == "--no-"+name[2:] {
				return name, true
			}
		}
	}
	return "", false
}

func falsy(value string) bool {
	return slices.Contains([]string{"false", "no", "off", "0", "none", "never"}, value)
}
