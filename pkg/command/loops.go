package command

import (
	"slices"

	"stopgate/pkg/command/syntax"
)

func (j *judge) forLoop(c *syntax.ForClause) verdict {
	v := ends()
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		for _, w := range loop.Items {
			v = worse(v, j.inWord(w))
		}
		if c.Select {
			v = worse(v, unclear("select"))
		}
	case *syntax.CStyleLoop:
		if loop.Cond == nil {
			v = endless("for", c.Do)
		}
	}
	return worse(v, j.list(c.Do))
}

// while judges a loop. One that asks something each time ends when the answer
// changes, and the text does not tell whether it will.
func (j *judge) while(c *syntax.WhileClause) verdict {
	cond, do := j.list(c.Cond), ends()
	if cond.answer != Never {
		do = j.list(c.Do)
	}
	word := "while"
	if c.Until {
		word = "until"
	}
	// Only what decides the loop is of interest as the reader of a pipe.
	cond.role, do.role = other, other
	switch {
	case cond.answer == Never:
		return cond
	case do.answer == Never:
		return do
	case always(c):
		return worse(endless(word, append(c.Cond, c.Do...)), do)
	case reads(c.Cond):
		do.role = filter
		if leaves(c.Do) {
			do.role = cutter
		}
		return do
	}
	return worse(unclear(word), do)
}

// endless is the verdict on a loop without a condition: only a way out of it ends it.
func endless(word string, stmts []*syntax.Stmt) verdict {
	if leaves(stmts) {
		return unclear(word)
	}
	return never(word)
}

// always tells that a loop's condition cannot change.
func always(c *syntax.WhileClause) bool {
	if len(c.Cond) == 0 {
		return false
	}
	last := c.Cond[len(c.Cond)-1]
	if arithm, ok := last.Cmd.(*syntax.ArithmCmd); ok && !c.Until {
		word, ok := arithm.X.(*syntax.Word)
		return ok && word.Lit() == "1"
	}
	words := literal(last)
	if len(words) == 0 || last.Negated {
		return false
	}
	if c.Until {
		return words[0] == "false"
	}
	return list("true,:,sleep,echo,date,printf").has(words[0]) || slices.Equal(words, []string{"[", "1", "]"})
}

// reads tells that a loop goes on as long as there is something to read.
func reads(cond []*syntax.Stmt) bool {
	if len(cond) == 0 {
		return false
	}
	words := literal(cond[len(cond)-1])
	return len(words) > 0 && words[0] == "read"
}
