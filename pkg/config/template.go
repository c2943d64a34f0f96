package config

import "strings"

// Template is the text of a person's file that has nothing in it yet: every setting
// with what it is for, as a comment.
func Template() string {
	var b strings.Builder
	b.WriteString(`# What stopgate does on this machine: hookctl config shows what holds where.
# A project's .stopgate.toml wins over this file, and the flags of a registered
# entry win over both.
`)
	table := ""
	for _, k := range keys() {
		name := k.name
		if t, in, found := strings.Cut(k.name, "."); found {
			if name = in; t != table {
				b.WriteString("\n#[" + t + "]\n")
				table = t
			}
		}
		if table == "" {
			b.WriteString("\n")
		}
		b.WriteString("# " + k.help + "\n#" + name + " = " + k.example + "\n")
	}
	for _, other := range []struct {
		table string
		keys  []otherKey
	}{{exportTable, exportKeys()}, {noticeTable, noticeKeys()}} {
		b.WriteString("\n#[" + other.table + "]\n")
		for _, k := range other.keys {
			b.WriteString("# " + k.help + "\n#" + k.name + " = " + k.example + "\n")
		}
	}
	return b.String()
}
