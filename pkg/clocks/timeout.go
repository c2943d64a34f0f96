package clocks

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
	"stopgate/pkg/policy"
)

// maxSettings bounds a settings file that is looked into, in bytes.
const maxSettings = 1 << 20

// timeout is how long the client waits for this hook: the shortest timeout of the
// entries of an event in the settings that run this program in a mode. It looks where
// the client does: the managed, the person's and the project's settings, those that the
// client's command line names, and the plugin's own.
func timeout(h host.Host, words []string, event, mode string) (time.Duration, string) {
	best, by := DefaultTimeout, ""
	self := ""
	if h.Self != nil {
		self = h.Self()
	}
	if self == "" {
		return best, by
	}
	plugin := h.Env("CLAUDE_PLUGIN_ROOT")
	look := func(text []byte, from string) {
		gjson.GetBytes(text, "hooks."+event).ForEach(func(_, group gjson.Result) bool {
			group.Get("hooks").ForEach(func(_, entry gjson.Result) bool {
				if !runs(h, entry, self, plugin, mode) {
					return true
				}
				d := DefaultTimeout
				if t := entry.Get("timeout"); t.Type == gjson.Number && t.Num > 0 {
					d = time.Duration(min(t.Num, 1e6) * float64(time.Second))
				}
				if by == "" || d < best {
					best, by = d, from
				}
				return true
			})
			return true
		})
	}
	for _, path := range settingsFiles(h, words, plugin) {
		if strings.HasPrefix(path, "{") {
			look([]byte(path), "--settings")
			continue
		}
		if data, err := h.Files.ReadSmall(path, maxSettings); err == nil {
			look(data, path)
		}
	}
	return best, by
}

// settingsFiles are the places of entries, those that exist and those that do not.
// What --settings names may be the settings themselves.
func settingsFiles(h host.Host, words []string, plugin string) []string {
	var out []string
	switch runtime.GOOS {
	case "darwin":
		out = append(out, "/Library/Application Support/ClaudeCode/managed-settings.json")
	case "windows":
		out = append(out, `C:\Program Files\ClaudeCode\managed-settings.json`)
	default:
		out = append(out, "/etc/claude-code/managed-settings.json")
	}
	if config := host.ClientHome(h.Env); config != "" {
		out = append(out, filepath.Join(config, "settings.json"))
	}
	if project := h.Env("CLAUDE_PROJECT_DIR"); project != "" {
		out = append(out, filepath.Join(project, ".claude", "settings.json"), filepath.Join(project, ".claude", "settings.local.json"))
	}
	for i, w := range words {
		if value, found := strings.CutPrefix(w, "--settings="); found {
			out = append(out, value)
		} else if w == "--settings" && i+1 < len(words) {
			out = append(out, words[i+1])
		}
	}
	if plugin != "" {
		out = append(out, filepath.Join(plugin, "hooks", "hooks.json"))
	}
	return out
}

// runs tells whether an entry runs this program in a mode. The gate is what runs
// without the word for another one.
func runs(h host.Host, entry gjson.Result, self, plugin, mode string) bool {
	line := strings.ReplaceAll(entry.Get("command").String(), "${CLAUDE_PLUGIN_ROOT}", plugin)
	words := strings.Fields(line)
	for _, arg := range entry.Get("args").Array() {
		words = append(words, arg.String())
	}
	says := ""
	for _, w := range words {
		if w == policy.Courier || w == policy.Lead {
			says = w
		}
	}
	if mode == policy.Gate {
		mode = ""
	}
	if says != mode {
		return false
	}
	if strings.Contains(filepath.ToSlash(line), filepath.ToSlash(self)) {
		return true
	}
	a, err := os.Stat(self)
	if err != nil {
		return false
	}
	b, err := h.Files.Stat(line)
	return err == nil && os.SameFile(a, b)
}
