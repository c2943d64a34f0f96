package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
	"stopgate/pkg/state"
)

// InstallOptions are what a person asked for.
type InstallOptions struct {
	// Scope is the settings scope; File takes its place unless "".
	Scope, File string
	// Hold, Patience, Blocks and Courier are nil where nothing was said: then what
	// is installed there stays, or else the default counts.
	Hold, Patience *time.Duration
	Blocks         *int
	Courier        *bool
	// Lead says when the coordinator is held; nil where nothing was said.
	Lead *string
	// CI installs what a runner needs: no courier, which has nobody to wake there,
	// and no link for a person.
	CI bool
	// DryRun finds out what would be done and does nothing.
	DryRun bool
}

// check tells which option cannot be meant, as a [UsageError].
func (o InstallOptions) check() error {
	switch {
	case o.Hold != nil && (*o.Hold < 0 || *o.Hold > policy.MaxHold):
		return UsageError(fmt.Sprintf("--hold %s: not between 0 and %s", Span(*o.Hold), Span(policy.MaxHold)))
	case o.Patience != nil && (*o.Patience < 0 || *o.Patience > policy.MaxHold):
		return UsageError(fmt.Sprintf("--patience %s: not between 0 and %s", Span(*o.Patience), Span(policy.MaxHold)))
	case o.Blocks != nil && *o.Blocks < 0:
		return UsageError(fmt.Sprintf("--blocks %d: less than 0", *o.Blocks))
	case o.Lead != nil && !slices.Contains([]string{policy.LeadHeadless, policy.LeadAlways, policy.LeadNever}, *o.Lead):
		return UsageError(fmt.Sprintf("--lead %q: not headless, always or never", *o.Lead))
	}
	return nil
}

// InstallReport is what Install did, or with DryRun would do.
type InstallReport struct {
	// File is the settings file, and Edit what became of it.
	File string
	Edit settings.Result
	// Diff shows the edit; "" where nothing changes.
	Diff string
	// Choice is what is registered, Kept whether parts of it were taken over
	// from an earlier installation.
	Choice Choice
	Kept   bool
	// Moved tells that the hold there was the default of a former version.
	Moved bool
	// Strains are the ways in which what is registered cannot wait as it says.
	Strains []Strain
	// Programs are the files put in place; Built tells that they were built.
	Programs []Placed
	Built    bool
	// Link is the link to hookctl; its Path is "" for none, and NoLink says why.
	Link   Placed
	NoLink string
	// Elsewhere are other settings files with entries of ours.
	Elsewhere []string
	// Proofs say how the installed command lines answered; nil in a dry run.
	Proofs []Proof
}

// Changed tells whether anything was, or would be, changed.
func (r InstallReport) Changed() bool {
	return r.Edit.Changed || r.Link.Changed || slices.ContainsFunc(r.Programs, func(p Placed) bool { return p.Changed })
}

// Failed are the proofs that failed.
func (r InstallReport) Failed() []Proof {
	return slices.DeleteFunc(slices.Clone(r.Proofs), func(p Proof) bool { return p.Err == nil })
}

