package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stopgate/pkg/setup"
	"stopgate/pkg/view"
)

// uninstallOptions are what uninstall was asked for.
type uninstallOptions struct {
	plan   setup.UninstallOptions
	dryRun bool
}

func (a *app) uninstall() *cobra.Command {
	var o uninstallOptions
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "take the entries of stopgate out again",
		Long: `uninstall takes the entries of stopgate, and nothing else, out of the settings of
this user and this folder, and out of every file that install ever wrote. A file
that nobody changed since is given its old bytes back; of any other only the entries
leave.

With --purge everything else of stopgate goes too: the programs, the link, the
backups and records of install, and all that was recorded of sessions; never a file
that only has such a name. Stops that are held are let through first, and couriers
leave.`,
		Example: `  hookctl uninstall
  hookctl uninstall --purge --dry-run`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.runUninstall(o) },
	}
	o.flags(cmd)
	return cmd
}

func (o *uninstallOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.plan.File, "settings", "", "look into this settings `FILE` too")
	f.BoolVar(&o.plan.Purge, "purge", false, "also remove programs, backups, records and the state folder")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be done and change nothing")
}

// runUninstall uninstalls, or says what it would do.
func (a *app) runUninstall(o uninstallOptions) error {
	w, err := a.world()
	if err != nil {
		return err
	}
	plan, err := w.PlanUninstall(o.plan)
	if err != nil {
		return err
	}
	if !o.dryRun {
		err = plan.Apply(a.context())
	}
	a.uninstalled(w, plan, o.plan.Purge, o.dryRun)
	return errors.Join(err, plan.Err())
}

// uninstalled prints what an uninstallation did, or would do.
func (a *app) uninstalled(w setup.World, rep *setup.UninstallPlan, purge, dryRun bool) {
	scr := a.screen()
	if dryRun {
		scr.Line("dry run: nothing was changed")
		scr.Line()
	}
	cleared := 0
	for _, c := range rep.Files {
		if c.Err != nil {
			continue // told as the error
		}
		cleared++
		what := would(dryRun, "1 entry taken out", "1 entry would be taken out")
		if c.Entries != 1 {
			what = fmt.Sprint(c.Entries, would(dryRun, " entries taken out", " entries would be taken out"))
		}
		switch {
		case c.Edit.New == nil:
			what = would(dryRun, "removed: install had made it", "would be removed: install had made it")
		case c.Edit.Restored:
			what = would(dryRun, "its old bytes are back", "its old bytes would be back")
		}
		scr.Text("", "  ", w.Short(c.Path)+": "+what, view.Normal)
		if c.Edit.Backup != "" && !purge {
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
	for _, l := range rep.ByHand {
		scr.Text("", "  ", w.Short(l.Path)+": "+byHand(l.Hook)+"; take it out there", view.Normal)
	}
	if cleared == 0 && len(rep.Files)+len(rep.ByHand) == 0 {
		scr.Line("no settings file has an entry of stopgate")
	}
	for _, r := range rep.Running {
		scr.Text("", "  ", fmt.Sprintf("process %d %s: %s", r.PID, view.Clean(r.What), would(dryRun, "it was told to let go first", "it would be told to let go first")), view.Normal)
	}
	if len(rep.Purged) > 0 {
		scr.Line(would(dryRun, "removed", "would remove"))
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
	if rep.Installed && !purge {
		scr.Text("", "  ", "the programs and what was recorded stay: hookctl uninstall --purge removes them", view.Normal)
	}
	if cleared > 0 && !dryRun {
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
