package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Only the library's parser is used, of the package that it keeps for such uses:
// with the decoder, which works by reflection, the hook would be five times as much
// larger. What a decoder would do beside (keys given twice) is done here.

// parse takes what a file says. whole is false where it is no TOML: then nothing of
// it counts.
func (c *Config) parse(path string, data []byte, from Origin) (problems []Problem, whole bool) {
	p := unstable.Parser{}
	p.Reset(data)
	r := reader{c: c, from: from, path: path, p: &p, known: keys(), seen: map[string]bool{}}
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			table = names(e.Key())
		case unstable.ArrayTable:
			table = names(e.Key())
			r.problem(r.line(e), strings.Join(table, "."), "a list of tables, of which none is known")
			table = append(table, "") // nothing below it is known
		case unstable.KeyValue:
			r.take(append(table[:len(table):len(table)], names(e.Key())...), e)
		}
	}
	if err := p.Error(); err != nil {
		line, text := 0, "not TOML"
		var bad *unstable.ParserError
		if errors.As(err, &bad) {
			line, text = lineOf(data, int(p.Range(bad.Highlight).Offset)), bad.Message
		}
		text = strconv.QuoteToASCII(text)
		return []Problem{{Path: path, Line: line, Text: text[1 : len(text)-1], Broken: true}}, false
	}
	return r.problems, true
}

// reader is the reading of one file.
type reader struct {
	c        *Config
	from     Origin
	path     string
	p        *unstable.Parser
	known    []key
	seen     map[string]bool
	problems []Problem
}

// maxProblems bounds what is said of one file.
const maxProblems = 20

func (r *reader) problem(line int, name, text string) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{Path: r.path, Line: line, Text: shown(name) + ": " + text})
	}
}

// shown is a name of a file, cut and quoted where it is not plain.
func shown(name string) string {
	const longest = 60
	if runes := []rune(name); len(runes) > longest {
		name = string(runes[:longest]) + "…"
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == "" && name != "" {
		return name
	}
	return strconv.QuoteToASCII(name)
}

// line is where an expression stands.
func (r *reader) line(e *unstable.Node) int {
	it := e.Key()
	if it.Next() {
		return lineOf(r.p.Data(), int(it.Node().Raw.Offset))
	}
	return 0
}

func names(it unstable.Iterator) []string {
	var all []string
	for it.Next() {
		all = append(all, string(it.Node().Data))
	}
	return all
}

// What is wrong with a key.
const (
	unknown    = "no setting that is known here"
	twice      = "given twice; the first counts"
	personOnly = "for a person's own file only"
)

// take takes one key with its value, or those of the table that stands there.
func (r *reader) take(path []string, e *unstable.Node) {
	name, line := strings.Join(path, "."), r.line(e)
	if value := e.Value(); value.Kind == unstable.InlineTable {
		for it := value.Children(); it.Next(); {
			r.take(append(path[:len(path):len(path)], names(it.Node().Key())...), it.Node())
		}
		return
	}
	if r.from == Person && len(path) == 2 && (path[0] == exportTable || path[0] == noticeTable) { //nolint:mnd // the table and the name
		r.c.Others = append(r.c.Others, Raw{path[0], path[1], value(e.Value()), r.path, line})
		return
	}
	i := slices.IndexFunc(r.known, func(k key) bool { return k.name == name })
	switch {
	case i < 0:
		r.problem(line, name, unknown)
	case r.seen[name]:
		r.problem(line, name, twice)
	case r.from == Project && !r.known[i].project:
		r.problem(line, name, personOnly)
	default:
		r.seen[name] = true
		if err := r.known[i].take(r.c, value(e.Value()), r.from); err != nil {
			r.problem(line, name, err.Error())
		}
	}
}

// value is a value of a file.
func value(n *unstable.Node) raw {
	switch n.Kind {
	case unstable.String:
		return raw{kind: aString, text: string(n.Data)}
	case unstable.Bool:
		return raw{kind: aBoolean, text: string(n.Data)}
	case unstable.Integer, unstable.Float:
		return raw{kind: aNumber}
	case unstable.InlineTable:
		return raw{kind: aTable}
	case unstable.Array:
		r := raw{kind: anArray}
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				r.items = append(r.items, value(it.Node()))
			}
		}
		return r
	}
	return raw{kind: aDate}
}

// lineOf is the line on which an offset lies.
func lineOf(data []byte, offset int) int {
	return 1 + strings.Count(string(data[:min(max(offset, 0), len(data))]), "\n")
}
