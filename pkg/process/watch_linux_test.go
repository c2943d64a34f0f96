package process

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// watcher is a watch of one task with a clock that goes on by a step at each look.
type watcher struct {
	*testing.T
	Watch
	task *Task
	at   time.Time
}

func watch(t *testing.T, k *task) *watcher {
	t.Helper()
	w := &watcher{T: t, at: noon}
	w.task = w.Add(k.output)
	return w
}

func (w *watcher) look() Verdict {
	w.at = w.at.Add(step)
	w.Look(w.at)
	return w.task.Verdict
}

// sees looks so long until the task is of that kind, and never of another but
// quiet ones and those that it may be before.
func (w *watcher) sees(want Kind, before ...Kind) {
	w.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		v := w.look()
		if v.Kind == want {
			return
		}
		if v.Kind != Quiet && !strings.Contains(fmt.Sprint(before), string(v.Kind)) {
			w.Fatalf("%v, want %s", v, want)
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.Fatalf("%v, want %s", w.task.Verdict, want)
}

// never looks some times: the task is not of that kind.
func (w *watcher) never(kind Kind) {
	w.Helper()
	for range 5 {
		if v := w.look(); v.Kind == kind {
			w.Fatal(v)
		}
	}
}

// A task is watched from its first sign to its end, also where its output file is
// taken from under it.
func TestWatchingATask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		script string
		// before is done to the folder of the output file after the first look.
		before func(output string) error
		want   Kind
	}{
		{"it ends", `echo ready; exec sleep 99`, nil, Idle},
		{"its output is led elsewhere", `echo ready; until [ -e $DIR/go ]; do sleep 0.01; done; exec sleep 99 >$DIR/log 2>&1`, func(output string) error { return os.WriteFile(filepath.Join(filepath.Dir(output), "go"), nil, 0o600) }, Idle}, //realtime: real processes write to it
		{"its output file is renamed", `echo ready; exec sleep 99`, func(output string) error { return os.Rename(output, output+".old") }, Idle},
		{"its output file is removed", `echo ready; exec sleep 99`, os.Remove, Idle},
		{"its output file is replaced", `echo ready; exec sleep 99`, func(output string) error {
			if err := os.WriteFile(output+".new", []byte("ready\n"), 0o600); err != nil { //realtime: real processes write to it
				return err
			}
			return os.Rename(output+".new", output)
		}, Idle},
		{"it listens", `echo ready; exec env ` + envRole + `=listen "$ME"`, nil, Serves},
		{"it watches", `echo ready; exec env ` + envRole + `=watch "$ME"`, nil, Serves},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := begin(t, c.script)
			w := watch(t, k)
			if v := w.look(); v.Kind != Quiet || len(w.task.PIDs) == 0 {
				t.Fatalf("%v, %v", v, w.task.PIDs)
			}
			if c.before != nil {
				if err := c.before(k.output); err != nil {
					t.Fatal(err)
				}
			}
			w.sees(c.want, Works)
			if err := syscall.Kill(k.cmd.Process.Pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			w.sees(Gone, c.want, Works)
			w.Drop(w.task)
			w.Look(w.at)
		})
	}
}

// An output file that was removed before the first look is known by its name.
func TestAnOutputThatWasRemovedBefore(t *testing.T) {
	t.Parallel()
	k := begin(t, `echo ready; exec sleep 99`)
	if err := os.Remove(k.output); err != nil {
		t.Fatal(err)
	}
	if tree := k.look(); len(tree.PIDs()) != 1 || tree.Size != 6 {
		t.Errorf("%+v", tree)
	}
}

// Several tasks are looked at in one pass, each by its own file.
func TestWatchingSeveralTasks(t *testing.T) {
	t.Parallel()
	a, b := begin(t, `echo ready; exec sleep 99`), begin(t, `echo ready; sleep 99; :`)
	var w Watch
	ta, tb, tc := w.Add(a.output), w.Add(b.output), w.Add(b.output)
	w.Look(noon)
	if len(ta.PIDs) != 1 || len(tb.PIDs) != 2 || len(tc.PIDs) != 2 {
		t.Errorf("%v, %v, %v", ta.PIDs, tb.PIDs, tc.PIDs)
	}
}

// A stranger of an earlier look is looked at again when its number goes to
// another process, or at the latest after some looks.
func TestStrangers(t *testing.T) {
	t.Parallel()
	k := begin(t, `echo ready; exec sleep 99`)
	w := watch(t, k)
	w.look()
	if w.memory.strangers[k.cmd.Process.Pid] || !w.memory.strangers[os.Getpid()] {
		t.Error("who is a stranger?")
	}
	w.memory.strangers[k.cmd.Process.Pid] = true
	w.look()
	if len(w.task.PIDs) != 1 {
		t.Error("where there seems to be none, all are looked at")
	}
	gone := begin(t, `echo ready`)
	_ = gone.cmd.Wait()
	w.memory.strangers[gone.cmd.Process.Pid] = true
	w.look()
	if w.memory.strangers[gone.cmd.Process.Pid] {
		t.Error("a stranger that is gone is remembered")
	}
}

