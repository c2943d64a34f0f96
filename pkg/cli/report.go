package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"stopgate/pkg/doctor"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/setup"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/version"
	"stopgate/pkg/view"
)

// reportOptions are what report was asked for.
type reportOptions struct {
	session, out string
	dryRun       bool
}

func (a *app) report() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report",
		Short: "write a bundle for a bug report, without any text of yours",
		Long: `report writes what helps to find a fault into one file (.tar.gz): what doctor says, the
versions, the log, the status, and of the session's files which there are, how large
they are and how many lines of which kind are in them. No command, no description, no
output and no word of a conversation is in it, and your home folder is shortened to ~.

It lists what it will hold before it writes. Look into it before you give it away.`,
		Example: `  hookctl report --dry-run
  hookctl report -o stopgate-report.tar.gz`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.runReport(o) },
	}
	o.flags(a, cmd)
	return cmd
}

func (o *reportOptions) flags(a *app, cmd *cobra.Command) {
	a.sessionFlag(cmd, &o.session, "report on this session: its `ID`, or how it begins; else on those of this folder")
	flags := cmd.Flags()
	flags.StringVarP(&o.out, "output", "o", "", "write this `FILE` (stopgate-report-TIME.tar.gz here)")
	flags.BoolVar(&o.dryRun, "dry-run", false, "list what it would hold, and write nothing")
	_ = cmd.MarkFlagFilename("output", "gz") // fails only for an unknown flag
}

// part is one file of a bundle.
type part struct {
	name, what string
	data       []byte
}

func (a *app) runReport(o reportOptions) error {
	f, err := a.filter(o.session, false)
	if err != nil {
		return err
	}
	f.NoText = true
	st, err := a.source().Load(a.context(), f)
	if err != nil {
		return err
	}
	w, err := a.world()
	if err != nil {
		return err
	}
	parts, err := a.reportParts(w, st)
	if err != nil {
		return err
	}
	scr := a.screen()
	var rows [][]view.Cell
	for _, p := range parts {
		rows = append(rows, []view.Cell{{Text: p.name}, {Text: fmt.Sprint(len(p.data))}, {Text: p.what}})
	}
	scr.Table([]view.Column{{Title: "FILE"}, {Title: "BYTES", Right: true}, {Title: "WHAT", Least: 20}}, rows)
	scr.Line()
	if o.dryRun {
		scr.Line("nothing was written")
		return nil
	}
	now := a.h.Clock.Now()
	path := o.out
	if path == "" {
		path = "stopgate-report-" + now.UTC().Format("20060102T150405Z") + ".tar.gz"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Cwd, path)
	}
	if err := writeBundle(path, parts, now); err != nil {
		return err
	}
	scr.Text("", "  ", "written: "+view.Clean(w.Short(path))+"; only you can read it; look into it before you give it away", view.Normal)
	return nil
}

// reportParts are the files of a bundle.
func (a *app) reportParts(w setup.World, st status.Status) ([]part, error) {
	tidy := func(data []byte) []byte {
		if len(w.Home()) > 1 {
			data = bytes.ReplaceAll(data, []byte(w.Home()), []byte("~"))
		}
		return data
	}
	rep := doctor.Doctor{World: w, Now: a.h.Clock.Now()}.Run(a.context())
	checks, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return nil, err
	}
	shown, err := st.JSON()
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	for _, e := range st.Log() {
		if err := e.WriteJSON(&log); err != nil {
			return nil, err
		}
	}
	shapes, err := json.MarshalIndent(a.shapes(st), "", "  ")
	if err != nil {
		return nil, err
	}
	versions := fmt.Sprintf("%s\n", version.This())
	for _, s := range st.Sessions {
		versions += fmt.Sprintf("client of %s: %s\n", view.Clean(s.ID), view.Clean(transcript.Version(a.h.Files, s.Transcript)))
	}
	parts := []part{
		{"doctor.json", "what hookctl doctor says", checks},
		{"versions.txt", "versions of stopgate, Go, the system and the client", []byte(versions)},
		{"status.json", "hookctl status --json --no-text", shown},
		{"log.jsonl", "hookctl log --json --no-text", log.Bytes()},
		{"shape.json", "sizes and counts of the store's rows and of the session's files", shapes},
	}
	for i := range parts {
		parts[i].data = tidy(parts[i].data)
	}
	return parts, nil
}

