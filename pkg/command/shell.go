package command

import (
	"slices"
	"strings"

	"stopgate/pkg/command/syntax"
)

// body is what a function runs.
type body = *syntax.Stmt

// text judges shell text. cut says that its end is missing.
func (j *judge) text(text string, cut bool) verdict {
	j.depth++
	defer func() { j.depth-- }()
	if j.spent() {
		return unclear()
	}
	stmts, err := parse(text)
	if err != nil {
		if filled, ok := fill(text); ok {
			stmts, err = parse(filled)
		}
	}
	if cut && err == nil && len(stmts) > 0 {
		// What the last one would have become cannot be known.
		stmts = stmts[:len(stmts)-1]
	}
	v := j.list(stmts)
	if (err != nil || cut) && v.answer != Never {
		return unclear()
	}
	return v
}

// parse reads shell text. Where it does not read to the end, what was read whole
// is returned with the first error. The parser goes on after one, and must not be
// left in the middle.
func parse(text string) ([]*syntax.Stmt, error) {
	var stmts []*syntax.Stmt
	var first error
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		switch {
		case first != nil:
		case err != nil:
			first = err
		default:
			stmts = append(stmts, s)
		}
	}
	return stmts, first
}

// fill puts something unknown where documentation puts <name>, which the shell
// takes for redirections.
func fill(text string) (string, bool) {
	var b strings.Builder
	filled := false
	for i := 0; i < len(text); i++ {
		if n := strings.IndexByte(text[i:], '>'); text[i] == '<' && n > 1 && strings.Trim(strings.ToLower(text[i+1:i+n]), "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" {
			b.WriteRune(unknown)
			filled = true
			i += n
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String(), filled
}

// list judges commands one after the other: the first that never ends is the last.
func (j *judge) list(stmts []*syntax.Stmt) verdict {
	v := ends()
	for _, s := range stmts {
		if v = worse(v, j.stmt(s)); v.answer == Never || leavesAtOnce(s) {
			break
		}
	}
	return v
}

// stmt judges one statement. What is sent to the background keeps nobody, until
// it is waited for.
func (j *judge) stmt(s *syntax.Stmt) verdict {
	if s == nil || j.spent() {
		return unclear()
	}
	if s.Background || s.Coprocess || s.Disown {
		job := j.apart(func(in *judge) verdict { return in.foreground(s) })
		j.jobs = append(j.jobs, job)
		if !silent(s) {
			j.holding = append(j.holding, job)
		}
		return ends()
	}
	return j.foreground(s)
}

// silent tells that a statement writes somewhere else than the others.
func silent(s *syntax.Stmt) bool {
	return slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
			return r.N == nil || r.N.Value == "1"
		case syntax.RdrAll, syntax.AppAll:
			return true
		}
		return false
	})
}

// foreground judges a statement with what its redirections read from.
func (j *judge) foreground(s *syntax.Stmt) verdict {
	v := j.cmd(s.Cmd)
	for _, r := range s.Redirs {
		if r.Word == nil {
			continue
		}
		if r.Op == syntax.RdrIn && len(r.Word.Parts) == 1 {
			if from, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok {
				v = pipe([]verdict{j.apart(func(in *judge) verdict { return in.list(from.Stmts) }), v})
				continue
			}
		}
		v = worse(v, j.inWord(r.Word))
	}
	return v
}

// apart judges something in a shell of its own: what it sets, or sends to the
// background, does not come back.
func (j *judge) apart(what func(*judge) verdict) verdict {
	in := *j
	in.depth++
	in.jobs = nil
	in.vars = make(map[string]string, len(j.vars))
	for k, v := range j.vars {
		in.vars[k] = v
	}
	v := what(&in)
	j.steps, j.holding = in.steps, in.holding
	return v
}

