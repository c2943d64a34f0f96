// Package process looks at what the processes of a background shell do. The
// client gives the shell and all its children the task's output file as stdout
// and stderr (docs/client.md: the processes of a background shell), so a file
// leads to the tree that writes to it, and successive looks at that tree lead to a
// verdict: it works, it serves, it is idle, it is gone.
//
// No process is ever touched, only looked at, and only those of the same user.
// What is judged is what processes do, never what they are called. On Linux the
// system tells all of it; elsewhere nothing can be told without cgo but the size
// of the output, and every look says so.
package process

import (
	"os"
	"slices"
	"time"
)

// TicksPerSecond is how many clock ticks of processor time make a second. It is
// 100 in what Linux shows to programs, whatever the kernel itself counts with.
const TicksPerSecond = 100

// Process is one process of a tree, as it was at a look. The zero value is none.
type Process struct {
	PID    int
	Parent int
	// Start is when it started, in ticks since the boot: together with PID it
	// names a process for ever.
	Start uint64
	// Own are the ticks of processor time that it used itself, Reaped those of the
	// children it has waited for, and theirs.
	Own, Reaped uint64
	// Written are the bytes that it and the children it waited for wrote, to
	// whatever; 0 in a look that was not [Tree.Weighed].
	Written uint64
	// Runs marks one that is running, or would be if a processor were free.
	Runs bool
	// Leads marks the leader of a session, as the client's shells are.
	Leads bool
	// Writes marks one whose stdout or stderr is the output file.
	Writes bool
	// Ended marks one that has ended and was not waited for yet: only the ticks
	// that it used still count.
	Ended bool
}

// Tree is one look at a task: the processes of this user whose stdout or stderr
// is its output file, and their descendants.
type Tree struct {
	// Processes are sorted by PID.
	Processes []Process
	// Size is the length of the output file in bytes, -1 where there is none.
	Size int64
	// Others counts processes of other users in the tree: what they do is not
	// looked at.
	Others int
	// Sure marks a look that would have seen any process of the task, so that
	// none means that there is none.
	Sure bool
	// Weighed is set where it was looked at what the processes wrote.
	Weighed bool

	// Deep marks a look at all that the processes hold open: what the fields below
	// do not say is not so. Without it they may say less than there is.
	Deep bool
	// Ports are the TCP ports that the tree listens on, at most 8 of them;
	// Listens is set where there is any.
	Listens bool
	Ports   []int
	// Watches is set where the tree watches at least one file or folder
	// (inotify, fanotify).
	Watches bool
}

// PIDs are the processes of the tree that have not ended.
func (t Tree) PIDs() []int {
	var pids []int
	for _, p := range t.Processes {
		if !p.Ended {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// Ticks is the processor time of the tree in ticks: what its processes used, and
// what the children they waited for did.
func (t Tree) Ticks() uint64 {
	n := uint64(0)
	for _, p := range t.Processes {
		n += p.Own + p.Reaped
	}
	return n
}

// alive tells whether the tree has a process that has not ended.
func (t Tree) alive() bool {
	return slices.ContainsFunc(t.Processes, func(p Process) bool { return !p.Ended })
}

// launcher is the shell that the client started: the leader of a session among
// those that write to the output file.
func (t Tree) launcher() (Process, bool) {
	for _, p := range t.Processes {
		if p.Writes && p.Leads && !p.Ended {
			return p, true
		}
	}
	return Process{}, false
}

// Held tells whether a process has a file as its stdout or stderr, and whether that
// can be told: that none was seen may also be because it cannot be seen.
func Held(output string) (held, known bool) {
	found, ok := scan(system, &memory{}, []ask{{output: output}}, 0)
	held = len(found[0].tree.PIDs()) > 0
	return held, ok && (held || found[0].tree.Sure)
}

// AtOnce judges a task that was launched long ago by one look, where none can follow:
// it serves if it listens or watches, wrote nothing for a while, and used in all its
// life what one uses that starts and is idle then. The zero verdict says nothing.
func AtOnce(output string, launched, now time.Time) Verdict {
	age := now.Sub(launched)
	info, err := os.Stat(output)
	if launched.IsZero() || age < ServesAfter || err != nil || now.Sub(info.ModTime()) < ServesAfter {
		return Verdict{}
	}
	const start = 3 * TicksPerSecond
	tree, ok := Look(output)
	if !ok || tree.Others > 0 || !tree.Listens && !tree.Watches || tree.Ticks() > start+uint64(age.Seconds()) {
		return Verdict{}
	}
	l := Observation{Tree: tree}
	quiet := now.Sub(info.ModTime())
	return idle(Serves, does(&l)+"no output for", quiet)
}

// Look looks once at a task by its output file. ok is false where the system
// does not tell; the tree's Size is told wherever the file can be seen.
func Look(output string) (tree Tree, ok bool) {
	found, ok := scan(system, &memory{}, []ask{{output: output}}, 0)
	if ok {
		deepen(system, &found[0].tree)
	}
	return found[0].tree, ok
}

// ask is a task to look at.
type ask struct {
	output string
	// file is the output file as an earlier look found it, zero for none: it leads
	// to the processes also where the file was renamed or replaced since.
	file identity
	// launcher is the shell that an earlier look found, zero for none: it stays
	// the task's when it leads its output elsewhere.
	launcher Process
}

// answer is what a look found.
type answer struct {
	tree Tree
	file identity
}

// identity names a file on its volume, whatever its path.
type identity struct {
	major, minor uint32
	inode        uint64
}

// memory is what one look leaves for the next one. Its zero value is ready.
type memory struct {
	// strangers are processes that belong to no task: they never will, and need
	// not be looked at again while they live.
	strangers map[int]bool
	// ours are processes of tasks that are known to be this user's, with their
	// starts.
	ours map[int]uint64
	// looks counts those that used the memory.
	looks int
}
