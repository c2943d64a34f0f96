package gate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The codes of the coordinator's own stop.
const (
	Attended  Code = "attended"    // somebody attends the run, and wakes or is woken
	NewsWaits Code = "news-waits"  // what has ended is not told yet: block
	AtWork    Code = "at-work"     // work in the background: hold, then block
	StuckWork Code = "agent-stuck" // in a hold: all that still works has fallen silent
)

// LeadFacts are what the coordinator's stop is answered from. The zero value is let
// through.
type LeadFacts struct {
	Disabled, Duplicate bool
	// Registry and Session are as in [Facts].
	Registry, Session bool
	// Held tells that the run is one whose coordinator is held: nobody attends it.
	Held bool
	// Store tells whether the ledger can be used.
	Store bool
	// Work are the agents, teammates and workflows at work, and the coordinator's
	// own tasks that end by themselves. Waited counts what was waited in this turn.
	Work []Task
	// News are those whose end no model was told of yet.
	News []Task
	// Chain counts the coordinator's blocks since a stop was last let through.
	Chain int
}

// leadRules, the first that answers wins. All of them let the stop through.
var leadRules = []struct {
	name    string
	code    Code
	answers func(LeadFacts, Policy) bool
}{
	{"the same event was answered a moment ago", Duplicate, func(f LeadFacts, _ Policy) bool { return f.Duplicate }},
	{"the off switch is set", Disabled, func(f LeadFacts, _ Policy) bool { return f.Disabled }},
	{"the event does not list unfinished tasks", NoRegistry, func(f LeadFacts, _ Policy) bool { return !f.Registry }},
	{"the event names no session", NoSession, func(f LeadFacts, _ Policy) bool { return !f.Session }},
	{"somebody attends the run", Attended, func(f LeadFacts, _ Policy) bool { return !f.Held }},
	{"nothing is at work and no news waits", NoTasks, func(f LeadFacts, _ Policy) bool { return len(f.Work)+len(f.News) == 0 }},
	{"the ledger cannot be used", NoStore, func(f LeadFacts, _ Policy) bool { return !f.Store }},
	{"the coordinator was blocked too often in a row", BudgetSpent, func(f LeadFacts, p Policy) bool { return f.Chain >= p.chain() }},
	{"what the turn may cost is spent", BudgetSpent, func(f LeadFacts, p Policy) bool {
		return len(f.News) == 0 && !affordable(Waitable(f.Work), p)
	}},
}

// DecideLead answers the coordinator's stop: it is let through, blocked because news
// waits, or to be held for what is at work.
func DecideLead(f LeadFacts, p Policy) Decision {
	for _, r := range leadRules {
		if r.answers(f, p) {
			return Decision{Code: r.code}
		}
	}
	d := Decision{Block: true, Code: AtWork, Tasks: Waitable(f.Work), Last: p.lastInRow(f.Chain), Left: p.Left(f.Work)}
	if len(d.Tasks) == 0 || !affordable(d.Tasks, p) {
		d.Code, d.Tasks = NewsWaits, f.News
	}
	return d
}

// ExplainLead asks the rules in their order, up to the one that answers.
func ExplainLead(f LeadFacts, p Policy) []Step {
	var out []Step
	for _, r := range leadRules {
		s := Step{Rule: r.name, Code: r.code, Answers: r.answers(f, p)}
		out = append(out, s)
		if s.Answers {
			return out
		}
	}
	d := DecideLead(f, p)
	rule := "work in the background is unfinished"
	if d.Code == NewsWaits {
		rule = "the news of an end waits"
	}
	return append(out, Step{Rule: rule, Code: d.Code, Answers: true})
}

// LeadReason is the text of a block of the coordinator. Like [Reason] it quotes ids
// and output paths only.
func LeadReason(d Decision) string {
	head, tail := leadOpening(d.Code), leadAdvice(d)
	room := MaxReason - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return head + itemLines(d.Tasks, room) + tail
}

func leadOpening(code Code) string {
	switch code {
	case TaskEnded:
		return "This is not an error: your stop was held until the work in the background had ended.\n"
	case NewsWaits:
		return "This is not an error: work in the background has ended, and its news waits for you.\n"
	case MessageWaits:
		return "This is not an error: your stop was held for the work in the background, and somebody there needs you: a message waits. It comes with your next tool call.\n"
	case TaskIdle:
		return "This is not an error: your stop was held for the work in the background, and all that is left of it has done nothing for long.\n"
	case StuckWork:
		return "This is not an error: your stop was held for the work in the background, and all that is left of it has been silent for long.\n"
	case PatienceOver:
		return "This is not an error: your stop was held for the work in the background as long as it may be, and it has not all ended.\n"
	}
	return "This is not an error: work in the background has not finished yet.\n"
}

// finalAnswer asks for the one answer that a run has.
const finalAnswer = "give your complete final answer, with all their results: nothing that comes after it is read."

func leadAdvice(d Decision) string {
	var b strings.Builder
	switch {
	case d.Code == TaskIdle:
		b.WriteString("What is idle may hang, or wait for something that does not come; it is not waited for again. Look at its output. End it with TaskStop if it is not needed, or go on without it. Then ")
	case len(running(d.Tasks)) == 0:
		b.WriteString("Call one tool before you write anything: ")
		if command := outcomeCommand(d); command != "" {
			fmt.Fprintf(&b, "run %s, or read an output. ", command)
		} else {
			b.WriteString("read one of the outputs. ")
		}
		b.WriteString("What the agents report comes with its result. Do not start their work again. Then ")
	case d.Code == MessageWaits:
		b.WriteString("Call one tool to get it, and answer it. What still runs is waited for again when you end your turn. When nothing is left, ")
	case d.Code == StuckWork:
		b.WriteString("Look at its output. Then send it a message or end it with TaskStop, or go on without it; it is not waited for again. At the end ")
	case d.Code == PatienceOver || d.Left <= 0:
		b.WriteString("It is not waited for any longer, and may be ended with this run. Read what its output holds now, name what still runs, and ")
	default:
		fmt.Fprintf(&b, "Nothing is lost by waiting: end your turn again with one short line, and it is waited for again, up to %s more. When nothing is left, ", Span(d.Left))
	}
	b.WriteString(finalAnswer)
	return b.String()
}

// outcomeCommand prints the outcomes of tasks that have ended; "" where it cannot be
// named.
func outcomeCommand(d Decision) string {
	var ids []string
	room := maxWaited
	for _, t := range d.Tasks {
		if plainID(t.ID) && t.Kind != "teammate" && room >= len(t.ID) {
			ids = append(ids, t.ID)
			room -= len(t.ID) + 1
		}
	}
	if d.Waiter == "" || len(ids) == 0 {
		return ""
	}
	program, note := invoke(d.Waiter)
	if note != "" {
		note = " (" + strings.TrimPrefix(note, "; ") + ")"
	}
	return fmt.Sprintf("%s wait --timeout 1m %s%s", program, strings.Join(ids, " "), note)
}
