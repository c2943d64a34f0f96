package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// system is where the kernel shows processes.
const system = "/proc"

// Bounds on one look.
const (
	// maxProcesses is how many processes the machine may have; on one with more
	// nothing is told.
	maxProcesses = 32_768
	// maxTree is how many of them one tree may have.
	maxTree = 4096
	// renew is after how many looks the memory begins anew: the number of a
	// stranger may have gone to another process between two looks.
	renew = 20
	// again is how often a look is repeated that found no process of a task.
	again = 8
)

// scan looks for all the tasks in one pass over the system's processes. client is
// the process that starts the shells, 0 where it is unknown. ok is false where
// the system does not tell; then only the sizes are set.
func scan(root string, m *memory, asks []ask, client int) (found []answer, ok bool) {
	s := &pass{uid: uint32(os.Geteuid()), asks: asks, found: make([]answer, len(asks)), holds: map[int]identity{}, stat: map[int]status{}}
	known := false
	for i, a := range asks {
		s.found[i] = answer{tree: Tree{Size: -1}, file: a.file}
		st, err := s.see(unix.AT_FDCWD, a.output)
		if err == nil && !regular(st) {
			// A device or a pipe is the stdout of processes that have nothing to
			// do with each other.
			continue
		}
		if err == nil {
			s.found[i].tree.Size, s.found[i].file = int64(st.Size), idOf(st)
		}
		known = known || a.output != ""
	}
	if !known || !s.open(root) {
		return s.found, false
	}
	defer s.close()
	if m.looks++; m.looks%renew == 0 {
		m.strangers, m.ours = nil, nil
	}
	s.known = m.ours
	strangers := m.strangers
	for try := 0; try == 0 || try <= again && s.missed(); try++ {
		// One that forks all the time may have been between two processes: the new
		// one is among those that came since. And only a look at all of them, the
		// last, tells that there is none.
		if try == again {
			strangers = nil
		}
		if !s.look(strangers) {
			return s.found, false
		}
	}
	s.trees(client)
	m.strangers, m.ours = s.strangers(m.strangers), s.members()
	return s.found, true
}

// pass is one pass over the system's processes.
type pass struct {
	uid   uint32
	root  int
	asks  []ask
	found []answer
	// listed are the processes that the system named last.
	listed []int
	// holds tells of each process that was looked at which of the output files is
	// its stdout or stderr; the zero identity is none of them.
	holds map[int]identity
	// known are processes of this user that belonged to a task before, with their
	// starts.
	known map[int]uint64
	// stat is what is known of the processes that were looked at.
	stat map[int]status
	buf  [8192]byte
}

func (s *pass) open(root string) bool {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	s.root = fd
	return err == nil
}

func (s *pass) close() { _ = unix.Close(s.root) }

// look lists the processes and looks at those that are no strangers and were not
// looked at before, the newest first: they may not live long.
func (s *pass) look(strangers map[int]bool) bool {
	if !s.list() {
		return false
	}
	for _, pid := range slices.Backward(s.listed) {
		if _, known := s.holds[pid]; known || strangers[pid] {
			continue
		}
		s.holds[pid] = s.holder(strconv.Itoa(pid))
		if st, ok := parseStat(s.read(strconv.Itoa(pid) + "/stat")); ok && st.PID == pid {
			s.stat[pid] = st
		}
	}
	return true
}

// list lists the processes. It is false where they are too many, or where this
// process itself is not among them: then they are those of another world.
func (s *pass) list() bool {
	n, err := unix.Readlinkat(s.root, "self", s.buf[:])
	if err != nil {
		return false
	}
	self, err := strconv.Atoi(string(s.buf[:n]))
	if err != nil {
		return false
	}
	if _, err := unix.Seek(s.root, 0, 0); err != nil {
		return false
	}
	names, ok := s.names(s.root, maxProcesses)
	s.listed = s.listed[:0]
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			s.listed = append(s.listed, pid)
		}
	}
	return ok && slices.Contains(s.listed, self)
}

// names lists a folder; ok is false where that cannot be done, or not whole.
func (s *pass) names(folder, limit int) (names []string, ok bool) {
	for len(names) <= limit {
		n, err := unix.Getdents(folder, s.buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 || err != nil {
			return names, err == nil
		}
		_, _, names = unix.ParseDirent(s.buf[:n], -1, names)
	}
	return names, false
}

// see describes the file that a path leads to, links followed, from what the
// kernel has at hand: asking a server that does not answer would wait for it.
func (s *pass) see(dir int, path string) (st unix.Statx_t, err error) {
	const mask = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_NLINK | unix.STATX_SIZE | unix.STATX_UID
	err = unix.Statx(dir, path, unix.AT_STATX_DONT_SYNC, mask, &st)
	return st, err
}

func idOf(st unix.Statx_t) identity { return identity{st.Dev_major, st.Dev_minor, st.Ino} }

func regular(st unix.Statx_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFREG }

// read reads the beginning of a file of the system's; nothing where it is gone.
// The result is good until the next read.
func (s *pass) read(path string) []byte {
	fd, err := unix.Openat(s.root, path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd) //nolint:errcheck // only read
	n, err := unix.Read(fd, s.buf[:])
	if err != nil {
		return nil
	}
	return s.buf[:n]
}

// holder tells which of the output files is the stdout or stderr of a process.
func (s *pass) holder(pid string) identity {
	for _, fd := range []string{"/fd/1", "/fd/2"} {
		st, err := s.see(s.root, pid+fd)
		if err != nil {
			break // of another user, or the kernel's own
		}
		if !regular(st) {
			continue
		}
		id := idOf(st)
		if st.Nlink == 0 {
			s.removed(pid+fd, id)
		}
		for i := range s.found {
			if !s.output(i, id) {
				continue
			}
			if s.found[i].tree.Size < 0 { // it has no path any more
				s.found[i].tree.Size = int64(st.Size)
			}
			return id
		}
	}
	return identity{}
}

// output tells whether a file is the output of a task.
func (s *pass) output(task int, id identity) bool {
	return id != identity{} && (id == s.found[task].file || id == s.asks[task].file)
}

// removed knows a file that was deleted by the path it had: it may be the output
// of a task.
func (s *pass) removed(link string, id identity) {
	n, err := unix.Readlinkat(s.root, link, s.buf[:])
	if err != nil {
		return
	}
	path, deleted := strings.CutSuffix(string(s.buf[:n]), " (deleted)")
	for i, a := range s.asks {
		if deleted && s.found[i].file == (identity{}) && filepath.Clean(a.output) == path {
			s.found[i].file = id
		}
	}
}

// missed tells whether a task seems to have no process.
func (s *pass) missed() bool {
	for i := range s.found {
		held := false
		for _, file := range s.holds {
			held = held || s.output(i, file)
		}
		if !held {
			return true
		}
	}
	return false
}

// members are the processes that belong to a tree, with their starts.
func (s *pass) members() map[int]uint64 {
	all := map[int]uint64{}
	for _, f := range s.found {
		for _, p := range f.tree.Processes {
			if !p.Ended {
				all[p.PID] = p.Start
			}
		}
	}
	return all
}

// strangers are the processes that belong to no tree.
func (s *pass) strangers(before map[int]bool) map[int]bool {
	members, now := s.members(), map[int]bool{}
	for _, pid := range s.listed {
		_, looked := s.stat[pid]
		if _, member := members[pid]; !member && (looked || before[pid]) {
			now[pid] = true
		}
	}
	return now
}
