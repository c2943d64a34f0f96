package command

import (
	"strings"

	"stopgate/pkg/command/syntax"
)

// unknown stands in a word for what only the running shell knows.
const unknown = '\ue000'

// known tells that nothing of a word is unknown.
func known(word string) bool { return !strings.ContainsRune(word, unknown) }

// call judges a simple command.
func (j *judge) call(c *syntax.CallExpr) verdict {
	v := ends()
	for _, a := range c.Assigns {
		v = worse(v, j.assignHere(a, len(c.Args) == 0))
	}
	if len(c.Args) == 0 {
		return v
	}
	ci := j.ci
	for _, a := range c.Assigns {
		j.ci = j.ci || a.Name != nil && a.Name.Value == "CI" && a.Value != nil && a.Value.Lit() != "false"
	}
	defer func() { j.ci = ci }()
	var words []string
	for _, w := range c.Args {
		v = worse(v, j.inWord(w))
		words = append(words, j.words(w)...)
	}
	if v.answer == Never || len(words) == 0 {
		return v
	}
	did := j.run(words)
	if v.answer > did.answer {
		did.answer, did.words = v.answer, v.words
	}
	return did
}

// assign judges what is run for a declared value, and remembers the value.
func (j *judge) assign(a *syntax.Assign) verdict { return j.assignHere(a, true) }

func (j *judge) assignHere(a *syntax.Assign, remember bool) verdict {
	if a.Value == nil || a.Name == nil {
		return ends()
	}
	if remember {
		delete(j.vars, a.Name.Value)
		if text := j.word(a.Value); known(text) && !a.Append {
			j.vars[a.Name.Value] = text
		}
		if a.Name.Value == "CI" {
			j.ci = j.word(a.Value) != "false"
		}
	}
	return j.inWord(a.Value)
}

// words are the words that one word of the text becomes: a variable that holds a
// command becomes several.
func (j *judge) words(w *syntax.Word) []string {
	text := j.word(w)
	if len(w.Parts) == 1 {
		if _, ok := w.Parts[0].(*syntax.ParamExp); ok && known(text) {
			return strings.Fields(text)
		}
	}
	return []string{text}
}

// word is the text of a word, quotes taken off.
func (j *judge) word(w *syntax.Word) string {
	var b strings.Builder
	j.parts(&b, w.Parts, false)
	return b.String()
}

func (j *judge) parts(b *strings.Builder, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(part.Value, quoted))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			j.parts(b, part.Parts, true)
		case *syntax.ParamExp:
			if value, ok := j.vars[paramName(part)]; ok {
				b.WriteString(value)
			} else {
				b.WriteRune(unknown)
			}
		case *syntax.ExtGlob:
			b.WriteString(part.Pattern.Value)
		default:
			b.WriteRune(unknown)
		}
	}
}

// paramName is the name of a plain $x or ${x}.
func paramName(p *syntax.ParamExp) string {
	if p.Param == nil || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Index != nil || p.Excl || p.Length {
		return ""
	}
	return p.Param.Value
}

// unescape takes the backslashes off that the shell takes off.
func unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("\\\"$`\n", s[i+1]) >= 0) {
			if i++; s[i] == '\n' {
				continue
			}
			if !quoted && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
				b.WriteByte('/') // nobody escapes a letter: a folder of Windows
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// inWord judges the commands whose output becomes part of a word: they are run,
// and waited for, before the command itself.
func (j *judge) inWord(w *syntax.Word) verdict {
	if w == nil {
		return ends()
	}
	v := j.inParts(w.Parts)
	v.role = other
	return v
}

func (j *judge) inParts(parts []syntax.WordPart) verdict {
	v := ends()
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.DblQuoted:
			v = worse(v, j.inParts(part.Parts))
		case *syntax.ParamExp:
			if part.Exp != nil {
				v = worse(v, j.inWord(part.Exp.Word))
			}
		case *syntax.CmdSubst:
			held := len(j.holding)
			in := j.apart(func(in *judge) verdict { return in.list(part.Stmts) })
			for _, job := range j.holding[held:] { // it is read to its end
				in = worse(in, job)
			}
			j.holding = j.holding[:held]
			if in.answer > v.answer {
				v = in
			}
		}
	}
	return v
}
