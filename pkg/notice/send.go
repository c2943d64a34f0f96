package notice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"stopgate/pkg/config"
)

// Limit is how long all the telling of one run may take.
const Limit = 10 * time.Second

// Variables that a person's own program finds in its environment.
const (
	EnvKind    = "STOPGATE_NOTICE"
	EnvSession = "STOPGATE_SESSION"
)

// Sender gives notices in the ways that a person wants.
type Sender struct {
	Wants config.Notices
	// Session is whom they are about.
	Session string
	// Home is where programs run: not in a project.
	Home string
	// Client is the client's process, whose terminal is used; 0 is unknown.
	Client int
}

// Send gives a notice in each way; what went wrong with one does not keep the others.
func (s Sender) Send(ctx context.Context, n Notice) error {
	var errs []error
	if s.Wants.Terminal {
		errs = append(errs, s.terminal(n))
	}
	if len(s.Wants.Command) > 0 {
		errs = append(errs, s.run(ctx, n, append(append([]string{}, s.Wants.Command...), n.Title, n.Text)))
	}
	if s.Wants.Desktop {
		errs = append(errs, s.desktop(ctx, n))
	}
	return errors.Join(errs...)
}

// desktop shows a notice with the system's own program.
func (s Sender) desktop(ctx context.Context, n Notice) error {
	words := desktop(runtime.GOOS, n)
	if words == nil {
		return fmt.Errorf("no program for notices of the desktop is known on %s", runtime.GOOS)
	}
	return s.run(ctx, n, words)
}

// desktop is that program. Texts are arguments, never a part of a script.
func desktop(system string, n Notice) []string {
	switch system {
	case "darwin":
		return []string{
			"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run",
			"--", n.Title, n.Text,
		}
	case "windows":
		return nil
	}
	return []string{"notify-send", "--app-name=stopgate", "--", n.Title, n.Text}
}

// run runs a program, without a shell, until it has ended or the time is over.
func (s Sender) run(ctx context.Context, n Notice, words []string) error {
	program, err := exec.LookPath(words[0])
	if err != nil {
		return fmt.Errorf("the program of notices: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, words[1:]...) //nolint:gosec // the person's own, or the system's
	cmd.Dir = s.Home
	cmd.Env = append(os.Environ(), EnvKind+"="+string(n.Kind), EnvSession+"="+s.Session)
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

// terminal writes a notice to the client's terminal.
func (s Sender) terminal(n Notice) error {
	tty, err := openTerminal(s.Client)
	if err != nil {
		return fmt.Errorf("the client's terminal: %w", err)
	}
	return errors.Join(write(tty, n), tty.Close())
}

// write is OSC 9, which many terminals show on the desktop, and the bell. A notice is
// clean, so that its text cannot end the sequence.
func write(w io.Writer, n Notice) error {
	_, err := io.WriteString(w, "\x1b]9;"+n.Title+": "+n.Text+"\x1b\\\a")
	return err
}

// Detach starts a program that goes on when this process has ended, in a session of its
// own and without streams.
func Detach(program string, args ...string) error {
	cmd := exec.CommandContext(context.Background(), program, args...) //nolint:gosec // hookctl itself
	apart(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
