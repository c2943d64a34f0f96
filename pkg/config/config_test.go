package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/policy"
)

// place is a home with a project in it.
type place struct {
	t               *testing.T
	home, root      string
	env             map[string]string
	person, project string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	home := t.TempDir()
	p := &place{t: t, home: home, root: filepath.Join(home, "proj"), env: map[string]string{"HOME": home, "APPDATA": filepath.Join(home, ".config")}}
	p.person = filepath.Join(home, ".config", "stopgate", "config.toml")
	p.project = filepath.Join(p.root, ProjectFile)
	p.mkdir(filepath.Join(p.root, "a", "b"))
	return p
}

func (p *place) mkdir(dir string) {
	p.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) write(path, text string) {
	p.t.Helper()
	p.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) load(cwd string) (Config, []string) {
	h := host.Host{Env: func(name string) string { return p.env[name] }}
	c, problems := Load(h, cwd)
	var texts []string
	for _, x := range problems {
		text := filepath.Base(x.Path) + ":" + string(rune('0'+x.Line)) + ": " + x.Text
		if x.Broken {
			text += " (broken)"
		}
		texts = append(texts, text)
	}
	return c, texts
}

func TestWithoutFilesNothingIsSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if c, problems := p.load(p.root); !reflect.DeepEqual(c, Config{}) || problems != nil {
		t.Errorf("%+v, %q", c, problems)
	}
	for _, row := range (Config{}).Rows() {
		if row.From != Default {
			t.Errorf("%+v", row)
		}
	}
}

// Flags win over the project's file, and that over the person's.
func TestWhoSaysWhat(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.person, `
patience = "2h"
hold = "1m"
observe = true
ignore = "^person"
wait-for = ["^p-wait"]
[lead]
when = "always"
[history]
keep = false
`)
	p.write(p.project, `
patience = "20m"
ignore = ["^one", '^two\b', # a word
]
wait-for = "^proj-wait"
`)
	c, problems := p.load(p.root)
	if problems != nil || c.PersonPath != p.person || c.ProjectPath != p.project {
		t.Errorf("%q, %+v", problems, c)
	}
	re := regexp.MustCompile
	want := Config{
		Patience: Value[time.Duration]{20 * time.Minute, Project}, Hold: Value[time.Duration]{time.Minute, Person},
		Observe: Value[bool]{true, Person}, Lead: Value[string]{"always", Person}, History: Value[bool]{false, Person},
		Patterns: []policy.Pattern{
			{Expr: re("^proj-wait"), Wait: true, From: "project"}, {Expr: re("^one"), From: "project"}, {Expr: re(`^two\b`), From: "project"},
			{Expr: re("^p-wait"), Wait: true, From: "person"}, {Expr: re("^person"), From: "person"},
		},
		PersonPath: p.person, ProjectPath: p.project,
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v\nwant %+v", c, want)
	}
	for args, want := range map[string]string{
		"":                                  "--observe --no-history --hold=1m0s --patience=20m0s",
		"--hold 5m":                         "--observe --no-history --hold=5m0s --patience=20m0s",
		"--patience 2h --observe=false":     "--no-history --hold=1m0s --patience=2h0m0s",
		"--hold 9m30s --patience 1h":        "--observe --no-history --hold=1m0s --patience=20m0s",
		"--no-history=false":                "--observe --hold=1m0s --patience=20m0s",
		"courier --for 1h":                  "courier --no-history --for=1h0m0s",
		"lead":                              "lead --lead=always --no-history --patience=20m0s",
		"lead --lead never --patience 2h":   "lead --lead=never --no-history --patience=2h0m0s",
		"--blocks 2 --hold 0s --ignore ^x$": "--blocks=2 --observe --no-history --patience=20m0s --ignore=^x$",
	} {
		parsed, err := policy.Parse(strings.Fields(args))
		if err != nil {
			t.Fatal(err)
		}
		applied := Apply(parsed, c)
		if got := strings.Join(applied.Flags(), " "); got != want {
			t.Errorf("%q becomes %q, want %q", args, got, want)
		}
		if len(applied.Patterns) != 5 || len(parsed.Patterns) != 0 {
			t.Errorf("%q: patterns %v", args, applied.Patterns)
		}
	}
	rows := map[string]string{}
	for _, r := range c.Rows() {
		rows[r.Key] = r.Value + " " + string(r.From)
	}
	for key, want := range map[string]string{
		"patience": "20m project", "hold": "1m person", "lead.when": "always person",
		"ignore": `"^one", "^two\\b", "^person" (person) project`,
	} {
		if rows[key] != want {
			t.Errorf("%s is shown as %s, want %s", key, rows[key], want)
		}
	}
}

