package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/host"
	"stopgate/pkg/status"
	"stopgate/pkg/timeline"
)

func (a *app) timeline() *cobra.Command {
	t := &timelineRun{app: a}
	cmd := &cobra.Command{
		Use:   "timeline",
		Short: "draw what every agent of a session did when, and who waited for what",
		Long: `timeline draws a session along its time: one lane for each agent, below the one
that launched it, with when it worked, waited for a tool's answer, was held or was
idle; its tasks with their commands and results; who heard of each end; and each
stop, wake and message.

It is shown as text, or written as a page (--html), a picture (--svg) or --json. The
page is one file that fetches nothing: it holds names and commands, so it is
readable only by you; --no-text leaves them out. Nothing is recorded by this.`,
		Example: `  hookctl timeline
  hookctl timeline --open --follow
  hookctl timeline --session 65f459a2 --html -o session.html`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(a.context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return t.run(ctx)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.session, "session", "", "this session: its `ID`, or how it begins; else the latest of this folder")
	flags.BoolVar(&t.all, "all", false, "the latest session of every folder")
	flags.BoolVar(&t.html, "html", false, "a page for a browser")
	flags.BoolVar(&t.svg, "svg", false, "a picture (SVG) for a report")
	flags.BoolVar(&t.asJSON, "json", false, "print JSON for programs")
	flags.StringVarP(&t.out, "output", "o", "", "write to this `FILE`; its ending says what, where no flag does")
	flags.BoolVar(&t.open, "open", false, "show the page in the browser")
	flags.BoolVar(&t.follow, "follow", false, "write the file anew while the session goes on")
	flags.BoolVar(&t.noText, "no-text", false, "leave out commands, descriptions and names")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
	cmd.MarkFlagsMutuallyExclusive("html", "svg", "json")
	_ = cmd.RegisterFlagCompletionFunc("session", a.completeSessions) // fails only for an unknown flag
	_ = cmd.MarkFlagFilename("output", "html", "svg", "json")         // fails only for an unknown flag
	return cmd
}

// timelineRun is one run of the command.
type timelineRun struct {
	app               *app
	session, out      string
	all, noText       bool
	html, svg, asJSON bool
	open, follow      bool
	shown             string // the session that is followed
}

// followTimeline is how often --follow looks whether something changed, and how
// often an open page looks for what was written.
const followTimeline = 2 * time.Second

func (t *timelineRun) run(ctx context.Context) error {
	if err := t.understand(); err != nil {
		return err
	}
	ended, err := t.write(ctx)
	if err != nil {
		return err
	}
	if t.open {
		if err := browse(ctx, t.out); err != nil {
			return fmt.Errorf("cannot open a browser (the page is %s): %w", t.out, err)
		}
	}
	if t.out != "" {
		t.app.say("wrote " + t.out)
	}
	for t.follow && !ended && t.app.h.Clock.Sleep(ctx, followTimeline) {
		if ended, err = t.write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// understand finds out what is to be written, and where.
func (t *timelineRun) understand() error {
	if t.open && (t.svg || t.asJSON) {
		return misused("--open shows the page: not with --svg or --json")
	}
	if t.out != "" && !t.html && !t.svg && !t.asJSON {
		switch ext := strings.ToLower(filepath.Ext(t.out)); ext {
		case ".html", ".htm":
			t.html = true
		case ".svg":
			t.svg = true
		case ".json":
			t.asJSON = true
		}
	}
	t.html = t.html || t.open
	if t.follow && t.out == "" && !t.open {
		return misused("--follow needs --open or -o FILE; hookctl watch is the live view of a terminal")
	}
	if t.open && t.out == "" {
		dir, err := os.MkdirTemp("", "stopgate-timeline-")
		if err != nil {
			return err
		}
		t.out = filepath.Join(dir, "timeline.html")
	}
	if t.out != "" {
		full, err := filepath.Abs(t.out)
		if err != nil {
			return err
		}
		t.out = full
	}
	return nil
}

// write writes the timeline as it is now; ended tells that it will not change.
func (t *timelineRun) write(ctx context.Context) (ended bool, err error) {
	line, err := t.load(ctx)
	if err != nil {
		return false, err
	}
	var data bytes.Buffer
	switch {
	case t.html:
		again := time.Duration(0)
		if t.follow && !line.Ended {
			again = followTimeline
		}
		err = timeline.Layout(line).HTML(&data, again)
	case t.svg:
		err = timeline.Layout(line).SVG(&data)
	case t.asJSON:
		err = status.WriteJSON(&data, line)
	default:
		scr := t.app.screen()
		scr.W = &data
		line.Print(scr)
	}
	if err != nil {
		return false, err
	}
	if t.out != "" {
		return line.Ended, host.Replace(t.out, data.Bytes(), 0o600)
	}
	_, err = io.Copy(t.app.h.Stdout, &data)
	return line.Ended, err
}

// errNoTimeline is returned where there is no session to draw.
var errNoTimeline = errors.New("no session of this folder was recorded (hookctl status --all lists all; --session ID draws one)")

// load computes the timeline of the session that was asked for, or the latest.
func (t *timelineRun) load(ctx context.Context) (timeline.Timeline, error) {
	id := t.session
	if t.shown != "" {
		id = t.shown
	}
	f, err := t.app.filter(id, t.all && id == "")
	if err != nil {
		return timeline.Timeline{}, err
	}
	src := t.app.source()
	if id == "" { // which is the latest is told without the transcripts
		f.Bare = true
		st, err := src.Load(ctx, f)
		if err != nil {
			return timeline.Timeline{}, err
		}
		if len(st.Sessions) == 0 {
			return timeline.Timeline{}, errNoTimeline
		}
		f = status.Filter{Session: st.Sessions[0].ID}
	}
	st, err := src.Load(ctx, f)
	switch {
	case err != nil:
		return timeline.Timeline{}, err
	case len(st.Sessions) == 0 && len(st.Problems) > 0:
		return timeline.Timeline{}, errors.New(st.Problems[0].Path + " " + st.Problems[0].Text)
	case len(st.Sessions) == 0:
		return timeline.Timeline{}, errNoTimeline
	}
	t.shown = st.Sessions[0].ID
	record, err := timeline.Source{Dir: src.Dir, Files: src.Files, Now: src.Now}.Read(ctx, st.Sessions[0])
	if err != nil {
		return timeline.Timeline{}, err
	}
	record.NoText = t.noText
	return timeline.Build(record).In(t.app.screen().Zone), nil
}
