package fate

import (
	"time"

	"stopgate/pkg/transcript"
)

// Signs is what is known of one task that is no agent.
type Signs struct {
	Task string
	// End is the last told end; nil for none. EndSeen is when somebody who watched
	// saw it come; zero for one that was there at first.
	End     *transcript.End
	EndSeen time.Time
	// Heard tells that the owner or the coordinator was given the news of it.
	Heard bool
	// Output is how the output file looks.
	Output Output
	// Launched is zero where it is unknown.
	Launched time.Time
	// List is the client's last list, and Seen when an earlier one named the
	// task; zero for never.
	List List
	Seen time.Time
	// ListSeen is when somebody who watched saw the list come; zero for one that
	// was there at first.
	ListSeen time.Time
	// SessionOver tells that the session has ended.
	SessionOver bool
}

// refuted tells whether the list is younger than something that looked like the
// task's end. What was seen to come after the list is not, whatever its time says.
func (s Signs) refuted(at, seen time.Time) bool {
	return (seen.IsZero() || seen.Before(s.ListSeen)) && s.List.refutes(s.Task, at)
}

// Judge tells the fate of a task that is no agent. The list of unfinished tasks
// decides against any older sign of an end, since a command can print anything; a
// told end decides before the output's last line, since it has the exit code and
// the delivery; and that line decides only with a sign that no command can print.
func Judge(s Signs) Fate {
	f := Fate{Task: s.Task, Heard: s.Heard, Output: s.Output.Path, Size: s.Output.Size}
	gone := s.List.Lacks(s.Task, s.Launched, s.Seen)
	told := s.End != nil && !s.refuted(s.End.At, s.EndSeen)
	if told && f.Output == "" {
		f.Output = s.End.Output
	}
	switch {
	case told && Word(s.End.Status) != Runs:
		f.Sign, f.At, f.How = Notice, s.End.At, Word(s.End.Status)
		switch {
		case f.How == Killed:
		case s.End.ExitCode != nil:
			f.How, f.ExitCode = Exited, s.End.ExitCode
		case s.Output.Mark == transcript.MarkExited:
			f.How, f.ExitCode = Exited, s.Output.exit()
		}
	case s.marked(gone):
		f.Sign, f.At, f.How = LastLine, s.Output.Written, Killed
		if s.Output.Mark == transcript.MarkExited {
			f.How, f.ExitCode = Exited, s.Output.exit()
		}
	case gone:
		f.Sign, f.How = NotListed, Unknown
	case s.SessionOver:
		f.Sign, f.How = SessionOver, Unknown
	case s.List.Names(s.Task):
		f.Sign = Listed
	default:
		f.Sign = Launched
	}
	return f
}

// marked tells whether the output's last line is the client's: it says so, no
// younger list names the task, and something bears it out that cannot be printed:
// a list without the task, or that no process has the file open any more. Where
// that cannot be told, the file has been quiet for a while.
func (s Signs) marked(gone bool) bool {
	switch {
	case s.Output.Mark == transcript.NoMark, s.refuted(s.Output.Written, s.Output.Seen):
		return false
	case gone:
		return true
	case s.Output.Held != nil:
		if held, known := s.Output.Held(); known {
			return !held
		}
	}
	return s.Output.Quiet >= QuietEnd
}

// AgentSigns is what is known of a task that is an agent.
type AgentSigns struct {
	Task string
	// End is its last told end; nil for none. EndSeen is when somebody who watched
	// saw it come; zero for one that was there at first.
	End     *transcript.End
	EndSeen time.Time
	// Heard tells that its launcher or the coordinator was given the news of it.
	Heard bool
	// Since is its last start: an end from before is one of an earlier life.
	Since time.Time
	// Working tells that it is known to be at work. One whose end was told may
	// work again: then its transcript goes on.
	Working bool
	// Unfinished tells that a task of its own runs, or ended just now, so that it
	// may be woken for it. Owns tells that it has launched any.
	Unfinished, Owns bool
	// List is the client's last list, and ListSeen when somebody who watched saw
	// it come; zero for one that was there at first.
	List     List
	ListSeen time.Time
	// SessionOver tells that the session has ended.
	SessionOver bool
}

// JudgeAgent tells the fate of a task that is an agent. Its told end is final only
// when it did not start again and owns no unfinished task, since a parked one
// tells an end too (docs/client.md: an agent's end).
func JudgeAgent(s AgentSigns) Fate {
	f := Fate{Task: s.Task, Heard: s.Heard, Size: -1}
	refuted := func() bool {
		return Signs{Task: s.Task, List: s.List, ListSeen: s.ListSeen}.refuted(s.End.At, s.EndSeen)
	}
	ended := s.End != nil && !s.End.At.Before(s.Since) && !refuted()
	switch {
	case s.Working, ended && s.Unfinished && Word(s.End.Status) != Killed:
		f.Sign = Agent
	case ended && Word(s.End.Status) == Killed:
		f.Sign, f.How, f.At = Notice, Killed, s.End.At
	case ended && s.End.Parked && s.SessionOver:
		f.Sign, f.How = SessionOver, Unknown
	case ended && s.End.Parked && !s.Owns && !s.List.Lacks(s.Task, s.End.At, time.Time{}):
		f.Sign = Agent // its transcript does not tell yet what it waits for
	case ended:
		f.Sign, f.How, f.At = Notice, Ended, s.End.At
	case s.SessionOver:
		f.Sign, f.How = SessionOver, Unknown
	case s.List.Names(s.Task):
		f.Sign = Listed
	default:
		f.Sign, f.How = NotListed, Unknown
	}
	return f
}
