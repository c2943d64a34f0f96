package host

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"golang.org/x/sys/unix"
)

// processCommand reads what the kernel keeps of a process's start: the number of
// words, the program's path, padding, and the words, each with a NUL behind it.
func processCommand(pid int) ([]string, bool) {
	if pid <= 0 {
		return nil, false
	}
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return nil, false
	}
	count := int(binary.NativeEndian.Uint32(raw))
	_, rest, found := bytes.Cut(raw[4:], []byte{0})
	if !found {
		return nil, false
	}
	rest = bytes.TrimLeft(rest, "\x00")
	var words []string
	for len(words) < count {
		word, behind, found := bytes.Cut(rest, []byte{0})
		if !found {
			break
		}
		words, rest = append(words, string(word)), behind
	}
	return words, len(words) > 0
}

func processParent(pid int) (int, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if pid <= 0 || err != nil || info.Eproc.Ppid <= 0 {
		return 0, false
	}
	return int(info.Eproc.Ppid), true
}

func processStarted(pid int) (string, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if pid <= 0 || err != nil {
		return "", false
	}
	at := info.Proc.P_starttime
	return strconv.FormatInt(at.Sec, 10) + "." + strconv.FormatInt(int64(at.Usec), 10), true
}
