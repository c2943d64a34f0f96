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
)

// ErrNoSource is returned where there is nothing to install from.
var ErrNoSource = errors.New("no programs to install: hook does not lie beside this hookctl, and the current folder " +
	"is not inside the sources; run `go run ./cmd/hookctl install` there")

// Programs are finished programs to be put somewhere.
type Programs struct {
	// Hook and Hookctl are their paths.
	Hook, Hookctl string
	// Built tells that they were built just now, rather than lying there.
	Built bool
	// temp is removed by Close.
	temp string
}

// Close removes what was built.
func (p Programs) Close() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// Programs finds the two programs: those beside the running hookctl, or ones
// built from the sources around the current folder.
func (w World) Programs() (Programs, error) {
	if w.Self != "" {
		self := w.Self
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		p := Programs{Hook: filepath.Join(filepath.Dir(self), executable(hookName)), Hookctl: self}
		if isProgram(p.Hook, hookName) && isProgram(p.Hookctl, hookctlName) {
			return p, nil
		}
	}
	module := w.module()
	if module == "" {
		return Programs{}, ErrNoSource
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return Programs{}, fmt.Errorf("the programs must be built and the go tool is not on PATH: %w", err)
	}
	temp, err := os.MkdirTemp("", "stopgate-build-")
	if err != nil {
		return Programs{}, err
	}
	p := Programs{Built: true, temp: temp}
	p.Hook = filepath.Join(temp, executable(hookName))
	p.Hookctl = filepath.Join(temp, executable(hookctlName))
	cmd := exec.Command(tool, //nolint:noctx // it takes as long as it takes
		"build", "-trimpath", "-ldflags", "-s -w", "-o", temp+string(filepath.Separator), "./cmd/hook", "./cmd/hookctl")
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Close()
		return Programs{}, fmt.Errorf("go build in %s: %w\n%s", module, err, bytes.TrimSpace(out))
	}
	return p, nil
}

// module is the folder of our sources that the current folder is in, or "".
func (w World) module() string {
	for dir := w.Cwd; dir != ""; dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
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

// place puts a program at target: a new file under its name by a rename, never
// new bytes in an old file, which some systems answer by killing what runs from
// it. known is the hash under which a file there was recorded as ours.
func place(source, target, known string, dryRun bool) (Placed, string, error) {
	placed := Placed{Path: target}
	data, err := os.ReadFile(source)
	if err != nil {
		return placed, "", err
	}
	sum := hashOf(data)
	switch old, err := os.ReadFile(target); {
	case err == nil:
		if hashOf(old) == sum {
			return placed, sum, nil
		}
		if hashOf(old) != known && !isProgram(target, strings.TrimSuffix(filepath.Base(target), ".exe")) {
			return placed, "", &ForeignError{target}
		}
		placed.Replaced = true
	case !errors.Is(err, fs.ErrNotExist):
		return placed, "", &ForeignError{target}
	}
	placed.Changed = true
	if dryRun {
		return placed, sum, nil
	}
	if runtime.GOOS == "windows" && placed.Replaced {
		// A running program cannot be replaced there, but renamed.
		aside := target + ".old"
		_ = os.Remove(aside)
		_ = os.Rename(target, aside)
	}
	return placed, sum, writeFile(target, data, 0o755)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