func (j *judge) cmd(c syntax.Command) verdict {
	j.depth++
	defer func() { j.depth-- }()
	if j.spent() {
		return unclear()
	}
	switch c := c.(type) {
	case *syntax.CallExpr:
		return j.call(c)
	case *syntax.BinaryCmd:
		return j.binary(c)
	case *syntax.Subshell:
		return j.apart(func(in *judge) verdict { return in.list(c.Stmts) })
	case *syntax.Block:
		return j.list(c.Stmts)
	case *syntax.IfClause:
		return j.ifElse(c)
	case *syntax.WhileClause:
		return j.while(c)
	case *syntax.ForClause:
		return j.forLoop(c)
	case *syntax.CaseClause:
		return j.choice(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return j.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		j.jobs = append(j.jobs, j.apart(func(in *judge) verdict { return in.stmt(c.Stmt) }))
	case *syntax.FuncDecl:
		if c.Name != nil {
			if j.funcs == nil {
				j.funcs = map[string]body{}
			}
			j.funcs[c.Name.Value] = c.Body
		}
	case *syntax.DeclClause:
		v := ends()
		for _, a := range c.Args {
			v = worse(v, j.assign(a))
		}
		return v
	}
	return ends() // [[ … ]], (( … )), let, a redirection alone
}

func (j *judge) binary(c *syntax.BinaryCmd) verdict {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		return j.pipeline(c)
	case syntax.OrStmt:
		x := j.stmt(c.X)
		if x.answer == Never {
			return x
		}
		// The second runs only where the first fails, which the text does not tell.
		y := j.stmt(c.Y)
		if y.answer == Never {
			y.answer = Unclear
		}
		return worse(x, y)
	case syntax.AndStmt:
	}
	x := j.stmt(c.X)
	if x.answer == Never {
		return x
	}
	return worse(x, j.stmt(c.Y))
}

// oneOf is the verdict on branches of which one is taken.
func oneOf(branches []verdict) verdict {
	all := branches[0]
	for _, b := range branches {
		switch {
		case b.answer == all.answer:
		case b.answer == Never || all.answer == Never:
			all = unclear()
		default:
			all = worse(all, b)
		}
		all.role = max(all.role, b.role)
	}
	return all
}

func (j *judge) ifElse(c *syntax.IfClause) verdict {
	cond := ends()
	var branches []verdict
	closed := false
	for ; c != nil; c = c.Else {
		if len(c.Cond) == 0 {
			closed = true
		} else if cond = worse(cond, j.list(c.Cond)); cond.answer == Never {
			return cond
		}
		branches = append(branches, j.list(c.Then))
	}
	if !closed {
		branches = append(branches, ends())
	}
	return worse(cond, oneOf(branches))
}

func (j *judge) choice(c *syntax.CaseClause) verdict {
	branches := []verdict{ends()}
	for _, item := range c.Items {
		branches = append(branches, j.list(item.Stmts))
	}
	return oneOf(branches)
}

// leaves tells that something in these statements ends a loop or the shell.
func leaves(stmts []*syntax.Stmt) bool {
	for _, s := range stmts {
		if leavesAtOnce(s) {
			return true
		}
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			if leaves([]*syntax.Stmt{c.X, c.Y}) {
				return true
			}
		case *syntax.Block:
			if leaves(c.Stmts) {
				return true
			}
		case *syntax.Subshell:
			if leaves(c.Stmts) {
				return true
			}
		case *syntax.IfClause:
			for ; c != nil; c = c.Else {
				if leaves(c.Cond) || leaves(c.Then) {
					return true
				}
			}
		case *syntax.WhileClause:
			if leaves(c.Cond) || leaves(c.Do) {
				return true
			}
		case *syntax.ForClause:
			if leaves(c.Do) {
				return true
			}
		case *syntax.CaseClause:
			for _, item := range c.Items {
				if leaves(item.Stmts) {
					return true
				}
			}
		}
	}
	return false
}

func leavesAtOnce(s *syntax.Stmt) bool {
	words := literal(s)
	return len(words) > 0 && list("break,exit,return").has(words[0])
}

// literal are the plain words at the beginning of a simple command.
func literal(s *syntax.Stmt) []string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	var words []string
	for _, w := range call.Args {
		text := w.Lit()
		if text == "" {
			break
		}
		words = append(words, text)
	}
	return words
}
