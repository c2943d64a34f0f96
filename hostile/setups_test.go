//go:build hostile && linux

package hostile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nobody is a user without rights.
const nobody = 65534

// condition is one hostile thing about a set-up. It changes how the hook is run
// and says what can still be expected.
type condition struct {
	kind string // of two conditions of one kind only one applies
	name string
	do   func(*world, *setup)
	// unreadable: no event comes in, so nothing is answered. unheard: the answer
	// cannot be read here. stateless: the state folder cannot be used, nor another.
	unreadable, unheard, stateless bool
	root                           bool
}

func shell(text string) func(*world, *setup) {
	return func(_ *world, s *setup) { s.shell += text + "; " }
}

func environment(change func(w *world, env []string) []string) func(*world, *setup) {
	return func(w *world, s *setup) {
		if s.env == nil {
			s.env = w.env()
		}
		s.env = change(w, s.env)
	}
}

func without(name string) func(*world, *setup) {
	return environment(func(_ *world, env []string) []string {
		return slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	})
}

func with(entry string) func(*world, *setup) {
	return environment(func(_ *world, env []string) []string {
		name, _, _ := strings.Cut(entry, "=")
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		return append(env, entry)
	})
}

// conditions are the table. The redirections stand in s.shell, which ends by
// running the hook with those of kind stdout, stderr and stdin.
var conditions = []condition{
	{kind: "stdin", name: "never closed", do: func(_ *world, s *setup) { s.open = true }},
	{kind: "stdin", name: "closed", do: shell("exec <&-"), unreadable: true},
	{kind: "stdin", name: "empty", do: shell("exec </dev/null"), unreadable: true},
	{kind: "stdin", name: "a folder", do: shell("exec </"), unreadable: true},
	{kind: "stdin", name: "only for writing", do: shell("exec 0>/dev/null"), unreadable: true},
	{kind: "stdin", name: "garbage", do: func(_ *world, s *setup) { s.payload = bytes.Repeat([]byte("\x00garbage}\xff"), 1000) }, unreadable: true},
	{kind: "stdin", name: "cut short", do: func(_ *world, s *setup) { s.payload = s.payload[:len(s.payload)/2] }, unreadable: true},
	{kind: "stdin", name: "nested without end", do: func(_ *world, s *setup) { s.payload = bytes.Repeat([]byte(`{"a":[`), 1<<19) }, unreadable: true},
	{kind: "stdin", name: "a byte order mark", do: func(_ *world, s *setup) { s.payload = append([]byte("\ufeff"), s.payload...) }},
	{kind: "stdin", name: "two events", do: func(_ *world, s *setup) { s.payload = append(slices.Clone(s.payload), s.payload...) }},
	{kind: "stdin", name: "5 MB", do: func(w *world, s *setup) {
		s.payload = bytes.Replace(s.payload, []byte(`"I wait."`), []byte(`"`+strings.Repeat("Ünïcödé ", 5<<20/12)+`"`), 1)
	}},
	{kind: "stdin", name: "in pieces", do: func(_ *world, s *setup) {
		payload := s.payload
		s.feed = func(in io.Writer) {
			for piece := range slices.Chunk(payload, 1+len(payload)/20) {
				_, _ = in.Write(piece) // the hook may have gone
				time.Sleep(5 * time.Millisecond)
			}
		}
	}},
	{kind: "stdout", name: "closed", do: shell("exec >&-"), unheard: true},
	{kind: "stdout", name: "full", do: shell("exec >/dev/full"), unheard: true},
	{kind: "stdout", name: "only for reading", do: shell("exec 1</dev/null"), unheard: true},
	{kind: "stdout", name: "a pipe nobody reads", do: shell("mkfifo $TMPDIR/gone 2>/dev/null; exec 3<>$TMPDIR/gone 1>$TMPDIR/gone 3<&-"), unheard: true},
	{kind: "stderr", name: "closed", do: shell("exec 2>&-")},
	{kind: "stderr", name: "full", do: shell("exec 2>/dev/full")},
	{kind: "stderr", name: "only for reading", do: shell("exec 2</dev/null")},
	{kind: "environment", name: "without HOME", do: without("HOME")},
	{kind: "environment", name: "a relative HOME", do: with("HOME=here")},
	{kind: "environment", name: "only a temp folder", do: environment(func(w *world, _ []string) []string { return []string{"TMPDIR=" + w.tmp} })},
	{kind: "environment", name: "locale C", do: with("LC_ALL=C")},
	{kind: "environment", name: "a locale that does not exist", do: with("LC_ALL=xx_XX.bad")},
	{kind: "environment", name: "every log", do: with("STOPGATE_LOG=trace")},
	{kind: "environment", name: "an unknown log level", do: with("STOPGATE_LOG=loud")},
	{kind: "environment", name: "unreadable times", do: with("STOPGATE_KEEP=for ever")},
	{kind: "environment", name: "one processor", do: with("GOMAXPROCS=1")},
	{kind: "environment", name: "no garbage collection", do: with("GOGC=off")},
	{kind: "environment", name: "a megabyte of it", do: func(w *world, s *setup) {
		for i := range 10 {
			with(fmt.Sprintf("NOISE%d=%s", i, strings.Repeat("x", 100_000)))(w, s)
		}
	}},
	{kind: "environment", name: "names that are none", do: environment(func(_ *world, env []string) []string { return append(env, "=", "x", "=x=y", "\xff=\xfe") })},
	{kind: "folder", name: "deleted", do: shell(`mkdir $TMPDIR/cwd && cd $TMPDIR/cwd && rmdir $TMPDIR/cwd`)},
	{kind: "folder", name: "moved", do: shell(`mkdir $TMPDIR/cwd && cd $TMPDIR/cwd && mv $TMPDIR/cwd $TMPDIR/cwd2`)},
	{kind: "umask", name: "0", do: shell("umask 0")},
	{kind: "umask", name: "777, and root may do everything", do: shell("umask 777"), root: true},
	{kind: "user", name: "nobody", do: func(_ *world, s *setup) { s.uid = nobody }, root: true},
	{kind: "limit", name: "8 open files", do: shell("ulimit -n 12")},
	{kind: "limit", name: "a small stack", do: shell("ulimit -s 256")},
	{kind: "limit", name: "no core files", do: shell("ulimit -c 0")},
	{kind: "limit", name: "core files", do: shell("ulimit -c unlimited")},
	{kind: "signals", name: "all ignored", do: shell("trap '' HUP INT QUIT PIPE ALRM USR1 USR2 CHLD XFSZ")},
	{kind: "state", name: "a file in its place", do: func(w *world, _ *setup) { w.write(w.state, "file") }},
	{kind: "state", name: "a file in place of the sessions", do: func(w *world, _ *setup) {
		_ = os.MkdirAll(w.state, 0o777)
		w.write(filepath.Join(w.state, "sessions"), "file")
	}},
	{kind: "state", name: "a link that leads nowhere", do: func(w *world, _ *setup) { _ = os.Symlink(filepath.Join(w.dir, "no", "where"), w.state) }},
	{kind: "state", name: "a link to itself", do: func(w *world, _ *setup) { _ = os.Symlink(w.state, w.state) }},
	{kind: "state", name: "a link to a device", do: func(w *world, _ *setup) { _ = os.Symlink("/dev/full", w.state) }},
	{kind: "state", name: "a pipe", do: func(w *world, _ *setup) { _ = syscall.Mkfifo(w.state, 0o666) }},
	{kind: "state", name: "a name too long", do: func(w *world, s *setup) { with("STOPGATE_STATE_DIR="+w.dir+strings.Repeat("/x", 3000))(w, s) }},
	{kind: "state", name: "relative", do: with("STOPGATE_STATE_DIR=some/where")},
	{kind: "state", name: "no permission", do: func(w *world, s *setup) {
		s.uid = nobody
		_ = os.MkdirAll(filepath.Join(w.state, "sessions"), 0o700)
	}, root: true},
	{kind: "state", name: "no permission, nor another folder", do: func(w *world, s *setup) {
		s.uid = nobody
		_ = errors.Join(os.MkdirAll(filepath.Join(w.state, "sessions"), 0o700), os.MkdirAll(filepath.Join(w.tmp, "stopgate-65534"), 0o700))
	}, root: true, stateless: true},
	{kind: "state", name: "only for reading", do: func(w *world, s *setup) {
		_ = os.MkdirAll(filepath.Join(w.state, "sessions"), 0o777)
		s.unshare = true
		s.shell += "mount --bind $STOPGATE_STATE_DIR $STOPGATE_STATE_DIR && mount -o remount,ro,bind $STOPGATE_STATE_DIR; "
	}, root: true},
	{kind: "state", name: "the log is a pipe", do: func(w *world, _ *setup) {
		_ = errors.Join(os.MkdirAll(w.state, 0o777), os.Chmod(w.state, 0o777), syscall.Mkfifo(filepath.Join(w.state, "hook.log"), 0o666))
	}},
	{kind: "state", name: "the log is a folder", do: func(w *world, _ *setup) {
		_ = errors.Join(os.MkdirAll(filepath.Join(w.state, "hook.log"), 0o777), os.Chmod(w.state, 0o777))
	}},
	{kind: "state", name: "the log leads to a full device", do: func(w *world, _ *setup) {
		_ = errors.Join(os.MkdirAll(w.state, 0o777), os.Chmod(w.state, 0o777), os.Symlink("/dev/full", filepath.Join(w.state, "hook.log")))
	}},
	{kind: "state", name: "the lock is a folder", do: func(w *world, _ *setup) {
		_ = errors.Join(os.MkdirAll(w.dirOf().LockPath(w.session), 0o777), os.Chmod(w.state, 0o777), os.Chmod(filepath.Join(w.state, "sessions"), 0o777))
	}, stateless: true},
}

