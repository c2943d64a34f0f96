package setup

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"stopgate/pkg/command/syntax"
	"stopgate/pkg/lazy"

	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
)

// Hook is an entry that runs the hook.
type Hook struct {
	settings.Found
	// Program is the hook that it runs, and Flags are its arguments.
	Program string
	Flags   []string
	// ByHand tells that its command line is more than these: somebody wrote it, and
	// it is nobody else's to change.
	ByHand bool
}

// Policy is what the entry tells the hook to do.
func (h Hook) Policy() (policy.Policy, error) { return policy.Parse(h.Flags) }

// hooks are the entries in a settings file that run the hook.
func (r recogniser) hooks(data []byte) ([]Hook, error) {
	found, err := settings.Find(data, func(command string, args []string) bool {
		_, ok := r.entry(command, args)
		return ok
	})
	var all []Hook
	for _, f := range found {
		h, _ := r.entry(f.Command, f.Args)
		h.Found = f
		all = append(all, h)
	}
	return all, err
}

// Ours recognises the commands that run our hook and nothing else, which install may
// replace: the program that it puts in place; any other that is built from cmd/hook;
// and, where the program is gone, one that stood in a folder such as it makes.
func (w World) Ours() settings.Ours {
	r := w.recogniser()
	return func(command string, args []string) bool {
		h, ok := r.entry(command, args)
		return ok && !h.ByHand
	}
}

// recogniser tells which command lines run the hook.
type recogniser struct {
	home, target string
	known        map[string]bool
}

func (w World) recogniser() recogniser {
	return recogniser{home: w.Home(), target: w.Hook(), known: map[string]bool{}}
}

// entry finds the hook in a command of the exec form or, where args is nil, of the
// shell form.
func (r recogniser) entry(command string, args []string) (Hook, bool) {
	if args == nil {
		return r.text(command, 0)
	}
	if r.is(command) {
		return Hook{Program: r.path(command), Flags: args}, true
	}
	return r.words(append([]string{command}, args...), 0)
}

// maxDepth is how many shells within each other are looked into.
const maxDepth = 4

// text finds the hook in what a shell is given to run.
func (r recogniser) text(text string, depth int) (Hook, bool) {
	if runtime.GOOS == "windows" {
		text = strings.ReplaceAll(text, `\`, "/") // paths, rather than escapes
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || depth > maxDepth {
		return Hook{}, false
	}
	plain := len(file.Stmts) == 1 && isPlain(file.Stmts[0])
	for node := range syntax.Preorder(file) {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			continue
		}
		words, whole := r.expand(call.Args)
		if h, ok := r.words(words, depth); ok {
			h.ByHand = !plain || !whole || !r.is(words[0])
			return h, true
		}
	}
	return Hook{}, false
}

// isPlain tells whether a statement is one program with its arguments.
func isPlain(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Assigns)+len(s.Redirs) == 0 && !s.Negated && !s.Background && !s.Coprocess && !s.Disown
}

// starters run the program that stands behind their own options.
var starters = []string{"env", "exec", "command", "nohup", "nice", "ionice", "time", "timeout", "setsid", "stdbuf"}

// shells run the text behind -c.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash"}

// between is what may stand between a starter and the program: options, variables,
// times.
var between = lazy.Regexp(`^(-.*|[A-Za-z_][A-Za-z0-9_]*=.*|[0-9.]+[smhd]?)$`)

// words finds the hook in a simple command: as its program, or as the one that its
// program starts.
func (r recogniser) words(words []string, depth int) (Hook, bool) {
	for len(words) > 0 {
		name := filepath.Base(words[0])
		switch {
		case r.is(words[0]):
			return Hook{Program: words[0], Flags: words[1:], ByHand: true}, true
		case slices.Contains(shells, name):
			for i, word := range words[1:] {
				if strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c") && i+2 < len(words) {
					h, ok := r.text(words[i+2], depth+1)
					h.ByHand = true
					return h, ok
				}
			}
			return Hook{}, false
		case !slices.Contains(starters, name):
			return Hook{}, false
		}
		words = words[1:]
		for len(words) > 0 && between().MatchString(words[0]) {
			// An option of one letter may have a value behind it.
			if len(words[0]) == 2 && words[0][0] == '-' && len(words) > 2 && !r.is(words[1]) {
				words = words[1:]
			}
			words = words[1:]
		}
	}
	return Hook{}, false
}

// expand are the words of a command as the shell makes them; whole is false where
// only the running shell knows all of them.
func (r recogniser) expand(args []*syntax.Word) (words []string, whole bool) {
	whole = true
	for _, arg := range args {
		var b strings.Builder
		for i, part := range arg.Parts {
			whole = r.part(&b, part, i == 0) && whole
		}
		words = append(words, b.String())
	}
	return words, whole
}

func (r recogniser) part(b *strings.Builder, part syntax.WordPart, first bool) (known bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		text := p.Value
		if first {
			text = r.path(text)
		}
		b.WriteString(unescape(text, ""))
		return !strings.ContainsAny(text, "*?[")
	case *syntax.SglQuoted:
		b.WriteString(p.Value)
		return !p.Dollar
	case *syntax.DblQuoted:
		known = true
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				b.WriteString(unescape(lit.Value, "$`\"\\\n"))
			} else {
				known = r.part(b, inner, false) && known
			}
		}
		return known
	case *syntax.ParamExp:
		if p.Param != nil && p.Param.Value == "HOME" && p.Exp == nil && r.home != "" {
			b.WriteString(r.home)
			return true
		}
	}
	return false
}

// unescape takes those backslashes off that a shell takes off: in front of one of
// only, or of anything where that is "".
func unescape(text, only string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// path is a program's path, ~ written out.
func (r recogniser) path(program string) string {
	if rest, ok := strings.CutPrefix(program, "~/"); ok && r.home != "" {
		return filepath.Join(r.home, rest)
	}
	return program
}

// is tells whether a program is our hook.
func (r recogniser) is(program string) bool {
	program = r.path(program)
	is, ok := r.known[program]
	if !ok {
		is = program != "" && (program == r.target || runsHook(program))
		r.known[program] = is
	}
	return is
}

func runsHook(program string) bool {
	slashed := strings.ReplaceAll(program, `\`, "/")
	if base := strings.TrimSuffix(slashed[strings.LastIndexByte(slashed, '/')+1:], ".exe"); base != hookName {
		return false
	}
	if _, err := os.Stat(program); err == nil {
		return isProgram(program, hookName)
	}
	return strings.Contains(slashed, "/stopgate/"+binDir+"/")
}

// isProgram tells whether a file is one of our two programs, by what the go tool
// wrote into it.
func isProgram(path, name string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	info, err := buildinfo.ReadFile(path)
	return err == nil && info.Path == "stopgate/cmd/"+name
}
