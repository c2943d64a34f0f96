package process

import (
	"fmt"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// step is how often the task of a test is looked at.
const step = 3 * time.Second

// life is a task as its looks find it, in steps.
type life func(n int) Observation

// shell is a shell that has started something; more changes the look.
func shell(more ...func(n int, o *Observation)) life {
	return func(n int) Observation {
		o := Observation{Told: true, Tree: Tree{Size: 100, Deep: true, Processes: []Process{
			{PID: 10, Parent: 1, Start: 1, Leads: true, Writes: true},
			{PID: 11, Parent: 10, Start: 2, Own: 500, Writes: true},
		}}}
		for _, m := range more {
			m(n, &o)
		}
		return o
	}
}

func listens(port int) func(int, *Observation) {
	return func(_ int, o *Observation) { o.Listens, o.Ports = true, []int{port} }
}

func watches(_ int, o *Observation) { o.Watches = true }

// uses is processor time that the shell's child uses in each step.
func uses(ticks int) func(int, *Observation) {
	return func(n int, o *Observation) { o.Processes[1].Own += uint64(n * ticks) }
}

// polls is processor time of children that the shell starts and waits for.
func polls(ticks int) func(int, *Observation) {
	return func(n int, o *Observation) {
		o.Processes[0].Reaped = uint64(n * ticks)
		o.Processes[1] = Process{PID: 1000 + n, Parent: 10, Start: uint64(1000 + n)}
	}
}

// every does something once in so many steps.
func every(steps int, more func(int, *Observation)) func(int, *Observation) {
	return func(n int, o *Observation) { more(n/steps, o) }
}

// between does something in some of the steps only.
func between(from, to int, more func(int, *Observation)) func(int, *Observation) {
	return func(n int, o *Observation) {
		if n >= from && n < to {
			more(n, o)
		}
	}
}

func prints(n int, o *Observation) { o.Size += int64(10 * n) }

func gone(_ int, o *Observation) { o.Processes = nil }

// What a task does, and what it is taken for after a time.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const minute = int(time.Minute / step)
	cases := []struct {
		name string
		life life
		// after is the step of the look that is judged.
		after int
		want  string
	}{
		{"a server that is looked at for the first time", shell(listens(5173)), 0, "quiet: seen for the first time"},
		{"a server that has been idle for half a minute", shell(listens(5173)), minute / 2, "quiet: listens on 5173, idle 30 s"},
		{"a server that has been idle for a minute", shell(listens(5173)), minute, "serves: listens on 5173, idle 60 s"},
		{"a watcher", shell(watches), minute, "serves: watches files, idle 60 s"},
		{"a server that watches", shell(listens(5173), watches), minute, "serves: listens on 5173, watches files, idle 60 s"},
		{"a server on several ports", shell(func(_ int, o *Observation) { o.Listens, o.Ports = true, []int{80, 443} }), minute, "serves: listens on 80 and 443, idle 60 s"},
		{"a server that starts for twenty seconds", shell(listens(80), between(0, 7, uses(200)), between(7, 999, func(_ int, o *Observation) { o.Processes[1].Own += 1200 })), minute, "quiet: listens on 80, idle 42 s"},
		{"the same a while later", shell(listens(80), between(0, 7, uses(200)), between(7, 999, func(_ int, o *Observation) { o.Processes[1].Own += 1200 })), minute + 6, "serves: listens on 80, idle 60 s"},
		{"a server that uses as little as an idle one may", shell(listens(80), uses(3)), minute, "serves: listens on 80, idle 60 s"},
		{"a server that collects its garbage now and then", shell(listens(80), every(7, uses(5))), minute, "serves: listens on 80, idle 60 s"},
		{"a server that prints a line now and then", shell(listens(80), every(10, prints)), 4*minute + 5, "quiet: listens on 80, idle 15 s"},
		{"a server that is asked all the time", shell(listens(80), uses(9)), 30 * minute, "works: it used 3 % of a processor"},
		{"a test run that listens for its own tests", shell(listens(41234), uses(150)), 20 * minute, "works: it used 50 % of a processor"},
		{"a test run that listens and prints", shell(listens(41234), prints), 20 * minute, "works: its output grew by 10 bytes"},
		{"a server, and a loop that asks it", shell(listens(80), polls(9)), 11 * minute, "serves: listens on 80, nearly idle 11 min"},

		{"a quiet sleep after 75 s", shell(), 25, "quiet: idle 75 s"},
		{"a quiet sleep just before the end of ten minutes", shell(), 10*minute - 1, "quiet: idle 9 min"},
		{"a quiet sleep after ten minutes", shell(), 10 * minute, "idle: listens on nothing, watches nothing, idle 10 min"},
		{"a poll loop with sleep 1", shell(every(10, polls(1))), 10 * minute, "idle: listens on nothing, watches nothing, idle 10 min"},
		{"a poll loop with curl", shell(polls(3)), 10 * minute, "idle: listens on nothing, watches nothing, idle 10 min"},
		{"a poll loop with an interpreter, after five minutes", shell(polls(10)), 5 * minute, "works: it used 3 % of a processor"},
		{"a poll loop with an interpreter, after ten", shell(polls(10)), 10 * minute, "idle: listens on nothing, watches nothing, idle 10 min"},
		{"a poll loop with a slow program once in 15 s", shell(every(5, polls(60))), 10 * minute, "idle: listens on nothing, watches nothing, idle 10 min"},
		{"a build of many short programs", shell(polls(200)), 30 * minute, "works: it used 67 % of a processor"},
		{"a build of many short programs on a machine that is busy", shell(polls(30)), 30 * minute, "works: it used 10 % of a processor"},
		{"one that hangs after a build", shell(between(0, 100, uses(300)), between(100, 9999, func(_ int, o *Observation) { o.Processes[1].Own += 99 * 300 })), 100 + 10*minute, "idle: listens on nothing, watches nothing, idle 10 min"},
		{"one that works slowly", shell(uses(6)), 30 * minute, "works: it used 2 % of a processor"},
		{"one that prints a dot a minute", shell(every(minute, prints)), 30*minute + 5, "quiet: idle 15 s"},
		{"one whose output was begun anew", shell(func(n int, o *Observation) { o.Size = int64(10000 - n) }), 11 * minute, "works: its output was begun anew"},
		{"one whose child agent works", shell(func(n int, o *Observation) { o.Grew = n%10 == 0 }), 20 * minute, "works: its transcript grew"},
		{"one that waits for a processor", shell(func(_ int, o *Observation) { o.Processes[1].Runs = true }), 11 * minute, "works: it waits for a processor"},
		{"one whose processes run now and then", shell(polls(1), every(2, func(n int, o *Observation) { o.Processes[1].Runs = n%2 == 0 })), 10 * minute, "idle: listens on nothing, watches nothing, idle 10 min"},
		{"a download", shell(func(n int, o *Observation) { o.Weighed, o.Processes[1].Written = true, uint64(n*300_000) }), 11 * minute, "works: it wrote 300 kB"},
		{"one that writes a little", shell(func(n int, o *Observation) { o.Weighed, o.Processes[1].Written = true, uint64(n*3000) }), 10 * minute, "idle: listens on nothing, watches nothing, idle 10 min"},
		{"one that had written much before that was looked at", shell(between(5*minute, 999, func(_ int, o *Observation) { o.Weighed, o.Processes[1].Written = true, 1<<40 })), 10 * minute, "idle: listens on nothing, watches nothing, idle 10 min"},
		{"a tree that forks all the time", shell(func(n int, o *Observation) {
			o.Processes = []Process{{PID: 1000 + n, Parent: 1, Start: uint64(n), Writes: true}}
		}), 11 * minute, "works: none of its processes is an old one"},
		{"one of which not all can be looked at", shell(func(_ int, o *Observation) { o.Deep = false }), 10 * minute, "unknown: not all of it could be looked at, idle 10 min"},

		{"one that runs a program as another user", shell(func(_ int, o *Observation) { o.Others = 1 }), 10 * minute, "unknown: part of it runs as another user, idle 10 min"},
		{"one that runs a program as another user and listens", shell(listens(80), func(_ int, o *Observation) { o.Others = 1 }), 10 * minute, "unknown: part of it runs as another user, idle 10 min"},
		{"one that runs a program as another user, and works", shell(uses(100), func(_ int, o *Observation) { o.Others = 1 }), 10 * minute, "works: it used 33 % of a processor"},
		{"a task of another user", shell(gone, func(_ int, o *Observation) { o.Others = 2 }), 10 * minute, "unknown: part of it runs as another user, idle 10 min"},
		{"one that no process was ever seen of", shell(gone), 10 * minute, "unknown: no process of it was found, no output for 10 min"},
		{"one that no process was ever seen of, where that is sure", shell(gone, func(_ int, o *Observation) { o.Sure = true }), 1, "gone: no process is left"},
		{"the first look of that", shell(gone, func(_ int, o *Observation) { o.Sure = true }), 0, "quiet: no process was found at this look"},
		{"one whose processes were gone once", shell(between(50, 999, gone)), 50, "quiet: no process was found at this look"},
		{"one whose processes were gone twice", shell(between(50, 999, gone)), 51, "gone: no process is left"},
		{"one that has ended and was not waited for", shell(between(50, 999, func(_ int, o *Observation) { o.Processes = []Process{{PID: 10, Start: 1, Ended: true}} })), 51, "gone: no process is left"},
		{"one whose processes were gone once, twice", shell(between(50, 51, gone), between(52, 53, gone)), 52, "quiet: no process was found at this look"},
		{"one whose processes are gone while its output grows", shell(between(50, 999, gone), between(50, 52, prints)), 51, "works: its output grew by 10 bytes"},
		{"the same a while later", shell(between(50, 999, gone), between(50, 9999, func(_ int, o *Observation) { o.Size = 200 })), 52, "gone: no process is left"},

		{"a system that tells nothing, and the output grows", shell(gone, prints, untold), 11 * minute, "works: its output grew by 10 bytes"},
		{"a system that tells nothing, and no output", shell(gone, untold), 11 * minute, "unknown: the system tells nothing of its processes, no output for 11 min"},
		{"a system that tells nothing of a child agent's work", shell(gone, untold, func(_ int, o *Observation) { o.Grew = true }), 11 * minute, "works: its transcript grew"},
		{"a system that tells nothing, not even of a file", shell(gone, untold, func(_ int, o *Observation) { o.Size = -1 }), 60, "unknown: the system tells nothing of its processes, no output for 3 min"},
		{"a system that tells no more", shell(between(5, 999, untold), between(5, 999, gone)), 10, "unknown: the system tells nothing of its processes, no output for 30 s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var j Judge
			var got Verdict
			for n := range c.after + 1 {
				o := c.life(n)
				o.At = noon.Add(time.Duration(n) * step)
				got = j.See(o)
			}
			if got.String() != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func untold(_ int, o *Observation) { o.Told = false }

// How often a task is looked at does not change what it is taken for.
func TestVerdictsAtAnyPace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		ticks  float64 // that the lasting child uses in a second
		serves bool
	}{
		{"idle", 0, true},
		{"as idle as may be", 1, true},
		{"a little less idle", 1.3, false},
		{"slow", 2, false},
		{"busy", 50, false},
	} {
		for _, pace := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 25 * time.Second} {
			var j Judge
			var got Verdict
			for n := 0; time.Duration(n)*pace <= 5*time.Minute; n++ {
				o := shell(listens(80), func(n int, o *Observation) { o.Processes[1].Own += uint64(float64(n) * c.ticks * pace.Seconds()) })(n)
				o.At = noon.Add(time.Duration(n) * pace)
				if got = j.See(o); got.Kind == Serves && !c.serves {
					break
				}
			}
			if (got.Kind == Serves) != c.serves || c.name == "busy" && got.Kind != Works {
				t.Errorf("%s, looked at every %v: %s", c.name, pace, got)
			}
		}
	}
}

