package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stopgate/pkg/host"
)

// A line that is too long and has no end yet is passed over once, not at every
// reading; what follows its end is read.
func TestALineWithoutEndIsPassedOverOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "agent-a1.jsonl")
	put := func(text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	const long = 3 * maxLine
	put(`{"type":"user","agentId":"a1"}` + "\n" + strings.Repeat("\x00", long))
	src := Source{Path: path, Owner: "a1"}
	b, err := Scan(t.Context(), host.Files{}, src, Cursor{})
	if err != nil || b.Oversize != 1 || !b.Cursor.Inside {
		t.Fatalf("first: %+v, %v", b, err)
	}
	put(strings.Repeat("x", 100))
	if b, err = Scan(t.Context(), host.Files{}, src, b.Cursor); err != nil || b.Read != 100 || b.Oversize != 0 {
		t.Fatalf("read %d bytes again, %v", b.Read, err)
	}
	put(strings.Join([]string{
		"\n" + `{"type":"assistant","agentId":"a1","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"run_in_background":true}}]}}`,
		`{"type":"user","agentId":"a1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"Command running in background with ID: b1."}]}}`, ""}, "\n"))
	if b, err = Scan(t.Context(), host.Files{}, src, b.Cursor); err != nil || len(b.Launches) != 1 || b.Cursor.Inside {
		t.Errorf("last: %+v, %v", b, err)
	}
}

// Activity gets past whatever lies in its way, a bounded part at each call.
func TestActivityPassesLongLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "agent-a1.jsonl")
	user := `{"type":"user","timestamp":"2026-03-01T12:00:00Z"}` + "\n"
	text := user + strings.Repeat("\x00", 40<<20) + "\n" + strings.Repeat(user, 20_000) + `{"type":"summary"}` + "\n" + "unfinished"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, offset, calls := 0, int64(0), 0
	for {
		n, _, next := Activity(host.Files{}, path, offset)
		if lines += n; next-offset > maxActivity+maxLine {
			t.Errorf("one call read %d bytes", next-offset)
		}
		if next == offset {
			break
		}
		offset = next
		calls++
	}
	if want := int64(len(text) - len("unfinished")); offset != want || lines < 20_001 || calls > 10 {
		t.Errorf("got to %d of %d, with %d lines, in %d calls", offset, want, lines, calls)
	}
}
