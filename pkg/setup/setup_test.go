package setup

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
)

// built are the programs as the go tool makes them, built once a run.
var built = sync.OnceValues(func() (Programs, error) {
	if dir := os.Getenv("STOPGATE_PROGRAMS"); dir != "" { // where no Go is, for which these tests were built
		return Programs{Hook: filepath.Join(dir, executable(hookName)), Hookctl: filepath.Join(dir, executable(hookctlName))}, nil
	}
	dir, err := os.MkdirTemp("", "stopgate-setup-")
	if err != nil {
		return Programs{}, err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", dir, "stopgate/cmd/hook", "stopgate/cmd/hookctl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return Programs{
		Hook:    filepath.Join(dir, executable(hookName)),
		Hookctl: filepath.Join(dir, executable(hookctlName)),
		temp:    dir,
	}, cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if p, err := built(); err == nil {
		p.Close()
	}
	os.Exit(code)
}

// fresh is a machine with an empty home and the programs beside hookctl.
func fresh(t *testing.T) World {
	t.Helper()
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(home, "proj")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home, "LOCALAPPDATA": filepath.Join(home, "AppData")}
	h := host.System()
	h.Env = func(name string) string { return env[name] }
	h.Self = func() string { return p.Hookctl }
	return World{Host: h, Cwd: project}
}

// with is the world with another variable.
func (w World) with(name, value string) World {
	env := w.Env
	w.Env = func(n string) string {
		if n == name {
			return value
		}
		return env(n)
	}
	return w
}

// install plans and does it.
func (w World) install(t *testing.T, o InstallOptions) (*InstallPlan, error) {
	t.Helper()
	if o.Scope == "" && o.File == "" {
		o.Scope = settings.User
	}
	plan, err := w.PlanInstall(o)
	if err == nil {
		defer plan.Close()
		err = plan.Apply(t.Context())
	}
	return plan, err
}

func (w World) must(t *testing.T, o InstallOptions) *InstallPlan {
	t.Helper()
	plan, err := w.install(t, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plan.Failed() {
		t.Errorf("%s %v: %v", p.Hook.Event, p.Hook.Flags, p.Err)
	}
	return plan
}

// uninstall plans and does it.
func (w World) uninstall(t *testing.T, o UninstallOptions) *UninstallPlan {
	t.Helper()
	plan, err := w.PlanUninstall(o)
	if err == nil {
		err = errors.Join(plan.Apply(t.Context()), plan.Err())
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// hookOf is an entry that runs the hook.
func hookOf(e settings.Entry) Hook {
	return Hook{Found: settings.Found{Entry: e}, Program: e.Command, Flags: e.Args}
}

func TestDefaultEntriesAreTheExample(t *testing.T) {
	for _, file := range []struct{ path, hook string }{
		{"../../hooks.example.json", "/home/you/.local/share/stopgate/bin/hook"},
		{"../../plugin/hooks/hooks.json", "${CLAUDE_PLUGIN_ROOT}/lib/hook"},
	} {
		data, err := os.ReadFile(file.path)
		if err != nil {
			t.Fatal(err)
		}
		found, err := settings.Find(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []settings.Entry
		for _, f := range found {
			got = append(got, f.Entry)
		}
		if want := Entries(file.hook, Default()); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", file.path, got, want)
		}
	}
}

// What is registered is understood by the hook, waits no longer than the client
// is told to, and comes back as the same choice.
func TestEntriesRoundTrip(t *testing.T) {
	for _, c := range []Choice{
		Default(),
		{Patience: time.Hour, Blocks: 1, CourierFor: 2 * time.Hour, Lead: policy.LeadNever, LeadPatience: time.Hour},
		{Hold: 9 * time.Minute, Patience: 0, Blocks: 1, CourierFor: 2 * time.Hour, Lead: policy.LeadAlways, LeadPatience: 0},
		{Patience: 2 * time.Hour, Blocks: 1, CourierFor: 2 * time.Hour, Lead: policy.LeadHeadless, LeadPatience: 2 * time.Hour, LeadExtra: []string{"--ignore", "y"}},
		{Hold: 90 * time.Second, Patience: 20 * time.Minute, Blocks: 3, Courier: true, CourierFor: time.Hour, Extra: []string{"--observe", "--ignore", "a b|c"}, CourierExtra: []string{"--ignore", "x"}, Lead: policy.LeadHeadless, LeadPatience: 20 * time.Minute},
		{Hold: 24 * time.Hour, Patience: 24 * time.Hour, Blocks: 0, Courier: true, CourierFor: 24 * time.Hour, Lead: policy.LeadNever, LeadPatience: time.Hour},
	} {
		var found []Hook
		for _, e := range Entries("/x/hook", c) {
			p, err := hookOf(e).Policy()
			if err != nil {
				t.Errorf("%v: %v", e.Args, err)
			}
			if wait := p.Hold; e.AsyncRewake && time.Duration(e.Timeout)*time.Second < p.For+time.Minute || e.Event == "SubagentStop" && time.Duration(e.Timeout)*time.Second < wait+time.Minute || e.Event == "Stop" && time.Duration(e.Timeout)*time.Second < p.Patience+time.Minute {
				t.Errorf("%v: timeout of %d s", e.Args, e.Timeout)
			}
			found = append(found, hookOf(e))
		}
		got, moved, ok := Adopt(found)
		if !ok || moved || !reflect.DeepEqual(got, c) {
			t.Errorf("adopted %+v, want %+v", got, c)
		}
	}
}

func TestOursRecognisesWhatRunsOurHook(t *testing.T) {
	w := fresh(t)
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "stopgate", "bin", "hook")
	if err := os.MkdirAll(filepath.Dir(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ours := w.Ours()
	for _, c := range []struct {
		situation, command string
		args               []string
		want               bool
	}{
		{"where install puts it", w.Hook(), []string{"gate"}, true},
		{"built elsewhere", p.Hook, []string{}, true},
		{"built elsewhere, shell form", `"` + p.Hook + `" gate --hold 1m`, nil, true},
		{"gone, from a folder such as install makes", "/gone/share/stopgate/bin/hook", []string{}, true},
		{"gone, on Windows", `C:\Users\x\AppData\Local\stopgate\bin\hook.exe`, []string{}, true},
		{"gone, shell form with the home's sign", "~/gone/stopgate/bin/hook courier", nil, true},
		{"our other program", p.Hookctl, []string{}, false},
		{"a script of somebody in such a folder", script, []string{}, false},
		{"another tool called hook", "/usr/bin/hook", []string{}, false},
		{"another tool with our name in its arguments", "/usr/bin/logger", []string{"/gone/stopgate/bin/hook"}, false},
		{"another tool in a folder of ours", "/gone/stopgate/bin/other", []string{}, false},
		{"nothing", "", nil, false},
		{"nothing but a quote", `"`, nil, false},
		{"its folder by a variable of another's", `$TOOLS/stopgate/bin/hook gate`, nil, false},
		{"the home folder by its variable", `"$HOME/gone/stopgate/bin/hook" gate`, nil, true},
	} {
		if got := ours(c.command, c.args); got != c.want {
			t.Errorf("%s: %q is ours: %v", c.situation, c.command, got)
		}
	}
}

// What somebody wrote around the hook is neither taken for ours nor overlooked.
func TestLinesWrittenByHand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for sh")
	}
	w := fresh(t)
	const hook = "/gone/stopgate/bin/hook"
	for _, c := range []struct {
		command string
		args    []string
		byHand  bool
		flags   string // "-" where it does not run the hook
	}{
		{hook + ` gate --hold 5m`, nil, false, "gate --hold 5m"},
		{hook + ` gate --ignore "vite|webpack"`, nil, false, "gate --ignore vite|webpack"},
		{hook + ` gate --ignore 'a $b'`, nil, false, "gate --ignore a $b"},
		{hook + ` gate || true`, nil, true, "gate"},
		{hook + ` gate 2>/dev/null`, nil, true, "gate"},
		{hook + ` gate; exit 0`, nil, true, "gate"},
		{hook + ` gate &`, nil, true, "gate"},
		{hook + ` gate --ignore *.js`, nil, true, "gate --ignore *.js"},
		{hook + ` gate --hold $HOLD`, nil, true, "gate --hold "},
		{`STOPGATE_LOG=debug ` + hook, nil, true, ""},
		{`env STOPGATE_LOG=debug ` + hook + ` gate`, nil, true, "gate"},
		{`env -u HOME -i A=b ` + hook, nil, true, ""},
		{`exec ` + hook + ` gate`, nil, true, "gate"},
		{`nice -n 10 timeout -k 5 660 ` + hook + ` gate`, nil, true, "gate"},
		{`[ -x ` + hook + ` ] && ` + hook + ` gate --blocks 2`, nil, true, "gate --blocks 2"},
		{`if true; then ` + hook + ` courier; fi`, nil, true, "courier"},
		{`cat | ` + hook, nil, true, ""},
		{`sh -c "` + hook + ` gate --hold 1m"`, nil, true, "gate --hold 1m"},
		{`bash -lc 'exec ` + hook + ` gate || true'`, nil, true, "gate"},
		{`! ` + hook, nil, true, ""},
		{"sh", []string{"-c", hook + " gate"}, true, "gate"},
		{"/usr/bin/env", []string{hook, "gate"}, true, "gate"},
		{"/usr/bin/env", []string{"python3", hook}, false, "-"},
		{`echo ` + hook, nil, false, "-"},
		{`echo "` + hook + ` gate"`, nil, false, "-"},
		{`# ` + hook, nil, false, "-"},
		{`sh ` + hook, nil, false, "-"},
		{`sh -c`, nil, false, "-"},
		{`sh -c "sh -c 'sh -c \"sh -c \\\"sh -c ` + hook + `\\\"\"'"`, nil, false, "-"},
		{`if ` + hook, nil, false, "-"},
		{hook + `x gate`, nil, false, "-"},
	} {
		h, ok := w.recogniser().entry(c.command, c.args)
		if ok == (c.flags == "-") || ok && (h.ByHand != c.byHand || strings.Join(h.Flags, " ") != c.flags || h.Program != hook) {
			t.Errorf("%s %q: found %v, %+v", c.command, c.args, ok, h)
		}
	}
}

// Eight installations at once, into one file and others, with another tool's
// edits in between: nothing is lost, nothing is doubled.
func TestInstallationsAtOnceLoseNothing(t *testing.T) {
	w := fresh(t)
	file, err := w.File(settings.User)
	if err != nil {
		t.Fatal(err)
	}
	before := []byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/other/tool"}]}]}}` + "\n")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, before, 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			o := InstallOptions{Scope: settings.User}
			if i%4 == 3 {
				o = InstallOptions{File: filepath.Join(w.Home(), "more", string(rune('a'+i))+".json")}
			}
			if plan, err := w.install(t, o); err != nil || len(plan.Failed()) > 0 {
				t.Errorf("install %d: %v", i, err)
			}
		})
	}
	all.Wait()
	plan, err := w.PlanUninstall(UninstallOptions{})
	if err != nil || len(plan.Files) != 3 {
		t.Fatalf("%d files, %v, want 3", len(plan.Files), err)
	}
	for _, f := range plan.Files {
		if f.Entries != 6 {
			t.Errorf("%s: %d entries, want 6", f.Path, f.Entries)
		}
	}
	w.uninstall(t, UninstallOptions{Purge: true})
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Errorf("after uninstall:\n%s\nwant\n%s", after, before)
	}
	for _, path := range []string{w.Data(), filepath.Join(w.Home(), "more")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left over", path)
		}
	}
}