// Install puts the programs in place, registers them in a settings file, links
// hookctl and proves that the registered command lines answer. What it refuses
// (a settings file that is no JSON, a file of somebody else where a program
// belongs) it refuses before anything is changed.
func (w World) Install(ctx context.Context, o InstallOptions) (InstallReport, error) {
	var rep InstallReport
	if err := o.check(); err != nil {
		return rep, err
	}
	if w.Data() == "" {
		return rep, ErrNoHome
	}
	rep.File = o.File
	if rep.File == "" {
		file, err := w.File(o.Scope)
		if err != nil {
			return rep, err
		}
		rep.File = file
	}
	rec, err := w.load()
	if err != nil {
		return rep, err
	}
	if err := w.merge(&rep, o, rec, true); err != nil {
		return rep, err
	}
	programs, err := w.Programs()
	if err != nil {
		return rep, err
	}
	defer programs.Close()
	rep.Built = programs.Built

	if o.DryRun {
		if err := w.place(&rep, programs, &rec, true); err != nil {
			return rep, err
		}
		w.link(&rep, &rec, o.CI, true)
		rep.Elsewhere = w.elsewhere(rep.File, rec)
		return rep, nil
	}

	lock, made, err := w.lock()
	if err != nil {
		removeEmpty(made)
		return rep, err
	}
	defer lock.Release()
	if rec, err = w.load(); err != nil {
		return rep, err
	}
	// The hook will make the state folder: what is missing on the way to it is
	// ours too.
	rec.Made = with(with(rec.Made, made...), missing(state.Locate(w.Env))...)
	if err := w.install(&rep, o, programs, &rec); err != nil {
		if errors.As(err, new(*ForeignError)) && len(made) > 0 {
			// Nothing was put anywhere yet.
			_ = os.Remove(filepath.Join(w.Data(), lockFile))
			removeEmpty(made)
		}
		return rep, err
	}
	return rep, w.prove(ctx, &rep)
}

func (w World) install(rep *InstallReport, o InstallOptions, programs Programs, rec *record) error {
	if err := w.place(&InstallReport{}, programs, rec, true); err != nil {
		return err // before the first of them is put in place
	}
	if err := w.place(rep, programs, rec, false); err != nil {
		return err
	}
	// Before the edit itself: what has entries of ours must be found again.
	rec.add(rep.File, rep.Choice)
	if err := w.save(*rec); err != nil {
		return err
	}
	if err := w.merge(rep, o, *rec, false); err != nil {
		return err
	}
	rec.add(rep.File, rep.Choice)
	rec.Folders = with(rec.Folders, rep.Edit.Made...)
	w.link(rep, rec, o.CI, false)
	rep.Elsewhere = w.elsewhere(rep.File, *rec)
	return w.save(*rec)
}

// merge brings the entries into the settings file.
func (w World) merge(rep *InstallReport, o InstallOptions, rec record, dryRun bool) error {
	old, err := settings.Read(rep.File)
	if err != nil {
		return err
	}
	found, err := settings.Find(old, w.Ours())
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", rep.File, err)
	}
	c, moved, before := Adopt(found)
	if !before {
		c = Default()
	} else if f := rec.file(rep.File); f == nil || !f.NoCourier {
		c.Courier = true // its lack is no choice
	}
	if f := rec.file(rep.File); before && c.Lead == policy.LeadNever && (f == nil || !f.NoLead) {
		c.Lead = policy.LeadHeadless
	}
	rep.Kept = false
	keep := func(said bool, differs bool) { rep.Kept = rep.Kept || before && !said && differs }
	rep.Moved = moved && o.Hold == nil
	if o.Hold != nil {
		c.Hold = *o.Hold
	}
	if o.Patience != nil {
		c.Patience = *o.Patience
	}
	if o.Blocks != nil {
		c.Blocks = *o.Blocks
	}
	if o.Courier != nil {
		c.Courier = *o.Courier
	} else if o.CI {
		c.Courier = false
	}
	if o.Lead != nil {
		c.Lead = *o.Lead
	}
	if o.Patience != nil {
		c.LeadPatience = *o.Patience
	}
	keep(o.Hold != nil, c.Hold != DefaultHold)
	keep(o.Patience != nil, c.Patience != policy.DefaultPatience)
	keep(o.Blocks != nil, c.Blocks != policy.DefaultBlocks)
	keep(o.Courier != nil || o.CI, !c.Courier)
	keep(o.Lead != nil, c.Lead != policy.LeadHeadless)
	keep(o.Patience != nil, c.LeadPatience != policy.DefaultPatience || len(c.LeadExtra) > 0)
	keep(false, len(c.Extra)+len(c.CourierExtra) > 0 || c.CourierFor != policy.DefaultFor)
	rep.Choice = c
	entries := Entries(w.Hook(), c)
	rep.Strains = w.Limits(host.Host{}, w.Sources()).Strains(entries[0])
	rep.Edit, err = settings.Install(rep.File, entries, w.Ours(), w.edits(dryRun))
	if err != nil {
		if errors.As(err, new(*settings.SyntaxError)) || errors.As(err, new(*settings.ShapeError)) {
			err = fmt.Errorf("%w; nothing was changed", err)
		}
		return err
	}
	rep.Diff = settings.Diff(rep.Edit.Old, rep.Edit.New, w.Short(rep.File))
	return nil
}

