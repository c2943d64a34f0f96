package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

// Nothing that is printed wraps, however narrow the terminal is and whatever agents and
// commands are called.
func TestNothingWraps(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the home folder is laid out with links")
	}
	names := map[string]string{
		"as recorded": "",
		"wide":        strings.Repeat("日本語の名前", 9),
		"marks":       strings.Repeat("e\u0301\u200d\U0001f469\u200d\U0001f4bb", 30),
		"hostile":     "\x1b[2J\x1b]0;x\a\u202e\r\n" + strings.Repeat("\x1b[31m#", 40),
		"one word":    strings.Repeat("x", 300),
	}
	commands := [][]string{
		{"status"}, {"status", "--all"}, {"status", "--stuck", "--all"}, {"log"}, {"log", "--all"}, {"explain", "--session", crowded},
		{"timeline", "--session", crowded}, {"stats"}, {"history"}, {"config"}, {"wait", "--session", crowded, "--timeout", "1ms", "bcrowd0"},
		{"prune", "--dry-run"}, {"off", "--session", crowded},
	}
	for name, hostile := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			now := testNow(func(string) string { return "2026-11-30T12:57:00Z" })
			for _, capture := range []string{"2.1.332/sib-sdk", "2.1.220/sib-sdk"} {
				if err := seed(now, filepath.Join("..", "replay", "testdata", "captures", filepath.FromSlash(capture)), home, []string{"20", "--blocks", "0"}); err != nil {
					t.Fatal(err)
				}
			}
			if hostile != "" {
				if err := rename(now, home, hostile); err != nil {
					t.Fatal(err)
				}
			}
			folder := filepath.Join(home, ".local", "state", "stopgate")
			if err := crowd(now, folder, filepath.Join(home, "proj"), hostile, 30); err != nil {
				t.Fatal(err)
			}
			for _, width := range []int{40, 80, 120, 200} {
				env := map[string]string{"HOME": home, state.EnvDir: folder, "COLUMNS": strconv.Itoa(width), "TZ": "UTC"}
				for _, args := range commands {
					code, stdout, stderr := run(t, env, &steady{now: now}, args...)
					if stdout == "" && stderr == "" && args[0] != "timeline" {
						t.Errorf("%v printed nothing (exit code %d)", args, code)
					}
					for _, line := range strings.Split(stdout, "\n") {
						if view.Width(line) > width && !toCopy(line, width) {
							t.Errorf("%v at %d columns prints %d: %q", args, width, view.Width(line), line)
							break
						}
						if strings.ContainsAny(line, "\x1b\a\r\u202e") {
							t.Errorf("%v prints what moves a terminal: %q", args, line)
							break
						}
					}
				}
			}
		})
	}
}

// toCopy tells a line with a single long word, an id or a path, which stays whole so that
// it can be copied.
func toCopy(line string, width int) bool {
	at := strings.LastIndex(line, " ")
	return view.Width(line[:max(0, at)]) < 14 && view.Width(line[at+1:]) > width/2
}

const crowded = "0c0ded00-0000-4000-8000-000000000001"

// crowd records a session with n agents of a name: some are held, some rest and were
// never told, some work.
func crowd(now time.Time, folder, cwd, name string, n int) error {
	return ledger.Update(context.Background(), state.At(folder), crowded, now, func(tx *ledger.Tx) error {
		tx.Session.Cwd, tx.Session.LastEvent, tx.Session.LastEventAt = cwd, "SubagentStop", now
		for i := range n {
			id, task := fmt.Sprintf("a%016x", i), fmt.Sprintf("bcrowd%d", i)
			at := now.Add(-time.Duration(i+2) * time.Minute)
			tx.PutAgent(ledger.Agent{ID: id, Type: "general-purpose", Name: name, First: at, Last: at, Started: at, Stopped: at.Add(time.Minute), Stops: 1})
			tx.Merge(ledger.Learned{Launches: []transcript.Launch{{Task: task, Owner: id, Kind: "shell", At: at, Evidence: transcript.PostToolUse}}})
			switch i % 3 {
			case 0:
				tx.PutHold(ledger.Hold{AgentID: id, Type: "general-purpose", Tasks: []string{task}, Since: at, Until: now.Add(time.Hour), Left: time.Hour, Limit: "--hold", Process: ledger.Process{PID: 1}})
			case 1:
				tx.Merge(ledger.Learned{Ends: []transcript.End{{Task: task, Status: "completed", At: at.Add(90 * time.Second)}}})
			}
			tx.AddStop(ledger.Stop{Time: at.Add(time.Minute), AgentID: id, Type: "general-purpose", Verdict: ledger.Allow, Code: "budget-spent", Own: []string{task}, Listed: []string{task}})
		}
		return nil
	})
}

// rename gives the recorded agents another description.
func rename(now time.Time, home, name string) error {
	return filepath.WalkDir(filepath.Join(home, ".claude"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".meta.json") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		quoted, err := json.Marshal(name)
		text := strings.NewReplacer(`"agent A"`, string(quoted), `"agent B"`, string(quoted)).Replace(string(data))
		return errors.Join(err, write(now, path, []byte(text)))
	})
}

// A session of two hundred agents, and a thousand sessions beside it, stay readable: what
// needs somebody stands on top, and what is over takes a line for each.
func TestAThousandSessionsStayReadable(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	folder := filepath.Join(home, "state")
	now := testNow(func(string) string { return "2026-11-30T12:57:00Z" })
	if err := crowd(now, folder, home, "", 200); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		err := ledger.Update(context.Background(), state.At(folder), fmt.Sprintf("%08x-0000-4000-8000-000000000002", i), now, func(tx *ledger.Tx) error {
			tx.Session.Cwd, tx.Session.Ended, tx.Session.LastEvent, tx.Session.LastEventAt = home, now.Add(-time.Hour), "SessionEnd", now.Add(-time.Hour)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	_, stdout, stderr := run(t, map[string]string{"HOME": home, state.EnvDir: folder, "COLUMNS": "120"}, &steady{now: now}, "status", "--all")
	took := time.Since(began)
	lines := strings.Split(stdout, "\n")
	if stderr != "" || !strings.HasSuffix(lines[0], "need somebody") {
		t.Errorf("begins with %q, stderr %q", lines[0], stderr)
	}
	held, ended := strings.Index(stdout, "\nheld until"), strings.Index(stdout, "\nended\n")
	if held < 0 || ended < held {
		t.Errorf("held at %d, ended at %d", held, ended)
	}
	if n := strings.Count(stdout[max(0, ended):], "\n"); n > 1010 {
		t.Errorf("%d lines for 1000 sessions that have ended", n)
	}
	// The promise is 200 ms of an idle machine: bench keeps it. This is for what is of
	// another order.
	if took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
