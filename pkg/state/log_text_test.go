package state

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The log is looked at in terminals: what an id holds must not reach one.
func TestTheLogIsPlainText(t *testing.T) {
	t.Parallel()
	dir := At(t.TempDir())
	id := "b\x1b[31m\u009b1\u202e\u2028世\U0001f600\xff\n"
	log, done := OpenLog(func(string) string { return "" }, dir)
	log.Info("", "task", id)
	done()
	data, err := os.ReadFile(dir.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSuffix(string(data), "\n")
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("the log holds %q", line)
	}
	var entry struct{ Task string }
	if err := json.Unmarshal(data, &entry); err != nil || entry.Task != strings.ToValidUTF8(id, "\ufffd") {
		t.Errorf("%q came back as %q, %v", id, entry.Task, err)
	}
}
