package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stopgate/pkg/gate"
	"stopgate/pkg/history"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// shownKey is how much of a key is shown, in digits, and leastKey how much of it
// names one.
const (
	shownKey = 8
	leastKey = 4
)

func (a *app) history() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history [COMMAND]",
		Short: "show what commands did before, and forget it",
		Long: `history lists the background commands that are remembered: how often each ended by
itself, how long that usually takes, how often it failed, was left running at its
session's end, and was seen to serve. A command that was left running twice and never
ended is not expected to end; one that ended before is expected to end again.

No text is kept, only a hash of a command and its project under a key of this
machine. With a COMMAND it shows that one, as it would be run in this folder.`,
		Example: `  hookctl history
  hookctl history 'npm run dev'
  hookctl history forget 1a2b3c4d`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return needs("a COMMAND, in quotes", 1)(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.runHistory(args) },
	}
	cmd.AddCommand(a.forget())
	return cmd
}

// runHistory shows one command, or lists them all.
func (a *app) runHistory(args []string) error {
	if len(args) > 0 {
		return a.showCommand(args[0])
	}
	return a.listHistory()
}

func (a *app) listHistory() error {
	ctx, cancel := context.WithTimeout(a.context(), status.Patience)
	defer cancel()
	all, err := history.All(ctx, state.Existing(a.h.Env), a.h.Clock.Now())
	if err != nil {
		return err
	}
	if len(all) == 0 {
		a.screen().Line("no command is remembered yet")
		return nil
	}
	a.printHistory(all)
	return nil
}

// showCommand shows what is remembered of a command in this folder, or in one that
// it lies in: a session's project may be further up.
func (a *app) showCommand(command string) error {
	folder, err := a.folder()
	if err != nil {
		return fmt.Errorf("cannot tell the current folder: %w", err)
	}
	ctx, cancel := context.WithTimeout(a.context(), status.Patience)
	defer cancel()
	dir := state.Existing(a.h.Env)
	for project := folder; ; project = filepath.Dir(project) {
		e, found, err := history.Find(ctx, dir, a.h.Clock.Now(), project, command)
		if err != nil {
			return err
		}
		if found {
			a.printHistory([]history.Entry{e})
			return nil
		}
		if project == filepath.Dir(project) {
			return errors.New("nothing is remembered of this command in " + view.Clean(folder))
		}
	}
}

func (a *app) printHistory(all []history.Entry) {
	scr, now := a.screen(), a.h.Clock.Now()
	var rows [][]view.Cell
	for _, e := range all {
		x := e.Expect()
		usually, expected := "-", "-"
		if x.Usually > 0 {
			usually = gate.Span(x.Usually)
		}
		switch {
		case x.Ends:
			expected = "ends"
		case x.NotWaited:
			expected = "goes on"
		}
		row := []string{e.Key[:min(len(e.Key), shownKey)], strconv.Itoa(e.Ended), usually, strconv.Itoa(e.Failed), strconv.Itoa(e.Left), strconv.Itoa(e.Served), gate.Span(now.Sub(e.Last)), expected}
		cells := make([]view.Cell, len(row))
		for i, text := range row {
			cells[i].Text = text
		}
		rows = append(rows, cells)
	}
	scr.Table([]view.Column{
		{Title: "KEY"}, {Title: "ENDED", Right: true}, {Title: "USUALLY", Right: true}, {Title: "FAILED", Right: true},
		{Title: "LEFT", Right: true}, {Title: "SERVED", Right: true}, {Title: "AGO", Right: true}, {Title: "EXPECTED"},
	}, rows)
}

// forgetOptions are what forget was asked for.
type forgetOptions struct{ all bool }

func (a *app) forget() *cobra.Command {
	var o forgetOptions
	cmd := &cobra.Command{
		Use:   "forget KEY...",
		Short: "forget commands by their keys, or all",
		Long: `forget removes what is remembered of commands, named by the keys that history lists
or how those begin; with --all it removes everything, and the key of this machine.`,
		Example: `  hookctl history forget 1a2b3c4d
  hookctl history forget --all`,
		Args: func(cmd *cobra.Command, keys []string) error {
			switch {
			case o.all && len(keys) > 0:
				return errors.New("--all and a KEY exclude each other")
			case o.all:
				return nil
			}
			return needs("a KEY (hookctl history lists them), or --all", many)(cmd, keys)
		},
		RunE: func(_ *cobra.Command, keys []string) error { return a.runForget(o, keys) },
	}
	o.flags(cmd)
	return cmd
}

func (o *forgetOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.all, "all", false, "forget everything")
}

// runForget forgets the commands of these keys, or all.
func (a *app) runForget(o forgetOptions, keys []string) error {
	for _, key := range keys {
		if len(key) < leastKey || strings.Trim(key, "0123456789abcdef") != "" {
			return exitCode{exitUsage, fmt.Errorf("%q: not a key (hookctl history lists them)", view.Clean(key))}
		}
	}
	if o.all {
		keys = []string{""}
	}
	return a.forgetThese(keys)
}

// forgetThese forgets the entries whose keys begin like these, each of which names
// one; "" names all.
func (a *app) forgetThese(begins []string) error {
	ctx, cancel := context.WithTimeout(a.context(), status.Patience)
	defer cancel()
	dir, now := state.Existing(a.h.Env), a.h.Clock.Now()
	if err := a.own(); err != nil {
		return err
	}
	known, err := history.All(ctx, dir, now)
	if err != nil {
		return err
	}
	for _, begin := range begins {
		matching := 0
		for _, e := range known {
			if strings.HasPrefix(e.Key, begin) {
				matching++
			}
		}
		switch {
		case begin != "" && matching == 0:
			return fmt.Errorf("no command is remembered by the key %s", begin)
		case begin != "" && matching > 1:
			return fmt.Errorf("the key %s begins %d keys", begin, matching)
		}
	}
	total := 0
	for _, begin := range begins {
		gone, err := history.Forget(ctx, dir, now, begin)
		if err != nil {
			return err
		}
		total += gone
	}
	a.screen().Line("forgot ", countOf(total, "command"))
	return nil
}