// A duration is written as everywhere else.
func TestADurationWithDays(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.person, `patience = "0.5d"`)
	if c, problems := p.load(p.root); problems != nil || c.Patience.V != 12*time.Hour {
		t.Errorf("%+v, %q", c.Patience, problems)
	}
}

// What is wrong with one key leaves the others; what is no TOML is as if absent.
func TestWhatIsWrongWithAFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ situation, text, problem string }{
		{"a span of time that is none", "patience = \"an hour\"", `1: patience: not a duration like "30s", "10m" or "1h30m"`},
		{"a number for a span", "patience = 60", "1: patience: a number, not a string"},
		{"longer than a day", "hold = \"25h\"", "1: hold: not between 0s and 24h"},
		{"less than nothing", "hold = \"-1s\"", "1: hold: not between 0s and 24h"},
		{"a word for yes", "\nobserve = \"yes\"", "2: observe: a string, not a boolean"},
		{"no expression", "ignore = [\"(\"]", "1: ignore: pattern 1: not a regular expression: missing closing )"},
		{"everything", "ignore = \"\"", "1: ignore: pattern 1: empty, which matches everything"},
		{"an expression that costs too much", "ignore = \"((a{30}){30}){30}\"", "1: ignore: pattern 1: not a regular expression: invalid repeat count"},
		{"many that cost too much", "ignore = [" + strings.Repeat(`"x{900}",`, 7) + "]", "1: ignore: pattern 6: too much for one list"},
		{"a long one", "ignore = \"" + strings.Repeat("x", 501) + "\"", "1: ignore: pattern 1: longer than 500 bytes"},
		{"too many", "ignore = [" + strings.Repeat(`"x",`, 65) + "]", "1: ignore: more than 64 patterns"},
		{"a list in a list", "ignore = [[\"x\"]]", "1: ignore: pattern 1: an array, not a string"},
		{"a key that nobody knows", "# a\npatienc = \"1h\"", "2: patienc: no setting that is known here"},
		{"a table that nobody knows", "[notes]\ncommand = [\"x\"]", "2: notes.command: no setting that is known here"},
		{"tables in a list", "[[lead]]\nwhen = \"never\"", "1: lead: a list of tables, of which none is known; 2: lead.: no setting"},
		{"a table for a value", "patience = { for = \"1h\" }", "1: patience.for: no setting that is known here"},
		{"twice", "patience = \"1h\"\npatience = \"2h\"", "2: patience: given twice; the first counts"},
		{"a name with something to say", "\"\\u001b[31mhold is broken\" = 1", `1: "\x1b[31mhold is broken": no setting that is known here`},
		{"a date", "hold = 2026-01-01", "1: hold: a date, not a string"},
		{"no TOML", "ignore = \"x\"\nhold = ", "broken"},
		{"a binary", "\x00\xff", "broken"},
		{"half a string", "hold = \"1m", "broken"},
	} {
		p := newPlace(t)
		p.write(p.person, "observe = false\n")
		p.write(p.project, c.text)
		got, problems := p.load(p.root)
		text := strings.Join(problems, "; ")
		broken := strings.HasSuffix(text, "(broken)")
		if len(problems) == 0 || !strings.HasPrefix(text, ".stopgate.toml:"+strings.Split(c.problem, ";")[0]) && !broken || broken != (c.problem == "broken") {
			t.Errorf("%s: %q, want %q", c.situation, problems, c.problem)
		}
		if strings.ContainsAny(text, "\x1b\n\x00") {
			t.Errorf("%s: the problem cannot be shown: %q", c.situation, text)
		}
		if broken && (got.ProjectPath != "" || got.Patterns != nil) {
			t.Errorf("%s: something of it counts: %+v", c.situation, got)
		}
		if got.Observe.From == Project || got.Hold.Set() {
			t.Errorf("%s: %+v", c.situation, got)
		}
	}
}

