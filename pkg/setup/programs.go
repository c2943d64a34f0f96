package setup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"stopgate/pkg/host"
)

// ErrNoSource is returned where there is nothing to install from.
var ErrNoSource = errors.New("no programs to install: hook does not lie beside this hookctl, this folder is not inside the " +
	"sources, and what was installed from is gone; run install from a package or from the sources (`go run ./cmd/hookctl install`)")

// Programs are finished programs to be put somewhere.
type Programs struct {
	// Hook and Hookctl are their paths.
	Hook, Hookctl string
	// Built tells that they were built just now, rather than lying there.
	Built bool
	// from is the folder that they come from; temp is removed by Close.
	from, temp string
}

// Close removes what was built.
func (p Programs) Close() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// origin is where programs come from: a folder with both, or one with their sources.
type origin struct {
	folder  string
	hookctl string
	build   bool
}

// origin finds the programs beside the running hookctl, or the sources around the
// current folder where they can be built, or else what was installed from last.
func (w World) origin(rec record) (origin, error) {
	if self := w.Self(); self != "" {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		if o, ok := finished(filepath.Dir(self), self); ok {
			return o, nil
		}
	}
	module := moduleAround(w.Cwd)
	if _, err := exec.LookPath("go"); module != "" && err == nil {
		return origin{folder: module, build: true}, nil
	}
	for _, name := range []string{hookctlName, productName} {
		if o, ok := finished(rec.From, filepath.Join(rec.From, executable(name))); ok {
			return o, nil
		}
	}
	if module == "" && rec.From != "" && moduleAround(rec.From) == rec.From {
		module = rec.From
	}
	if module != "" {
		return origin{folder: module, build: true}, nil
	}
	return origin{}, ErrNoSource
}

// Reinstall is how a program that is gone comes back, in the words of a mend.
func (w World) Reinstall() string {
	rec, err := w.load()
	if err != nil {
		return again
	}
	o, err := w.origin(rec)
	switch {
	case err != nil:
		return "run install from a package or from the sources again: this hookctl has no hook beside it to put there"
	case o.build && o.folder != moduleAround(w.Cwd):
		return again + " (it builds them from " + w.Short(o.folder) + ")"
	}
	return again
}

// finished tells whether a folder holds both programs.
func finished(dir, hookctl string) (origin, bool) {
	o := origin{folder: dir, hookctl: hookctl}
	return o, dir != "" && isProgram(o.hook(), hookName) && isProgram(hookctl, hookctlName)
}

func (o origin) hook() string { return filepath.Join(o.folder, executable(hookName)) }

// Programs finds the two programs, or builds them.
func (w World) Programs() (Programs, error) {
	rec, err := w.load()
	if err != nil {
		return Programs{}, err
	}
	o, err := w.origin(rec)
	if err != nil {
		return Programs{}, err
	}
	if !o.build {
		return Programs{Hook: o.hook(), Hookctl: o.hookctl, from: o.folder}, nil
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return Programs{}, fmt.Errorf("the programs must be built and the go tool is not on PATH: %w", err)
	}
	temp, err := os.MkdirTemp("", "stopgate-build-")
	if err != nil {
		return Programs{}, err
	}
	p := Programs{Built: true, temp: temp, from: o.folder}
	p.Hook = filepath.Join(temp, executable(hookName))
	p.Hookctl = filepath.Join(temp, executable(hookctlName))
	cmd := exec.Command(tool, //nolint:noctx // it takes as long as it takes
		"build", "-trimpath", "-ldflags", "-s -w", "-o", temp+string(filepath.Separator), "./cmd/hook", "./cmd/hookctl")
	cmd.Dir = o.folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Close()
		return Programs{}, fmt.Errorf("go build in %s: %w\n%s", o.folder, err, bytes.TrimSpace(out))
	}
	return p, nil
}

// moduleAround is the folder of our sources that a folder is in, or "".
func moduleAround(dir string) string {
	for ; dir != ""; dir = filepath.Dir(dir) {
		data, err := host.Files{}.Read(filepath.Join(dir, "go.mod"))
		if err == nil {
			s := bufio.NewScanner(bytes.NewReader(data))
			for s.Scan() {
				if name, ok := strings.CutPrefix(strings.TrimSpace(s.Text()), "module "); ok {
					if strings.TrimSpace(name) == "stopgate" {
						return dir
					}
					return ""
				}
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// A ForeignError says that something that is not ours lies where a program of
// ours belongs.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string {
	return e.Path + " is not a program of stopgate; it stays untouched, so nothing was installed: move it away first"
}

// Placed says what became of one file of the installation.
type Placed struct {
	Path string
	// Changed is false where it was there already, byte for byte.
	Changed bool
	// Replaced tells that an older one of ours was there.
	Replaced bool
}

// placing is a program that is to be put in place.
type placing struct {
	Placed
	data []byte
	sum  string
}

// place finds out what putting a program at target means. known is the hash under
// which a file there was recorded as ours.
func place(source, target, known string) (p placing, err error) {
	p.Path = target
	if p.data, err = (host.Files{}).Read(source); err != nil {
		return p, err
	}
	p.sum = hashOf(p.data)
	switch old, err := (host.Files{}).Read(target); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || len(old) > 0 && hashOf(old) != p.sum && hashOf(old) != known && !isProgram(target, strings.TrimSuffix(filepath.Base(target), ".exe")):
		return p, &ForeignError{target}
	case hashOf(old) == p.sum && canRun(target):
		return p, nil
	default:
		p.Replaced = true
	}
	p.Changed = true
	return p, nil
}

// canRun tells whether a file is marked as a program, where there is such a mark.
func canRun(path string) bool {
	info, err := os.Stat(path)
	return runtime.GOOS == "windows" || err == nil && info.Mode().Perm()&0o100 != 0
}

// put does it: a new file under its name by a rename, never new bytes in an old file,
// which some systems answer by killing what runs from it.
func (p placing) put() error {
	if !p.Changed {
		return nil
	}
	if runtime.GOOS == "windows" && p.Replaced {
		// A running program cannot be replaced there, but renamed.
		aside := p.Path + ".old"
		_ = os.Remove(aside)
		_ = host.Move(p.Path, aside)
	}
	return host.Replace(p.Path, p.data, 0o755)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
