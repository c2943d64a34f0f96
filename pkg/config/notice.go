package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// noticeTable is the table of how a person wants to be told: see [Raw].
const noticeTable = "notify"

// Notices are how a person wants to be told that an agent is stuck, or that a hold is
// over without its task. The zero value is not at all.
type Notices struct {
	// Desktop is a notice of the desktop, Terminal one of the terminal.
	Desktop, Terminal bool
	// Command is a program with its first arguments; nil for none.
	Command []string
}

// Notifies tells whether the person's file has a word about notices, right or wrong.
func (c Config) Notifies() bool {
	for i := range c.Others {
		if c.Others[i].Table == noticeTable {
			return true
		}
	}
	return false
}

// Any tells whether anything is wanted.
func (n Notices) Any() bool { return n.Desktop || n.Terminal || len(n.Command) > 0 }

func noticeKeys() []otherKey {
	return []otherKey{
		{"desktop", aBoolean, "tell with a notice on the desktop that an agent is stuck, or that a hold is over without its task", `true`},
		{"terminal", aBoolean, "tell it with a notice of the client's terminal, and its bell", `true`},
		{"command", anArray, "tell it with a program of your own, as a list of words; title and text come behind them", `["logger", "-t", "stopgate"]`},
	}
}

// Notices are the settings below [notify], and what is wrong with others that stand
// there. Only a person says them.
func (c Config) Notices() (Notices, []Problem) {
	var n Notices
	problems := c.judge(noticeTable, noticeKeys(), func(name string, v raw) (err error) {
		switch name {
		case "desktop":
			n.Desktop = v.text == "true"
		case "terminal":
			n.Terminal = v.text == "true"
		case "command":
			n.Command, err = command(v)
		}
		return err
	})
	return n, problems
}

// command reads a program with its arguments. No shell is between, and a program that is
// no path is looked for in $PATH; one in the working folder would be a project's.
func command(r raw) ([]string, error) {
	var words []string
	for i, item := range r.items {
		if err := item.want(aString); err != nil {
			return nil, fmt.Errorf("word %d: %w", i+1, err)
		}
		if strings.ContainsRune(item.text, 0) {
			return nil, fmt.Errorf("word %d: a zero byte", i+1)
		}
		words = append(words, item.text)
	}
	switch {
	case len(words) == 0 || words[0] == "":
		return nil, errors.New("names no program")
	case len(words) > maxPatterns:
		return nil, fmt.Errorf("more than %d words", maxPatterns)
	case !filepath.IsAbs(words[0]) && filepath.Base(words[0]) != words[0]:
		return nil, errors.New("the program is neither a name nor an absolute path")
	}
	return words, nil
}

// noticeRows are those settings as they are shown.
func (c Config) noticeRows() []Row {
	n, _ := c.Notices()
	values := map[string]string{"desktop": strconv.FormatBool(n.Desktop), "terminal": strconv.FormatBool(n.Terminal)}
	var words []string
	for _, word := range n.Command {
		words = append(words, strconv.Quote(word))
	}
	values["command"] = strings.Join(words, " ")
	said := map[string]bool{}
	for _, v := range c.Others {
		said[v.Name] = said[v.Name] || v.Table == noticeTable
	}
	var rows []Row
	for _, k := range noticeKeys() {
		row := Row{Key: noticeTable + "." + k.name, Value: values[k.name], From: Default, Help: k.help}
		if said[k.name] {
			row.From = Person
		}
		rows = append(rows, row)
	}
	return rows
}
