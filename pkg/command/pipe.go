package command

import (
	"strings"

	"stopgate/pkg/command/syntax"
)

// pipeline judges commands that write to each other. The shell waits for all.
func (j *judge) pipeline(c *syntax.BinaryCmd) verdict {
	var stages []*syntax.Stmt
	var flatten func(s *syntax.Stmt)
	flatten = func(s *syntax.Stmt) {
		if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) && len(s.Redirs) == 0 {
			flatten(b.X)
			flatten(b.Y)
			return
		}
		stages = append(stages, s)
	}
	flatten(c.X)
	flatten(c.Y)
	verdicts := make([]verdict, len(stages))
	for i, s := range stages {
		held := len(j.holding)
		v := j.apart(func(in *judge) verdict { return in.stmt(s) })
		if i < len(stages)-1 {
			// What it leaves in the background holds the pipe open.
			for _, job := range j.holding[held:] {
				v = worse(v, job)
			}
			j.holding = j.holding[:held]
		}
		verdicts[i] = v
	}
	return pipe(verdicts)
}

// pipe is the verdict on a pipeline. A stage that ends while others still write to
// it ends them too; one that only reads until the end ends none.
func pipe(stages []verdict) verdict {
	from := 0
	for i, s := range stages {
		if i > 0 && (s.role == cutter || s.answer == Ends && s.role == other) {
			from = i
		}
	}
	v := ends()
	for _, s := range stages[from:] {
		if v.answer == Never && s.answer == Unclear && s.role == other {
			// It may be one that has seen enough at some time.
			return verdict{answer: Unclear, words: s.words, role: filter}
		}
		v = worse(v, s)
	}
	if from > 0 && v.answer == Ends {
		v = stages[from]
	}
	v.role = stages[0].role
	return v
}

// quits tells that a script of sed holds the command q: it quits at what it seeks.
func quits(script string) bool {
	for i := range len(script) {
		if script[i] != 'q' && script[i] != 'Q' {
			continue
		}
		before, after := strings.TrimRight(script[:i], " \t"), strings.TrimLeft(script[i+1:], " \t0123456789")
		if (before == "" || strings.ContainsAny(before[len(before)-1:], "/;{}$!\n0123456789")) &&
			(after == "" || strings.ContainsAny(after[:1], ";}\n")) {
			return true
		}
	}
	return false
}
