package team

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/host"
)

// Here tells whether a [Team.LeadPIDSpace] is this process's, so that its pids
// can be looked for: host and pid namespace, joined by "#". Where a system has no
// such namespaces the host decides.
func Here(space string) bool {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return false
	}
	host, ns, _ := strings.Cut(space, "#")
	if host != name {
		return false
	}
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return runtime.GOOS != "linux"
	}
	return ns == own
}

// StartOf is the start of a process as [Team.LeadStart] counts it; "" where the
// system does not tell it like that.
func StartOf(pid int) string {
	data, err := host.Files{}.Read(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	// The second field, the name, is in parentheses and may hold blanks.
	rest := string(data[bytes.LastIndexByte(data, ')')+1:])
	const third, start = 3, 22
	if fields := strings.Fields(rest); len(fields) > start-third {
		return fields[start-third]
	}
	return ""
}

// SessionWritten is when the transcript of a session was last written; false if
// there is none under configDir.
func SessionWritten(configDir, sessionID string) (time.Time, bool) {
	if sessionID == "" || sessionID != fileName(sessionID) {
		return time.Time{}, false
	}
	projects := filepath.Join(configDir, "projects")
	entries, err := os.ReadDir(projects)
	if err != nil {
		return time.Time{}, false
	}
	for _, e := range entries[:min(len(entries), maxProjects)] {
		info, err := os.Stat(filepath.Join(projects, e.Name(), sessionID+".jsonl"))
		if err == nil && info.Mode().IsRegular() {
			return info.ModTime(), true
		}
	}
	return time.Time{}, false
}