// Neither a machine that slept nor a clock that was set back has watched a task
// being idle.
func TestTimeThatNobodyWatched(t *testing.T) {
	t.Parallel()
	var j Judge
	at := noon
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{0, "quiet: seen for the first time"},
		{8 * time.Hour, "quiet: listens on 80, idle 30 s"},
		{-24 * time.Hour, "quiet: listens on 80, idle 30 s"},
		{3 * time.Second, "quiet: listens on 80, idle 33 s"},
		{8 * time.Hour, "serves: listens on 80, idle 63 s"},
	} {
		at = at.Add(c.after)
		o := shell(listens(80))(0)
		o.At = at
		if got := j.See(o).String(); got != c.want {
			t.Errorf("after %v: %s, want %s", c.after, got, c.want)
		}
	}
}

// What the processes of a tree used between two looks, whatever became of them.
func TestProcessorTime(t *testing.T) {
	t.Parallel()
	type tree = []Process
	sh := func(reaped uint64) Process { return Process{PID: 1, Start: 1, Reaped: reaped} }
	cases := []struct {
		name          string
		last, now     tree
		used, lasting uint64
	}{
		{"nothing", tree{sh(0)}, tree{sh(0)}, 0, 0},
		{"one worked", tree{sh(0), {PID: 2, Parent: 1, Own: 50}}, tree{sh(0), {PID: 2, Parent: 1, Own: 70}}, 20, 20},
		{"one came", tree{sh(0)}, tree{sh(0), {PID: 2, Parent: 1, Own: 7}}, 7, 0},
		{"one came and went", tree{sh(0)}, tree{sh(9)}, 9, 0},
		{"one ended that had worked before", tree{sh(0), {PID: 2, Parent: 1, Own: 500}}, tree{sh(505)}, 5, 0},
		{"one ended and is not waited for yet", tree{sh(0), {PID: 2, Parent: 1, Own: 500}}, tree{sh(0), {PID: 2, Parent: 1, Own: 505, Ended: true}}, 5, 0},
		{"it is waited for", tree{sh(0), {PID: 2, Parent: 1, Own: 505, Ended: true}}, tree{sh(505)}, 0, 0},
		{"one ended with its parent", tree{sh(0), {PID: 2, Parent: 1, Own: 3}, {PID: 3, Parent: 2, Own: 500}}, tree{sh(510)}, 7, 0},
		{"one ended that nobody here waits for", tree{sh(0), {PID: 3, Parent: 99, Own: 500}, {PID: 4, Parent: 1, Own: 5}}, tree{sh(0), {PID: 4, Parent: 1, Own: 8}}, 3, 3},
		{"its number went to another", tree{sh(0), {PID: 2, Parent: 1, Start: 5, Own: 500}}, tree{sh(500), {PID: 2, Parent: 1, Start: 9, Own: 4}}, 4, 0},
		{"the launcher ended", tree{sh(0), {PID: 2, Parent: 1, Own: 500}}, tree{{PID: 2, Parent: 77, Own: 501}}, 1, 1},
		{"less than before", tree{sh(100)}, tree{sh(50)}, 0, 0},
		{"parents in a circle", tree{{PID: 8, Parent: 9}, {PID: 9, Parent: 8}}, tree{sh(0)}, 0, 0},
	}
	for _, c := range cases {
		d := compare(&Tree{Processes: c.last}, &Tree{Processes: c.now})
		if d.used != c.used || d.lasting != c.lasting {
			t.Errorf("%s: used %d, lasting %d; want %d, %d", c.name, d.used, d.lasting, c.used, c.lasting)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{0: "0 s", 59900 * time.Millisecond: "59 s", 90 * time.Second: "90 s", 2 * time.Minute: "2 min", 179 * time.Second: "2 min", time.Hour: "60 min"} {
		if got := span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1 kB", 999_999: "999 kB", 5_000_000: "5 MB"} {
		if got := bytesOf(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	if got := fmt.Sprintf("%v, %v, %s", Verdict{}, Verdict{Kind: Works}, share(5, 0)); got != ", works, it used a processor" {
		t.Errorf("%q", got)
	}
}
