package fate

import (
	"testing"
	"time"

	"stopgate/pkg/transcript"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// list is a list of that age that names the task, or does not.
func list(age time.Duration, named bool) List {
	return List{At: ago(age), Tasks: map[string]bool{"b1": named}}
}

func told(age time.Duration, status string, code *int) *transcript.End {
	return &transcript.End{Task: "b1", Status: status, At: ago(age), ExitCode: code}
}

// last is an output whose last line was written so long ago.
func last(mark transcript.Mark, code int, age time.Duration) Output {
	return Output{Path: "/b1.output", Size: 9, Mark: mark, Code: code, Written: ago(age), Quiet: age}
}

// open is an output of which it is known whether a process has it open.
func open(o Output, held bool) Output {
	o.Held = func() (bool, bool) { return held, true }
	return o
}

// dear is an output of which nobody may ask who has it open: something else tells.
func dear(t *testing.T, o Output) Output {
	o.Held = func() (bool, bool) {
		t.Error("asked who has the file open")
		return true, true
	}
	return o
}

// The table of docs/status.md: what is known of a task, and what became of it.
func TestWhatBecameOfATask(t *testing.T) {
	t.Parallel()
	const second, minute, hour = time.Second, time.Minute, time.Hour
	zero, one, three := 0, 1, 3
	exited, killed := transcript.MarkExited, transcript.MarkKilled
	for _, r := range []struct {
		name string
		Signs
		how  How
		sign Sign
		code *int
	}{
		// Without a sign of an end.
		{"launched, nothing told since", Signs{Launched: ago(minute)}, Runs, Launched, nil},
		{"launched before the last list, which names it", Signs{Launched: ago(minute), List: list(second, true)}, Runs, Listed, nil},
		{"listed, its launch unknown", Signs{List: list(second, true)}, Runs, Listed, nil},
		{"launched after the last list", Signs{Launched: ago(second), List: list(minute, false)}, Runs, Launched, nil},
		{"launched just before the list was taken", Signs{Launched: ago(1500 * time.Millisecond), List: list(second, false)}, Runs, Launched, nil},
		{"launched just before the list, but an earlier list had it", Signs{Launched: ago(1500 * time.Millisecond), Seen: ago(1200 * time.Millisecond), List: list(second, false)}, Unknown, NotListed, nil},
		{"no longer listed, no sign how it ended", Signs{Launched: ago(hour), List: list(minute, false)}, Unknown, NotListed, nil},
		{"the session ended while it ran", Signs{List: list(minute, true), SessionOver: true}, Unknown, SessionOver, nil},
		{"the session ended after its launch", Signs{Launched: ago(minute), SessionOver: true}, Unknown, SessionOver, nil},
		{"the session ended long after it was gone", Signs{Launched: ago(hour), List: list(minute, false), SessionOver: true}, Unknown, NotListed, nil},

		// Told.
		{"ended", Signs{End: told(minute, "completed", &zero), List: list(second, false)}, Exited, Notice, &zero},
		{"failed", Signs{End: told(minute, "failed", &one)}, Exited, Notice, &one},
		{"ended, and no exit code told", Signs{End: told(minute, "completed", nil)}, Ended, Notice, nil},
		{"ended, the exit code only in its output", Signs{End: told(minute, "completed", nil), Output: open(last(exited, 3, minute), true)}, Exited, Notice, &three},
		{"ended after the last list", Signs{End: told(second, "completed", &zero), List: list(minute, true)}, Exited, Notice, &zero},
		{"ended while the list was taken", Signs{End: told(90*second, "completed", &zero), List: list(90*second, true)}, Exited, Notice, &zero},
		{"listed long after its told end", Signs{End: told(hour, "completed", &zero), List: list(second, true)}, Runs, Listed, nil},
		{"told while one watched, by a clock that was set back", Signs{End: told(hour, "completed", &zero), EndSeen: noon, List: list(second, true)}, Exited, Notice, &zero},
		{"told while one watched, and listed after that", Signs{End: told(hour, "completed", &zero), EndSeen: ago(minute), List: list(second, true), ListSeen: noon}, Runs, Listed, nil},
		{"killed", Signs{End: told(minute, "killed", nil)}, Killed, Notice, nil},
		{"stopped", Signs{End: told(minute, "stopped", nil)}, Killed, Notice, nil},
		{"cancelled", Signs{End: told(minute, "cancelled", nil)}, Killed, Notice, nil},
		{"canceled", Signs{End: told(minute, "canceled", nil)}, Killed, Notice, nil},
		{"stopped, with an exit code", Signs{End: told(minute, "stopped", &one), Output: last(exited, 1, minute)}, Killed, Notice, nil},
		{"ended by a word that nobody knows", Signs{End: told(minute, "evaporated", nil)}, Ended, Notice, nil},
		{"an event of a monitor is no end", Signs{End: told(minute, "", nil)}, Runs, Launched, nil},
		{"told and printed: the told one counts", Signs{End: told(minute, "completed", &zero), Output: dear(t, last(exited, 3, minute))}, Exited, Notice, &zero},
		{"told, whatever the output says", Signs{End: told(second, "completed", nil), Output: last(killed, 0, minute)}, Ended, Notice, nil},

		// The output's last line.
		{"its output says exited, and it is no longer listed", Signs{Output: dear(t, last(exited, 1, second)), List: list(second, false), Launched: ago(hour)}, Exited, LastLine, &one},
		{"its output says killed, and it is no longer listed", Signs{Output: last(killed, 0, second), List: list(second, false), Launched: ago(hour)}, Killed, LastLine, nil},
		{"its output says so, and no process has it open", Signs{Output: open(last(exited, 1, second), false), List: list(minute, true)}, Exited, LastLine, &one},
		{"its output says killed, and no process has it open", Signs{Output: open(last(killed, 0, second), false), List: list(minute, true)}, Killed, LastLine, nil},
		{"its output says so, and has been quiet since", Signs{Output: last(exited, 1, QuietEnd), List: list(minute, true)}, Exited, LastLine, &one},
		{"its output says killed, and has been quiet since", Signs{Output: last(killed, 0, QuietEnd), List: list(minute, true)}, Killed, LastLine, nil},
		{"the session ended after it was killed", Signs{Output: last(killed, 0, 10*second), List: list(minute, true), SessionOver: true}, Killed, LastLine, nil},

		// A command can print such a line.
		{"a command printed an end a moment ago", Signs{Output: last(exited, 0, QuietEnd-1), List: list(minute, true)}, Runs, Listed, nil},
		{"a command printed that it was killed", Signs{Output: last(killed, 0, QuietEnd-1), Launched: ago(minute)}, Runs, Launched, nil},
		{"a command printed an end and sleeps", Signs{Output: open(last(exited, 0, hour), true), Launched: ago(2 * hour)}, Runs, Launched, nil},
		{"a command printed an end and is still listed", Signs{Output: dear(t, last(exited, 0, hour)), List: list(second, true)}, Runs, Listed, nil},
		{"a command printed an end, is listed, and has another's hands on its output", Signs{Output: open(last(killed, 0, hour), false), List: list(second, true)}, Runs, Listed, nil},
		{"printed while one watched, and listed after that", Signs{Output: seenAt(last(exited, 0, hour), ago(minute)), List: list(second, true), ListSeen: noon}, Runs, Listed, nil},
		{"printed while one watched, by a clock that was set back", Signs{Output: seenAt(last(exited, 1, hour), noon), List: list(second, true)}, Exited, LastLine, &one},
	} {
		r.Task = "b1"
		f := Judge(r.Signs)
		if f.How != r.how || f.Sign != r.sign || f.Over() != (r.how != Runs) || f.Task != "b1" {
			t.Errorf("%s: %q by %s, want %q by %s", r.name, f.How, f.Sign, r.how, r.sign)
		}
		if (f.ExitCode == nil) != (r.code == nil) || f.ExitCode != nil && *f.ExitCode != *r.code {
			t.Errorf("%s: exit code %v, want %v", r.name, f.ExitCode, r.code)
		}
	}
}

func seenAt(o Output, at time.Time) Output {
	o.Seen = at
	return o
}

// Whether somebody was told is asked only of an end that the client tells.
func TestAnEndOfWhichNobodyHeard(t *testing.T) {
	t.Parallel()
	zero := 0
	for name, r := range map[string]struct {
		f    Fate
		want bool
	}{
		"told and given":       {Judge(Signs{End: told(time.Minute, "completed", &zero), Heard: true}), false},
		"told, and lost":       {Judge(Signs{End: told(time.Minute, "completed", nil)}), true},
		"told with a code":     {Judge(Signs{End: told(time.Minute, "failed", &zero)}), true},
		"killed":               {Judge(Signs{End: told(time.Minute, "stopped", nil)}), false},
		"only printed":         {Judge(Signs{Output: last(transcript.MarkExited, 0, time.Hour)}), false},
		"running":              {Judge(Signs{Launched: noon}), false},
		"an agent, given":      {JudgeAgent(AgentSigns{End: told(time.Minute, "completed", nil), Heard: true}), false},
		"an agent, and lost":   {JudgeAgent(AgentSigns{End: told(time.Minute, "completed", nil)}), true},
		"an agent, and killed": {JudgeAgent(AgentSigns{End: told(time.Minute, "killed", nil)}), false},
	} {
		if r.f.Unheard() != r.want {
			t.Errorf("%s: unheard %v", name, r.f.Unheard())
		}
	}
}

func TestWhatBecameOfAnAgent(t *testing.T) {
	t.Parallel()
	const minute, hour = time.Minute, time.Hour
	end, killed, parked := told(minute, "completed", nil), told(minute, "killed", nil), told(minute, "completed", nil)
	parked.Parked = true
	for _, r := range []struct {
		name string
		AgentSigns
		how  How
		sign Sign
	}{
		{"at work", AgentSigns{Working: true}, Runs, Agent},
		{"at work again after its end was told", AgentSigns{Working: true, End: end}, Runs, Agent},
		{"parked: told an end, own work unfinished", AgentSigns{End: parked, Unfinished: true, Owns: true}, Runs, Agent},
		{"parked, and nothing tells for what", AgentSigns{End: parked}, Runs, Agent},
		{"parked, and no longer listed", AgentSigns{End: parked, List: list(0, false)}, Ended, Notice},
		{"parked, and its own work ended without a word to it", AgentSigns{End: parked, Owns: true}, Ended, Notice},
		{"an older client's: told an end, own work unfinished", AgentSigns{End: end, Unfinished: true, Owns: true}, Runs, Agent},
		{"ended", AgentSigns{End: end}, Ended, Notice},
		{"failed", AgentSigns{End: told(minute, "failed", nil)}, Ended, Notice},
		{"killed", AgentSigns{End: killed}, Killed, Notice},
		{"stopped, own work unfinished", AgentSigns{End: told(minute, "stopped", nil), Unfinished: true, Owns: true}, Killed, Notice},
		{"an end of an earlier life", AgentSigns{End: end, Since: noon, List: list(0, true)}, Runs, Listed},
		{"an end of an earlier life, and the session is over", AgentSigns{End: end, Since: noon, SessionOver: true}, Unknown, SessionOver},
		{"parked when the session ended", AgentSigns{End: parked, SessionOver: true}, Unknown, SessionOver},
		{"listed long after its told end", AgentSigns{End: told(hour, "completed", nil), List: list(0, true)}, Runs, Listed},
		{"told while one watched, by a clock that was set back", AgentSigns{End: told(hour, "completed", nil), EndSeen: noon, List: list(0, true)}, Ended, Notice},
		{"no end told yet, and still listed", AgentSigns{List: list(0, true)}, Runs, Listed},
		{"no end told, and no longer listed", AgentSigns{List: list(0, false)}, Unknown, NotListed},
		{"the session ended", AgentSigns{SessionOver: true}, Unknown, SessionOver},
	} {
		r.Task = "b1"
		if f := JudgeAgent(r.AgentSigns); f.How != r.how || f.Sign != r.sign {
			t.Errorf("%s: %q by %s, want %q by %s", r.name, f.How, f.Sign, r.how, r.sign)
		}
	}
}
