package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"stopgate/pkg/host"
	"stopgate/pkg/state"
)

// Apply does what was planned, as the world is by then, and proves that what is
// registered answers.
func (p *InstallPlan) Apply(ctx context.Context) error {
	lock, made, err := p.w.lock()
	if err != nil {
		removeEmpty(made)
		return err
	}
	defer lock.Release()
	rec, err := p.w.load()
	if err != nil {
		return err
	}
	if err := p.make(rec); err != nil {
		return err
	}
	// The hook will make the state folder: what is missing on the way to it is ours
	// too.
	rec.Made = with(with(rec.Made, made...), host.MissingDirs(state.Locate(p.w.Env))...)
	if err := p.place(&rec); err != nil {
		return err
	}
	// Before the edit itself: what has entries of ours must be found again.
	rec.add(p.File, p.Choice)
	if err := p.w.save(rec); err != nil {
		return err
	}
	if err := p.edit(false); err != nil {
		return err
	}
	rec.Folders = with(rec.Folders, p.Edit.Made...)
	p.doLink(&rec)
	if err := p.w.save(rec); err != nil {
		return err
	}
	return p.prove(ctx)
}

// place puts the programs in place.
func (p *InstallPlan) place(rec *record) error {
	made, err := host.MakeDirs(filepath.Join(p.w.Data(), binDir))
	rec.Made = with(rec.Made, made...)
	if err != nil {
		return err
	}
	if rec.Programs == nil {
		rec.Programs = map[string]string{}
	}
	for _, f := range p.placings {
		if err := f.put(); err != nil {
			return err
		}
		rec.Programs[f.Path] = f.sum
	}
	rec.Version = p.Now
	if from := p.programs.from; from != filepath.Join(p.w.Data(), binDir) {
		rec.From = from
	}
	return nil
}

// link finds out whether hookctl can be put on PATH: where that takes no more than a
// free name.
func (w World) link() (to Placed, no string) {
	if runtime.GOOS == "windows" || w.Home() == "" {
		return to, "there is no folder for links here"
	}
	dir := filepath.Join(w.Home(), ".local", "bin")
	path := filepath.Join(dir, hookctlName)
	if !w.onPath(dir) {
		return to, w.Short(dir) + " is not on PATH"
	}
	if at, err := os.Readlink(path); err == nil && at == w.Hookctl() {
		return Placed{Path: path}, ""
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return to, "the name " + w.Short(path) + " is taken"
	}
	return Placed{Path: path, Changed: true}, ""
}

// doLink makes the link. That it cannot is no failure.
func (p *InstallPlan) doLink(rec *record) {
	if p.Link.Path == "" {
		return
	}
	if p.Link.Changed {
		made, err := host.MakeDirs(filepath.Dir(p.Link.Path))
		rec.Made = with(rec.Made, made...)
		if err == nil {
			err = os.Symlink(p.w.Hookctl(), p.Link.Path)
		}
		if err != nil {
			p.Link, p.NoLink = Placed{}, err.Error()
			return
		}
	}
	rec.Link = p.Link.Path
}

// prove reads the entries back from the settings file and tries them.
func (p *InstallPlan) prove(ctx context.Context) error {
	s := p.w.recogniser().source(p.o.Scope, p.File)
	if s.Err != nil {
		return s.Err
	}
	if len(s.Hooks) == 0 {
		return fmt.Errorf("%s: the entries are not there any more", p.File)
	}
	var err error
	p.Proofs, err = p.w.Prove(ctx, s.Hooks, p.w.Sources())
	return err
}
