// Package cli is hookctl, the program for people: its commands, one a file, over
// the packages that do the work. Arguments and the outside world go in, text and
// an exit code come out.
//
// Messages go to stderr as "hookctl: what is wrong", lower case, without a final
// period. Exit codes: 0 done, 1 it could not be done, 2 it was not understood;
// others are documented with the command that has them.
package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/team"
	"stopgate/pkg/version"
	"stopgate/pkg/view"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	// exitInterrupted is what a shell reports for a program ended by Ctrl+C.
	exitInterrupted = 130
)

// commands is the table of commands, in the order in which help shows them.
var commands = []func(*app) *cobra.Command{
	(*app).status,
	(*app).watch,
	(*app).timeline,
	(*app).statusline,
	(*app).notice,
	(*app).log,
	(*app).explain,
	(*app).demo,
	(*app).replay,
	(*app).install,
	(*app).uninstall,
	(*app).doctor,
	(*app).config,
	(*app).plugin,
	(*app).off,
	(*app).on,
	(*app).wait,
	(*app).release,
	(*app).history,
	(*app).report,
	(*app).stats,
	(*app).export,
	(*app).prune,
	(*app).completion,
	(*app).version,
}

// Help keeps the order of the table.
func init() { //nolint:gochecknoinits // a setting of that package, before a command runs
	cobra.EnableCommandSorting = false
}

// app is what the commands share.
type app struct {
	h host.Host
	// name is the one of Names by which the program was called.
	name string
	// terminal is stdout where that is a file, which may be a terminal.
	terminal *os.File
	// folder is the current working folder.
	folder func() (string, error)
	// top is the command line as a whole.
	top *cobra.Command
	// out keeps what went wrong with printing.
	out *output
	// understood is set when the arguments were: an error before is the person's.
	understood bool
}

// Main runs hookctl, under the one of [Names] by which it was called, and returns its
// exit code.
func Main(name string, h host.Host) int {
	a := &app{h: h, name: name, folder: os.Getwd, out: &output{w: h.Stdout}}
	a.terminal, _ = h.Stdout.(*os.File)
	a.h.Stdout = a.out
	return a.end(a.root().ExecuteC())
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   a.name,
		Short: "see what stopgate does to a session, and why",
		Long: `stopgate is a hook of Claude Code: when a subagent would stop while its own
background task still runs, the hook lets it go on and wait for the result.
hookctl shows what was recorded, who owns which task, and why a stop was blocked
or let through.`,
		Example: `  hookctl demo       a recorded session, event by event
  hookctl status     the sessions of this folder`,
		Version:            a.name + " " + version.This().String(),
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // plainly makes them, on the same line
		CompletionOptions:  cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// A script's empty variable must not mean every session.
			for _, name := range []string{"session", "settings"} {
				if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
					return fmt.Errorf("--%s is empty", name)
				}
			}
			return nil
		},
	}
	args := a.h.Args
	if args == nil {
		args = []string{} // nil would mean the process's own
	}
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		args = cleaned(args) // the library repeats them on stderr as they are
	}
	root.SetArgs(args)
	root.SetIn(a.h.Stdin)
	root.SetOut(a.h.Stdout)
	root.SetErr(a.h.Stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	for _, command := range commands {
		cmd := command(a)
		a.noteUnderstood(cmd)
		root.AddCommand(cmd)
	}
	a.helps(root)
	a.rename(root)
	a.top = root
	return root
}

// helps is the library's help command, with an error for what there is no help about.
func (a *app) helps(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version of this program"
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		return
	}
	help.Use, help.Short, help.Run = "help [COMMAND]", "show help about a command", nil
	help.Long = "help shows what a command does, its flags and an example."
	help.Example = "  hookctl help status"
	help.RunE = func(_ *cobra.Command, args []string) error {
		about, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return misused("no help about %q: there is no such command", strings.Join(args, " "))
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
}

// cleaned are arguments without what moves a terminal.
func cleaned(args []string) []string {
	out := slices.Clone(args)
	for i := range out {
		out[i] = view.Spelled(out[i])
	}
	return out
}

// noteUnderstood notes when a command begins: by then the library has found nothing
// wrong with the arguments, flags that exclude each other included.
func (a *app) noteUnderstood(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		a.noteUnderstood(sub)
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.understood = true
			return run(cmd, args)
		}
	}
}

// source is where the status of this machine comes from.
func (a *app) source() status.Source {
	return status.Source{
		Dir:   state.Existing(a.h.Env),
		Files: a.h.Files,
		Now:   a.h.Clock.Now(),
		Env:   a.h.Env,
		Alive: a.h.Alive,
		Held:  a.h.Held,
		Lives: func(p ledger.Process) bool { return p.Lives(a.h) },
		Here:  team.Here, StartOf: team.StartOf,
	}
}

// screen is where tables go: as wide as $COLUMNS or the terminal, without a
// limit where neither is known; in colour on a terminal that takes it, unless
// $NO_COLOR is set.
func (a *app) screen() view.Screen {
	s := view.Screen{W: a.h.Stdout}
	if a.terminal != nil {
		if width, ansi, ok := host.Terminal(a.terminal); ok {
			s.Width = width
			s.Colour = ansi && a.h.Env("NO_COLOR") == "" && a.h.Env("TERM") != "dumb"
		}
	}
	if n, err := strconv.Atoi(a.h.Env("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	}
	return s
}

// onTerminal tells whether what is printed goes to a terminal.
func (a *app) onTerminal() bool {
	if a.terminal == nil {
		return false
	}
	_, _, ok := host.Terminal(a.terminal)
	return ok
}

// filter is which sessions a command is about: one, all, or those around the
// current folder.
func (a *app) filter(session string, all bool) (status.Filter, error) {
	f := status.Filter{Session: session, All: all}
	if session == "" && !all {
		folder, err := a.folder()
		if err != nil {
			return f, fmt.Errorf("cannot tell the current folder (use --all): %w", err)
		}
		f.Folder = folder
	}
	return f, nil
}

// completeSessions offers the recorded sessions' ids to the shell.
func (a *app) completeSessions(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	src := a.source()
	st, err := src.Load(a.context(), status.Filter{All: true, Bare: true})
	if err == nil {
		for _, s := range st.Sessions {
			ids = append(ids, view.Clean(s.ID)+"\t"+view.Clean(s.Cwd))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