// The other keys of a file with a wrong one count, in either order.
func TestAWrongKeyLeavesTheOthers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.project, "hold = 5\npatience = \"20m\"\nwhat = 1\nobserve = true\n")
	c, problems := p.load(p.root)
	if len(problems) != 2 || c.Patience.V != 20*time.Minute || !c.Observe.V || c.Hold.Set() {
		t.Errorf("%+v, %q", c, problems)
	}
}

// A project sets what is the project's; the rest is a person's.
func TestAProjectSaysNothingOfThePerson(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.project, "[lead]\nwhen = \"always\"\n[history]\nkeep = false\n")
	c, problems := p.load(p.root)
	if len(problems) != 2 || c.Lead.Set() || c.History.Set() || !strings.Contains(problems[0], "lead.when: for a person's own file only") {
		t.Errorf("%+v, %q", c, problems)
	}
}

func TestWhereAProjectsFileIsLookedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		situation string
		lay       func(p *place)
		cwd, want string
	}{
		{"in the folder", func(p *place) { p.write(p.project, "") }, "proj", "proj"},
		{"not above a folder without a project", func(p *place) { p.write(p.project, "") }, "proj/a", ""},
		{"up to the repository", func(p *place) { p.mkdir(filepath.Join(p.root, ".git")); p.write(p.project, "") }, "proj/a/b", "proj"},
		{"a worktree's .git is a file", func(p *place) { p.write(filepath.Join(p.root, ".git"), "gitdir: x"); p.write(p.project, "") }, "proj/a", "proj"},
		{"never above it", func(p *place) {
			p.mkdir(filepath.Join(p.root, "a", ".git"))
			p.write(p.project, "")
		}, "proj/a/b", ""},
		{"up to the client's project", func(p *place) { p.env["CLAUDE_PROJECT_DIR"] = p.root; p.write(p.project, "") }, "proj/a/b", "proj"},
		{"which counts before a repository in it", func(p *place) {
			p.env["CLAUDE_PROJECT_DIR"] = p.root
			p.mkdir(filepath.Join(p.root, "a", ".git"))
			p.write(p.project, "")
		}, "proj/a/b", "proj"},
		{"not above the client's project", func(p *place) {
			p.env["CLAUDE_PROJECT_DIR"] = filepath.Join(p.root, "a")
			p.mkdir(filepath.Join(p.root, ".git"))
			p.write(p.project, "")
		}, "proj/a/b", ""},
		{"the nearest counts", func(p *place) {
			p.env["CLAUDE_PROJECT_DIR"] = p.root
			p.write(p.project, "")
			p.write(filepath.Join(p.root, "a", ProjectFile), "")
		}, "proj/a/b", "proj/a"},
		{"a broken one is as if absent", func(p *place) {
			p.env["CLAUDE_PROJECT_DIR"] = p.root
			p.write(p.project, "")
			p.write(filepath.Join(p.root, "a", ProjectFile), "=")
		}, "proj/a/b", "proj"},
		{"outside of the client's project, in none", func(p *place) { p.env["CLAUDE_PROJECT_DIR"] = p.root; p.write(p.project, "") }, "elsewhere", "proj"},
		{"outside of the client's project, in another", func(p *place) {
			p.env["CLAUDE_PROJECT_DIR"] = p.root
			p.write(p.project, "")
			p.mkdir(filepath.Join(p.home, "elsewhere", ".git"))
		}, "elsewhere", ""},
		{"a folder that is gone", func(p *place) { p.write(p.project, "") }, "gone", ""},
		{"a project that is gone", func(p *place) { p.env["CLAUDE_PROJECT_DIR"] = "/nonexistent/x" }, "proj", ""},
		{"a project that is no path", func(p *place) { p.env["CLAUDE_PROJECT_DIR"] = "../x"; p.write(p.project, "") }, "proj", "proj"},
	} {
		p := newPlace(t)
		p.mkdir(filepath.Join(p.home, "elsewhere"))
		c.lay(p)
		got, _ := p.load(filepath.Join(p.home, filepath.FromSlash(c.cwd)))
		want := ""
		if c.want != "" {
			want = filepath.Join(p.home, filepath.FromSlash(c.want), ProjectFile)
		}
		if got.ProjectPath != want {
			t.Errorf("%s: %q, want %q", c.situation, got.ProjectPath, want)
		}
	}
	p := newPlace(t)
	p.write(p.project, "")
	for _, cwd := range []string{"", "proj", "./proj", "\x00"} {
		if c, problems := p.load(cwd); c.ProjectPath != "" || problems != nil {
			t.Errorf("%q: %+v, %q", cwd, c, problems)
		}
	}
}

