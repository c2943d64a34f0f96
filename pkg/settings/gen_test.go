package settings

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
)

const (
	hookPath  = "/home/u/.local/share/stopgate/bin/hook"
	hookPath2 = "/opt/My Dir/é/stopgate/bin/hook"
)

// isOurs is the predicate that an installer would use.
func isOurs(command string, _ []string) bool {
	return strings.HasSuffix(path.Clean(command), "stopgate/bin/hook")
}

// wanted are the entries of a full install; variants differ as versions do.
func wanted(variant int) []Entry {
	cmd, args := hookPath, []string{}
	if variant >= 1 {
		args = []string{"gate", "--hold", "1h", `say "<&>"`}
	}
	if variant >= 2 {
		cmd = hookPath2
	}
	want := []Entry{
		{Event: "SubagentStop", Command: cmd, Args: args, Timeout: 30 + variant},
		{Event: "SubagentStop", Command: cmd, Args: []string{"courier"}, Timeout: 3600, AsyncRewake: true},
		{Event: "SubagentStart", Command: cmd, Args: []string{}},
		{Event: "PostToolUse", Matcher: "Bash|Agent|mcp__.*", Command: cmd, Args: []string{}, Timeout: 10},
	}
	switch variant {
	case 3:
		want = want[:1]
	case 4:
		want = []Entry{want[3], want[0], {Event: "Stop", Matcher: "x", Command: cmd}}
		want[0].Matcher = "Bash"
	}
	return want
}

// gen writes random settings files.
type gen struct {
	*rand.Rand
	b      strings.Builder
	eol    string
	unit   string
	pretty bool // laid out as a person or a program would; else random space
	old    bool // older entries of ours may be among the hooks
}

func generate(r *rand.Rand, old bool) []byte {
	g := &gen{Rand: r, old: old}
	g.eol = pick(g, "\n", "\n", "\r\n", "\r")
	g.unit = pick(g, "  ", "    ", "\t", "", " ")
	g.pretty = g.IntN(3) > 0
	if g.IntN(8) == 0 {
		g.b.WriteString("\ufeff")
	}
	if g.IntN(30) == 0 {
		g.space()
		return []byte(g.b.String())
	}
	if !g.pretty {
		g.space()
	}
	g.root()
	if g.IntN(3) > 0 {
		g.b.WriteString(g.eol)
	}
	return []byte(g.b.String())
}

func pick[T any](g *gen, of ...T) T { return of[g.IntN(len(of))] }

func (g *gen) space() {
	for range g.IntN(3) {
		g.b.WriteString(pick(g, " ", "\t", g.eol, g.eol+g.unit))
	}
}

// list writes a container; depth is that of its items.
func (g *gen) list(open, end string, depth, n int, item func(i int)) {
	g.b.WriteString(open)
	inline := g.IntN(4) == 0
	for i := range n {
		if i > 0 {
			g.b.WriteString(",")
		}
		switch {
		case !g.pretty:
			g.space()
		case inline && i > 0:
			g.b.WriteString(" ")
		case !inline:
			g.b.WriteString(g.eol + strings.Repeat(g.unit, depth))
		}
		item(i)
		if !g.pretty {
			g.space()
		}
	}
	switch {
	case !g.pretty:
		g.space()
	case n == 0 || inline:
	default:
		g.b.WriteString(g.eol + strings.Repeat(g.unit, depth-1))
	}
	g.b.WriteString(end)
}

func (g *gen) key(k string) {
	g.b.WriteString(quoted(k))
	if !g.pretty {
		g.space()
	}
	g.b.WriteString(":")
	if g.pretty {
		g.b.WriteString(" ")
	} else {
		g.space()
	}
}

func (g *gen) root() {
	keys := []string{"model", "env", "permissions", "a.b", "", "ключ", "hook", "x\"y\\z"}
	g.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	keys = keys[:g.IntN(4)]
	if g.IntN(3) > 0 {
		at := g.IntN(len(keys) + 1)
		keys = append(keys[:at:at], append([]string{"hooks"}, keys[at:]...)...)
	}
	g.list("{", "}", 1, len(keys), func(i int) {
		g.key(keys[i])
		if keys[i] == "hooks" {
			g.hooks()
		} else {
			g.value(2)
		}
	})
}

func (g *gen) value(depth int) {
	switch n := g.IntN(8); {
	case n == 0 && depth < 5:
		g.list("[", "]", depth, g.IntN(3), func(int) { g.value(depth + 1) })
	case n == 1 && depth < 5:
		g.list("{", "}", depth, g.IntN(3), func(i int) { g.key(fmt.Sprint("k", i)); g.value(depth + 1) })
	default:
		g.b.WriteString(pick(g, `"text"`, `"\u00e9 é 😀 \" \\ {[,]}"`, "true", "null", "-1.5e3", "0", `"hooks"`))
	}
}

func (g *gen) hooks() {
	events := []string{"SubagentStop", "PostToolUse", "Stop", "SubagentStart", "Other", "PreToolUse"}
	g.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	events = events[:g.IntN(4)]
	g.list("{", "}", 2, len(events), func(i int) {
		g.key(events[i])
		g.list("[", "]", 3, g.IntN(4), func(int) { g.group() })
	})
}

func (g *gen) group() {
	if g.IntN(10) == 0 {
		g.value(4)
		return
	}
	keys := []string{"hooks"}
	if g.IntN(2) == 0 {
		keys = []string{"matcher", "hooks"}
	}
	if g.IntN(5) == 0 {
		keys = append(keys, "note")
	}
	g.list("{", "}", 4, len(keys), func(i int) {
		g.key(keys[i])
		switch keys[i] {
		case "matcher":
			g.b.WriteString(pick(g, `""`, `"Bash"`, `"*"`, `null`, quoted("Bash|Agent|mcp__.*")))
		case "note":
			g.value(5)
		default:
			g.list("[", "]", 5, g.IntN(3), func(int) { g.hook() })
		}
	})
}

func (g *gen) hook() {
	if g.old && g.IntN(3) == 0 {
		e := pick(g, wanted(g.IntN(5))...)
		g.b.WriteString(renderHook(e).inline(plain))
		return
	}
	if g.IntN(10) == 0 {
		g.value(6)
		return
	}
	keys := []string{"type", "command", "timeout"}
	g.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	g.list("{", "}", 6, len(keys), func(i int) {
		g.key(keys[i])
		switch keys[i] {
		case "type":
			g.b.WriteString(pick(g, `"command"`, `"command"`, `"prompt"`, `7`))
		case "command":
			g.b.WriteString(pick(g, `"/usr/bin/other --flag"`, `"stopgate"`, `"$CLAUDE_PROJECT_DIR/é.sh"`, `false`))
		default:
			g.value(7)
		}
	})
}
