package process

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// status is a process as its stat file tells it.
type status struct {
	Process
	session int
}

// parseStat reads the line of a stat file. The name in it may hold anything,
// parentheses, blanks and line breaks included: what counts stands behind the
// last parenthesis.
func parseStat(line []byte) (st status, ok bool) {
	const ( // fields behind the name, in the order of proc_pid_stat(5)
		state   = 0
		parent  = 1
		session = 3
		own     = 11 // and 12, the kernel's part
		reaped  = 13 // and 14
		threads = 17
		start   = 19
	)
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return st, false
	}
	fields := bytes.Fields(line[end+1:])
	pid, err := strconv.Atoi(string(bytes.TrimSpace(line[:open])))
	if err != nil || len(fields) <= start {
		return st, false
	}
	number := func(i int) uint64 {
		n, err := strconv.ParseUint(string(fields[i]), 10, 63)
		if err != nil {
			return 0 // "-1", which the kernel gives for what it does not have
		}
		return n
	}
	st.PID, st.Parent, st.session = pid, int(number(parent)), int(number(session))
	st.Own, st.Reaped, st.Start = number(own)+number(own+1), number(reaped)+number(reaped+1), number(start)
	st.Leads = st.session == pid
	switch fields[state][0] {
	case 'R':
		st.Runs = true
	case 'Z', 'X':
		st.Ended = number(threads) <= 1 // else only its first thread has
	}
	return st, true
}

// trees gathers the tree of each task.
func (s *pass) trees(client int) {
	children := map[int][]int{}
	for pid, st := range s.stat {
		children[st.Parent] = append(children[st.Parent], pid)
	}
	lost := false
	for i := range s.found {
		s.grow(i, children)
		tree := &s.found[i].tree
		s.hidden(tree, children)
		lost = lost || len(tree.Processes)+tree.Others == 0
	}
	if lost && s.sure(client) {
		for i := range s.found {
			s.found[i].tree.Sure = s.found[i].file != identity{}
		}
	}
}

// grow gathers the tree of a task: those that write to its output, the shell that
// did, and all that they started.
func (s *pass) grow(task int, children map[int][]int) {
	var next []int
	for pid, file := range s.holds {
		if s.output(task, file) {
			next = append(next, pid)
		}
	}
	launcher := s.asks[task].launcher
	if st, ok := s.stat[launcher.PID]; ok && launcher.PID != 0 && st.Start == launcher.Start {
		next = append(next, st.PID)
	}
	tree, taken := &s.found[task].tree, map[int]bool{}
	var members []int
	for ; len(next) > 0; next = next[1:] {
		st, ok := s.stat[next[0]]
		if !ok || taken[st.PID] {
			continue
		}
		taken[st.PID] = true
		ours, there := s.ours(st.Process)
		if there && !ours && !st.Ended || len(members) == maxTree {
			tree.Others++
			continue
		}
		st.Ended = st.Ended || !there // since its stat file was read
		st.Writes = s.output(task, s.holds[st.PID])
		s.stat[st.PID] = st
		members = append(members, st.PID)
		next = append(next, children[st.PID]...)
	}
	slices.Sort(members)
	for _, pid := range members {
		tree.Processes = append(tree.Processes, s.stat[pid].Process)
	}
}

// ours tells whether a process is this user's, and whether it is still there.
func (s *pass) ours(p Process) (ours, there bool) {
	if start, known := s.known[p.PID]; known && start == p.Start {
		return true, true
	}
	st, err := s.see(s.root, strconv.Itoa(p.PID))
	return err == nil && st.Uid == s.uid, err == nil
}

// there tells whether a process can be seen now.
func (s *pass) there(pid int) bool {
	_, ok := parseStat(s.read(strconv.Itoa(pid) + "/stat"))
	return ok
}

// hidden counts children that the system shows to nobody but their user
// (hidepid): a process without children in sight may be waiting for one.
func (s *pass) hidden(tree *Tree, children map[int][]int) {
	if s.uid == 0 || s.there(1) {
		return
	}
	for _, p := range tree.Processes {
		if p.Ended || len(children[p.PID]) > 0 {
			continue
		}
		pid := strconv.Itoa(p.PID)
		for _, child := range strings.Fields(string(s.read(pid + "/task/" + pid + "/children"))) {
			n, err := strconv.Atoi(child)
			if _, seen := s.stat[n]; err == nil && !seen && !s.there(n) {
				tree.Others++
			}
		}
	}
}

// sure tells whether a task that no process is known of has none. It may have led
// its output elsewhere (`exec >log`): so the client must be in sight, and each of
// its shells must write to the output file of a task in the same folder. client is
// 0 where it is unknown.
func (s *pass) sure(client int) bool {
	if _, there := s.stat[client]; !there || client <= 0 {
		return false
	}
	for _, st := range s.stat {
		if st.Parent != client || !st.Leads || st.Ended || s.holds[st.PID] != (identity{}) {
			continue
		}
		pid := strconv.Itoa(st.PID)
		if in, err := s.see(s.root, pid+"/fd/0"); err == nil && in.Mode&unix.S_IFMT != unix.S_IFCHR {
			continue // a hook or a server of tools: its stdin comes from the client
		}
		n, _ := unix.Readlinkat(s.root, pid+"/fd/1", s.buf[:]) // -1 for one of another user
		folder := filepath.Dir(string(s.buf[:max(n, 0)]))
		if slices.ContainsFunc(s.asks, func(a ask) bool { return filepath.Dir(a.output) != folder }) {
			return false
		}
	}
	return true
}
