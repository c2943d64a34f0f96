package host

const (
	// maxAncestors bounds how far up the line of processes is followed.
	maxAncestors = 8
	// maxCommand bounds what is read of a process's command line, in bytes.
	maxCommand = 256 << 10
)

// ancestors follows the line of parents upwards from a process, as far as the
// system tells: the nearest first. The parent of a process whose own parent died
// is whoever took it over.
func ancestors(pid int) []int {
	var line []int
	for len(line) < maxAncestors {
		parent, ok := processParent(pid)
		if !ok || parent == pid {
			break
		}
		line = append(line, parent)
		pid = parent
	}
	return line
}
