package status

import (
	"fmt"
	"strings"
	"time"

	"stopgate/pkg/fate"
	"stopgate/pkg/gate"
	"stopgate/pkg/transcript"
)

// slack is how much younger a list of unfinished tasks may be than what it does
// not show yet: it is taken before the hook starts (docs/client.md:
// background_tasks).
const slack = time.Second

// stateOf is a task's state by its fate.
func stateOf(f fate.Fate) TaskState {
	switch {
	case f.Unheard():
		return TaskUndelivered
	case f.How == fate.Runs:
		return TaskRunning
	case f.How == fate.Killed:
		return TaskKilled
	case f.How == fate.Unknown:
		return TaskUnknown
	}
	return TaskFinished
}

// life is what is known of one agent.
type life struct {
	// started is the last start, wake or news it was given; stopped its last
	// recorded stop. Zero is never seen.
	started, stopped time.Time
	// idle is when a teammate was last said to be idle. Older clients say so at
	// its child's stop too, so it counts only after a stop of its own.
	idle time.Time
	// goesOn tells that the last recorded stop was blocked.
	goesOn bool
	// held tells that its stop is being held now.
	held bool
	// end is the last told end; nil for none.
	end *transcript.End
	// background tells that it was launched or resumed in the background: then
	// it names itself among the unfinished tasks as long as it is at work.
	background bool
	teammate   bool
	listed     bool
	listedAt   time.Time
	// open tells that own work of it is unfinished or undelivered.
	open bool
	over bool
	// agreed is when a teammate consented to shut down; zero for never.
	agreed time.Time
}

// agentVerdict tells the state of an agent and since when, as far as known.
func agentVerdict(l life) (AgentState, time.Time) {
	told := time.Time{}
	if l.end != nil {
		told = l.end.At
	}
	if l.stopped.After(l.started) && l.idle.After(l.stopped) {
		told = later(told, l.idle)
	}
	rested := later(l.stopped, told) // when it was last known to have ended a turn
	working := rested.IsZero() || l.started.After(rested) || l.goesOn && !told.After(l.stopped)
	gone := false
	switch {
	case l.listed && l.listedAt.After(rested.Add(slack)):
		working = true
	case working && l.background && !l.teammate && !l.listed && l.listedAt.After(later(l.started, l.stopped).Add(slack)):
		// It no longer names itself: ended without a stop, as by TaskStop.
		working, gone = false, true
	}
	switch {
	case l.over:
		return AgentEnded, rested
	case l.held:
		return AgentRunning, l.stopped
	case agreedToEnd(l.agreed, l.started, later(l.stopped, l.idle)):
		return AgentEnded, l.agreed
	case working:
		return AgentRunning, later(l.started, l.stopped)
	case l.teammate:
		return AgentIdle, rested
	case l.open:
		return AgentStopped, rested
	case gone, l.end != nil && !l.end.At.Before(l.started):
		return AgentEnded, rested
	}
	return AgentStopped, rested
}

// agreedToEnd tells whether a teammate has ended because it said so: nothing
// stops at a shutdown. One that starts again, or still ends turns a minute later,
// did not.
func agreedToEnd(agreed, started, rested time.Time) bool {
	return agreed.After(started) && !rested.After(agreed.Add(shutdownTime))
}

// leadFacts is what is known of a team's lead.
type leadFacts struct {
	// pid is its process, 0 where that is unknown. here tells whether pids of
	// that kind can be looked for, alive whether it is the same process still.
	pid         int
	here, alive bool
	// ended is when its session ended; zero for not, or not known. heard is when
	// anything was last heard of it, zero for a session that is not found.
	ended, heard time.Time
	created      time.Time
}

// leadVerdict tells whether a team still has its lead, and by what. The process
// decides; where it cannot be looked for, the session.
func leadVerdict(l leadFacts, now time.Time) (LeadState, string) {
	switch {
	case l.here && l.alive:
		return LeadPresent, ""
	case l.here:
		return LeadGone, fmt.Sprintf("process %d does not run any more", l.pid)
	case !l.ended.IsZero():
		return LeadGone, "its session ended " + gate.Span(max(0, now.Sub(l.ended))) + " ago"
	case l.heard.IsZero() && now.Sub(l.created) > QuietAfter:
		return LeadGone, "its session has left no transcript"
	case l.heard.IsZero():
		return LeadPresent, ""
	case now.Sub(l.heard) > QuietAfter:
		return LeadQuiet, "its session has been quiet for " + gate.Span(now.Sub(l.heard))
	}
	return LeadPresent, ""
}

// Why is what an agent is stuck by.
type Why string

