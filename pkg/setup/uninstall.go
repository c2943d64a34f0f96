package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stopgate/pkg/settings"
	"stopgate/pkg/state"
)

// UninstallOptions are what a person asked for.
type UninstallOptions struct {
	// File is one more settings file to look into; "" for none.
	File string
	// Purge also takes the programs, the link, the backups, the records and what was
	// recorded of sessions.
	Purge bool
}

// Cleared is a settings file that our entries leave.
type Cleared struct {
	Path string
	// Entries is how many there are.
	Entries int
	// Edit is what becomes of the file; Edit.New nil is a file that goes.
	Edit settings.Result
	Diff string
	// Err is why it is left as it is.
	Err error
}

// UninstallPlan is what an uninstallation would do, and after
// [UninstallPlan.Apply] what it did.
type UninstallPlan struct {
	Files []Cleared
	// Managed are entries in managed settings, which are not ours to edit, and ByHand
	// the lines that somebody wrote, by file.
	Managed []string
	ByHand  []Written
	// Running are the stops that are held and the couriers that wait; they end first.
	Running []Running
	// Purged are the files and folders that go.
	Purged []string
	// Kept are those that stay, with the reason.
	Kept []string
	// Installed tells whether programs of ours are (still) in place.
	Installed bool

	w   World
	o   UninstallOptions
	rec record
}

// Written is a line that somebody wrote into a settings file.
type Written struct {
	Path string
	Hook Hook
}

// Err joins what keeps files from being cleared.
func (p *UninstallPlan) Err() error {
	var all []error
	for _, f := range p.Files {
		all = append(all, f.Err)
	}
	return errors.Join(all...)
}

// candidates are the settings files that may hold entries of ours: the scopes
// of the current folder, those of the record, and file.
func (w World) candidates(rec record, file string) []string {
	var all []string
	for _, s := range w.Scopes() {
		if s.Name != settings.Managed {
			all = with(all, s.Path)
		}
	}
	for _, f := range rec.Files {
		all = with(all, f.Path)
	}
	if file != "" {
		all = with(all, file)
	}
	return all
}

// PlanUninstall finds out what is to be done to have our entries out of every
// settings file that has some and, with Purge, everything else of ours gone. A file
// that cannot be edited is left and keeps the programs in place; see
// [UninstallPlan.Err].
func (w World) PlanUninstall(o UninstallOptions) (*UninstallPlan, error) {
	if w.Data() == "" {
		return nil, ErrNoHome
	}
	if err := w.OthersHome(); err != nil {
		return nil, err
	}
	p := &UninstallPlan{w: w, o: o}
	return p, p.make()
}

// make finds out all of it, as the world is now.
func (p *UninstallPlan) make() error {
	rec, err := p.w.load()
	if err != nil && !p.o.Purge {
		return err
	}
	*p = UninstallPlan{w: p.w, o: p.o, rec: rec}
	r := p.w.recogniser()
	for _, path := range p.w.candidates(rec, p.o.File) {
		p.clear(r, path)
	}
	for _, s := range p.w.Sources() {
		if s.Scope == settings.Managed && len(s.Hooks) > 0 {
			p.Managed = append(p.Managed, s.Path)
		}
	}
	_, err = os.Stat(p.w.Hook())
	p.Installed = err == nil
	switch {
	case !p.o.Purge:
	case p.Err() != nil:
		p.Kept = append(p.Kept, p.w.Short(p.w.Data())+": the entries above still need it")
	case len(p.ByHand) > 0:
		p.Kept = append(p.Kept, p.w.Short(p.w.Data())+": the lines above still run the hook; take them out and purge again")
	default:
		p.Running = p.w.running()
		g := p.w.programsOf(rec)
		g.leftovers(rec)
		p.Purged, p.Kept, p.Installed = g.gone, g.kept, false
	}
	return nil
}

// clear finds out what taking our entries out of one file makes of it.
func (p *UninstallPlan) clear(r recogniser, path string) {
	c := Cleared{Path: path}
	known := p.rec.file(path) != nil
	old, err := settings.Read(path)
	if err == nil {
		var hooks []Hook
		hooks, err = r.hooks(old)
		for _, h := range hooks {
			if h.ByHand {
				p.ByHand = append(p.ByHand, Written{path, h})
			} else {
				c.Entries++
			}
		}
		// Of a file that cannot be read as JSON nothing can be said. Unless it is
		// known to be ours, that is not our business.
		if err != nil && (known || strings.Contains(string(old), "stopgate")) {
			c.Err = errors.New(path + ": " + err.Error())
		}
	} else if known {
		c.Err = err
	}
	if err == nil && old != nil {
		c.Edit, c.Err = settings.Uninstall(path, p.w.Ours(), p.w.edits(true))
		c.Diff = settings.Diff(c.Edit.Old, c.Edit.New, p.w.Short(path))
	}
	if c.Err != nil || c.Edit.Changed {
		p.Files = append(p.Files, c)
	}
}

// Apply does what was planned, as the world is by then. Where a file cannot be edited
// after all, its error says so ([UninstallPlan.Err]).
func (p *UninstallPlan) Apply(ctx context.Context) error {
	if len(p.Files)+len(p.Purged) == 0 {
		return nil // and nothing is created to find that out
	}
	lock, made, err := p.w.lock()
	if err != nil {
		removeEmpty(made)
		return err
	}
	defer func() {
		lock.Release()
		removeEmpty(made)
	}()
	if err := p.make(); err != nil {
		return err
	}
	for i := range p.Files {
		c := &p.Files[i]
		if c.Err == nil {
			c.Edit, c.Err = settings.Uninstall(c.Path, p.w.Ours(), p.w.edits(false))
			c.Diff = settings.Diff(c.Edit.Old, c.Edit.New, p.w.Short(c.Path))
		}
	}
	p.rec.Files = slices.DeleteFunc(p.rec.Files, func(f recordedFile) bool {
		return !slices.ContainsFunc(p.Files, func(c Cleared) bool { return c.Path == f.Path && c.Err != nil }) &&
			!slices.ContainsFunc(p.ByHand, func(l Written) bool { return l.Path == f.Path })
	})
	p.rec.Folders = removeEmpty(p.rec.Folders)
	if !p.o.Purge || len(p.Purged) == 0 || p.Err() != nil {
		if _, err := os.Stat(p.w.recordPath()); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return p.w.save(p.rec)
	}
	return p.purge(ctx, lock)
}

// purge ends what still works and removes what is ours.
func (p *UninstallPlan) purge(ctx context.Context, lock *state.Lock) error {
	p.Purged, p.Kept = nil, nil
	if err := p.w.endRunning(ctx, p.Running); err != nil {
		return errors.Join(err, p.w.save(p.rec))
	}
	// The programs first, so that nothing begins any more; then what those wrote that
	// had begun.
	g := p.w.programsOf(p.rec)
	p.remove(g, lock)
	p.w.await(ctx, p.w.hookProcesses())
	g.leftovers(p.rec)
	p.remove(g, lock)
	p.Kept = append(p.Kept, g.kept...)
	removeEmpty(p.rec.Made)
	return nil
}

// remove removes what goes, so far as it is there.
func (p *UninstallPlan) remove(g *going, lock *state.Lock) {
	for _, path := range g.gone {
		drop := os.Remove
		if filepath.Base(path) == lockFile {
			drop = func(string) error { return lock.Remove() }
		}
		switch err := drop(path); {
		case err == nil:
			p.Purged = append(p.Purged, path)
		case !errors.Is(err, fs.ErrNotExist):
			p.Kept = append(p.Kept, p.w.Short(path)+": "+err.Error())
		}
	}
}
