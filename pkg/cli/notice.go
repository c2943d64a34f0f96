package cli

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"stopgate/pkg/clocks"
	"stopgate/pkg/config"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/notice"
	"stopgate/pkg/setup"
	"stopgate/pkg/status"
)

// noticeOptions are what notice was asked for.
type noticeOptions struct {
	session string
	trial   bool
}

func (a *app) notice() *cobra.Command {
	var o noticeOptions
	cmd := &cobra.Command{
		Use:   "notice",
		Short: "tell you of a stuck agent, as [notify] in your file says",
		Long: `notice gives the notices of a session that were not given yet, in the ways that
[notify] in your own file names (hookctl config edit): that an agent is stuck, or that a
hold is over without its task. Without such a table it does nothing.

The hook and hookctl statusline run it; each notice is given once. --trial gives one
that means nothing, and says what went wrong.`,
		Example: `  hookctl notice --trial`,
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return a.runNotice(o) },
	}
	o.flags(a, cmd)
	return cmd
}

func (o *noticeOptions) flags(a *app, cmd *cobra.Command) {
	a.sessionFlag(cmd, &o.session, "the session: its `ID`, or how it begins")
	cmd.Flags().BoolVar(&o.trial, "trial", false, "give a notice that means nothing")
	cmd.MarkFlagsMutuallyExclusive("session", "trial")
	cmd.MarkFlagsOneRequired("session", "trial")
}

func (a *app) runNotice(o noticeOptions) error {
	c, problems := loadConfig(a.h, "")
	wants, _ := c.Notices()
	ctx, cancel := context.WithTimeout(a.context(), notice.Limit)
	defer cancel()
	if o.trial {
		for _, p := range problems {
			a.say(p.Path + ": " + p.Text)
		}
		if !wants.Any() {
			return errors.New("nothing is asked for: [notify] in " + config.PersonFile(a.h.Env) + " says how to be told")
		}
		return a.sender(wants, "").Send(ctx, notice.Sample())
	}
	if !wants.Any() {
		return nil
	}
	st, err := a.source().Load(ctx, status.Filter{Session: o.session})
	if err != nil || st.Off || st.Disabled != "" || len(st.Sessions) != 1 {
		return err
	}
	s := st.Sessions[0]
	due, err := a.claimNotices(ctx, st, notice.Of(s, st.Now))
	for _, n := range due {
		err = errors.Join(err, a.sender(wants, s.ID).Send(ctx, n))
	}
	return err
}

// claimNotices are those of the notices that nobody gave before. They count as given.
func (a *app) claimNotices(ctx context.Context, st status.Status, all []notice.Notice) (due []notice.Notice, err error) {
	if len(all) == 0 {
		return nil, nil
	}
	err = ledger.Update(ctx, a.source().Dir, st.Sessions[0].ID, st.Now, func(tx *ledger.Tx) error {
		due = nil
		for _, n := range all {
			if tx.Notice(n.Key) {
				due = append(due, n)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return due, nil
}

func (a *app) sender(wants config.Notices, session string) notice.Sender {
	pid, _ := strconv.Atoi(a.h.Env(clocks.EnvClient)) // none is unknown
	return notice.Sender{Wants: wants, Session: session, Home: host.Home(a.h.Env), Client: pid}
}

// noticeBeside lets another process look for what is to be told of a session, about once
// a minute of those that the status line is run in: it takes longer than the client waits
// for a status line.
func (a *app) noticeBeside(session string) {
	if session != "" && a.h.Clock.Now().Second() < setup.LineRefresh {
		a.noticeApart(session)
	}
}

// noticeOf is the same for what a live view shows.
func (a *app) noticeOf(st status.Status) {
	var ids []string
	for _, s := range st.Sessions {
		if s.Ended.IsZero() && st.Now.Sub(s.Last.Time) < status.QuietAfter {
			ids = append(ids, s.ID)
		}
	}
	a.noticeApart(ids...)
}

// noticeApart starts that process for each session, only where somebody wants to be told.
func (a *app) noticeApart(sessions ...string) {
	c, _ := config.Load(a.h, "")
	if wants, _ := c.Notices(); !wants.Any() {
		return
	}
	for _, id := range sessions {
		_ = notice.Detach(a.h.Self(), "notice", "--session="+id) // the next minute tries again
	}
}
