package host

import (
	"path/filepath"
	"runtime"
)

// Home is the home folder of the person as the environment names it, or "": the one
// that the client takes, which on Windows is %USERPROFILE%, whatever a shell calls
// HOME there. A relative path is none: it would lead elsewhere from each folder.
func Home(env func(name string) string) string {
	names := []string{"HOME"}
	if runtime.GOOS == "windows" {
		names = []string{"USERPROFILE", "HOME"}
	}
	return firstAbs(env, names...)
}

// StateHome is the folder in which programs keep what is not worth a backup, and
// DataHome the one for what is: by the rules of freedesktop.org, or of Windows; ""
// where the environment names no home.
func StateHome(env func(name string) string) string {
	return xdg(env, "XDG_STATE_HOME", "state")
}

// DataHome is the folder in which programs keep their data; see [StateHome].
func DataHome(env func(name string) string) string {
	return xdg(env, "XDG_DATA_HOME", "share")
}

// ConfigHome is the folder in which programs look for what a person has set; see
// [StateHome].
func ConfigHome(env func(name string) string) string {
	if runtime.GOOS == "windows" {
		return firstAbs(env, "APPDATA")
	}
	if dir := firstAbs(env, "XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	if home := Home(env); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}

// ClientHome is the folder of the client's own settings and sessions, $CLAUDE_CONFIG_DIR
// or ~/.claude; "" where the environment names no home.
func ClientHome(env func(name string) string) string {
	if dir := env("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	if home := Home(env); home != "" {
		return filepath.Join(home, ".claude")
	}
	return ""
}

func xdg(env func(string) string, name, below string) string {
	if runtime.GOOS == "windows" {
		if dir := firstAbs(env, "LOCALAPPDATA"); dir != "" {
			return dir
		}
		if home := Home(env); home != "" { // where it is unless somebody moved it
			return filepath.Join(home, "AppData", "Local")
		}
		return ""
	}
	if dir := firstAbs(env, name); dir != "" {
		return dir
	}
	if home := Home(env); home != "" {
		return filepath.Join(home, ".local", below)
	}
	return ""
}

// firstAbs is the first of these variables that holds a path from the root.
func firstAbs(env func(string) string, names ...string) string {
	for _, name := range names {
		if dir := env(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	return ""
}
