package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stopgate/pkg/setup"
	"stopgate/pkg/view"
)

func (a *app) uninstall() *cobra.Command {
	var o setup.UninstallOptions
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "take the entries of stopgate out again",
		Long: `uninstall takes the entries of stopgate, and nothing else, out of the settings of
this user and this folder, and out of every file that install ever wrote. A file
that nobody changed since is given its old bytes back.

With --purge everything else of stopgate goes too: the programs, the link, the
backups and records of install, and all that was recorded of sessions.`,
		Example: `  hookctl uninstall
  hookctl uninstall --purge --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w, err := a.world()
			if err != nil {
				return err
			}
			rep, err := w.Uninstall(o)
			if err != nil {
				return err
			}
			a.uninstalled(w, rep, o)
			return rep.Err()
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.File, "settings", "", "look into this settings `FILE` too")
	f.BoolVar(&o.Purge, "purge", false, "also remove programs, backups, records and the state folder")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would be done and change nothing")
	return cmd
}

// uninstalled prints the report of an uninstallation.
func (a *app) uninstalled(w setup.World, rep setup.UninstallReport, o setup.UninstallOptions) {
	scr := a.screen()
	if o.DryRun {
		scr.Line("dry run: nothing was changed")
		scr.Line()
	}
	cleared := 0
	for _, c := range rep.Files {
		if c.Err != nil {
			continue // told as the error
		}
		cleared++
		what := "1 entry taken out"
		if c.Entries != 1 {
			what = fmt.Sprint(c.Entries, " entries taken out")
		}
		switch {
		case c.Edit.New == nil:
			what = "removed: install had made it"
		case c.Edit.Restored, c.Entries == 0:
			what = "its old bytes are back"
		}
		scr.Text("", "  ", w.Short(c.Path)+": "+what, view.Normal)
		if c.Edit.Backup != "" && !o.Purge {
			scr.Text("  backup ", "         ", w.Short(c.Edit.Backup), view.Normal)
		}
		if c.Edit.New != nil { // of a file that goes there is nothing to compare
			scr.Line()
			a.diff(scr, c.Diff)
			scr.Line()
		}
	}
	for _, path := range rep.Managed {
		scr.Text("", "  ", w.Short(path)+": managed settings register stopgate; whoever manages them can take it out", view.Normal)
	}
	if cleared == 0 && len(rep.Files) == 0 {
		scr.Line("no settings file has an entry of stopgate")
	}
	if len(rep.Purged) > 0 {
		scr.Line(would(o.DryRun, "removed", "would remove"))
		for _, line := range summed(w, rep.Purged) {
			scr.Line("  ", line)
		}
	}
	if len(rep.Kept) > 0 {
		scr.Line("left as they are")
		for _, text := range rep.Kept {
			scr.Text("  ", "    ", view.Clean(text), view.Normal)
		}
	}
	if rep.Installed && !o.Purge {
		scr.Text("", "  ", "the programs and what was recorded stay: hookctl uninstall --purge removes them", view.Normal)
	}
	if cleared > 0 && !o.DryRun {
		scr.Text("", "  ", "running sessions keep their hooks until they end", view.Normal)
	}
}

// summed lists removed paths, those below a removed folder as a number.
func summed(w setup.World, paths []string) []string {
	var lines []string
	below := 0
	flush := func() {
		if below > 0 {
			lines[len(lines)-1] += " and " + countOf(below, "thing") + " in it"
		}
		below = 0
	}
	top := ""
	for _, path := range slices.Sorted(slices.Values(paths)) {
		if top != "" && strings.HasPrefix(path, top+string(filepath.Separator)) {
			below++
			continue
		}
		flush()
		top = path
		lines = append(lines, w.Short(path))
	}
	flush()
	return lines
}
