package process

import (
	"bytes"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Bounds on what is looked at of open files.
const (
	maxFiles = 16_384
	maxPorts = 8
)

// weigh looks at how much the processes of a tree wrote.
func weigh(root string, tree *Tree) {
	s := &pass{}
	if !s.open(root) {
		return
	}
	defer s.close()
	tree.Weighed = true
	for i := range tree.Processes {
		if p := &tree.Processes[i]; !p.Ended {
			p.Written = written(s.read(strconv.Itoa(p.PID) + "/io"))
		}
	}
}

// deepen looks at what the processes of a tree hold open: sockets that listen, and
// files that are watched.
func deepen(root string, tree *Tree) {
	s := &pass{}
	if !s.open(root) {
		return
	}
	defer s.close()
	d := &depth{pass: s, left: maxFiles, spaces: map[identity]map[uint64]int{}, listening: map[uint64]int{}}
	tree.Deep = true
	for i := range tree.Processes {
		if p := tree.Processes[i]; !p.Ended && !d.look(p) {
			tree.Deep = false
		}
	}
	tree.Watches = d.watches
	inherited := d.inherited(tree)
	for socket, port := range d.listening {
		if !slices.Contains(inherited, socket) {
			tree.Listens = true
			tree.Ports = append(tree.Ports, port)
		}
	}
	slices.Sort(tree.Ports)
	tree.Ports = slices.Compact(tree.Ports)
	tree.Ports = tree.Ports[:min(len(tree.Ports), maxPorts)]
}

// depth gathers what the processes of a tree hold.
type depth struct {
	*pass
	// left is how many files may still be looked at.
	left int
	// spaces are the sockets that listen with their ports, by network namespace.
	spaces    map[identity]map[uint64]int
	listening map[uint64]int
	watches   bool
}

// look looks at one process; false is that it could not be seen whole. One that
// has ended meanwhile holds nothing.
func (d *depth) look(p Process) bool {
	pid := strconv.Itoa(p.PID)
	names, ok := d.files(pid)
	if !ok {
		return !d.there(p.PID)
	}
	d.left -= len(names)
	for _, name := range names {
		st, err := d.see(d.root, pid+"/fd/"+name)
		switch {
		case err != nil: // closed meanwhile
		case st.Mode&unix.S_IFMT == unix.S_IFSOCK:
			if port, listens := d.sockets(pid)[st.Ino]; listens {
				d.listening[st.Ino] = port
			}
		case st.Mode&unix.S_IFMT == 0 && !d.watches: // none of the kinds of file
			d.watches = watching(d.read(pid + "/fdinfo/" + name))
		}
	}
	return true
}

// files lists the open files of a process by their numbers, without stdout and
// stderr, which are known.
func (d *depth) files(pid string) (names []string, ok bool) {
	fd, err := unix.Openat(d.root, pid+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd) //nolint:errcheck // only read
	names, ok = d.names(fd, max(d.left, 0))
	return slices.DeleteFunc(names, func(name string) bool { return name == "1" || name == "2" }), ok
}

// written reads how many bytes a process wrote, from its io file.
func written(text []byte) uint64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("wchar:")); ok {
			n, _ := strconv.ParseUint(string(bytes.TrimSpace(rest)), 10, 64) // 0 for what is no number
			return n
		}
	}
	return 0
}

// watching tells from the description of an open file whether files are watched
// by it: a line for each of them.
func watching(info []byte) bool {
	for line := range bytes.Lines(info) {
		for _, begin := range []string{"inotify wd:", "fanotify ino:", "fanotify mnt_id:", "fanotify sdev:"} {
			if bytes.HasPrefix(line, []byte(begin)) {
				return true
			}
		}
	}
	return false
}

// sockets are the sockets that listen in the network of a process, with their
// ports.
func (d *depth) sockets(pid string) map[uint64]int {
	st, err := d.see(d.root, pid+"/ns/net")
	if err != nil {
		return nil
	}
	space := idOf(st)
	if known, ok := d.spaces[space]; ok {
		return known
	}
	all := map[uint64]int{}
	for _, table := range []string{"/net/tcp", "/net/tcp6"} {
		d.table(pid+table, all)
	}
	d.spaces[space] = all
	return all
}

// table reads a table of TCP sockets up to the first that does not listen: the
// kernel gives those that do first.
func (d *depth) table(path string, into map[uint64]int) {
	fd, err := unix.Openat(d.root, path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // no such network
	}
	defer unix.Close(fd) //nolint:errcheck // only read
	var rest []byte
	for first := true; len(into) < maxFiles; {
		n, err := unix.Read(fd, d.buf[:])
		if n <= 0 || err != nil {
			return
		}
		rest = append(rest, d.buf[:n]...)
		for {
			line, more, whole := bytes.Cut(rest, []byte{'\n'})
			if !whole {
				break
			}
			rest = more
			if first { // the names of the columns
				first = false
				continue
			}
			socket, port, ok := parseSocket(line)
			if !ok {
				return
			}
			into[socket] = port
		}
	}
}

// parseSocket reads a line of the table; ok is false for a socket that does not
// listen.
func parseSocket(line []byte) (socket uint64, port int, ok bool) {
	const ( // columns
		local = 1
		state = 3
		inode = 9
	)
	fields := bytes.Fields(line)
	if len(fields) <= inode || string(fields[state]) != "0A" {
		return 0, 0, false
	}
	_, hex, _ := bytes.Cut(fields[local], []byte{':'})
	n, err1 := strconv.ParseUint(string(hex), 16, 16)
	socket, err2 := strconv.ParseUint(string(fields[inode]), 10, 64)
	return socket, int(n), err1 == nil && err2 == nil
}

// inherited are the sockets among those that listen that the tree was born with:
// a client whose own parent listens may pass that on to its shells.
func (d *depth) inherited(tree *Tree) []uint64 {
	launcher, ok := tree.launcher()
	if !ok || len(d.listening) == 0 || launcher.Parent <= 1 {
		return nil
	}
	pid := strconv.Itoa(launcher.Parent)
	names, _ := d.files(pid) // of another user: nothing is known
	var out []uint64
	for _, name := range names {
		st, err := d.see(d.root, pid+"/fd/"+name)
		if _, listens := d.listening[st.Ino]; err == nil && st.Mode&unix.S_IFMT == unix.S_IFSOCK && listens {
			out = append(out, st.Ino)
		}
	}
	return out
}
