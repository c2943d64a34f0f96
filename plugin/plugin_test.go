package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/policy"
)

// Beside hooks/hooks.json a hooks field keeps recent clients from loading any
// hook, and their check does not notice.
func TestManifestHasNoHooks(t *testing.T) {
	data, err := files.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	if _, there := fields["hooks"]; there || fields["name"] != Name {
		t.Errorf("%s", data)
	}
}

// Of an option that is not set the client puts nothing in place of
// ${user_config.…}: it does not run that hook at all. So no entry may name one.
func TestNoEntryNamesAnOption(t *testing.T) {
	data, err := files.ReadFile(hooks)
	if err != nil || strings.Contains(string(data), "user_config") {
		t.Errorf("%v: %s", err, data)
	}
}

// The folder offers itself as a marketplace, and the plugin's options are such as
// every client takes: it refuses a plugin with another field in one.
func TestManifests(t *testing.T) {
	var m struct {
		Name    string
		Plugins []struct{ Name, Source string }
	}
	var p struct {
		UserConfig map[string]map[string]string
	}
	for name, into := range map[string]any{market: &m, manifest: &p} {
		data, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if m.Name != Name || len(m.Plugins) != 1 || m.Plugins[0].Name != Name || m.Plugins[0].Source != "./" {
		t.Errorf("the marketplace is %+v", m)
	}
	option := p.UserConfig["patience"]
	if len(p.UserConfig) != 1 || len(option) != 4 || option["type"] != "string" || option["title"] == "" || option["description"] == "" {
		t.Errorf("the options are %v", p.UserConfig)
	}
	if d, err := time.ParseDuration(option["default"]); err != nil || d != policy.DefaultPatience {
		t.Errorf("the default is %q, and that of the hook %s", option["default"], policy.DefaultPatience)
	}
}

func TestBuild(t *testing.T) {
	from := t.TempDir()
	hook, hookctl := filepath.Join(from, "hook"), filepath.Join(from, "hookctl")
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(hook, "one")
	put(hookctl, "two")
	dir := filepath.Join(t.TempDir(), "a folder", "new")
	written, err := Build(dir, hook, hookctl)
	if err != nil {
		t.Fatal(err)
	}
	ext := ""
	if runtime.GOOS == "windows" {
		ext = ".exe"
	}
	want := []string{manifest, market, hooks, "README.md", "lib/hook" + ext, "lib/hookctl" + ext}
	if !reflect.DeepEqual(written, want) {
		t.Errorf("written %q, want %q", written, want)
	}
	for _, name := range want {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "lib", "hook"+ext)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0 {
		t.Errorf("the hook cannot be run: %v", err)
	}

	put(hook, "newer")
	if _, err := Build(dir, hook, hookctl); err != nil {
		t.Errorf("over itself: %v", err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "lib", "hook"+ext)); string(data) != "newer" {
		t.Errorf("the hook is %q", data)
	}
	if _, err := Build(from, hook, hookctl); err == nil {
		t.Error("built over a folder of somebody else")
	}
	if _, err := Build(filepath.Join(t.TempDir(), "x"), filepath.Join(from, "none"), hookctl); err == nil {
		t.Error("built without a hook")
	}
	if _, err := Build(hook, hook, hookctl); err == nil {
		t.Error("built over a file")
	}
}
