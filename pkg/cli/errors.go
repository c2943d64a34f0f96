package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stopgate/pkg/lazy"
	"stopgate/pkg/view"
)

// exitCode is an error with an exit code of its own; without err it is silent.
type exitCode struct {
	code int
	err  error
}

func (e exitCode) Error() string {
	if e.err == nil {
		return "exit code " + strconv.Itoa(e.code)
	}
	return e.err.Error()
}

func (e exitCode) Unwrap() error { return e.err }

// misused is an error of the person's: what was asked cannot be meant.
func misused(format string, args ...any) error {
	return exitCode{exitUsage, fmt.Errorf(format, args...)}
}

// end says what a command came to and gives the exit code.
func (a *app) end(cmd *cobra.Command, err error) int {
	var code exitCode
	printing := a.out.err != nil && (err == nil || errors.Is(err, a.out.err))
	switch {
	case printing && errors.Is(a.out.err, syscall.EPIPE): // who closes a pipe has read enough
	case printing:
		code = exitCode{exitFailed, a.out.err}
	case errors.As(err, &code):
	case err != nil && a.understood:
		code = exitCode{exitFailed, err}
	case err != nil:
		code = exitCode{exitUsage, a.plainly(cmd, err)}
	}
	if code.err != nil {
		a.sayError(code.err)
	}
	if code.code == exitUsage {
		a.say("see " + cmd.CommandPath() + " --help")
	}
	return code.code
}

// sayError prints an error, each of those that were joined on a line of its own.
func (a *app) sayError(err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok && err.Error() == errors.Join(all.Unwrap()...).Error() {
		for _, err := range all.Unwrap() {
			a.sayError(err)
		}
		return
	}
	a.say(err.Error())
}

// say prints a message for people on stderr, the one way for anything to get there.
// A message can name a folder, a flag's value or what a file holds, so all of it is
// cleaned.
func (a *app) say(text string) {
	_, _ = io.WriteString(a.h.Stderr, a.name+": "+view.Spelled(text)+"\n")
}

// plainly says in our words what the libraries found wrong with a command line.
func (a *app) plainly(cmd *cobra.Command, err error) error {
	if m := exclusive().FindStringSubmatch(err.Error()); m != nil {
		return errors.New("--" + strings.ReplaceAll(m[1], " ", " and --") + " exclude each other")
	}
	m := unknownCommand().FindStringSubmatch(err.Error())
	word, notQuoted := "", error(nil)
	if m != nil {
		word, notQuoted = strconv.Unquote(m[1])
	}
	switch {
	case m == nil || notQuoted != nil:
		return err
	case cmd.HasSubCommands():
		cmd.SuggestionsMinimumDistance = 2
		text := "there is no command " + m[1]
		if meant := cmd.SuggestionsFor(word); len(meant) > 0 {
			text += "; did you mean " + strings.Join(meant, " or ") + "?"
		}
		return errors.New(text)
	}
	return noArgs(cmd, []string{word})
}

// What cobra says of flags that exclude each other, and of a word too many.
var (
	exclusive      = lazy.Regexp(`^if any flags in the group \[[^\]]*\] are set none of the others can be; \[([^\]]*)\] were all set$`)
	unknownCommand = lazy.Regexp(`^unknown command (".*") for "`)
)

// flagError says in our words what is wrong with a flag.
func flagError(_ *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var none *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		why := value.Unwrap()
		if errors.As(why, new(*strconv.NumError)) {
			why = fmt.Errorf("not a %s", map[string]string{"int": "whole number", "bool": "yes or no (true, false)"}[value.GetFlag().Value.Type()])
		}
		return fmt.Errorf("%s %q: %w", flagName(value.GetFlag()), value.GetValue(), why)
	case errors.As(err, &none):
		what, _ := pflag.UnquoteUsage(none.GetFlag())
		return fmt.Errorf("%s needs a value: %s", flagName(none.GetFlag()), what)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("unknown flag: -%s", unknown.GetSpecifiedShortnames())
	}
	return err
}

func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// output passes on what is printed and keeps the first error of it: what could not be
// printed was not done.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}