func (w World) place(rep *InstallReport, programs Programs, rec *record, dryRun bool) error {
	rep.Programs = nil
	if !dryRun {
		made, err := makeDirs(filepath.Join(w.Data(), binDir))
		rec.Made = with(rec.Made, made...)
		if err != nil {
			return err
		}
	}
	for _, p := range []struct{ source, target string }{
		{programs.Hook, w.Hook()}, {programs.Hookctl, w.Hookctl()},
	} {
		placed, sum, err := place(p.source, p.target, rec.Programs[p.target], dryRun)
		if err != nil {
			return err
		}
		rep.Programs = append(rep.Programs, placed)
		if !dryRun {
			if rec.Programs == nil {
				rec.Programs = map[string]string{}
			}
			rec.Programs[p.target] = sum
		}
	}
	return nil
}

// link puts hookctl on PATH where that takes no more than a free name. That it
// cannot is no failure.
func (w World) link(rep *InstallReport, rec *record, ci, dryRun bool) {
	if ci {
		rep.NoLink = "a runner needs none"
		return
	}
	if runtime.GOOS == "windows" || w.Home() == "" {
		rep.NoLink = "there is no folder for links here"
		return
	}
	dir := filepath.Join(w.Home(), ".local", "bin")
	path := filepath.Join(dir, hookctlName)
	if !w.onPath(dir) {
		rep.NoLink = w.Short(dir) + " is not on PATH"
		return
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		to, _ := os.Readlink(path) // an unreadable one is not ours
		if to == w.Hookctl() {
			rep.Link = Placed{Path: path}
			if !dryRun {
				rec.Link = path
			}
			return
		}
		fallthrough
	default:
		rep.NoLink = "the name " + w.Short(path) + " is taken"
		return
	}
	if !dryRun {
		made, err := makeDirs(dir)
		rec.Made = with(rec.Made, made...)
		if err == nil {
			err = os.Symlink(w.Hookctl(), path)
		}
		if err != nil {
			rep.NoLink = err.Error()
			return
		}
		rec.Link = path
	}
	rep.Link = Placed{Path: path, Changed: true}
}

// elsewhere are the other settings files that register us too.
func (w World) elsewhere(file string, rec record) []string {
	var all []string
	for _, path := range w.candidates(rec, "") {
		data, err := settings.Read(path)
		if err != nil || path == file {
			continue
		}
		if found, err := settings.Find(data, w.Ours()); err == nil && len(found) > 0 {
			all = append(all, path)
		}
	}
	return all
}

// prove reads the entries back from the settings file and tries them.
func (w World) prove(ctx context.Context, rep *InstallReport) error {
	data, err := settings.Read(rep.File)
	if err != nil {
		return err
	}
	found, err := settings.Find(data, w.Ours())
	if err != nil {
		return err
	}
	var entries []settings.Entry
	for _, f := range found {
		entries = append(entries, f.Entry)
	}
	if len(entries) == 0 {
		return fmt.Errorf("%s: the entries are not there any more", rep.File)
	}
	rep.Proofs, err = Prove(ctx, entries, w.Sources())
	return err
}

// missing are the folders on the way to dir that do not exist, the outermost
// first; the hook will make them.
func missing(dir string) []string {
	var all []string
	for at := dir; at != ""; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}
