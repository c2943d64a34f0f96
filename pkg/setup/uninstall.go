package setup

import (
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
	// Purge also takes the programs, the link, the backups, the records and the
	// state folder.
	Purge bool
	// DryRun finds out what would be done and does nothing.
	DryRun bool
}

// Cleared is a settings file that our entries left, or would leave.
type Cleared struct {
	Path string
	// Entries is how many there were.
	Entries int
	// Edit is what became of the file; Edit.New nil is a file that is gone.
	Edit settings.Result
	Diff string
	// Err is why it was left as it is.
	Err error
}

// UninstallReport is what Uninstall did, or with DryRun would do.
type UninstallReport struct {
	Files []Cleared
	// Managed are entries in managed settings, which are not ours to edit.
	Managed []string
	// Purged are the files and folders that went.
	Purged []string
	// Kept are those that stay, with the reason.
	Kept []string
	// Installed tells whether programs of ours are (still) in place.
	Installed bool
}

// Err joins what kept files from being cleared.
func (r UninstallReport) Err() error {
	var all []error
	for _, f := range r.Files {
		all = append(all, f.Err)
	}
	return errors.Join(all...)
}

// candidates are the settings files that may hold entries of ours: the scopes
// of the current folder, those of the record, and file.
func (w World) candidates(rec record, file string) []string {
	var all []string
	add := func(path string) {
		if path != "" && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	for _, s := range w.Scopes() {
		if s.Name != settings.Managed {
			add(s.Path)
		}
	}
	for _, f := range rec.Files {
		add(f.Path)
	}
	add(file)
	return all
}

// Uninstall takes our entries out of every settings file that has some, and
// with Purge everything else that is ours. A file that nobody changed since is
// given its old bytes back. One that cannot be edited is left and keeps the
// programs in place; see [UninstallReport.Err].
func (w World) Uninstall(o UninstallOptions) (UninstallReport, error) {
	var rep UninstallReport
	if w.Data() == "" {
		return rep, ErrNoHome
	}
	if _, err := os.Stat(w.Data()); errors.Is(err, fs.ErrNotExist) && !w.anything(o) {
		if o.Purge {
			w.purgeState(&rep, o.DryRun)
		}
		return rep, nil // and nothing is created to find that out
	}
	if !o.DryRun {
		lock, made, err := w.lock()
		if err != nil {
			return rep, err
		}
		defer func() {
			lock.Release()
			removeEmpty(made)
		}()
	}
	rec, err := w.load()
	if err != nil && !o.Purge {
		return rep, err
	}
	for _, path := range w.candidates(rec, o.File) {
		if c, some := w.clear(path, &rec, o.DryRun); some {
			rep.Files = append(rep.Files, c)
		}
	}
	if !o.DryRun {
		rec.Folders = removeEmpty(rec.Folders)
	}
	rep.Managed = w.managed()
	if !o.Purge || rep.Err() != nil {
		_, err := os.Stat(w.Hook())
		rep.Installed = err == nil
		if o.Purge {
			rep.Kept = append(rep.Kept, w.Short(w.Data())+": the entries above still need it")
		}
		if o.DryRun {
			return rep, nil
		}
		if _, err := os.Stat(w.recordPath()); errors.Is(err, fs.ErrNotExist) {
			return rep, nil
		}
		return rep, w.save(rec)
	}
	w.purge(&rep, rec, o.DryRun)
	return rep, nil
}

// anything tells whether any settings file holds entries of ours.
func (w World) anything(o UninstallOptions) bool {
	for _, path := range w.candidates(record{}, o.File) {
		if _, some := w.clear(path, &record{}, true); some {
			return true
		}
	}
	return false
}

// clear takes our entries out of one file; some is false where there are none.
func (w World) clear(path string, rec *record, dryRun bool) (c Cleared, some bool) {
	c.Path = path
	old, err := settings.Read(path)
	if err != nil || old == nil {
		if err == nil {
			rec.drop(path)
		} else if rec.file(path) != nil {
			c.Err = err
		}
		return c, c.Err != nil
	}
	found, err := settings.Find(old, w.Ours())
	if err != nil {
		// Nothing can be said of it. Unless it is known to be ours, that is not
		// our business.
		if rec.file(path) != nil || strings.Contains(string(old), "stopgate") {
			c.Err = errors.New(path + ": " + err.Error())
			return c, true
		}
		return c, false
	}
	c.Entries = len(found)
	would, err := settings.Uninstall(path, w.Ours(), w.edits(true))
	if err != nil {
		c.Err = err
		return c, true
	}
	if c.Edit = would; !would.Changed {
		if !dryRun {
			rec.drop(path)
		}
		return c, false
	}
	if !dryRun {
		if c.Edit, err = settings.Uninstall(path, w.Ours(), w.edits(false)); err != nil {
			c.Err = err
			return c, true
		}
		rec.drop(path)
	}
	c.Diff = settings.Diff(c.Edit.Old, c.Edit.New, w.Short(path))
	return c, true
}

// managed are the managed settings files with entries of ours.
func (w World) managed() []string {
	var all []string
	for _, s := range w.Scopes() {
		if s.Name != settings.Managed {
			continue
		}
		files, _ := s.Files() // what cannot be read is not ours to edit either
		for _, path := range files {
			data, err := settings.Read(path)
			if err != nil {
				continue
			}
			if found, err := settings.Find(data, w.Ours()); err == nil && len(found) > 0 {
				all = append(all, path)
			}
		}
	}
	return all
}

// purge removes what install and the hook left on this machine, by the names
// that they use: a folder goes only when it is empty then.
func (w World) purge(rep *UninstallReport, rec record, dryRun bool) {
	rm := remover{w: w, rep: rep, dryRun: dryRun}
	link := rec.Link
	if link == "" && w.Home() != "" {
		link = filepath.Join(w.Home(), ".local", "bin", hookctlName)
	}
	if to, err := os.Readlink(link); err == nil && to == w.Hookctl() {
		rm.file(link)
	}
	targets := map[string]string{w.Hook(): hookName, w.Hookctl(): hookctlName}
	for path, name := range targets {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || hashOf(data) != rec.Programs[path] && !isProgram(path, name) {
			rep.Kept = append(rep.Kept, w.Short(path)+": not a program of stopgate")
			continue
		}
		rm.file(path)
		rm.file(path + ".old")
	}
	rm.folder(filepath.Join(w.Data(), binDir))
	rm.matching(filepath.Join(w.Data(), editsDir), "settings-*.lock", "settings-*.record.json")
	rm.folder(filepath.Join(w.Data(), editsDir))
	rm.matching(filepath.Join(w.Data(), backupsDir), "settings-*.stopgate-backup-*")
	rm.folder(filepath.Join(w.Data(), backupsDir))
	rm.file(w.recordPath())
	w.purgeState(rep, dryRun)
	rm.file(filepath.Join(w.Data(), lockFile))
	rm.folder(w.Data())
	if !dryRun {
		removeEmpty(rec.Made)
	}
	slices.Sort(rep.Purged)
}

// purgeState removes the hook's state folder, of the names that it uses.
func (w World) purgeState(rep *UninstallReport, dryRun bool) {
	rm := remover{w: w, rep: rep, dryRun: dryRun}
	for _, dir := range []string{state.Locate(w.Env), state.Fallback()} {
		if info, err := os.Lstat(dir); dir == "" || err != nil || !info.IsDir() {
			continue
		}
		sessions := filepath.Join(dir, "sessions")
		rm.matching(sessions, "*.db", "*.db.corrupt-*", "*.lock", "*.ephemeral")
		rm.folder(sessions)
		rm.matching(dir, "hook.log", "hook.log.1", "off", "off-*")
		rm.folder(dir)
	}
}

// remover removes and keeps count.
type remover struct {
	w      World
	rep    *UninstallReport
	dryRun bool
}

func (r remover) file(path string) {
	if _, err := os.Lstat(path); err != nil {
		return
	}
	if !r.dryRun {
		if err := os.Remove(path); err != nil {
			r.rep.Kept = append(r.rep.Kept, r.w.Short(path)+": "+err.Error())
			return
		}
	}
	r.rep.Purged = append(r.rep.Purged, path)
}

func (r remover) matching(dir string, patterns ...string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		for _, p := range patterns {
			if ok, _ := filepath.Match(p, e.Name()); ok { // the patterns are constant
				r.file(filepath.Join(dir, e.Name()))
				break
			}
		}
	}
}

func (r remover) folder(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	if r.dryRun {
		r.rep.Purged = append(r.rep.Purged, dir)
		return
	}
	if err := os.Remove(dir); err != nil {
		if len(entries) > 0 {
			r.rep.Kept = append(r.rep.Kept, r.w.Short(dir)+": holds "+entries[0].Name()+", which is not of stopgate")
		}
		return
	}
	r.rep.Purged = append(r.rep.Purged, dir)
}