// tidy undoes what a condition did to the state folder.
func (w *world) tidy() {
	w.t.Helper()
	if err := os.RemoveAll(w.state); err != nil {
		w.t.Error(err)
	}
}

// check runs one set-up and then an ordinary event.
func checkSetup(t *testing.T, chosen []condition) {
	t.Helper()
	w := newWorld(t)
	w.agent("a1")
	s := setup{payload: w.payload("a1")}
	want := blocks
	for _, c := range chosen {
		if c.root {
			needRoot(t)
		}
		c.do(w, &s)
		switch {
		case c.unreadable, c.stateless:
			want = allows
		case c.unheard && want != allows:
			want = decides
		}
	}
	if s.shell != "" {
		s.shell += `run "$@"`
	}
	if s.uid != 0 {
		// What is root's here belongs to the other user there.
		for _, path := range []string{w.dir, filepath.Dir(w.transcript("a1"))} {
			_ = filepath.Walk(path, func(p string, info os.FileInfo, err error) error {
				if err == nil && info.Mode()&os.ModeSymlink == 0 && !strings.HasPrefix(p, w.state) && !strings.HasPrefix(p, w.tmp+"/") {
					err = os.Chmod(p, 0o777)
				}
				return err
			})
		}
	}
	r := w.run(s)
	w.holds(r, want)
	if info, err := os.Stat("/proc/sys/kernel/core_pattern"); err == nil && info != nil {
		if _, err := os.Stat(filepath.Join(w.dir, "core")); err == nil {
			t.Error("left a core file")
		}
	}
	if fi, err := os.Stat(filepath.Join(w.state, "sessions")); err == nil && fi.IsDir() && chosen[0].name == "0" && fi.Mode().Perm() != 0o700 {
		t.Errorf("the state folder is open: %v", fi.Mode())
	}
	w.tidy()
	w.works()
}

