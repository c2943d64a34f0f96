// Package statustest makes what the tests of the status and of how it looks stand
// on: recorded sessions that were played up to an event, ledgers that a test
// writes, and the files of a team.
package statustest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/replay"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

// Captures is the folder of the recorded sessions, from a package's folder.
const Captures = "../replay/testdata/captures"

// Sessions whose recordings have a snapshot of a team beside them.
const (
	Session220 = "04d0a712-8e2a-46b2-896b-d6c62a7ac5b5"
	Session235 = "e2461520-fe72-42ca-bf80-dfa3956872ce"
	Session332 = "8747d493-cafc-4ec4-8831-f68b1e1c884a"
)

// Noon is the time of the ledgers that a test writes.
var Noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Ago is so long before noon.
func Ago(d time.Duration) time.Time { return Noon.Add(-d) }

// LetThrough plays a recording as it was made, without a gate: the agents stop.
var LetThrough = replay.Options{Args: []string{"--blocks", "0"}}

// Play plays the first events of a recording, all for a negative number, with the
// hook's arguments, below root.
func Play(t testing.TB, root, name string, events int, o replay.Options) *replay.Play {
	t.Helper()
	dir := filepath.Join(Captures, filepath.FromSlash(name))
	if events >= 0 {
		dir = shortened(t, dir, events)
	}
	rec, err := replay.Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	play, err := rec.Start(root)
	if err == nil {
		err = play.Run(o, func(replay.Step) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	return play
}

// shortened is a copy of a recording with the first events only, and without
// the outputs, which are those of the end.
func shortened(t testing.TB, dir string, events int) string {
	t.Helper()
	short := t.TempDir()
	data, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	hosttest.Write(t, Noon, filepath.Join(short, "events.jsonl"), string(bytes.Join(lines[:events], nil)))
	hosttest.Copy(t, Noon, filepath.Join(short, "claude"), os.DirFS(filepath.Join(dir, "claude")))
	return short
}

// Put changes the ledger of a session, whose last event was a stop a minute before
// noon.
func Put(t testing.TB, dir state.Dir, id string, change func(*ledger.Tx)) {
	t.Helper()
	err := ledger.Update(context.Background(), dir, id, Ago(time.Minute), func(tx *ledger.Tx) error {
		tx.Session.LastEvent, tx.Session.LastEventAt = "SubagentStop", Ago(time.Minute)
		change(tx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Join lays the team of a snapshot into a configuration folder, as that session's
// own.
func Join(t testing.TB, config, version, session string) {
	t.Helper()
	names := strings.NewReplacer(
		"b03687e1-91dd-414b-b686-09ee1becd874", session, "session-b03687e1", "session-"+session[:8],
		"0ee47418-21e9-41b7-a44f-34d11b084dad", session, "session-0ee47418", "session-"+session[:8],
		"a96dab22-3701-4e06-8d43-d720cfe83bf6", session,
		"2026-11-30T13:09:", "2026-11-30T12:47:",
	)
	from := filepath.Join("..", "team", "testdata", version)
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		put := filepath.Join(config, filepath.FromSlash(names.Replace(filepath.ToSlash(rel))))
		hosttest.Write(t, Noon, put, names.Replace(string(data)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TeamMate is a state folder with a session that leads the team of a snapshot, with
// ping as an agent that ended a turn an hour before noon; and the client's
// configuration folder.
func TeamMate(t testing.TB, change func(tx *ledger.Tx, a *ledger.Agent)) (dir state.Dir, config string) {
	t.Helper()
	config = t.TempDir()
	main := filepath.Join(config, "projects", "-p", Session332+".jsonl")
	dir = state.At(t.TempDir())
	Put(t, dir, Session332, func(tx *ledger.Tx) {
		tx.Session.Transcript = main
		a := tx.Touch("aping-4976bb1b79928c86", "ping", transcript.AgentPath(transcript.AgentsDir(main), "aping-4976bb1b79928c86"))
		a.Name, a.Team, a.Started, a.Stopped, a.Stops = "ping", "session-8747d493", Ago(2*time.Hour), Ago(time.Hour), 1
		a.Idle = Ago(time.Hour).Add(time.Second)
		if change != nil {
			change(tx, &a)
		}
		tx.PutAgent(a)
	})
	Join(t, config, "2.1.332", Session332)
	return dir, config
}

// Mail is an unread message of a kind of the client's own, as an inbox holds it.
func Mail(from, kind string, at time.Time) string {
	return fmt.Sprintf(`{"from":%q,"text":"{\"type\":\"%s\",\"from\":\"%s\",\"requestId\":\"r1\"}","timestamp":%q,"read":false}`, from, kind, from, at.Format(time.RFC3339Nano))
}
