// Package command guesses from the text of a shell command whether it ends by
// itself: a build does, a development server does not. The text goes in as the
// client lists it; a verdict comes out, with the words by which it was reached.
//
// The words of the text are read by a shell parser (shell.go), wrappers and
// runners are looked through (wrap.go), pipelines and lists are judged by their
// parts, and what a program does is looked up in a table (programs.txt). It opens
// no file and starts nothing: a text can only guess, and where it cannot tell it
// says so.
package command

import (
	"strings"
)

// Answer is what a text tells of a command. The zero value is [Unclear].
type Answer int

// The answers, in the order in which one outweighs another in a list of commands.
const (
	// Ends is a command that ends by itself, however long it takes.
	Ends Answer = iota - 1
	// Unclear is one whose text cannot tell.
	Unclear
	// Never is one that is not meant to end: it serves, watches or follows until
	// somebody ends it.
	Never
)

// String is the answer as people are told it.
func (a Answer) String() string {
	switch a {
	case Ends:
		return "ends"
	case Never:
		return "never ends"
	case Unclear:
	}
	return "unclear"
}

// Verdict is one answer and the reason for it. The zero value says nothing.
type Verdict struct {
	// Answer is the guess.
	Answer Answer
	// Words are what decided: a program, its subcommand, an option, in that order;
	// "dev" for a script of that kind. Each is a word of the table or of this
	// package, never text of the command that is not: they can be shown to anybody.
	// Empty where nothing was recognised.
	Words []string
}

// String is the verdict in one line: "never ends: tail -f".
func (v Verdict) String() string {
	if len(v.Words) == 0 {
		return v.Answer.String()
	}
	return v.Answer.String() + ": " + strings.Join(v.Words, " ")
}

// Limits of what is judged.
const (
	// Cut is the length at which the client cuts a command, in UTF-16 code units
	// (docs/client.md: background_tasks). What stands behind it is not known.
	Cut = 1000
	// maxSteps bounds the commands that are looked at for one verdict, maxDepth
	// how deep they are nested: functions and quoted commands can multiply.
	maxSteps = 2000
	maxDepth = 40
	// maxWords bounds the words of a verdict; the last ones say the most.
	maxWords = 8
	// maxOpen bounds what is opened in a text that goes to the parser. Nobody
	// writes so many brackets, and a parser looks at each of them again and again.
	maxOpen = 100
)

// Judge says what the text of a command tells. It knows nothing of the machine:
// the same text gives the same verdict everywhere. It never fails; a text that is
// no shell, or that was cut in the middle, is judged by what can be read of it.
func Judge(command string) (v Verdict) {
	// A parser that meets everybody's text may meet one that it was not made for.
	defer func() {
		if recover() != nil {
			v = Verdict{}
		}
	}()
	text, cut := clip(command)
	if strings.Count(text, "(")+strings.Count(text, "{")+strings.Count(text, "[")+strings.Count(text, "`") > maxOpen {
		return Verdict{}
	}
	j := &judge{vars: map[string]string{}, programs: map[string]program{}}
	found := j.text(text, cut)
	return Verdict{Answer: found.answer, Words: found.words[max(0, len(found.words)-maxWords):]}
}

// clip is what the client shows of a command, and whether there may be more of it.
func clip(command string) (string, bool) {
	units := 0
	for i, r := range command {
		if units++; r > 0xffff {
			units++
		}
		if units > Cut {
			return command[:i], true
		}
	}
	return command, units >= Cut
}

// role is what a command does in a pipeline with what comes in.
type role int

const (
	// other does not read it: when it has ended, whoever writes to it ends too.
	other role = iota
	// filter reads until there is nothing more.
	filter
	// cutter stops reading when it has seen enough, which ends whoever writes to it.
	cutter
)

// verdict is a [Verdict] with what only the judging needs.
type verdict struct {
	answer Answer
	words  []string
	role   role
}

func ends(words ...string) verdict    { return verdict{answer: Ends, words: words} }
func never(words ...string) verdict   { return verdict{answer: Never, words: words} }
func unclear(words ...string) verdict { return verdict{answer: Unclear, words: words} }

// worse is the verdict that outweighs the other; the first of equals, or the one
// that has a reason.
//
//go:noinline
func worse(a, b verdict) verdict {
	if b.answer > a.answer || b.answer == a.answer && len(a.words) == 0 {
		b.role = max(a.role, b.role)
		return b
	}
	a.role = max(a.role, b.role)
	return a
}

// within puts a runner's words before the verdict on what it runs.
//
//go:noinline
func (v verdict) within(words ...string) verdict {
	if len(v.words) > 0 {
		v.words = append(append(make([]string, 0, len(words)+len(v.words)), words...), v.words...)
	}
	return v
}

// judge is one verdict in the making.
type judge struct {
	steps, depth int
	// vars are the variables that the text itself has set to something plain.
	vars map[string]string
	// funcs are the functions that the text has declared.
	funcs map[string]body
	// jobs are what this shell has sent to the background so far; holding those of
	// any shell that write where it writes.
	jobs, holding []verdict
	// programs are those that were looked up.
	programs map[string]program
	// ci tells that the environment says CI, which some programs go by.
	ci bool
}

// spent counts a step and tells whether there were too many.
func (j *judge) spent() bool {
	j.steps++
	return j.steps > maxSteps || j.depth > maxDepth
}