// Installing over a running program gives it a new file: the old bytes live on
// under the old inode.
func TestProgramsAreReplacedByNewFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a running program is renamed aside there")
	}
	w := fresh(t)
	w.must(t, InstallOptions{})
	old, err := os.Open(w.Hook())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	before, err := old.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(w.Hook(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("older"); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	rep := w.must(t, InstallOptions{})
	after, err := os.Stat(w.Hook())
	if err != nil {
		t.Fatal(err)
	}
	if !rep.Programs[0].Replaced || os.SameFile(before, after) {
		t.Errorf("replaced %v, same file %v", rep.Programs[0].Replaced, os.SameFile(before, after))
	}
}

func TestProveTellsWhatIsWrong(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the wrong hooks are shell scripts")
	}
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "hook")
		hosttest.Program(t, path, []byte("#!/bin/sh\n"+text+"\n"))
		return path
	}
	for _, c := range []struct {
		situation string
		entry     settings.Entry
		want      string // in the error; "" for none
		env       map[string]string
	}{
		{"gate", settings.Entry{Event: "SubagentStop", Command: p.Hook, Args: []string{}}, "", nil},
		{"gate with hold", settings.Entry{Event: "SubagentStop", Command: p.Hook, Args: []string{"--hold", "1h"}}, "", nil},
		{"gate in shell form", settings.Entry{Event: "SubagentStop", Command: `"` + p.Hook + `" gate --blocks 2`, Shell: true}, "", nil},
		{"observing gate", settings.Entry{Event: "SubagentStop", Command: p.Hook, Args: []string{"--observe"}}, "", nil},
		{"gate that ignores the command", settings.Entry{Event: "SubagentStop", Command: p.Hook, Args: []string{"--ignore", "^sleep"}}, "", nil},
		{"courier", settings.Entry{Event: "SubagentStop", Command: p.Hook, Args: []string{"courier"}}, "", nil},
		{"an event without a recording", settings.Entry{Event: "TeammateIdle", Command: p.Hook, Args: []string{}}, "", nil},
		{"flags of another version", settings.Entry{Event: "SubagentStop", Command: p.Hook, Args: []string{"--new"}}, "does not know", nil},
		{"program gone", settings.Entry{Event: "SubagentStop", Command: "/gone/hook", Args: []string{}}, "no such file", nil},
		{"program that says nothing", settings.Entry{Event: "SubagentStop", Command: script("cat >/dev/null"), Args: []string{}}, "let the stop through", nil},
		{"hook that was too slow once", settings.Entry{Event: "SubagentStop", Command: script(`[ -e "$0.ran" ] && exec "` + p.Hook + `"; : >"$0.ran"; cat >/dev/null`), Args: []string{}}, "", nil},
		{"hook that says why in its log", settings.Entry{Event: "SubagentStop", Command: script(`STOPGATE_DISABLE=1 exec "` + p.Hook + `"`), Args: []string{}}, "it logged disabled", nil},
		{"a session whose limit of memory Go cannot read", settings.Entry{Event: "SubagentStop", Command: p.Hook, Args: []string{}}, "exit code 2", map[string]string{"GOMEMLIMIT": "4Gi"}},
		{"program that fails", settings.Entry{Event: "SessionEnd", Command: script("echo broken >&2; exit 3"), Args: []string{}}, "exit code 3: broken", nil},
		{"program that talks", settings.Entry{Event: "SessionEnd", Command: script("echo hello"), Args: []string{}}, `it printed "hello`, nil},
		{"program that records nothing", settings.Entry{Event: "PostToolUse", Command: script("cat >/dev/null"), Args: []string{}}, "nothing was recorded", nil},
	} {
		t.Run(c.situation, func(t *testing.T) {
			t.Setenv("STOPGATE_DISABLE", "1") // of no account in a proof
			t.Setenv("CLAUDE_PID", "1")
			h, ok := fresh(t).recogniser().entry(c.entry.Command, c.entry.Args)
			if !ok {
				h = hookOf(c.entry)
			}
			h.Event = c.entry.Event
			proofs, err := prove(t.Context(), []Hook{h}, []SettingsFile{{Scope: "user", Conditions: settings.Conditions{Env: c.env}}}, func(string) (string, error) { return "", nil })
			if err != nil || len(proofs) != 1 {
				t.Fatal(proofs, err)
			}
			got := proofs[0].Err
			if c.want == "" && got != nil || c.want != "" && (got == nil || !strings.Contains(got.Error(), c.want)) {
				t.Errorf("%v, want %q", got, c.want)
			}
			if mend := proofs[0].Mend; (c.env != nil) != strings.Contains(mend, "mend GOMEMLIMIT=4Gi in the user settings") || c.env != nil && !strings.Contains(mend, "4GiB") {
				t.Errorf("mend %q", mend)
			}
		})
	}
}