func TestWherePersonsKeepTheirs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	in := func(dir string) string { return filepath.Join(dir, "stopgate", "config.toml") }
	for want, got := range map[string]string{
		in(filepath.Join(home, "xdg")): PersonFile(env("HOME", home, "XDG_CONFIG_HOME", filepath.Join(home, "xdg"), "APPDATA", filepath.Join(home, "xdg"))),
		"":                             PersonFile(env()),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The template says nothing, and everything in it can be said.
func TestTheTemplate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.person, Template())
	if c, problems := p.load(p.root); problems != nil || c.Patience.Set() || c.PersonPath == "" {
		t.Errorf("%+v, %q", c, problems)
	}
	var said []string
	for line := range strings.Lines(Template()) {
		if text, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(text, " ") {
			line = text
		}
		said = append(said, line)
	}
	p.write(p.person, strings.Join(said, ""))
	c, problems := p.load(p.root)
	if problems != nil {
		t.Errorf("%q", problems)
	}
	for _, row := range c.Rows() {
		if row.From != Person {
			t.Errorf("the template does not name %s", row.Key)
		}
	}
}

// The file is somebody else's text: whatever it holds, reading it ends, and what is
// said of it can be shown.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", Template(), "patience = \"1h\"", "a.b.c = [[[[1]]]]", "[a]\n[[b]]\nc = {d = {e = 1}}", "ignore = ['x', \"\\u0041\"]", "x = \"\"\"\n\"\"\"", "\"\\u202e\" = 1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Config
		problems, whole := c.parse("x", data, Person)
		if len(problems) > maxProblems || !whole && len(problems) != 1 {
			t.Errorf("%d problems, whole %v", len(problems), whole)
		}
		for _, p := range problems {
			if strings.Trim(p.Text, " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") != "" || len(p.Text) > 1000 {
				t.Errorf("cannot be shown: %q", p.Text)
			}
		}
		c.Rows()
	})
}

// The hold that install writes is no choice, so a file counts before it; where no file
// says anything, it is what holds.
func TestWhatInstallWritesIsShown(t *testing.T) {
	t.Parallel()
	installed, err := policy.Parse([]string{"gate", "--hold", "9m30s", "--patience", "1h"})
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := policy.Parse([]string{"gate", "--hold", "5m"})
	if err != nil {
		t.Fatal(err)
	}
	var none, says Config
	says.Hold = Value[time.Duration]{V: time.Minute, From: Person}
	for name, test := range map[string]struct {
		config  Config
		entries []policy.Policy
		want    string
	}{
		"nothing registered":               {none, nil, "0s default"},
		"as installed":                     {none, []policy.Policy{installed}, "9m30s default"},
		"as installed, with a file":        {says, []policy.Policy{installed}, "1m person"},
		"a chosen flag behind the install": {none, []policy.Policy{installed, chosen}, "5m flag"},
		"a chosen flag":                    {says, []policy.Policy{chosen}, "5m flag"},
	} {
		for _, row := range test.config.Rows(test.entries...) {
			if got := row.Value + " " + string(row.From); row.Key == "hold" && got != test.want {
				t.Errorf("%s: %s, want %s", name, got, test.want)
			}
		}
	}
}
