package host

import (
	"io"
	"os"
	"strconv"
	"strings"
)

// processFile reads a file of /proc, up to limit bytes.
func processFile(pid int, name string, limit int64) (string, bool) {
	if pid <= 0 {
		return "", false
	}
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return "", false
	}
	defer file.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(file, limit))
	return string(data), err == nil && len(data) > 0
}

func processCommand(pid int) ([]string, bool) {
	line, ok := processFile(pid, "cmdline", maxCommand)
	if !ok {
		return nil, false // not there, another's, or a zombie
	}
	return strings.Split(strings.TrimSuffix(line, "\x00"), "\x00"), true
}

// processStat are the fields of /proc/PID/stat behind the name, which may hold
// anything: the first is the state, field 3 in proc(5).
func processStat(pid int) []string {
	text, ok := processFile(pid, "stat", 4096)
	if !ok {
		return nil
	}
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
}

func processParent(pid int) (int, bool) {
	fields := processStat(pid)
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil && parent > 0
}

func processStarted(pid int) (string, bool) {
	fields := processStat(pid)
	if len(fields) < 20 {
		return "", false
	}
	return fields[19], true // starttime, in ticks since the machine's start
}