// The settings of a project can be anybody's: looking at them runs nothing but the
// program that install put in place.
func TestAProofRunsOnlyWhatInstallPutInPlace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for sh")
	}
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	w := fresh(t)
	w.must(t, InstallOptions{})
	ran := filepath.Join(t.TempDir(), "ran")
	planted := filepath.Join(t.TempDir(), "stopgate", "bin", "hook")
	hosttest.Program(t, planted, []byte("#!/bin/sh\ntouch "+ran+"\n"))
	for _, c := range []struct {
		situation string
		entry     settings.Entry
		skipped   string // "" where it is run
	}{
		{"as install registered it", settings.Entry{Event: "SubagentStop", Command: w.Hook(), Args: []string{"gate"}}, ""},
		{"in shell form", settings.Entry{Event: "SubagentStop", Command: w.Hook() + " gate", Shell: true}, ""},
		{"with something for the shell in it", settings.Entry{Event: "SubagentStop", Command: `"` + w.Hook() + `" gate --ignore "$(touch ` + ran + `)"`, Shell: true}, "more than the hook"},
		{"a script under the name of the hook", settings.Entry{Event: "SubagentStop", Command: planted, Args: []string{}}, "no program of stopgate"},
		{"a hook that was built elsewhere", settings.Entry{Event: "SubagentStop", Command: p.Hook, Args: []string{}}, "not put there by install"},
		{"a path from the session's folder", settings.Entry{Event: "SubagentStop", Command: "stopgate/bin/hook", Args: []string{}}, "in each folder"},
	} {
		h, ok := w.recogniser().entry(c.entry.Command, c.entry.Args)
		if !ok {
			h = hookOf(c.entry)
		}
		h.Found = settings.Found{Entry: c.entry}
		proofs, err := w.Prove(t.Context(), []Hook{h}, nil)
		if err != nil || len(proofs) != 1 || (proofs[0].Skipped == "") != (c.skipped == "") || !strings.Contains(proofs[0].Skipped, c.skipped) || proofs[0].Err != nil {
			t.Errorf("%s: %+v, %v", c.situation, proofs, err)
		}
	}
	hosttest.Program(t, w.Hook(), []byte("#!/bin/sh\ntouch "+ran+"\n"))
	proofs, err := w.Prove(t.Context(), []Hook{hookOf(settings.Entry{Event: "SubagentStop", Command: w.Hook(), Args: []string{}})}, nil)
	if err != nil || !strings.Contains(proofs[0].Skipped, "is not the program that install put there") {
		t.Errorf("other bytes in its place: %+v, %v", proofs, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("something else was run")
	}
}

