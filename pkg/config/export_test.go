package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stopgate/pkg/host"
)

// What hookctl export goes by is the person's alone, and judged when it is asked for.
func TestWhatAnExportGoesBy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, person, project string
		want                  map[string]string
		problems              []string
	}{
		{"nothing", "", "", map[string]string{}, nil},
		{"a table", "[export]\nendpoint = \"https://c\"\nwith-commands = true\n", "", map[string]string{"endpoint": "https://c", "with-commands": "true"}, nil},
		{"inline", "export = {endpoint = \"https://c\"}\n", "", map[string]string{"endpoint": "https://c"}, nil},
		{"another kind", "[export]\nendpoint = 3\nwith-commands = \"yes\"\n", "", map[string]string{}, []string{"export.endpoint: a number, not a string", "export.with-commands: a string, not a boolean"}},
		{"what is not known", "[export]\nurl = \"https://c\"\n[export.more]\nx = 1\n", "", map[string]string{}, []string{"export.more.x: no setting that is known here", "export.url: no setting that is known here"}},
		{"given twice", "export.file = \"a\"\n[export]\nfile = \"b\"\n", "", map[string]string{"file": "a"}, []string{"export.file: given twice; the first counts"}},
		{"a project's", "", "[export]\nendpoint = \"https://evil\"\n", map[string]string{}, []string{"export.endpoint: no setting that is known here"}},
		{"a file that is no TOML in the end", "[export]\nendpoint = \"https://c\"\n[", "", map[string]string{}, []string{"a file"}},
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
			if err := os.Mkdir(filepath.Join(project, ".git"), 0o700); err != nil {
				t.Fatal(err)
			}
			h := host.Host{Env: func(name string) string {
				return map[string]string{"HOME": home, "APPDATA": filepath.Join(home, ".config")}[name]
			}}
			conf, problems := Load(h, project)
			said, more := conf.Exports()
			if !maps.Equal(said, c.want) {
				t.Errorf("%v, want %v", said, c.want)
			}
			var texts []string
			for _, p := range append(problems, more...) {
				if texts = append(texts, p.Text); p.Broken {
					texts[len(texts)-1] = "a file"
				}
			}
			slices.Sort(texts)
			if !slices.Equal(texts, c.problems) {
				t.Errorf("problems %q, want %q", strings.Join(texts, "; "), c.problems)
			}
		})
	}
}
