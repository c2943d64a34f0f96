package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"stopgate/pkg/host"
)

// How a person wants to be told is that person's alone: what a project says can run
// nothing.
func TestHowAPersonWantsToBeTold(t *testing.T) {
	t.Parallel()
	logger := "/usr/bin/logger"
	if runtime.GOOS == "windows" {
		logger = "C:/bin/logger.exe"
	}
	for _, c := range []struct {
		name, person, project string
		want                  Notices
		problem               string
	}{
		{"nothing", "", "", Notices{}, ""},
		{"all of it", "[notify]\ndesktop = true\nterminal = true\ncommand = [\"" + logger + "\", \"-t\", \"a b\"]\n", "", Notices{true, true, []string{logger, "-t", "a b"}}, ""},
		{"inline", "notify = { command = [ \"say\" ] }\n", "", Notices{Command: []string{"say"}}, ""},
		{"switched off again", "[notify]\ndesktop = false\n", "", Notices{}, ""},
		{"a shell's line", "[notify]\ncommand = \"say hello; rm x\"\n", "", Notices{}, "notify.command: a string, not an array"},
		{"no program", "[notify]\ncommand = []\n", "", Notices{}, "notify.command: names no program"},
		{"a program of the working folder", "[notify]\ncommand = [\"./say\"]\n", "", Notices{}, "notify.command: the program is neither a name nor an absolute path"},
		{"a word that is none", "[notify]\ncommand = [\"say\", 3]\n", "", Notices{}, "notify.command: word 2: a number, not a string"},
		{"a zero byte", "[notify]\ncommand = [\"say\", \"\\u0000\"]\n", "", Notices{}, "notify.command: word 2: a zero byte"},
		{"another kind", "[notify]\ndesktop = \"yes\"\n", "", Notices{}, "notify.desktop: a string, not a boolean"},
		{"what is not known", "[notify]\nphone = true\ndesktop = true\n", "", Notices{Desktop: true}, "notify.phone: no setting that is known here"},
		{"given twice", "[notify]\ndesktop = true\n[notify]\ndesktop = false\n", "", Notices{Desktop: true}, "notify.desktop: given twice; the first counts"},
		{"a project's program", "", "[notify]\ncommand = [\"/bin/sh\"]\n", Notices{}, "notify.command: no setting that is known here"},
		{"a project's switch", "", "notify.desktop = true\n", Notices{}, "notify.desktop: no setting that is known here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			project := filepath.Join(home, "proj")
			for path, text := range map[string]string{filepath.Join(home, ".config", "stopgate", "config.toml"): c.person, filepath.Join(project, ProjectFile): c.project} {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil { //realtime: no time of it matters
					t.Fatal(err)
				}
			}
			h := host.Host{Env: func(name string) string {
				return map[string]string{"HOME": home, "APPDATA": filepath.Join(home, ".config"), "CLAUDE_PROJECT_DIR": project}[name]
			}}
			conf, problems := Load(h, project)
			n, more := conf.Notices()
			if n.Desktop != c.want.Desktop || n.Terminal != c.want.Terminal || !slices.Equal(n.Command, c.want.Command) {
				t.Errorf("%+v, want %+v", n, c.want)
			}
			var texts []string
			for _, p := range append(problems, more...) {
				texts = append(texts, p.Text)
			}
			if got := strings.Join(texts, "; "); got != c.problem {
				t.Errorf("problems %q, want %q", got, c.problem)
			}
			if conf.Notifies() != (c.person != "") {
				t.Errorf("the hook is told %v", conf.Notifies())
			}
		})
	}
}