// Installed and as a plugin at once: two processes get the same event at the same
// time, and one of them answers.
func TestTwoRegistrationsAnswerOnce(t *testing.T) {
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"gate"}, {"gate", "--hold", "10m"}} {
		for range 5 {
			root := t.TempDir()
			events, err := unpack(root)
			if err != nil {
				t.Fatal(err)
			}
			entry := settings.Entry{Event: "SubagentStop", Command: p.Hook, Args: flags}
			answers := make([]string, 2)
			var both sync.WaitGroup
			for i := range answers {
				both.Go(func() {
					stdout, stderr, code, err := run(t.Context(), hookOf(entry), nil, events["SubagentStop"], root)
					if err != nil || code != 0 {
						t.Errorf("%v: exit %d %v %s", flags, code, err, stderr)
					}
					answers[i] = stdout
				})
			}
			both.Wait()
			if (answers[0] == "") == (answers[1] == "") {
				t.Errorf("%v: answers %q, want one", flags, answers)
			}
			cmd := exec.Command(p.Hookctl, "status", "--all", "--json")
			cmd.Env = append(os.Environ(), "STOPGATE_STATE_DIR="+filepath.Join(root, "state"))
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var status struct {
				Sessions []struct {
					Stops []struct{ Verdict string }
				}
			}
			if err := json.Unmarshal(out, &status); err != nil || len(status.Sessions) != 1 {
				t.Fatalf("%v: %s", err, out)
			}
			if stops := status.Sessions[0].Stops; len(stops) != 1 || stops[0].Verdict != "block" {
				t.Errorf("%v: recorded %v, want one block", flags, stops)
			}
		}
	}
}
