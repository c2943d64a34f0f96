package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

// Names of the scopes.
const (
	User    = "user"
	Project = "project"
	Local   = "local"
	Managed = "managed"
)

// Scope is one of the places where the client reads settings
// (docs/client.md: files).
type Scope struct {
	// Name is User, Project, Local or Managed.
	Name string
	// Path is the settings file, whether it exists or not.
	Path string
	// Dir is the folder of further files that count like Path, by name; "" for
	// scopes that have none. Only Managed has one.
	Dir string
}

// Scopes lists the settings files that count for a session in projectDir, the
// weakest first: user, project, local, managed. home is the user's home folder,
// getenv looks up CLAUDE_CONFIG_DIR, which takes the place of home's .claude
// (nil is an empty environment). A scope whose folder is unknown ("") is left
// out, and so is a project whose file is the user's own, as in the home folder.
//
// Settings given on the client's command line, by a server or by a device
// policy other than a file are not among them.
func Scopes(home, projectDir string, getenv func(string) string) []Scope {
	return scopes(runtime.GOOS, home, projectDir, getenv)
}

func scopes(goos, home, projectDir string, getenv func(string) string) []Scope {
	var all []Scope
	config, user := "", ""
	if getenv != nil {
		config = getenv("CLAUDE_CONFIG_DIR")
	}
	if config == "" && home != "" {
		config = filepath.Join(home, ".claude")
	}
	if config != "" {
		user = filepath.Join(config, "settings.json")
		all = append(all, Scope{Name: User, Path: user})
	}
	if projectDir != "" {
		dir := filepath.Join(projectDir, ".claude")
		if path := filepath.Join(dir, "settings.json"); path != user {
			all = append(all, Scope{Name: Project, Path: path})
		}
		all = append(all, Scope{Name: Local, Path: filepath.Join(dir, "settings.local.json")})
	}
	managed := "/etc/claude-code"
	switch goos {
	case "darwin":
		managed = "/Library/Application Support/ClaudeCode"
	case "windows":
		managed = `C:\Program Files\ClaudeCode`
	}
	return append(all, Scope{
		Name: Managed,
		Path: filepath.Join(managed, "managed-settings.json"),
		Dir:  filepath.Join(managed, "managed-settings.d"),
	})
}

// Files lists the files of a scope that exist, in the order in which later ones
// win; also one that is no file, so that reading it says so. None is an empty list;
// a folder that cannot be read is an error beside the files found.
func (s Scope) Files() ([]string, error) {
	var all []string
	if _, err := os.Lstat(s.Path); err == nil {
		all = append(all, s.Path)
	}
	if s.Dir == "" {
		return all, nil
	}
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	var more []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".json") || strings.HasPrefix(name, ".") {
			continue
		}
		path := filepath.Join(s.Dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			more = append(more, path)
		}
	}
	sort.Strings(more)
	return append(all, more...), err
}