// A task whose processes were gone before the first look has ended where it is
// sure that one would have been seen.
func TestTasksThatNoProcessIsSeenOf(t *testing.T) {
	me := os.Getpid()
	output := filepath.Join(t.TempDir(), "x.output")
	if err := os.WriteFile(output, nil, 0o600); err != nil { //realtime: real processes write to it
		t.Fatal(err)
	}
	devnull, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer devnull.Close()
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	log, err := os.Create(filepath.Join(t.TempDir(), "log")) //realtime: real processes write to it
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	other, err := os.Create(filepath.Join(filepath.Dir(output), "y.output")) //realtime: real processes write to it
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, c := range []struct {
		name   string
		client int
		// beside is a child of the client that runs meanwhile.
		stdin, stdout *os.File
		session       bool
		want          Kind
	}{
		{"the client is not known", 0, nil, nil, false, Unknown},
		{"the client is not seen", 1 << 30, nil, nil, false, Unknown},
		{"the client has no shell", me, nil, nil, false, Gone},
		{"the client has a shell of another task", me, devnull, other, true, Gone},
		{"the client has a shell that led its output elsewhere", me, devnull, log, true, Unknown},
		{"the client has a hook", me, in, log, true, Gone},
		{"the client has a helper", me, devnull, log, false, Gone},
	} {
		t.Run(c.name, func(t *testing.T) { // one after the other: they are all children of this process
			if c.stdin != nil {
				cmd := exec.Command("sleep", "99")
				cmd.Stdin, cmd.Stdout = c.stdin, c.stdout
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: c.session, Setpgid: !c.session}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() {
					_ = cmd.Process.Kill()
					_ = cmd.Wait()
				}()
			}
			w := watch(t, &task{output: output})
			w.Client = c.client
			w.look()
			if v := w.look(); v.Kind != c.want {
				t.Errorf("%v, want %s", v, c.want)
			}
		})
	}
}

// What other users' processes do is not looked at; that they are there is seen.
func TestOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("being somebody else needs rights")
	}
	t.Run("a task of another user", func(t *testing.T) {
		t.Parallel()
		k := begin(t, `echo ready; sleep 99; :`, func(c *exec.Cmd) {
			c.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		})
		if tree := k.look(); len(tree.Processes) != 0 || tree.Others == 0 {
			t.Errorf("%+v", tree)
		}
		w := watch(t, k)
		w.Client = os.Getpid()
		w.never(Gone)
		if v := w.task.Verdict; v.Kind != Unknown {
			t.Error(v)
		}
	})
	t.Run("a program that becomes another user", func(t *testing.T) {
		t.Parallel()
		k := begin(t, envRole+`="be nobody" "$ME"; exit`)
		if tree := k.look(); len(tree.PIDs()) != 1 || tree.Others != 1 {
			t.Errorf("%+v", tree)
		}
		watch(t, k).sees(Unknown)
	})
}

// Where the system shows a user nothing of others (hidepid), a program that runs
// as another is known by its parent, and the user's own are seen as ever.
func TestASystemThatHidesOthers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("mounting needs rights")
	}
	for _, c := range []struct {
		hide   int
		script string
		pids   int
		others bool
	}{
		{0, `echo ready; sleep 99; :`, 2, false},
		{2, `echo ready; sleep 99; :`, 2, false},
		{1, `echo ready; sleep 99; :`, 2, false},
		{0, `echo ready; $DIR/other 99; :`, 1, true},
		{1, `echo ready; $DIR/other 99; :`, 1, true},
		{2, `echo ready; $DIR/other 99; :`, 1, true},
	} {
		t.Run(fmt.Sprintf("hidepid=%d %s", c.hide, c.script), func(t *testing.T) {
			t.Parallel()
			k := begin(t, c.script, func(cmd *exec.Cmd) {
				cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
				dir := filepath.Dir(cmd.Stdout.(*os.File).Name())
				for p := dir; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
					_ = os.Chmod(p, 0o755)
				}
				// A program that runs as its owner, root.
				if out, err := exec.Command("sh", "-c", `cp "$(command -v sleep)" "$0/other" && chmod 4755 "$0/other"`, dir).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
			me := filepath.Join(filepath.Dir(k.output), "me")
			if out, err := exec.Command("cp", os.Args[0], me).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			look := exec.Command("unshare", "-m", "sh", "-c", fmt.Sprintf(`mount -t proc -o hidepid=%d proc /proc && exec setpriv --reuid %d --regid %d --clear-groups "$ME"`, c.hide, nobody, nobody))
			look.Env = append(os.Environ(), "ME="+me, envRole+"=look", "OUTPUT="+k.output)
			var got struct {
				OK   bool
				Tree Tree
			}
			k.until("what it should be", func() bool {
				cmd := *look
				text, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				if err := json.NewDecoder(strings.NewReader(string(text))).Decode(&got); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				return got.OK && len(got.Tree.PIDs()) == c.pids && (got.Tree.Others > 0) == c.others
			})
		})
	}
}
