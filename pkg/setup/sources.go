package setup

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"stopgate/pkg/settings"
)

// SettingsFile is one settings file that counts for a session here.
type SettingsFile struct {
	Scope, Path string
	// Hooks are the entries that run the hook.
	Hooks []Hook
	// Conditions are what else it says that bears on them.
	settings.Conditions
	// Plugin is our plugin's name where the file enables it.
	Plugin string
	// Offences are why clients read nothing of it.
	Offences []settings.Offence
	// Err is why it cannot be read, and Misfit why it can hold no entries.
	Err, Misfit error
}

// pluginName is how the client names our plugin, before the marketplace
// (plugin/.claude-plugin/plugin.json).
const pluginName = "stopgate@"

// Sources are the settings files that exist, the weakest first.
func (w World) Sources() []SettingsFile {
	var all []SettingsFile
	r := w.recogniser()
	for _, scope := range w.Scopes() {
		files, err := scope.Files()
		if err != nil {
			all = append(all, SettingsFile{Scope: scope.Name, Path: scope.Dir, Err: err})
		}
		for _, path := range files {
			all = append(all, r.source(scope.Name, path))
		}
	}
	return all
}

func (r recogniser) source(scope, path string) SettingsFile {
	s := SettingsFile{Scope: scope, Path: path}
	data, err := settings.Read(path)
	if err == nil {
		s.Hooks, err = r.hooks(data)
	}
	if err == nil {
		s.Conditions, err = settings.Look(data)
	}
	if err == nil {
		s.Misfit, s.Offences = settings.Check(data, events...), settings.Offences(data)
	}
	if s.Err = err; err != nil {
		return s
	}
	gjson.GetBytes(bytes.TrimPrefix(data, []byte("\ufeff")), "enabledPlugins").ForEach(func(key, on gjson.Result) bool {
		if strings.HasPrefix(key.Str, pluginName) && on.Type == gjson.True {
			s.Plugin = key.Str
		}
		return true
	})
	return s
}

// ScopePlugin is the scope of what [World.Plugins] finds.
const ScopePlugin = "plugin"

// Plugins are the registrations of our plugin where the client has installed it
// (docs/client.md: files), whether or not it is enabled.
func (w World) Plugins() []SettingsFile {
	config := w.Config()
	data, err := settings.Read(filepath.Join(config, "plugins", "installed_plugins.json"))
	if config == "" || err != nil {
		return nil
	}
	r := w.recogniser()
	r.target = "${CLAUDE_PLUGIN_ROOT}/lib/" + executable(hookName) // plugin/hooks/hooks.json
	var all []SettingsFile
	gjson.GetBytes(data, "plugins").ForEach(func(name, installed gjson.Result) bool {
		if !strings.HasPrefix(name.Str, pluginName) {
			return true
		}
		for _, at := range installed.Array() { // of the one place itself on older clients
			if dir := at.Get("installPath").Str; dir != "" {
				s := r.source(ScopePlugin, filepath.Join(dir, "hooks", "hooks.json"))
				s.Plugin = name.Str
				all = append(all, s)
			}
		}
		return true
	})
	return all
}

// Value is what a variable is for a session here, and where that is said: in the
// environment, or in the env of a settings file, of which the strongest wins.
func Value(env func(string) string, sources []SettingsFile, name string) (value, where string) {
	if v := env(name); v != "" {
		value, where = v, "the environment"
	}
	for _, s := range sources {
		if v, ok := s.Env[name]; ok {
			value, where = v, s.Scope+" settings"
		}
	}
	return value, where
}

// goVariables are what the Go runtime reads; it ends a program before it begins
// where it cannot.
var goVariables = []string{"GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK"}

// sessionGo are the variables for the Go runtime that the settings give to a
// session here, as NAME=value, the weakest first.
func sessionGo(sources []SettingsFile) []string {
	var all []string
	for _, s := range sources {
		for _, name := range goVariables {
			if value, set := s.Env[name]; set {
				all = append(all, name+"="+value)
			}
		}
	}
	return all
}
