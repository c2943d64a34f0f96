package status

import (
	"cmp"
	"fmt"
	"strings"

	"stopgate/pkg/lazy"
)

// plainWords are a name or a path that can be said to a model: nothing in it can be
// taken for more than a word.
var plainWords = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9 _.@-]{0,39}$`)

var plainPath = lazy.Regexp(`^[A-Za-z0-9_./@+:\\-]{1,300}$`)

// say is the sentence that a person pastes to the coordinator, so that an agent goes
// on. A model reads it: it holds ids, and a name or a path only where that is plain;
// never what a task runs or prints.
func (s Session) say(a Agent) string {
	who := "the agent"
	if plainWords().MatchString(a.ID) {
		who += " " + a.ID
	}
	if name := cmp.Or(a.Name, a.Description); name != a.ID && plainWords().MatchString(name) {
		who += " (" + name + ")"
	}
	var unheard, runs, outputs []string
	for _, id := range a.Own {
		t, _ := s.Task(id)
		switch {
		case t.Excused() || !plainWords().MatchString(id):
		case t.State == TaskUndelivered:
			unheard = append(unheard, id)
			if plainPath().MatchString(t.Output) {
				outputs = append(outputs, t.Output)
			}
		case t.State == TaskRunning:
			runs = append(runs, id)
		}
	}
	switch a.Why {
	case WhyUnheard:
		text := fmt.Sprintf("Send a message to %s: its background work %shas ended and it was never told. It shall read the result and report", who, named(unheard))
		if len(outputs) > 0 {
			text += "; the output is in " + strings.Join(outputs, " and ")
		}
		return text + "."
	case WhyOwnWork:
		return fmt.Sprintf("Keep in mind that %s ended its turn while its background work %sstill runs: when that has ended, send it a message, so that it reports the result.", who, named(runs))
	case WhyNoAnswer:
		return fmt.Sprintf("Look after %s: a tool call of it has had no answer for a long time. If no permission prompt is open for it, stop it and start its work anew.", who)
	case WhySilent:
		return fmt.Sprintf("Send a message to %s: it was told to go on and has been silent since. If it does not answer, stop it.", who)
	case WhyShutdown:
		return fmt.Sprintf("Send a plain message to %s: it shall answer your shutdown request.", who)
	case WhyHoldLost:
		return fmt.Sprintf("Send a message to %s: the wait for its background work %swas ended from outside. It shall look how that work stands, and go on.", who, named(append(runs, unheard...)))
	case WhyTeamTask:
		return fmt.Sprintf("Send a message to %s: it has begun a team task that waits for nothing but it. It shall go on with it.", who)
	}
	return ""
}

// named are ids within a sentence, with a blank behind; "" for none.
func named(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return strings.Join(ids, " and ") + " "
}
