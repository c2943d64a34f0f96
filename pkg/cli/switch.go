package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// switchOptions are what off and on were asked for.
type switchOptions struct {
	session string
	span    time.Duration
}

func (a *app) off() *cobra.Command {
	var o switchOptions
	cmd := &cobra.Command{
		Use:   "off",
		Short: "let every stop through, for a while or until hookctl on",
		Long: `off switches stopgate off: every stop is let through at once, and nothing but
that is recorded. Hooks that hold a stop now let it go.`,
		Example: `  hookctl off --for 1h
  hookctl off --session 65f459a2`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.runOff(o) },
	}
	o.flags(a, cmd)
	spanFlag(cmd.Flags(), &o.span, "for", 0, time.Second, "switch on again after this `DURATION`, for example 30m, 1h or 2d")
	return cmd
}

func (o *switchOptions) flags(a *app, cmd *cobra.Command) {
	a.sessionFlag(cmd, &o.session, "for this session only: its `ID`, or how it begins")
}

func (a *app) runOff(o switchOptions) error {
	var until time.Time
	now := a.h.Clock.Now()
	if o.span > 0 {
		until = now.Add(o.span)
	}
	id, err := a.sessionID(o.session)
	if err != nil {
		return err
	}
	dir, err := a.ownState()
	if err != nil {
		return err
	}
	if err := dir.SwitchOff(id, until); err != nil {
		return err
	}
	a.noteSwitch(dir, id, ledger.Act{Deed: ledger.SwitchedOff, Until: until})
	what := "stopgate is off"
	if id != "" {
		what += " for session " + view.Clean(id)
	}
	scr := a.screen()
	if until.IsZero() {
		scr.Line(what, ": every stop is let through until ", onCommand(id))
	} else {
		scr.Line(what, " until ", scr.Clock(until, now), ": every stop is let through")
	}
	return nil
}

func onCommand(id string) string {
	if id == "" {
		return "hookctl on"
	}
	return "hookctl on --session " + view.Clean(id)
}

func (a *app) on() *cobra.Command {
	var o switchOptions
	cmd := &cobra.Command{
		Use:   "on",
		Short: "take back hookctl off",
		Long: `on takes back what off did: with --session for that session, else for all that
have no switch of their own.`,
		Example: `  hookctl on`,
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return a.runOn(o) },
	}
	o.flags(a, cmd)
	return cmd
}

func (a *app) runOn(o switchOptions) error {
	id, err := a.sessionID(o.session)
	if err != nil {
		return err
	}
	if err := a.own(); err != nil {
		return err
	}
	src := a.source()
	was, err := src.Dir.SwitchOn(id)
	if errors.Is(err, state.ErrNotOurs) {
		return fmt.Errorf("%w, and switches off all the same: move it away", err)
	}
	if err != nil {
		return err
	}
	if was {
		a.noteSwitch(src.Dir, id, ledger.Act{Deed: ledger.SwitchedOn})
	}
	what := "stopgate is on"
	if id != "" {
		what += " for session " + view.Clean(id)
	}
	if !was {
		what += "; it was not switched off"
	}
	scr := a.screen()
	scr.Line(what)
	if _, off := src.Dir.OffUntil("", src.Now); off && id != "" {
		scr.Line("but it is switched off for all sessions (hookctl on)")
	}
	if state.Disabled(a.h.Env) {
		scr.Line("but ", disabledHere(a.h.Env), ": a client started from here is not guarded")
	}
	return nil
}

// disabledHere says that the environment switches off, where it does.
func disabledHere(env func(string) string) string {
	return state.EnvDisable + "=" + view.Clean(env(state.EnvDisable)) + " is set here"
}

// sessionID is the whole id of a recorded session; "" for "".
func (a *app) sessionID(begin string) (string, error) {
	if begin == "" {
		return "", nil
	}
	st, err := a.source().Load(a.context(), status.Filter{Session: begin, Bare: true})
	switch {
	case err != nil:
		return "", err
	case len(st.Sessions) == 1 && st.Sessions[0].ID != "":
		return st.Sessions[0].ID, nil
	case len(st.Problems) > 0:
		return "", fmt.Errorf("%s %s", view.Clean(st.Problems[0].Path), st.Problems[0].Text)
	}
	return "", errors.New("nothing is recorded of this session yet")
}

// noteLimit bounds the noting of a switch, noteAge is how long a session may have been
// quiet that it concerns.
const (
	noteLimit = 2 * time.Second
	noteAge   = 24 * time.Hour
)

// noteSwitch records in the sessions that a switch concerns what was done to it: in the
// one, or in those that have not ended. The switch holds whether that succeeds or not.
func (a *app) noteSwitch(dir state.Dir, id string, act ledger.Act) {
	now := a.h.Clock.Now()
	ctx, cancel := context.WithTimeout(a.context(), noteLimit)
	defer cancel()
	for _, path := range dir.Stores() {
		info, err := a.h.Files.Stat(path)
		if err != nil || id == "" && now.Sub(info.ModTime()) > noteAge || id != "" && path != dir.Store(id) {
			continue
		}
		snap, err := ledger.ReadFile(ctx, path)
		if err != nil || !snap.Exists || id == "" && !snap.Session.Ended.IsZero() {
			continue
		}
		err = ledger.Update(ctx, dir, snap.Session.ID, now, func(tx *ledger.Tx) error {
			tx.AddAct(act)
			return nil
		})
		if err != nil {
			a.say(view.Clean(path) + ": not noted in its log: " + view.Clean(err.Error()))
		}
	}
}
