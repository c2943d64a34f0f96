package cli

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"stopgate/pkg/event"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/statusline"
)

func (a *app) statusline() *cobra.Command {
	var beside string
	var noText bool
	cmd := &cobra.Command{
		Use:   "statusline",
		Short: "one line for the client's status line: who is held, and for what",
		Long: `statusline prints one short line about the session whose session_id stands in the
JSON on stdin, as the client gives it to a status line: how many agents are held and
for which commands, and how many ends nobody heard of. It prints nothing where there
is nothing to say, and on any error.

hookctl install --statusline registers it. Where there is a status line already, that
one is run as before (--beside), and ours comes as a further line.`,
		Example: `  hookctl install --statusline
  echo '{"session_id":"65f459a2-9db1-48da-b72c-36d82e0351f5"}' | hookctl statusline`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if host.IsTerminal(a.h.Stdin) {
				return misused("statusline reads the client's JSON on stdin; hookctl install --statusline registers it")
			}
			return a.printLine(beside, noText)
		},
	}
	cmd.Flags().StringVar(&beside, "beside", "", "run this `COMMAND` line first and print ours below it")
	cmd.Flags().BoolVar(&noText, "no-text", false, "leave out the words of commands")
	return cmd
}

// lineWait is how long a busy ledger is waited for: the client runs us again soon.
const lineWait = 100 * time.Millisecond

// printLine prints what stands in the status line: theirs, then ours. It fails for
// nothing: an error here would take the person's own line away.
func (a *app) printLine(beside string, noText bool) error {
	input, _ := event.Read(a.h.Stdin, event.IdleLimit, event.TotalLimit) // none is no session
	line := a.line(input, noText)
	defer a.noticeBeside(gjson.GetBytes(input, "session_id").Str)
	if beside != "" {
		theirs := a.beside(beside, input)
		if _, err := a.h.Stdout.Write(theirs); err != nil {
			return err
		}
		if line != "" && len(theirs) > 0 && theirs[len(theirs)-1] != '\n' {
			line = "\n" + line
		}
	}
	if line == "" {
		return nil
	}
	_, err := io.WriteString(a.h.Stdout, line+"\n")
	return err
}

// beside is what the person's own status line prints.
func (a *app) beside(command string, input []byte) []byte {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		if _, err := exec.LookPath(shell); err != nil {
			shell, flag = "cmd", "/c"
		}
	}
	cmd := exec.CommandContext(context.Background(), shell, flag, command) //nolint:gosec // what stood there before, as the client ran it
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), a.h.Stderr
	out, _ := cmd.Output() // whatever it printed is shown, as before
	return out
}

// line is our own line; "" on any trouble.
func (a *app) line(input []byte, noText bool) string {
	id := gjson.GetBytes(input, "session_id").Str
	dir := state.Existing(a.h.Env)
	if id == "" || dir.Path() == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(a.context(), lineWait)
	defer cancel()
	snap, err := ledger.ReadFile(ctx, dir.Store(id))
	if err != nil || !snap.Exists {
		return ""
	}
	src := statusline.Source{Files: a.h.Files, Now: a.h.Clock.Now(), NoText: noText, Lives: func(p ledger.Process) bool { return p.Lives(a.h) }}
	for _, session := range []string{"", id} {
		if until, off := dir.OffUntil(session, src.Now); off {
			src.Off, src.OffUntil = true, until
		}
	}
	width := 0
	if n, err := strconv.Atoi(strings.TrimSpace(a.h.Env("COLUMNS"))); err == nil && n > 0 {
		width = n
	}
	colour := a.h.Env("NO_COLOR") == "" && a.h.Env("TERM") != "dumb"
	return src.Line(snap, width, colour)
}
