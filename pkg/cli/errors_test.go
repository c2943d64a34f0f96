package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stopgate/pkg/host"
	"stopgate/pkg/state"
)

// evil is what a folder, a flag or a file can hold to move a terminal, or to look like
// a line of ours.
const evil = "\x1b[31mred\x07\r\nhookctl: all is well\u009b1\u202e\x00"

// checkErrors checks that stderr holds nothing but lines of ours.
func checkErrors(t *testing.T, asked []string, stderr string) {
	t.Helper()
	for line := range strings.Lines(stderr) {
		text, whole := strings.CutSuffix(line, "\n")
		if !whole || !strings.HasPrefix(text, "hookctl: ") || strings.HasPrefix(text, "hookctl: all is well") {
			t.Errorf("%q: stderr has the line %q", asked, line)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("%q: stderr moves the terminal: %q", asked, line)
		}
	}
}

// Every command, every flag of it and every argument with such a text.
func TestErrorsAreOnlyText(t *testing.T) {
	env := map[string]string{}
	code, _, stderr := run(t, env, &steady{}, evil)
	checkErrors(t, []string{evil}, stderr)
	if code != exitUsage || !strings.Contains(stderr, `\x1b[31mred`) {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	var each func(path []string, cmd *cobra.Command)
	try := func(args ...string) {
		t.Helper()
		// A line that is too good to be true would be a person's folder changed.
		if args[0] == "install" || args[0] == "uninstall" {
			args = append(args, "--dry-run")
		}
		_, _, stderr := run(t, map[string]string{"HOME": t.TempDir()}, &ticking{tick: func() bool { return false }}, args...)
		checkErrors(t, args, stderr)
	}
	each = func(path []string, cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			each(append(path[:len(path):len(path)], sub.Name()), sub)
		}
		if len(path) == 0 {
			return
		}
		with := func(more ...string) []string { return append(path[:len(path):len(path)], more...) }
		try(with(evil)...)
		try(with(evil, evil)...)
		try(with("--" + evil)...)
		try(with("-" + evil)...)
		try(with("--", evil)...)
		cmd.Flags().VisitAll(func(f *pflag.Flag) { try(with("--"+f.Name+"="+evil, "x")...) })
	}
	each(nil, (&app{h: host.Host{}, name: Names[0], out: &output{}}).root())
}

// A folder and a file in the way, named like that.
func TestErrorsThatNameAFolder(t *testing.T) {
	name := strings.TrimSuffix(evil, "\x00")
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Skip("no such names here")
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte(evil), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "off"), []byte(evil), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		state string
		args  []string
	}{{dir, []string{"off"}}, {dir, []string{"on"}}, {file, []string{"release", "b1"}}, {dir, []string{"replay", dir}}, {dir, []string{"replay", file}}, {dir, []string{"plugin", "build", file}}} {
		code, _, stderr := run(t, map[string]string{state.EnvDir: c.state, "HOME": dir}, &steady{}, c.args...)
		checkErrors(t, c.args, stderr)
		if code == exitDone || stderr == "" {
			t.Errorf("%q: exit code %d, %q", c.args, code, stderr)
		}
	}
}

// Errors that were joined stand on lines of their own.
func TestJoinedErrors(t *testing.T) {
	var stderr bytes.Buffer
	a := &app{h: host.Host{Stderr: &stderr}, name: Names[0], out: &output{}, understood: true}
	err := errors.Join(errors.New("one"), errors.Join(errors.New("two"), fmt.Errorf("three: %w, %w", errors.New("a\nb"), errors.New("c"))))
	if code := a.end(&cobra.Command{}, exitCode{exitFailed, err}); code != exitFailed || stderr.String() != "hookctl: one\nhookctl: two\nhookctl: three: a\\nb, c\n" {
		t.Errorf("exit code %d, %q", code, &stderr)
	}
}

// full is a place where nothing can be printed.
type full struct{ err error }

func (f full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/full", Err: f.err}
}

// What could not be printed was not done.
func TestAFullDiskForStdout(t *testing.T) {
	for _, args := range [][]string{{"status"}, {"status", "--json"}, {"log"}, {"version"}, {"--version"}, {"--help"}, {"help"}, {"help", "status"}, {"demo"}, {"off"}, {"on"}, {"prune"}, {"completion", "zsh"}, {}} {
		for err, want := range map[error]int{syscall.ENOSPC: exitFailed, syscall.EPIPE: exitDone} {
			var stderr bytes.Buffer
			code := Main(Names[0], host.Host{
				Stdin: strings.NewReader(""), Stdout: full{err}, Stderr: &stderr, Args: args, Clock: &steady{},
				Env:  func(name string) string { return map[string]string{state.EnvDir: t.TempDir()}[name] },
				Self: func() string { return "" }, Parent: func() int { return 1 }, Alive: func(int) bool { return true },
			})
			if code != want && (!errors.Is(err, syscall.EPIPE) || code != exitFailed) {
				t.Errorf("%q with %v: exit code %d, %q", args, err, code, &stderr)
			}
			if said := strings.Count(stderr.String(), "no space left"); want == exitFailed && said != 1 {
				t.Errorf("%q: said %d times: %q", args, said, &stderr)
			}
		}
	}
}
