package cli

import (
	"bytes"
	"context"
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

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"stopgate/pkg/handler"
	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/replay"
	"stopgate/pkg/state"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hookctl":  func() { os.Exit(Main(NameOf(os.Args[0]), testHost())) },
		"stopgate": func() { os.Exit(Main(NameOf(os.Args[0]), testHost())) },
		"hook": func() {
			h := testHost()
			os.Exit(handler.Main(&h))
		},
	})
}

// testHost is the system's, at the time of $TEST_NOW where that is set.
func testHost() host.Host {
	h := host.System()
	if now := testNow(os.Getenv); !now.IsZero() {
		h.Clock = &steady{now: now}
	}
	return h
}

// testNow is $TEST_NOW, zero where it is not set.
func testNow(env func(string) string) time.Time {
	now, _ := time.Parse(time.RFC3339, env("TEST_NOW")) // no time is the machine's
	return now
}

// Each script runs in a folder of its own with a fresh HOME, some minutes after
// the recorded sessions ($TEST_NOW). Beside hookctl and hook they have:
//
//	seed CAPTURE [EVENTS] [FLAG...]   play the first events of a recording, all
//	                                  without a number, as if the session had run
//	                                  in this HOME, with the hook's flags
//	remember PROJECT COMMAND WHAT [DURATION]
//	                                  note in the history that a command ended,
//	                                  failed, was left or served
//	team VERSION SESSION              lay the team of a snapshot beside it, led by
//	                                  that session
//	hold SESSION AGENT TASK...        hold an agent's stop for two minutes already, with
//	                                  an hour of patience
//	prints SESSION TASK TEXT...       make a task's output four seconds old; NL, CR and
//	                                  ESC stand for those characters
//	tree FILE [FOLDER]                list the state folder, or another, with all
//	                                  contents
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts lay out a home folder with links")
	}
	captures, err := filepath.Abs("../replay/testdata/captures")
	if err != nil {
		t.Fatal(err)
	}
	teams, err := filepath.Abs("../team/testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			for _, name := range []string{"STOPGATE_STATE_DIR", "XDG_STATE_HOME", "STOPGATE_DISABLE", "NO_COLOR", "COLUMNS", "CLAUDE_CONFIG_DIR"} {
				env.Setenv(name, "")
			}
			env.Setenv("HOME", home)
			env.Setenv("TZ", "UTC")
			env.Setenv("TEST_NOW", "2026-11-30T12:57:00Z")
			env.Setenv("STATE", filepath.Join(home, ".local", "state", "stopgate"))
			env.Setenv("CAPTURES", captures)
			env.Setenv("DOCS", filepath.Join(captures, "..", "..", "..", "..", "docs"))
			return os.MkdirAll(filepath.Join(home, "proj", "sub"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"seed": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(seed(testNow(ts.Getenv), filepath.Join(captures, filepath.FromSlash(args[0])), ts.Getenv("HOME"), args[1:]))
			},
			"remember": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(remember(testNow(ts.Getenv), ts.Getenv("STATE"), args))
			},
			"team": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(layTeam(testNow(ts.Getenv), filepath.Join(teams, args[0]), ts.Getenv("HOME"), args[1]))
			},
			"hold": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(putHold(testNow(ts.Getenv), ts.Getenv("STATE"), args[0], args[1], args[2:]))
			},
			"prints": func(ts *testscript.TestScript, _ bool, args []string) {
				text := strings.NewReplacer("ESC", "\x1b", "CR", "\r", "NL", "\n").Replace(strings.Join(args[2:], " "))
				path := filepath.Join(ts.Getenv("HOME"), "tmp", "-home-dev-proj", args[0], "tasks", args[1]+".output")
				ts.Check(write(testNow(ts.Getenv).Add(-4*time.Second), path, []byte(text)))
			},
			"tree": func(ts *testscript.TestScript, _ bool, args []string) {
				folder := ts.Getenv("STATE")
				if len(args) > 1 {
					folder = args[1]
				}
				list, err := tree(folder)
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(list), 0o600)) //realtime: a list for the script
			},
		},
	})
}

