package command

import (
	_ "embed" // the table is a file
	"strconv"
	"strings"
)

// table is the table of programs. Its head says how a line is read. It is only
// searched, never read as a whole: a hook looks up a handful of names.
//
//go:embed programs.txt
var table string

// line is one line of the table. The zero value is a program that is not in it.
type line struct {
	// root is the program's own line, for the line of a subcommand.
	root *line
	// subs are the subcommands that lead to it, each with its other names.
	subs []list
	// verdict is the answer, or how it is found.
	verdict string
	// never, ends and cut are the options that decide, value those with a word of
	// their own behind them, text those whose value is shell text, rest those behind
	// which only a command follows.
	never, ends, cut, value, text, rest list
	// words are arguments that keep it from ending.
	words list
	// args is how many arguments make it end; skip how many of a wrapper's stand
	// before the command.
	args, skip int
	// bare is the verdict without any argument.
	bare string
	// filter and cutter are its role in a pipeline. long: its options have several
	// letters behind one dash. stop: what follows its first argument is not its own.
	// deep: the subcommands may stand behind others.
	filter, cutter, long, stop, deep bool
}

// lookup finds the lines of a program, by the first of some names that has any.
func lookup(names ...string) (string, []*line) {
	for _, name := range names {
		if found := linesOf(name); len(found) > 0 {
			return name, found
		}
	}
	return "", nil
}

// linesOf are the lines that begin with a name, or have it among their first ones. The
// name is searched in the table as a whole, which costs a hundredth of reading it.
func linesOf(name string) (found []*line) {
	if name == "" || strings.ContainsAny(name, ", \n") {
		return nil
	}
	for at := 0; ; {
		from := strings.Index(table[at:], name)
		if from < 0 {
			return found
		}
		from += at
		at = from + len(name)
		begin := strings.LastIndexByte(table[:from], '\n') + 1
		if whole := from == begin || table[from-1] == ','; !whole || table[at] != ',' && table[at] != ' ' ||
			table[begin] == '#' || strings.Contains(table[begin:from], " ") {
			continue
		}
		at += strings.IndexByte(table[at:], '\n')
		found = append(found, readLine(table[begin:at]))
	}
}

// readLine reads a line of the table.
func readLine(text string) *line {
	l := &line{}
	key, rest, _ := strings.Cut(text, " = ")
	_, subs, _ := strings.Cut(key, " ")
	for _, sub := range strings.Fields(subs) {
		l.subs = append(l.subs, list(sub))
	}
	for i, f := range strings.Fields(rest) {
		if i == 0 {
			l.verdict = f
			continue
		}
		name, values, _ := strings.Cut(f, ":")
		l.set(name, list(values))
	}
	l.stop = l.stop || l.verdict == "wrap"
	return l
}

func (l *line) set(name string, values list) {
	switch name {
	case "never":
		l.never = values
	case "ends":
		l.ends = values
	case "cut":
		l.cut = values
	case "value":
		l.value = values
	case "text":
		l.text = values
	case "rest":
		l.rest = values
	case "words":
		l.words = values
	case "args":
		l.args, _ = strconv.Atoi(string(values))
	case "skip":
		l.skip, _ = strconv.Atoi(string(values))
	case "bare":
		l.bare = string(values)
	case "filter":
		l.filter = true
	case "cutter":
		l.cutter = true
	case "long":
		l.long = true
	case "stop":
		l.stop = true
	case "deep":
		l.deep = true
	}
}

// takes tells that an option has a value of its own in the next word. What holds for
// the whole program holds for a subcommand that does not say otherwise.
func (l *line) takes(option string) bool {
	return l.value.has(option) || l.text.has(option) ||
		l.root != nil && l.root.value.has(option) && !l.never.has(option) && !l.ends.has(option)
}

// reached tells whether the arguments so far are the line's subcommands.
func (l *line) reached(args []string) bool {
	n := len(l.subs)
	if n == 0 || len(args) < n || !l.deep && len(args) != n {
		return false
	}
	for i, sub := range args[len(args)-n:] {
		if !l.subs[i].has(sub) {
			return false
		}
	}
	return true
}
