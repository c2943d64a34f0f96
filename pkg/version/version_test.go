package version

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

func TestWhatAProgramTellsOfItself(t *testing.T) {
	t.Parallel()
	set := func(pairs ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{}
		for i := 0; i < len(pairs); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return info
	}
	for name, c := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"without the go tool":     {nil, Number() + " go"},
		"without version control": {set(), Number() + " go"},
		"at a commit": {
			set("vcs.revision", "0123456789abcdef0123", "vcs.time", "2026-03-01T12:00:00Z", "vcs.modified", "false"),
			Number() + " (0123456789ab of 2026-03-01T12:00:00Z) go",
		},
		"with changes since": {
			set("vcs.revision", "0123456789abcdef0123", "vcs.modified", "true"),
			Number() + " (0123456789ab, changed since) go",
		},
		"a short revision": {set("vcs.revision", "0123"), Number() + " (0123) go"},
	} {
		if got := describe(c.info).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q…", name, got, c.want)
		}
	}
}

// What the version stands in beside VERSION says the same; what is made at a
// release takes it from there.
func TestOneVersionEverywhere(t *testing.T) {
	t.Parallel()
	if !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9a-z.]+)?$`).MatchString(Number()) {
		t.Fatalf("VERSION holds %q", Number())
	}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var manifest struct{ Version string }
	if err := json.Unmarshal([]byte(read("../../plugin/.claude-plugin/plugin.json")), &manifest); err != nil || manifest.Version != Number() {
		t.Errorf("the plugin's manifest says %q, %v", manifest.Version, err)
	}
	releases := regexp.MustCompile(`(?m)^## (\d\S*)`).FindStringSubmatch(read("../../CHANGELOG.md"))
	if releases == nil || releases[1] != Number() {
		t.Errorf("the newest release in CHANGELOG.md is %q", releases)
	}
}
