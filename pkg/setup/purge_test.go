package setup

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// process is a hook of the installation that was given a recorded stop.
type process struct {
	*exec.Cmd
	out  bytes.Buffer
	done chan error
}

// begin starts the installed hook with the recorded stop, and tells when it is at
// work. Its task never ends: the output says nothing.
func (w World) begin(t *testing.T, args ...string) *process {
	t.Helper()
	root := t.TempDir()
	events, err := unpack(root)
	if err != nil {
		t.Fatal(err)
	}
	// The recorded transcripts tell the end of the task; here it has none.
	main := filepath.Join(root, "session.jsonl")
	if err := os.WriteFile(main, []byte(`{"type":"user","message":{"content":"go"}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(w.Hook(), args...), done: make(chan error, 1)}
	p.Stdin, p.Stdout = strings.NewReader(events["SubagentStop"]), &p.out
	p.Env = append(os.Environ(), "HOME="+w.Home(), "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PID=", state.EnvDir+"="+w.Env(state.EnvDir))
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.Wait() }()
	t.Cleanup(func() { _ = p.Process.Kill() })
	for deadline := time.Now().Add(10 * time.Second); len(w.running()) == 0 || w.running()[0].What == "runs the hook"; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-p.done:
			t.Fatalf("it has ended: %v, %s", err, p.out.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not at work: %+v", w.running())
		}
	}
	return p
}

// A stop is held, or a courier waits, while everything is removed: they are told to
// let go first, and nothing of ours comes back when they have.
func TestAPurgeWhileSomethingWaits(t *testing.T) {
	for name, args := range map[string][]string{
		"a held stop": {"gate", "--hold", "9m"},
		"a courier":   {"courier"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fresh(t)
			before := everything(t, w.Home())
			w.must(t, InstallOptions{})
			p := w.begin(t, args...)
			planned, err := w.PlanUninstall(UninstallOptions{Purge: true})
			if err != nil || len(planned.Running) != 1 || planned.Running[0].PID != p.Process.Pid {
				t.Fatalf("%+v, %v", planned.Running, err)
			}
			began := time.Now()
			done := w.uninstall(t, UninstallOptions{Purge: true})
			select {
			case err := <-p.done:
				if err != nil || p.out.Len() > 0 {
					t.Errorf("it ended with %v, %q", err, p.out.String())
				}
			case <-time.After(5 * time.Second):
				t.Error("it is still there")
			}
			if took := time.Since(began); took > endWait {
				t.Errorf("it took %s", took)
			}
			if len(done.Kept) > 0 {
				t.Errorf("kept %q", done.Kept)
			}
			time.Sleep(200 * time.Millisecond) // what came back would have by now
			if after := everything(t, w.Home()); !slices.Equal(after, before) {
				t.Errorf("left over: %q, before %q", after, before)
			}
		})
	}
}

// What does not let go keeps everything where it is, and the switch is as it was.
func TestAPurgeThatSomethingHoldsUp(t *testing.T) {
	w := fresh(t)
	w.must(t, InstallOptions{})
	dir := state.At(state.Locate(w.Env))
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _, _ = sleeper.Process.Kill(), sleeper.Wait() }()
	err := ledger.Update(t.Context(), dir, "session-1", time.Now(), func(tx *ledger.Tx) error {
		tx.PutHold(ledger.Hold{AgentID: "a1", Since: time.Now(), Until: time.Now().Add(time.Hour), Process: ledger.Process{PID: sleeper.Process.Pid}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Clock = &quick{}
	plan, err := w.PlanUninstall(UninstallOptions{Purge: true})
	if err != nil || len(plan.Running) != 1 {
		t.Fatalf("%+v, %v", plan.Running, err)
	}
	err = plan.Apply(t.Context())
	if err == nil || !strings.Contains(err.Error(), "holds a stop of agent a1, until ") || !strings.Contains(err.Error(), "purge again; nothing was removed yet") {
		t.Errorf("%v", err)
	}
	if len(plan.Purged) > 0 {
		t.Errorf("says that it removed %q", plan.Purged)
	}
	for _, path := range []string{w.Hook(), dir.Store("session-1")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if _, off := dir.OffUntil("", time.Now()); off {
		t.Error("stopgate stays off")
	}
	_, _ = sleeper.Process.Kill(), sleeper.Wait()
	w.uninstall(t, UninstallOptions{Purge: true})
	if _, err := os.Stat(dir.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state is still there: %v", err)
	}
}

// quick is a clock on which waiting takes no time.
type quick struct{}

func (*quick) Now() time.Time { return time.Now() }

func (*quick) Sleep(ctx context.Context, _ time.Duration) bool { return ctx.Err() == nil }

// A state folder can be one in which other things lie, under names like ours: only
// what is ours by name and form goes, and no folder.
func TestAPurgeOfAFolderOfOthers(t *testing.T) {
	w := fresh(t)
	dir := filepath.Join(w.Home(), "app")
	theirs := map[string]string{
		"sessions/1234abcd.db":                                 "a database of theirs",
		"sessions/1234abcd.lock":                               "pid 17",
		"sessions/my-old-session.ephemeral":                    "notes",
		"sessions/1234abcd.db.corrupt-yesterday":               "x",
		"sessions/1234abcd.db.corrupt-20260101T000000.000Z/in": "x",
		"sessions/abcdefgh.db/in":                              "a folder",
		"hook.log":                                             "not json",
		"off":                                                  "the light",
		"off-topic.txt":                                        "x",
		"hook.log.1/in":                                        "x",
	}
	for name, text := range theirs {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	w = w.with(state.EnvDir, dir)
	before := everything(t, dir)
	w.must(t, InstallOptions{})
	ours := state.At(dir)
	for _, id := range []string{"00000000-session", "ODD id"} {
		if err := errors.Join(ledger.Update(t.Context(), ours, id, time.Now(), func(*ledger.Tx) error { return nil }), ours.CountEphemeral(id)); err != nil {
			t.Fatal(err)
		}
	}
	broken, err := os.ReadFile(ours.Store("00000000-session"))
	if err == nil {
		err = os.WriteFile(state.AsideName(ours.Store("00000000-session"), time.Now()), broken[:len(broken)/2], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := ours.SwitchOff("00000000-session", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := len(ours.Files()); n != 8 {
		t.Errorf("%d files are ours: %q", n, ours.Files())
	}
	w.uninstall(t, UninstallOptions{Purge: true})
	if after := everything(t, dir); !slices.Equal(after, before) {
		t.Errorf("before\n%q\nafter\n%q", before, after)
	}
	// Also an empty folder that a person named stays.
	empty := filepath.Join(w.Home(), "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	w = w.with(state.EnvDir, empty)
	w.must(t, InstallOptions{})
	w.uninstall(t, UninstallOptions{Purge: true})
	if _, err := os.Stat(empty); err != nil {
		t.Error(err)
	}
}

// Two home folders, as of two containers, on one state folder.
func TestTwoHomesOnOneStateFolder(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "state")
	one, two := fresh(t).with(state.EnvDir, shared), fresh(t).with(state.EnvDir, shared)
	one.must(t, InstallOptions{})
	two.must(t, InstallOptions{})
	event := `{"hook_event_name":"SubagentStart","session_id":"%s","agent_id":"a85c14a6928672ba4","agent_type":"general-purpose"}`
	send := func(w World, id string) {
		t.Helper()
		cmd := exec.Command(w.Hook())
		cmd.Stdin = strings.NewReader(strings.Replace(event, "%s", id, 1))
		cmd.Env = []string{"HOME=" + w.Home(), state.EnvDir + "=" + shared}
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v %s", err, out)
		}
	}
	send(one, "session-of-one")
	send(two, "session-of-two")
	if n := len(state.At(shared).Stores()); n != 2 {
		t.Errorf("%d sessions", n)
	}
	one.uninstall(t, UninstallOptions{Purge: true})
	send(two, "session-of-two")
	if n := len(state.At(shared).Stores()); n != 1 {
		t.Errorf("%d sessions after the other went on", n)
	}
	two.uninstall(t, UninstallOptions{Purge: true})
	for _, w := range []World{one, two} {
		if left := everything(t, w.Home()); len(left) != 1 {
			t.Errorf("left over: %q", left)
		}
	}
}

// everything lists what is below a folder.
func everything(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != root {
			rel, _ := filepath.Rel(root, path)
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A home folder that was deleted meanwhile is not made again: not by an installation, and
// not by taking out what was in it.
func TestNothingIsMadeInADeletedHome(t *testing.T) {
	w := fresh(t)
	gone := filepath.Join(w.Home(), "gone")
	w = w.with("HOME", gone).with("USERPROFILE", gone)
	if _, err := w.install(t, InstallOptions{}); err == nil || !strings.Contains(err.Error(), "is not made by this") {
		t.Errorf("install: %v", err)
	}
	w.uninstall(t, UninstallOptions{Purge: true})
	if _, err := os.Lstat(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made again: %v", err)
	}
}
