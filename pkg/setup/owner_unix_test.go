//go:build !windows

package setup

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stopgate/pkg/host/hosttest"
)

// person is a user that no list of users knows.
const person = 54321

// give makes a folder and everything in it a user's.
func give(t *testing.T, root string, uid int) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func asRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can be somebody else")
	}
}

// sudo with the person's HOME kept.
func TestRootInAPersonsHome(t *testing.T) {
	asRoot(t)
	w := fresh(t)
	give(t, w.Home(), person)
	before := everything(t, w.Home())
	_, err := w.PlanInstall(InstallOptions{Scope: "user"})
	if err == nil || !strings.Contains(err.Error(), "this runs as root, and "+w.Home()+" is the home folder of 54321") || !strings.Contains(err.Error(), "without sudo") {
		t.Errorf("install: %v", err)
	}
	if _, err := w.PlanUninstall(UninstallOptions{Purge: true}); err == nil || !strings.Contains(err.Error(), "this runs as root") {
		t.Errorf("uninstall: %v", err)
	}
	if after := everything(t, w.Home()); len(after) != len(before) {
		t.Errorf("left %q", after)
	}
}

// Nothing else does either: no command, and no hook of a client that runs like that.
func TestNothingOfRootInAPersonsHome(t *testing.T) {
	asRoot(t)
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := reachable(t)
	home, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, d := range []string{home, tmp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	give(t, home, person)
	run := func(stdin, program string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "EDITOR=true", "TMPDIR=" + tmp}
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{{"install"}, {"uninstall", "--purge"}, {"off"}, {"on"}, {"config", "edit"}, {"history", "forget", "--all"}} {
		if out, err := run("", p.Hookctl, args...); err == nil || !strings.Contains(out, "this runs as root") || !strings.Contains(out, "without sudo") {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	for _, args := range [][]string{{"status"}, {"doctor"}, {"prune"}} {
		_, _ = run("", p.Hookctl, args...)
	}
	for _, name := range []string{"SubagentStart", "SubagentStop"} { // the second is an ephemeral event
		event := `{"hook_event_name":"` + name + `","session_id":"65f459a2-9db1","agent_id":"a85c14a6928672ba4","agent_type":""}`
		if out, err := run(event, p.Hook); err != nil || out != "" {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	if left := everything(t, home); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	if out, err := run("", p.Hookctl, "status"); err != nil || !strings.Contains(out, "65f459a2") {
		t.Errorf("status of what root ran: %v: %s", err, out)
	}
}

// What root left behind is named with its mend, also the folders on the way there.
func TestFilesOfAnotherOwner(t *testing.T) {
	asRoot(t)
	w := fresh(t)
	w.must(t, InstallOptions{})
	if strangers, person := w.Strangers(); len(strangers) > 0 || person != "root" {
		t.Errorf("in root's own home: %+v, %q", strangers, person)
	}
	give(t, w.Home(), person)
	if strangers, who := w.Strangers(); len(strangers) > 0 || who != "54321" {
		t.Errorf("all of it a person's: %+v, %q", strangers, who)
	}
	give(t, w.Data(), 0)
	give(t, filepath.Join(w.Home(), ".claude", "settings.json"), 0)
	strangers, _ := w.Strangers()
	if len(strangers) < 8 || strangers[0].Path != w.Data() || strangers[0].Owner != "root" {
		t.Errorf("%+v", strangers)
	}
	if last := strangers[len(strangers)-1].Path; last != filepath.Join(w.Home(), ".claude", "settings.json") {
		t.Errorf("the last is %s", last)
	}
	share := filepath.Dir(w.Data())
	if err := os.Lchown(share, 0, 0); err != nil {
		t.Fatal(err)
	}
	if strangers, _ := w.Strangers(); strangers[0].Path != share {
		t.Errorf("the first is %s", strangers[0].Path)
	}
}

// container runs the built hookctl, and then the installed hook, as in a container.
type container struct {
	home string
	uid  uint32
	env  []string
}

func (c container) run(t *testing.T, stdin, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append([]string{"HOME=" + c.home, "PATH=/usr/bin:/bin"}, c.env...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Dir = c.home
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: c.uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", filepath.Base(program), args, err, out)
	}
	return string(out)
}

// reachable is a folder that another user can get into, unlike a test's own.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "stopgate-container-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A container runs as a user that is in no list of users, with a temp folder that it
// shares with others, one of whom has taken our name in it.
func TestAUserWithoutAnEntryInASharedTempFolder(t *testing.T) {
	asRoot(t)
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := reachable(t)
	for _, program := range []string{p.Hook, p.Hookctl} {
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		hosttest.Program(t, filepath.Join(dir, filepath.Base(program)), data)
	}
	home, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, d := range []string{home, tmp, filepath.Join(tmp, "stopgate-54321")} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(tmp, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	give(t, home, person)
	c := container{home: home, uid: person, env: []string{"TMPDIR=" + tmp}}
	hookctl := filepath.Join(dir, "hookctl")
	if out := c.run(t, "", hookctl, "install"); !strings.Contains(out, "ok   SubagentStop: holds the stop") {
		t.Errorf("install said\n%s", out)
	}
	event := `{"hook_event_name":"SubagentStart","session_id":"65f459a2-9db1","agent_id":"a85c14a6928672ba4","agent_type":"general-purpose"}`
	c.run(t, event, filepath.Join(home, ".local", "share", "stopgate", "bin", "hook"))
	if out := c.run(t, "", hookctl, "doctor"); !strings.Contains(out, "belongs to 54321") || !strings.Contains(out, "all is well") {
		t.Errorf("doctor said\n%s", out)
	}
	c.run(t, "", hookctl, "uninstall", "--purge")
	if left := everything(t, home); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
	if left, _ := os.ReadDir(tmp); len(left) != 1 {
		t.Errorf("left in the temp folder: %v", left)
	}
}