// The reasons, the one that is told first.
const (
	// WhyNoAnswer: a tool call is unanswered, and nothing has been written for
	// ten minutes: a hang, or a permission prompt that nobody sees.
	WhyNoAnswer Why = "no-answer"
	// WhyShutdown: it was asked to shut down, and is still there.
	WhyShutdown Why = "shutdown"
	// WhyUnheard: own work has ended, and it was not told.
	WhyUnheard Why = "unheard"
	// WhyOwnWork: own work runs on.
	WhyOwnWork Why = "own-work"
	// WhySilent: its stop was blocked, and it has written nothing since.
	WhySilent Why = "silent"
	// WhyHoldLost: the hold of its stop was ended from outside.
	WhyHoldLost Why = "hold-lost"
	// WhyTeamTask: a team task that it began waits for nothing but it.
	WhyTeamTask Why = "team-task"
)

const (
	// silentAfter is how long an unanswered call may take before it counts, and
	// how long a member may rest on a team task.
	silentAfter = 10 * time.Minute
	// shutdownTime is how long a teammate may take to end.
	shutdownTime = time.Minute
	// QuietAfter is how long after the last sign of it a session is no longer called
	// running: its client may have died.
	QuietAfter = time.Hour
)

// plight is what may keep an agent from going on.
type plight struct {
	// who names the agent.
	who   string
	state AgentState
	// waits are the tools whose answer it waits for, silent for how long its
	// transcript has not grown.
	waits  []string
	silent time.Duration
	// blocked tells that its last stop was blocked; then silent counts too.
	blocked bool
	// asked tells that it was asked to shut down, askedFor how long ago; below 0
	// is unknown.
	asked    bool
	askedFor time.Duration
	// lost tells that the hold of its last stop was ended from outside, lostFor how
	// long ago it began.
	lost    bool
	lostFor time.Duration
	// runs and unheard are own tasks that run, and those whose end it was not
	// told; told that the coordinator was woken for one.
	runs, unheard []string
	told          bool
	// watched tells that a courier waits for those that run.
	watched bool
	// owed are team tasks that it has begun, rested for how long it has been
	// idle.
	owed   []string
	rested time.Duration
}

// verdict tells by what an agent is stuck, and what to do: one line. Nothing
// keeps an agent that has ended; of one whose state is unknown only the mail
// tells.
func (p plight) verdict() (Why, string) {
	resting := p.state == AgentStopped || p.state == AgentIdle
	switch {
	case p.state == AgentEnded:
		return "", ""
	case p.state == AgentRunning && len(p.waits) > 0 && p.silent >= silentAfter:
		return WhyNoAnswer, fmt.Sprintf("%s waits for the answer of %s and has written nothing for %s: look for a permission prompt; if there is none, it hangs: stop it",
			p.who, strings.Join(p.waits, ", "), gate.Span(p.silent))
	case p.state == AgentRunning && p.blocked && p.silent >= silentAfter:
		return WhySilent, fmt.Sprintf("%s was told to go on when it wanted to stop and has written nothing for %s: send it a message, or stop it", p.who, gate.Span(p.silent))
	case p.asked && (p.askedFor < 0 || p.askedFor >= shutdownTime):
		ago := ""
		if p.askedFor > 0 {
			ago = " " + gate.Span(p.askedFor) + " ago"
		}
		still := "is still " + string(p.state)
		if p.state == "" {
			still = "has not agreed"
		}
		return WhyShutdown, fmt.Sprintf("%s was asked to shut down%s and %s: send it a plain message to answer the shutdown_request", p.who, ago, still)
	case resting && len(p.unheard) > 0 && p.told:
		return WhyUnheard, fmt.Sprintf("%s never heard of the end of %s; the coordinator was woken for it: a message to the agent makes it go on", p.who, firstFew(p.unheard))
	case resting && len(p.unheard) > 0:
		return WhyUnheard, fmt.Sprintf("%s never heard of the end of %s: send it a message, and it goes on with the result", p.who, firstFew(p.unheard))
	case resting && p.lost:
		return WhyHoldLost, fmt.Sprintf("the hold of %s's stop, begun %s ago, was ended from outside (a signal, a timeout, its client): it was let go; send it a message, and its next stop is guarded again",
			p.who, gate.Span(p.lostFor))
	case resting && len(p.runs) > 0 && p.watched:
		return WhyOwnWork, fmt.Sprintf("%s is %s and waits for own work, %s: a courier waits for that and wakes the coordinator at the end, unless the client wakes the agent", p.who, p.state, firstFew(p.runs))
	case resting && len(p.runs) > 0:
		return WhyOwnWork, fmt.Sprintf("%s is %s and waits for own work, %s: if nothing wakes it at the end, send it a message then", p.who, p.state, firstFew(p.runs))
	case resting && len(p.owed) > 0 && p.rested >= silentAfter:
		return WhyTeamTask, fmt.Sprintf("%s has been %s for %s with %s in progress: send it a message, and it goes on", p.who, p.state, gate.Span(p.rested), firstFew(p.owed))
	}
	return "", ""
}

func firstFew(items []string) string {
	const most = 3
	if len(items) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
	}
	return strings.Join(items, ", ")
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