func TestEveryHostileCondition(t *testing.T) {
	for _, c := range conditions {
		t.Run(c.kind+" "+c.name, func(t *testing.T) { checkSetup(t, []condition{c}) })
	}
	nothingLeft(t, time.Second)
}

// Conditions met by chance, one of each kind at the most.
func TestHostileConditionsTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	byKind := map[string][]condition{}
	for _, c := range conditions {
		byKind[c.kind] = append(byKind[c.kind], c)
	}
	kinds := slices.Sorted(maps.Keys(byKind))
	for i := range *combos {
		var chosen []condition
		name := fmt.Sprint(i)
		for _, kind := range kinds {
			if random.IntN(3) > 0 {
				continue
			}
			c := byKind[kind][random.IntN(len(byKind[kind]))]
			chosen = append(chosen, c)
			name += ", " + c.kind + " " + c.name
		}
		// A relative state folder in a folder that is gone or not ours, a mount
		// without rights, files that an odd umask made: these say nothing more.
		has := func(kind, name string) bool {
			return slices.ContainsFunc(chosen, func(c condition) bool { return c.kind == kind && (name == "" || c.name == name) })
		}
		if len(chosen) == 0 || has("umask", "777, and root may do everything") && (has("user", "") || has("state", "") || has("environment", "")) ||
			has("state", "only for reading") && has("user", "") || has("state", "relative") || has("state", "a name too long") && has("environment", "a megabyte of it") || has("environment", "only a temp folder") && (has("state", "")) {
			continue
		}
		t.Run(name, func(t *testing.T) { checkSetup(t, chosen) })
	}
	nothingLeft(t, time.Second)
}

// A slow writer is waited for while it writes: 3 bytes every 50 ms.
func TestStdinDrips(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	payload := []byte(`{"hook_event_name":"SubagentStop","session_id":"` + w.session + `"}`)
	began, last := time.Now(), time.Time{}
	r := w.run(setup{feed: func(in io.Writer) {
		for piece := range slices.Chunk(payload, 3) {
			_, _ = in.Write(piece)
			last = time.Now()
			time.Sleep(50 * time.Millisecond)
		}
	}})
	if took := time.Since(last); took > time.Second+*slack {
		t.Errorf("took %v after the last byte", took)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("gave up after %v", took)
	}
	r.took = 0
	w.holds(r, allows)
}

// One that never comes to an end is given up after 10 s, however steadily it writes.
func TestStdinTricklesForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("a1")
	payload := w.payload("a1")
	r := w.run(setup{feed: func(in io.Writer) {
		_, err := in.Write(payload[:100])
		for err == nil {
			time.Sleep(200 * time.Millisecond)
			_, err = in.Write([]byte(" "))
		}
	}})
	if r.took > 10*time.Second+*slack {
		t.Errorf("took %v", r.took)
	}
	r.took = 0
	w.holds(r, allows)
	w.works()
}

// Stdin that brings nothing, or stops in the middle, is given up after 5 s.
func TestStdinStopsInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.agent("a1")
			r := w.run(setup{payload: w.payload("a1")[:n], open: true})
			if r.took > 5*time.Second+*slack {
				t.Errorf("took %v", r.took)
			}
			r.took = 0
			w.holds(r, allows)
			w.works()
		})
	}
}
