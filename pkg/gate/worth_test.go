package gate

import (
	"testing"
	"time"
)

// Who decides whether a task is waited for, and in which order they count.
func TestWhatATaskIsWorth(t *testing.T) {
	t.Parallel()
	person := func(says Says) func(*Signs) { return func(s *Signs) { s.Person, s.PersonWords = says, "person" } }
	does := func(d Does) func(*Signs) { return func(s *Signs) { s.Does, s.DoesWords = d, "does" } }
	ends := func(s *Signs) { s.Ends, s.HistoryWords = true, "ended" }
	left := func(age time.Duration) func(*Signs) {
		return func(s *Signs) { s.Left, s.Age, s.HistoryWords = true, age, "left" }
	}
	never := func(s *Signs) { s.Never, s.TextWords = true, "never ends: x" }
	build := func(s *Signs) { s.TextWords = "ends: x" }
	for _, c := range []struct {
		name string
		is   []func(*Signs)
		wait bool
		by   By
	}{
		{"nothing is known", nil, true, ByNothing},
		{"its text ends", []func(*Signs){build}, true, ByText},
		{"its text never ends", []func(*Signs){never}, false, ByText},
		{"it works", []func(*Signs){does(Works)}, true, ByProcesses},
		{"it serves", []func(*Signs){build, does(Serves)}, false, ByProcesses},
		{"it is idle", []func(*Signs){build, does(Idle)}, false, ByProcesses},
		{"it is idle, and ended before", []func(*Signs){does(Idle), ends}, true, ByHistory},
		{"it serves, and ended before", []func(*Signs){does(Serves), ends}, false, ByProcesses},
		{"its text never ends, but it did before", []func(*Signs){never, ends}, true, ByHistory},
		{"it was left running twice, a moment ago", []func(*Signs){left(NeverEnded - 1)}, true, ByNothing},
		{"it was left running twice", []func(*Signs){left(NeverEnded)}, false, ByHistory},
		{"it was left running twice, and works", []func(*Signs){left(NeverEnded), does(Works)}, false, ByHistory},
		{"it was left running twice a moment ago, and its text never ends", []func(*Signs){left(0), never}, false, ByText},
		{"its text never ends, and it works", []func(*Signs){never, does(Works)}, false, ByText},
		{"a person released it, whatever else", []func(*Signs){person(LetItRun), does(Works), ends, build}, false, ByPerson},
		{"a person wants it waited for, whatever else", []func(*Signs){person(WaitForIt), does(Serves), left(time.Hour), never}, true, ByPerson},
	} {
		var s Signs
		for _, is := range c.is {
			is(&s)
		}
		w := Weigh(s)
		if w.Wait != c.wait || w.By != c.by || w.Idle != (c.name == "it is idle") || w.By != ByNothing && w.Words == "" {
			t.Errorf("%s: %+v", c.name, w)
		}
	}
}

func TestWorthInWords(t *testing.T) {
	t.Parallel()
	for want, w := range map[string]Worth{
		"not waited for (processes): serves: listens on 5173, idle 60 s": {By: ByProcesses, Words: "serves: listens on 5173, idle 60 s"},
		"waited for (history): ended before":                             {Wait: true, By: ByHistory, Words: "ended before"},
		"waited for":                                                     {Wait: true},
		"waited for: quiet: idle 5 s":                                    {Wait: true, Words: "quiet: idle 5 s"},
	} {
		if w.String() != want {
			t.Errorf("%q, want %q", w, want)
		}
	}
	if a, b := Usually(12*time.Minute, 3), Usually(40*time.Second, 1); a != "usually 12 min, 3 so far" || b != "usually 40 s, 1 so far" {
		t.Errorf("%q, %q", a, b)
	}
}
