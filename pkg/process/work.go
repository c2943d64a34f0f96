package process

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// work is what a task did between two looks. The zero value is nothing.
type work struct {
	// words say what it was, "" for nothing.
	words string
	// much marks what a task that is idle does not do either.
	much bool
}

// outward is the work that shows without looking at processes.
func outward(last, now *Observation) work {
	known := now.Size >= 0 && last.Size >= 0
	switch {
	case known && now.Size > last.Size:
		return work{"its output grew by " + bytesOf(now.Size-last.Size), true}
	case known && now.Size != last.Size:
		return work{"its output was begun anew", true}
	case now.Grew:
		return work{"its transcript grew", true}
	}
	return work{}
}

// A tank holds processor time: it drains at a rate, and is empty again when it has
// run over. So a task may use a little all the time, and a little more now and
// then.
type tank struct {
	// rate is what drains, in ticks a second, and room what it holds, in ticks.
	rate, room float64
	level      float64
}

// add tells whether the tank runs over.
func (t *tank) add(ticks uint64, d time.Duration) bool {
	t.level = max(0, t.level+float64(ticks)-t.rate*d.Seconds())
	if t.level <= t.room {
		return false
	}
	t.level = 0
	return true
}

// tanks are the rules for processor time.
type tanks struct {
	// serves is what a tree may use that serves, lasts what the processes of one
	// that is idle may use that last, and polls what all of them may.
	serves, lasts, polls tank
}

// newTanks has the numbers. A tree is idle that uses no more than 2 ticks in 2 s
// (docs/client.md: the processes of a background shell); and what idles in an
// interpreter tidies up once in a minute or two, for up to 6 ticks (vite, nodemon
// and vitest were seen to). A poll loop is idle too:
// its shell lasts and does next to nothing, but what it starts each time is a
// program that loads and ends. Measured in ticks a second: `sleep 1` 0.1, `grep;
// sleep 1` 0.3, `curl; sleep 1` 0.9, `sleep 0.1` 1.4, `pgrep; sleep 1` 1.4, `node
// -e; sleep 5` 1.5, `python3 -c; sleep 5` 3.2.
func newTanks() tanks {
	return tanks{
		serves: tank{rate: 1, room: 10},
		lasts:  tank{rate: 1, room: 60},
		polls:  tank{rate: 5, room: 300},
	}
}

// maxWriting is how many bytes a second a task may write, to whatever, that is
// idle: a download writes more, and a build whose output is led elsewhere.
const maxWriting = 64 << 10

// inward is the work that the processes show.
func (t *tanks) inward(last, now *Observation, gap time.Duration) work {
	d := compare(&last.Tree, &now.Tree)
	serves, lasts, polls := t.serves.add(d.used, gap), t.lasts.add(d.lasting, gap), t.polls.add(d.used, gap)
	switch {
	case serves || lasts || polls:
		return work{share(d.used, gap), lasts || polls}
	case last.alive() && d.lasted == 0:
		return work{"none of its processes is an old one", true}
	case d.waits && gap > 0:
		return work{"it waits for a processor", true}
	case last.Weighed && now.Weighed && float64(d.wrote) > maxWriting*gap.Seconds():
		return work{"it wrote " + bytesOf(int64(min(d.wrote, 1<<62))), true}
	}
	return work{}
}

// difference is what changed in a tree between two looks.
type difference struct {
	// used are the ticks of processor time of all its processes, lasting those of
	// the ones that were there at both looks, without what their children used.
	used, lasting uint64
	// lasted counts those, and wrote what they wrote.
	lasted int
	wrote  uint64
	// waits is set where one of them wanted a processor at both.
	waits bool
}

func compare(last, now *Tree) (d difference) {
	was, is := places(last), places(now)
	lasts := func(p Process) bool {
		i, was := was[p.PID]
		k, is := is[p.PID]
		return was && is && last.Processes[i].Start == now.Processes[k].Start
	}
	for _, p := range now.Processes {
		if !lasts(p) || p.Ended {
			continue
		}
		old := &last.Processes[was[p.PID]]
		d.lasted++
		d.lasting += p.Own - min(p.Own, old.Own)
		d.wrote += p.Written - min(p.Written, old.Written)
		d.waits = d.waits || p.Runs && old.Runs
	}
	// What a process used that is gone was counted before. It has gone to the one
	// that waited for it; where there is none left of those that it comes from, it
	// is lost.
	then := uint64(0)
	for _, p := range last.Processes {
		for heir, up := p, 0; up < len(was); up++ {
			if lasts(heir) {
				then += p.Own + p.Reaped
				break
			}
			i, known := was[heir.Parent]
			if !known {
				break
			}
			heir = last.Processes[i]
		}
	}
	ticks := now.Ticks()
	d.used = ticks - min(ticks, then)
	return d
}

// places are where the processes stand in a tree, by PID.
func places(t *Tree) map[int]int {
	at := make(map[int]int, len(t.Processes))
	for i, p := range t.Processes {
		at[p.PID] = i
	}
	return at
}

// does says what a tree holds open, with a comma behind it; "" for nothing.
func does(t *Observation) string {
	var parts []string
	if len(t.Ports) > 0 {
		ports := make([]string, len(t.Ports))
		for i, p := range t.Ports {
			ports[i] = strconv.Itoa(p)
		}
		parts = append(parts, "listens on "+strings.Join(ports, " and "))
	}
	if t.Watches {
		parts = append(parts, "watches files")
	}
	return strings.Join(append(parts, ""), ", ")
}

// share is processor time in words.
func share(ticks uint64, d time.Duration) string {
	if d <= 0 {
		return "it used a processor"
	}
	return fmt.Sprintf("it used %.0f %% of a processor", float64(ticks)*100/TicksPerSecond/d.Seconds())
}

// span is a duration in words: "60 s", "12 min".
func span(d time.Duration) string {
	if d < 2*time.Minute {
		return strconv.Itoa(int(d.Seconds())) + " s"
	}
	return strconv.Itoa(int(d.Minutes())) + " min"
}

// bytesOf is a number of bytes in words.
func bytesOf(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " bytes"
	case n < 1000_000:
		return strconv.FormatInt(n/1000, 10) + " kB"
	}
	return strconv.FormatInt(n/1000_000, 10) + " MB"
}
