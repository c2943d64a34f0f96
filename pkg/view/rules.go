package view

import (
	"time"

	"stopgate/pkg/transcript"
)

// slack is how much younger a list of unfinished tasks may be than what it does
// not show yet: it is taken before the hook starts (docs/client.md:
// background_tasks).
const slack = time.Second

// signs is what is known of one task that is no agent.
type signs struct {
	// end is the last told end; nil for none. delivered tells that the owner or
	// the coordinator was given the news of it.
	end       *transcript.End
	delivered bool
	// mark is the last line of the output file, code its exit code, and written
	// when the file was last written.
	mark    transcript.Mark
	code    int
	written time.Time
	// launched is zero where it is unknown.
	launched time.Time
	// listed tells whether the last list of unfinished tasks, of listedAt, names
	// it. listedAt is zero where no event brought a list.
	listed   bool
	listedAt time.Time
	// seen is when a stop last listed it; zero for never.
	seen time.Time
	// over tells that the session has ended.
	over bool
}

// verdict is a task's state and why.
type verdict struct {
	state TaskState
	sign  Sign
	code  *int
	at    time.Time
}

// judge tells the state of a task that is no agent. The list of unfinished tasks
// decides against any older sign of an end, since a command can print anything;
// a told end decides before the output's last line, since it has the exit code
// and the delivery. docs/status.md has the table.
func judge(s signs) verdict {
	after := func(t time.Time) bool { return !s.listed || t.IsZero() || t.After(s.listedAt.Add(-slack)) }
	switch {
	case s.end != nil && after(s.end.At):
		v := verdict{TaskFinished, SignNotice, s.end.ExitCode, s.end.At}
		switch {
		case killedWord(s.end.Status):
			v.state = TaskKilled
		case !s.delivered:
			v.state = TaskUndelivered
		}
		return v
	case s.mark == transcript.MarkExited && after(s.written):
		code := s.code
		return verdict{TaskFinished, SignOutput, &code, s.written}
	case s.mark == transcript.MarkKilled && after(s.written):
		return verdict{TaskKilled, SignOutput, nil, s.written}
	case !s.listed && (s.seen.Before(s.listedAt) && !s.seen.IsZero() || !s.listedAt.IsZero() && !s.launched.After(s.listedAt.Add(-slack))):
		return verdict{state: TaskUnknown, sign: SignGone}
	case s.over:
		return verdict{state: TaskUnknown, sign: SignSession}
	case s.listed:
		return verdict{state: TaskRunning, sign: SignListed}
	}
	return verdict{state: TaskRunning, sign: SignLaunched}
}

// killedWord tells whether a status means that somebody ended the task.
func killedWord(status string) bool {
	switch status {
	case transcript.StatusKilled, "stopped", "cancelled", "canceled":
		return true
	}
	return false
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

// judgeAgent tells the state of a task that is an agent. An agent's end is final
// only when it did not start again and owns no unfinished task, since a parked
// one tells an end too (docs/client.md: an agent's end).
func judgeAgent(l life, state AgentState, unfinished, delivered bool) verdict {
	ended := l.end != nil && !l.end.At.Before(l.started)
	switch {
	case state == AgentRunning, state == AgentIdle, state == AgentStopped && unfinished:
		return verdict{state: TaskRunning, sign: SignAgent}
	case ended && killedWord(l.end.Status):
		return verdict{TaskKilled, SignNotice, nil, l.end.At}
	case ended && l.over && l.end.Parked:
		return verdict{state: TaskUnknown, sign: SignSession}
	case ended && delivered:
		return verdict{TaskFinished, SignNotice, l.end.ExitCode, l.end.At}
	case ended:
		return verdict{TaskUndelivered, SignNotice, l.end.ExitCode, l.end.At}
	case l.over:
		return verdict{state: TaskUnknown, sign: SignSession}
	case l.listed:
		return verdict{state: TaskRunning, sign: SignListed}
	}
	return verdict{state: TaskUnknown, sign: SignGone}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
