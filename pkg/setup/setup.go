// Package setup puts stopgate on a machine and takes it off again: the two
// programs into a folder of their own, the hook entries into a settings file of
// the client, and a proof that what was installed answers.
//
// In go a [World] and what a person asked for; out come a report of what was
// done. How a settings file is edited is the business of pkg/settings, and what
// is printed that of pkg/cli.
package setup

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"stopgate/pkg/host"
	"stopgate/pkg/settings"
)

// World is the part of the outside that an installation depends on.
type World struct {
	// Host is the machine. Its arguments and streams are not looked at.
	host.Host
	// Cwd is the folder whose project and local scopes are meant.
	Cwd string
}

// Names in the data folder.
const (
	binDir      = "bin"
	editsDir    = "edits"
	backupsDir  = "backups"
	recordFile  = "install.json"
	lockFile    = "install.lock"
	hookName    = "hook"
	hookctlName = "hookctl"
	productName = "stopgate" // also what hookctl is called in packages
)

// ErrNoHome is returned where the environment names no home folder.
var ErrNoHome = errors.New("no home folder: set HOME")

// Home is the user's home folder, or "".
func (w World) Home() string { return host.Home(w.Env) }

// Config is the folder of the client's own files, or "".
func (w World) Config() string { return host.ClientHome(w.Env) }

// Data is the folder of the installation: $XDG_DATA_HOME/stopgate, else
// ~/.local/share/stopgate (Windows: %LOCALAPPDATA%\stopgate); "" without a home.
func (w World) Data() string {
	if dir := host.DataHome(w.Env); dir != "" {
		return filepath.Join(dir, productName)
	}
	return ""
}

// Hook is where install puts the hook, and Hookctl where it puts hookctl.
func (w World) Hook() string { return w.program(hookName) }

// Hookctl is where install puts hookctl.
func (w World) Hookctl() string { return w.program(hookctlName) }

func (w World) program(name string) string {
	return filepath.Join(w.Data(), binDir, executable(name))
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// Scopes are the client's settings scopes as seen from the current folder.
func (w World) Scopes() []settings.Scope { return settings.Scopes(w.Home(), w.Cwd, w.Env) }

// UsageError says which argument cannot be meant; nothing was looked at yet.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// File is the settings file of a scope; one that there is not is a [UsageError].
func (w World) File(scope string) (string, error) {
	var names []string
	for _, s := range w.Scopes() {
		if s.Name == settings.Managed {
			continue
		}
		if s.Name == scope {
			return s.Path, nil
		}
		names = append(names, s.Name)
	}
	if scope == settings.Project {
		return "", UsageError("this folder's project settings are the user's own: use --scope user, or go to a project")
	}
	return "", UsageError(fmt.Sprintf("no scope %q here; there are %s", scope, strings.Join(names, ", ")))
}

// edits are the options for an edit of a settings file.
func (w World) edits(dryRun bool) settings.Options {
	return settings.Options{
		Dir:       filepath.Join(w.Data(), editsDir),
		BackupDir: filepath.Join(w.Data(), backupsDir),
		Now:       w.Clock.Now,
		DryRun:    dryRun,
		// Whatever is edited: what is ours leaves when everything of ours does.
		StatusLine: w.statusLine(false),
	}
}

// onPath tells whether a folder is on PATH.
func (w World) onPath(dir string) bool {
	for _, d := range filepath.SplitList(w.Env("PATH")) {
		if d != "" && filepath.Clean(d) == filepath.Clean(dir) {
			return true
		}
	}
	return false
}

// Short writes a path with ~ for the home folder, for people.
func (w World) Short(path string) string {
	home := w.Home()
	if home == "" || home == string(filepath.Separator) {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
		return filepath.Join("~", rest)
	}
	return path
}
