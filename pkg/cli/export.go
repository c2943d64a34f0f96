package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/config"
	"stopgate/pkg/export"
	"stopgate/pkg/otlp"
	"stopgate/pkg/span"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/telemetry"
	"stopgate/pkg/version"
	"stopgate/pkg/view"
)

// exportPatience is how long one run without --follow tries to send a batch.
const exportPatience = time.Minute

// exportRun is one run of the command.
type exportRun struct {
	app                        *app
	once, follow, dryRun, text bool
	since, file                string
	every                      time.Duration
}

func (a *app) export() *cobra.Command {
	x := &exportRun{app: a}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "send what was recorded to an OpenTelemetry collector",
		Long: `export sends what stopgate did, as traces, metrics and logs, to where a team's
telemetry goes: OTLP over HTTP to a collector or an engine, or OTLP/JSON lines into a
file for a collector's file receiver. It reads the sessions' stores and remembers in
the state folder how far it is. What nobody takes waits there; what is sent twice
after a failure is the same thing.

Where to is said by the variables OTEL_EXPORTER_OTLP_… (endpoint, headers,
certificates, timeout, protocol, compression, each for one signal too), else by
[export] in the person's config.toml, else it is http://localhost:4318. No command,
no name, no text and no path is sent unless --with-commands says so. What is sent has
the names of docs/telemetry.md.`,
		Example: `  hookctl export --once
  hookctl export --follow
  hookctl export --once --since 7d --file /var/log/stopgate.jsonl
  hookctl export --dry-run`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(a.context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return x.run(ctx)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&x.once, "once", false, "send what is new and end; exit code 1 when some of it waits")
	flags.BoolVar(&x.follow, "follow", false, "go on with what is recorded from now on")
	flags.BoolVar(&x.dryRun, "dry-run", false, "print what would be sent, as OTLP/JSON, and send nothing")
	flags.StringVar(&x.since, "since", "", "leave out what is older than this duration (7d) or date (2006-01-02)")
	flags.StringVar(&x.file, "file", "", "add OTLP/JSON lines to this `FILE`; - prints them")
	flags.BoolVar(&x.text, "with-commands", false, "send commands, names and folders too")
	spanFlag(flags, &x.every, "every", export.DefaultEvery, time.Second, "with --follow: how often to send, at the most")
	cmd.MarkFlagsMutuallyExclusive("once", "follow", "dry-run")
	cmd.AddCommand(a.exportService())
	return cmd
}

func (x *exportRun) run(ctx context.Context) error {
	if !x.once && !x.follow && !x.dryRun {
		return misused("export needs one of --once, --follow and --dry-run")
	}
	e, to, err := x.exporter()
	if err != nil {
		return err
	}
	if x.dryRun {
		return x.preview(ctx, e, to)
	}
	if x.follow {
		err := e.Follow(ctx, x.every)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	r, err := e.Once(ctx)
	if x.file != "-" && (err == nil || r.Batches > 0) {
		x.app.screen().Line(x.sum(r, "sent "), " to ", view.Clean(to))
	}
	if r.Waits {
		err = fmt.Errorf("%w: what was not taken waits for the next run", err)
	}
	return err
}

func (x *exportRun) sum(r export.Report, verb string) string {
	return verb + countOf(r.Spans, "span") + " and " + countOf(r.Logs, "log record") + " of " + countOf(r.Sessions, "session")
}

// preview prints what would be sent.
func (x *exportRun) preview(ctx context.Context, e *export.Exporter, to string) error {
	lines := export.Lines{W: x.app.h.Stdout}
	r, err := e.Preview(ctx, func(b export.Batch) error {
		for signal, message := range b.Messages() {
			if _, err := lines.Send(ctx, signal, message); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		x.app.say(x.sum(r, "would send ") + " to " + to)
	}
	return err
}

// exporter is what the flags, the environment and the person's file make, and where it
// sends in words.
func (x *exportRun) exporter() (*export.Exporter, string, error) {
	a, v := x.app, version.This()
	folder, err := a.folder()
	if err != nil {
		folder = "" // the person's file needs none
	}
	c, problems := loadConfig(a.h, folder)
	for _, p := range problems {
		if p.Path == c.PersonPath || p.Path == config.PersonFile(a.h.Env) {
			a.say(p.Path + ": " + p.Text)
		}
	}
	settings, _ := c.Exports()
	say := func(key string) string { return settings[key] }
	since, err := sinceOf(x.since, a.h.Clock.Now())
	if err != nil {
		return nil, "", exitCode{exitUsage, err}
	}
	e := &export.Exporter{
		Host: a.h, Dir: state.Existing(a.h.Env), Source: a.exportSource, Since: since, Say: a.say, Off: map[otlp.Signal]bool{},
		Resource: export.Resource(a.h.Env, v.Number, runtime.GOOS, runtime.GOARCH),
		Teller:   telemetry.Teller{Texts: x.text || say("with-commands") == "true", Command: a.exportSource().TitleOf},
	}
	if !x.follow {
		e.Patience = exportPatience
	}
	to, err := x.target(e, say)
	return e, to, err
}

// exportSource looks at sessions without the processes of this moment: what is told
// once must not depend on them.
func (a *app) exportSource() status.Source {
	src := a.source()
	src.Here, src.StartOf = nil, nil
	return src
}

// target says where to.
func (x *exportRun) target(e *export.Exporter, say func(string) string) (string, error) {
	file := x.file
	if file == "" && !otlpNamed(x.app.h.Env) {
		file = say("file")
	}
	switch {
	case file == "-":
		e.Target, e.To = "file", export.Lines{W: x.app.h.Stdout}
		return "stdout", nil
	case file != "":
		path, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		e.Target, e.To = "file", export.File{Path: path}
		return path, nil
	}
	settings := otlp.Settings{
		Endpoint: say("endpoint"), Headers: say("headers"), Certificate: say("certificate"),
		ClientCertificate: say("client-certificate"), ClientKey: say("client-key"), Protocol: say("protocol"), Compression: say("compression"),
	}
	if text := say("timeout"); text != "" {
		d, err := span.Parse(text)
		if err != nil || d <= 0 {
			return "", fmt.Errorf("export.timeout %q: not a duration", text)
		}
		settings.Timeout = d
	}
	var targets []otlp.Target
	var shown []string
	for _, signal := range otlp.Signals {
		t, err := otlp.Resolve(signal, x.app.h.Env, settings)
		if err != nil {
			return "", err
		}
		e.Off[signal] = t.Off
		targets = append(targets, t)
		if !t.Off {
			shown = append(shown, t.Shown())
		}
	}
	to, err := export.NewHTTP(targets)
	e.Target, e.To = "otlp", to
	return strings.Join(shown, ", "), err
}

// otlpNamed tells whether the environment names an endpoint.
func otlpNamed(env func(string) string) bool {
	named := env("OTEL_EXPORTER_OTLP_ENDPOINT") != ""
	for _, signal := range otlp.Signals {
		named = named || env("OTEL_EXPORTER_OTLP_"+strings.ToUpper(string(signal))+"_ENDPOINT") != ""
	}
	return named
}

// sinceOf reads a duration before now, or a date.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := span.Parse(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil { //nolint:gosmopolitan // the person's own day
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since %q: neither a duration like 7d nor a date like 2006-01-02", text)
}
