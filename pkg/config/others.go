package config

import "slices"

// Raw is a value as it stands in a file, below a table that only hookctl has a use for.
// The hook does not know the settings of these tables; what is wrong with them is said by
// [Config.Exports] and [Config.Notices]. Only a person's file may have them.
type Raw struct {
	Table, Name string
	value       raw
	path        string
	line        int
}

// WrongOthers is what is wrong with the settings below those tables.
func (c Config) WrongOthers() []Problem {
	_, exports := c.Exports()
	_, notices := c.Notices()
	return append(exports, notices...)
}

// otherKey is one setting of such a table.
type otherKey struct {
	name          string
	kind          kind
	help, example string
}

// judge takes the values of a table, and says what is wrong with those that it does not.
func (c Config) judge(table string, known []otherKey, take func(name string, v raw) error) []Problem {
	var problems []Problem
	seen := map[string]bool{}
	for _, v := range c.Others {
		if v.Table != table {
			continue
		}
		problem := func(text string) {
			problems = append(problems, Problem{Path: v.path, Line: v.line, Text: shown(table+"."+v.Name) + ": " + text})
		}
		i := slices.IndexFunc(known, func(k otherKey) bool { return k.name == v.Name })
		if i < 0 {
			problem(unknown)
			continue
		}
		err := v.value.want(known[i].kind)
		switch {
		case err == nil && seen[v.Name]:
			problem(twice)
			continue
		case err == nil:
			seen[v.Name] = true
			err = take(v.Name, v.value)
		}
		if err != nil {
			problem(err.Error())
		}
	}
	return problems
}
