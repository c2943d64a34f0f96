package gate

import (
	"strings"
	"time"
)

// By is who decided whether a task is waited for.
type By string

// The four that are asked, in the order in which they count. What nobody says
// anything of is waited for.
const (
	// ByPerson: somebody released the task, or says in flags, in a file or in the
	// command itself what to do with commands like this.
	ByPerson By = "person"
	// ByProcesses: what its processes were seen to do.
	ByProcesses By = "processes"
	// ByHistory: what became of the command before.
	ByHistory By = "history"
	// ByText: the text of the command.
	ByText By = "text"
	// ByNothing: nothing says that it would not end.
	ByNothing By = ""
)

// Does is what the processes of a task are seen to do. The zero value is nothing
// that says whether it ends.
type Does string

// What counts of it.
const (
	// Works is a task that did something a moment ago.
	Works Does = "works"
	// Serves is one that listens or watches files and has been idle for a minute.
	Serves Does = "serves"
	// Idle is one that has been idle for ten minutes and neither listens nor watches,
	// or that, where nothing else can be told, printed nothing for so long.
	Idle Does = "idle"
)

// Says is what a person says of a task.
type Says int

// What can be said. The zero value is nothing.
const (
	WaitForIt Says = iota + 1
	LetItRun
)

// NeverEnded is how long a command is waited for that was left running more than once
// and never ended.
const NeverEnded = 30 * time.Second

// Signs are what is known of a task's chances to end. The zero value is a task of
// which nothing is known.
type Signs struct {
	// Person is what a person says of it, PersonWords how.
	Person      Says
	PersonWords string
	// Does is what its processes are seen to do, DoesWords by what.
	Does      Does
	DoesWords string
	// Ends tells that the command ended before, Left that it was left running more
	// than once and never ended; HistoryWords how often.
	Ends, Left   bool
	HistoryWords string
	// Never tells that its text is one of a command that never ends; TextWords by
	// which words, also where the text says that it ends.
	Never     bool
	TextWords string
	// Age is how long it has run, or was waited for where that is unknown.
	Age time.Duration
}

// Worth is whether a task is waited for, and who says so.
type Worth struct {
	Wait bool
	By   By
	// Words say for people by what it was decided: "serves: listens on 5173, idle
	// 60 s". Empty where nothing was known.
	Words string
	// Idle marks one that was let go as idle: its agent is told of it.
	Idle bool
}

// worthRules, the first that answers wins. A task that none answers is waited for.
var worthRules = []struct {
	by      By
	wait    bool
	answers func(*Signs) bool
	words   func(*Signs) string
}{
	{ByPerson, false, func(s *Signs) bool { return s.Person == LetItRun }, func(s *Signs) string { return s.PersonWords }},
	{ByPerson, true, func(s *Signs) bool { return s.Person == WaitForIt }, func(s *Signs) string { return s.PersonWords }},
	{ByProcesses, false, func(s *Signs) bool { return s.Does == Serves }, func(s *Signs) string { return s.DoesWords }},
	{ByHistory, true, func(s *Signs) bool { return s.Ends }, func(s *Signs) string { return s.HistoryWords }},
	{ByProcesses, false, func(s *Signs) bool { return s.Does == Idle }, func(s *Signs) string { return s.DoesWords }},
	{ByHistory, false, func(s *Signs) bool { return s.Left && s.Age >= NeverEnded }, func(s *Signs) string { return s.HistoryWords }},
	{ByText, false, func(s *Signs) bool { return s.Never }, func(s *Signs) string { return s.TextWords }},
	{ByProcesses, true, func(s *Signs) bool { return s.Does == Works }, func(s *Signs) string { return s.DoesWords }},
	{ByText, true, func(s *Signs) bool { return s.TextWords != "" }, func(s *Signs) string { return s.TextWords }},
}

// Weigh tells whether a task is worth being waited for. A person counts more than
// what processes do, that more than what the command did before, and that more than
// its text, with one exception: a task that is idle is waited for where it ended
// before, since there are long waits for other machines.
func Weigh(s Signs) Worth {
	for _, r := range worthRules {
		if r.answers(&s) {
			idle := r.by == ByProcesses && s.Does == Idle
			return Worth{Wait: r.wait, By: r.by, Words: r.words(&s), Idle: idle}
		}
	}
	return Worth{Wait: true, Words: s.DoesWords}
}

// String says it in one line: "not waited for (processes): serves: listens on 5173,
// idle 60 s".
func (w Worth) String() string {
	text := "waited for"
	if !w.Wait {
		text = "not " + text
	}
	if w.By == ByNothing {
		return strings.TrimSuffix(text+": "+w.Words, ": ")
	}
	return text + " (" + string(w.By) + "): " + w.Words
}
