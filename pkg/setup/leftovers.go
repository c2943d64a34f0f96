package setup

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stopgate/pkg/host"
	"stopgate/pkg/settings"
	"stopgate/pkg/state"
)

// programsOf are the programs and the link that go, and what lies in their place and
// stays.
func (w World) programsOf(rec record) *going {
	g := &going{w: w}
	link := cmp.Or(rec.Link, filepath.Join(w.Home(), ".local", "bin", hookctlName))
	if to, err := os.Readlink(link); err == nil && to == w.Hookctl() {
		g.files(link)
	}
	for path, name := range map[string]string{w.Hook(): hookName, w.Hookctl(): hookctlName} {
		data, err := host.Files{}.Read(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || hashOf(data) != rec.Programs[path] && !isProgram(path, name) {
			g.kept = append(g.kept, w.Short(path)+": not a program of stopgate")
			continue
		}
		g.files(path, path+".old")
	}
	return g
}

// leftovers adds all other files and folders of ours on this machine, in the order in
// which they go. The packages that make files know them; a folder goes only when
// nothing else is in it.
func (g *going) leftovers(rec record) {
	w, data := g.w, g.w.Data()
	g.files(settings.Files(w.edits(false))...)
	g.folders(filepath.Join(data, binDir), filepath.Join(data, editsDir), filepath.Join(data, backupsDir))
	for _, dir := range w.stateFolders() {
		g.files(dir.Files()...)
		if w.madeState(rec, dir.Path()) {
			g.folders(dir.Folders()...)
		}
	}
	// The lock is held meanwhile.
	g.files(w.recordPath(), filepath.Join(data, lockFile))
	g.folders(data)
}

// stateFolders are the places of the hook's state that exist. Of the one in the temp
// folder anybody could have taken the name.
func (w World) stateFolders() []state.Dir {
	var all []state.Dir
	for _, dir := range []string{state.Locate(w.Env), state.Fallback()} {
		info, err := os.Lstat(dir)
		if dir == "" || err != nil || !info.IsDir() {
			continue
		}
		if owner, ok := ownerOf(dir); ok && dir == state.Fallback() && owner != w.uid() {
			continue
		}
		all = append(all, state.At(dir))
	}
	return all
}

// madeState tells whether a state folder was made by stopgate: one that a person
// named may have been there before.
func (w World) madeState(rec record, dir string) bool {
	return dir != w.Env(state.EnvDir) || slices.Contains(rec.Made, dir)
}

// going collects what goes.
type going struct {
	w          World
	gone, kept []string
}

// files adds those that exist.
func (g *going) files(paths ...string) {
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && !info.IsDir() && !slices.Contains(g.gone, path) {
			g.gone = append(g.gone, path)
		}
	}
}

// folders adds those that will be empty by then.
func (g *going) folders(paths ...string) {
	for _, dir := range paths {
		entries, err := os.ReadDir(dir)
		if err != nil || slices.Contains(g.gone, dir) {
			continue
		}
		other := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return !slices.Contains(g.gone, filepath.Join(dir, e.Name())) })
		switch {
		case other < 0:
			g.gone = append(g.gone, dir)
		case !slices.ContainsFunc(g.kept, func(k string) bool { return strings.Contains(k, g.w.Short(filepath.Join(dir, entries[other].Name()))) }):
			g.kept = append(g.kept, g.w.Short(dir)+": holds "+entries[other].Name()+", which is not of stopgate")
		}
	}
}
