// Package plugin is stopgate as a plugin of Claude Code: its files, and the
// building of a ready folder out of them and the two programs.
package plugin

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

//go:embed .claude-plugin/plugin.json .claude-plugin/marketplace.json hooks/hooks.json README.md
var files embed.FS

const (
	// Name is what the plugin is called, and the marketplace that its folder is.
	Name = "stopgate"
	// ID is how the client names the plugin out of that marketplace.
	ID = Name + "@" + Name
)

const (
	manifest = ".claude-plugin/plugin.json"
	// market makes the folder a marketplace that offers itself, so that the
	// client's own commands install it from where it lies.
	market = ".claude-plugin/marketplace.json"
	hooks  = "hooks/hooks.json"
	// lib holds the programs. A folder bin would be put on the PATH of agents,
	// with a command "hook" in it.
	lib = "lib"
	// hookPath is how hooks.json names the hook.
	hookPath = "${CLAUDE_PLUGIN_ROOT}/" + lib + "/hook"
)

// Build makes a plugin folder at dir, which must be new, empty, or made by Build
// before. hook and hookctl are the programs to put into it. It returns the files
// written, relative to dir.
func Build(dir, hook, hookctl string) ([]string, error) {
	if err := free(dir); err != nil {
		return nil, err
	}
	var written []string
	put := func(name string, data []byte, mode fs.FileMode) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := host.Replace(to, data, mode); err != nil { // a session may be running the old program
			return err
		}
		written = append(written, name)
		return nil
	}
	ext := ""
	if runtime.GOOS == "windows" {
		ext = ".exe"
	}
	// The manifest first: by it a folder that was left half built is known.
	for _, name := range []string{manifest, market, hooks, "README.md"} {
		data, err := files.ReadFile(name)
		if err != nil {
			return written, fmt.Errorf("plugin: %w", err)
		}
		if name == hooks {
			data = []byte(strings.ReplaceAll(string(data), hookPath+`"`, hookPath+ext+`"`))
		}
		if err := put(name, data, 0o644); err != nil {
			return written, fmt.Errorf("plugin: %w", err)
		}
	}
	for _, p := range []struct{ name, source string }{{"hook", hook}, {"hookctl", hookctl}} {
		data, err := os.ReadFile(p.source)
		if err == nil {
			err = put(path.Join(lib, p.name+ext), data, 0o755)
		}
		if err != nil {
			return written, fmt.Errorf("plugin: %w", err)
		}
	}
	return written, nil
}

// free refuses a folder that holds something else.
func free(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("plugin: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(manifest)))
	if len(entries) > 0 && (err != nil || gjson.GetBytes(data, "name").Str != Name) {
		return fmt.Errorf("plugin: %s holds something else; name a new or empty folder", dir)
	}
	return nil
}
