package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/stats"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// statsRun is one run of the command.
type statsRun struct {
	app                        *app
	since                      string
	here, asJSON, html, noText bool
	out                        string
}

func (a *app) stats() *cobra.Command {
	s := &statsRun{app: a}
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "sum up what was saved, and what it cost",
		Long: `stats sums up the last seven days: results that were saved, how long agents waited
and how many turns that cost, what was left running and what nobody heard of, by
project and by command. Commands are looked up in the transcripts as they are now, and
kept nowhere; where that cannot be done there are only counts. Sessions' files are kept
for 7 days ($STOPGATE_KEEP), so nothing older is known.

The sums are those that hookctl export sends for a team; docs/telemetry.md has the fields
of the JSON.`,
		Example: `  hookctl stats
  hookctl stats --since 24h --here
  hookctl stats --html -o stats.html`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return s.run(a.context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&s.since, "since", "7d", "how far back: a `DURATION` or a date (2006-01-02)")
	flags.BoolVar(&s.here, "here", false, "only the sessions of this folder")
	flags.BoolVar(&s.asJSON, "json", false, "print JSON for programs")
	flags.BoolVar(&s.html, "html", false, "a page for a browser")
	flags.StringVarP(&s.out, "output", "o", "", "write to this `FILE`")
	flags.BoolVar(&s.noText, "no-text", false, "leave the commands out")
	cmd.MarkFlagsMutuallyExclusive("json", "html")
	_ = cmd.MarkFlagFilename("output", "html", "json") // fails only for an unknown flag
	return cmd
}

func (s *statsRun) run(ctx context.Context) error {
	a, now := s.app, s.app.h.Clock.Now()
	since, err := sinceOf(s.since, now)
	if err != nil {
		return exitCode{exitUsage, err}
	}
	f, err := a.filter("", !s.here)
	if err != nil {
		return err
	}
	sessions, err := s.sessions(ctx, f)
	if err != nil {
		return err
	}
	src := stats.Request{Since: since, Now: now, Zone: time.Local} //nolint:gosmopolitan // the person's own days
	if !s.noText {
		src.Command = a.source().TitleOf
	}
	return s.write(src.Of(sessions), src.Zone)
}

// sessions are those that are asked for, each with its snapshot.
func (s *statsRun) sessions(ctx context.Context, f status.Filter) ([]stats.Session, error) {
	src := s.app.source()
	st, err := src.Load(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, p := range st.Problems {
		s.app.say(p.Path + " " + p.Text)
	}
	out := make([]stats.Session, 0, len(st.Sessions))
	for _, session := range st.Sessions {
		snap, err := ledger.ReadFile(ctx, src.Dir.Store(session.ID))
		if err == nil && snap.Exists {
			out = append(out, stats.Session{Snapshot: snap, Status: session, Over: !session.Ended.IsZero()})
		}
	}
	return out, nil
}

func (s *statsRun) write(sums stats.Stats, zone *time.Location) error {
	var data bytes.Buffer
	var err error
	switch {
	case s.asJSON:
		err = status.WriteJSON(&data, sums)
	case s.html:
		err = sums.HTML(&data, zone)
	default:
		scr := s.app.screen()
		scr.W = &data
		sums.Print(scr, zone)
	}
	if err != nil {
		return err
	}
	if s.out == "" {
		return s.app.write(data.String())
	}
	path, err := filepath.Abs(s.out)
	if err == nil {
		err = host.Replace(path, data.Bytes(), 0o600)
	}
	if err == nil {
		s.app.say("wrote " + view.Clean(path))
	}
	return err
}
