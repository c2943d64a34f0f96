package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stopgate/pkg/host"
)

// explainOptions are what explain was asked for.
type explainOptions struct {
	session                string
	asJSON, follow, noText bool
	// number is that of a stop, 0 for none; flags are those of the hook, nil for none.
	number uint64
	flags  []string
}

func (a *app) explain() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [NUMBER] [-- FLAG...]",
		Short: "say why a stop was blocked or let through, rule by rule",
		Long: `explain explains a stop of the log from its record and from what is known today: the
verdict, why, and then each rule in order. Without a number it is the last stop. Where
a stop is held at that moment it says for what, and on a terminal, or with --follow, it
waits for the answer and explains that.

Given the payload of a hook event on stdin it sends that through the gate's own code,
on a private copy of the session's store: nothing is spent, and nothing is recorded.
Flags behind -- are those of the hook; without them it is the policy of the session's
last stop. A hold is not waited for then: the stop is answered at once.`,
		Example: `  hookctl explain
  hookctl explain 12 --session 65f459a2
  hookctl explain < payload.json
  hookctl explain -- --blocks 2 < payload.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 1 || n < 0 && len(args) > 1 {
				return errors.New("explain takes one number")
			}
			return nil
		},
		ValidArgsFunction: a.completeStops,
		RunE: func(cmd *cobra.Command, args []string) error {
			numbers := args
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				numbers, o.flags = args[:n], args[n:]
			}
			return a.runExplain(o, numbers)
		},
	}
	o.flagSet(a, cmd)
	return cmd
}

func (o *explainOptions) flagSet(a *app, cmd *cobra.Command) {
	a.sessionFlag(cmd, &o.session, "the session whose stop it is: its `ID`, or how it begins")
	flags := cmd.Flags()
	flags.BoolVar(&o.asJSON, "json", false, "print JSON for programs")
	flags.BoolVarP(&o.follow, "follow", "f", false, "wait for the answer of a stop that is held now")
	flags.BoolVar(&o.noText, "no-text", false, "show no commands and no descriptions")
}

func (a *app) runExplain(o explainOptions, numbers []string) error {
	if err := gateFlags(o.flags); err != nil {
		return exitCode{exitUsage, err}
	}
	if len(numbers) > 0 {
		n, err := strconv.ParseUint(strings.TrimPrefix(numbers[0], "#"), 10, 64)
		if err != nil || n == 0 {
			return misused("%q is not the number of a stop (hookctl log)", numbers[0])
		}
		o.number = n
		return a.explainStop(o)
	}
	if !host.IsTerminal(a.h.Stdin) {
		given, err := a.explainPayload(o)
		if given || err != nil {
			return err
		}
	}
	return a.explainLast(o)
}