// shape is what a file looks like, without what is in it.
type shape struct {
	Path     string         `json:"path"`
	Size     int64          `json:"size"`
	Modified time.Time      `json:"modified"`
	Rows     map[string]int `json:"rows,omitempty"`
	// Lines counts a transcript's lines by the kind of record.
	Lines map[string]int `json:"lines,omitempty"`
	Error string         `json:"error,omitempty"`
}

// shapes are those of the stores and of the files of the sessions.
func (a *app) shapes(st status.Status) []shape {
	dir := state.Existing(a.h.Env)
	out := []shape{}
	for _, s := range st.Sessions {
		path := dir.Store(s.ID)
		store := a.shape(path)
		if snap, err := a.snapshot(path); err != nil {
			store.Error = err.Error()
		} else {
			store.Rows = rowsOf(snap)
		}
		out = append(out, store)
		if s.Transcript == "" {
			continue
		}
		agents := slices.Sorted(slices.Values(transcript.Agents(a.h.Files, transcript.AgentsDir(s.Transcript))))
		for _, path := range append([]string{s.Transcript}, agents...) {
			x := a.shape(path)
			x.Lines = a.kinds(path)
			out = append(out, x)
		}
		for _, t := range s.Tasks {
			if t.Output != "" {
				out = append(out, a.shape(t.Output))
			}
		}
	}
	return out
}

func (a *app) shape(path string) shape {
	x := shape{Path: path}
	info, err := a.h.Files.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.Error = "does not exist"
	case err != nil:
		x.Error = err.Error()
	default:
		x.Size, x.Modified = info.Size(), info.ModTime().UTC()
	}
	return x
}

func rowsOf(s ledger.Snapshot) map[string]int {
	return map[string]int{
		"agents": len(s.Agents), "cursors": len(s.Cursors), "launches": len(s.Launches), "ends": len(s.Ends), "heard": len(s.Heard),
		"charged": len(s.Charged), "released": len(s.Released), "holds": len(s.Holds), "watches": len(s.Watches), "stops": len(s.Stops), "acts": len(s.Acts),
	}
}

// mostCounted bounds how much of a transcript its lines are counted in, in bytes.
const mostCounted = 64 << 20

// kinds counts the lines of a transcript by what they are, as far as that is a plain
// word.
func (a *app) kinds(path string) map[string]int {
	out := map[string]int{}
	data, err := a.h.Files.ReadSmall(path, mostCounted)
	if err != nil {
		return out
	}
	for line := range bytes.Lines(data) {
		out[kindOf(line)]++
	}
	return out
}

func kindOf(line []byte) string {
	const most = 32
	word := gjson.GetBytes(line, "type").Str
	if word == "" || len(word) > most || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-_") != "" {
		return "other"
	}
	return strings.Clone(word)
}

// writeBundle writes a new file that only its owner can read.
func writeBundle(path string, parts []part, now time.Time) (err error) {
	file, err := host.New(path)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(path) // half a bundle is none
		}
	}()
	zip := gzip.NewWriter(file)
	all := tar.NewWriter(zip)
	for _, p := range parts {
		head := &tar.Header{Name: "stopgate-report/" + p.name, Mode: 0o600, Size: int64(len(p.data)), ModTime: now, Format: tar.FormatPAX}
		if err := all.WriteHeader(head); err != nil {
			return err
		}
		if _, err := io.Copy(all, bytes.NewReader(p.data)); err != nil {
			return err
		}
	}
	return errors.Join(all.Close(), zip.Close())
}