// seed plays a recording in a home folder.
func seed(at time.Time, capture, home string, args []string) error {
	events := -1
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		events, args = n, args[1:]
	}
	slashed := filepath.ToSlash(home) // in JSON a backslash would be half a sign
	local := strings.NewReplacer("/home/dev", slashed, "/tmp/claude-1000", slashed+"/tmp")
	session := ""
	work, err := os.MkdirTemp(home, "seed")
	if err != nil {
		return err
	}
	err = filepath.WalkDir(capture, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(capture, path)
		if err != nil {
			return err
		}
		if rel == "events.jsonl" && events >= 0 {
			data = bytes.Join(bytes.SplitAfter(data, []byte("\n"))[:events], nil)
		}
		if rel == "events.jsonl" {
			first, _, _ := bytes.Cut(data, []byte("\n"))
			session = gjson.GetBytes(first, "payload.session_id").Str
		}
		return write(at, filepath.Join(work, "rec", rel), []byte(local.Replace(string(data))))
	})
	if err != nil {
		return err
	}
	rec, err := replay.Load(os.DirFS(filepath.Join(work, "rec")))
	if err != nil {
		return err
	}
	state := filepath.Join(home, ".local", "state", "stopgate")
	for link, target := range map[string]string{"claude": filepath.Join(home, ".claude"), "state": state} {
		if err := os.MkdirAll(target, 0o700); err != nil {
			return err
		}
		if err := os.Symlink(target, filepath.Join(work, link)); err != nil {
			return err
		}
	}
	play, err := rec.Start(work)
	if err != nil {
		return err
	}
	if err := play.Run(replay.Options{Args: args}, func(replay.Step) {}); err != nil {
		return err
	}
	if events < 0 { // the outputs are those of the end
		tasks := filepath.Join(home, "tmp", "-home-dev-proj", session, "tasks")
		err = errors.Join(os.CopyFS(tasks, os.DirFS(filepath.Join(capture, "outputs"))), hosttest.Age(at, tasks)) //realtime: set here
	}
	return errors.Join(err, os.RemoveAll(work))
}

// putHold holds an agent's stop, in a process that lives.
func putHold(now time.Time, folder, session, agent string, tasks []string) error {
	return ledger.Update(context.Background(), state.At(folder), session, now, func(tx *ledger.Tx) error {
		tx.PutHold(ledger.Hold{
			AgentID: agent, Tasks: tasks, Since: now.Add(-2 * time.Minute), Until: now.Add(7 * time.Minute),
			Limit: "--hold", Left: time.Hour, Process: ledger.Process{PID: 1},
		})
		tx.AddAct(ledger.Act{Deed: ledger.Held, AgentID: agent, Tasks: tasks, Until: now.Add(7 * time.Minute)})
		return nil
	})
}

// layTeam lays the team of a snapshot into the home folder, as if the session
// had made it there.
func layTeam(at time.Time, snapshot, home, session string) error {
	configs, err := filepath.Glob(filepath.Join(snapshot, "teams", "*", "config.json"))
	if err != nil || len(configs) != 1 {
		return fmt.Errorf("%d teams in %s: %w", len(configs), snapshot, err)
	}
	data, err := os.ReadFile(configs[0])
	if err != nil {
		return err
	}
	lead := gjson.GetBytes(data, "leadSessionId").Str
	names := strings.NewReplacer("/home/dev", filepath.ToSlash(home), lead, session, "session-"+lead[:8], "session-"+session[:8])
	return filepath.WalkDir(snapshot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(snapshot, path)
		if err != nil {
			return err
		}
		return write(at, filepath.Join(home, ".claude", names.Replace(rel)), []byte(names.Replace(string(data))))
	})
}

// write makes a file that was last written at that time.
func write(at time.Time, path string, data []byte) error {
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)) //realtime: set here
	return errors.Join(err, os.Chtimes(path, at, at))
}

// tree lists a folder with contents and times.
func tree(root string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintln(&b, "nothing there")
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%x\n", data)
			return err
		}
		return nil
	})
	return b.String(), err
}
