package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stopgate/pkg/config"
	"stopgate/pkg/host"
	"stopgate/pkg/policy"
	"stopgate/pkg/setup"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// configOptions are what config was asked for.
type configOptions struct{ asJSON bool }

func (a *app) config() *cobra.Command {
	var o configOptions
	cmd := &cobra.Command{
		Use:   "config",
		Short: "show what holds here, and who says so",
		Long: `config shows each setting with its value for this folder and where that comes from:
a flag of a registered entry, the project's .stopgate.toml, the person's own file,
or the default, the first of them that says something. docs/config.md has them all.

The project's file is looked for from this folder up to that of the repository; in
a session, up to the session's project.`,
		Example: `  hookctl config
  hookctl config edit
  hookctl config check`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.runConfig(o) },
	}
	o.flags(cmd)
	cmd.AddCommand(a.configEdit(), a.configCheck())
	return cmd
}

func (o *configOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON for programs")
}

// runConfig shows what holds in this folder, and what is wrong with the files.
func (a *app) runConfig(o configOptions) error {
	w, err := a.world()
	if err != nil {
		return err
	}
	c, problems := loadConfig(a.h, w.Cwd)
	rows := c.Rows(entries(w)...)
	if o.asJSON {
		return a.configJSON(c, rows, problems)
	}
	a.printConfig(w, c, rows)
	for _, p := range problems {
		a.say(problemText(w, p))
	}
	return nil
}

// entries are the command lines of what is registered here, the strongest last.
func entries(w setup.World) []policy.Policy {
	var all []policy.Policy
	for _, s := range append(w.Sources(), w.Plugins()...) {
		for _, e := range s.Hooks {
			if p, err := e.Policy(); err == nil {
				all = append(all, p)
			}
		}
	}
	return all
}

func (a *app) printConfig(w setup.World, c config.Config, rows []config.Row) {
	scr := a.screen()
	var cells [][]view.Cell
	for _, r := range rows {
		style := view.Normal
		if r.From == config.Default {
			style = view.Faint
		}
		value := r.Value
		if value == "" {
			value = "-"
		}
		cells = append(cells, []view.Cell{{Text: r.Key}, {Text: view.Clean(value), Style: style}, {Text: string(r.From), Style: style}})
	}
	scr.Table([]view.Column{{Title: "SETTING", Least: 12}, {Title: "VALUE", Least: 5}, {Title: "FROM"}}, cells)
	scr.Line()
	for _, f := range []struct{ who, path, none string }{
		{"person ", c.PersonPath, "none (" + a.name + " config edit makes " + w.Short(config.PersonFile(a.h.Env)) + ")"},
		{"project", c.ProjectPath, "none (" + config.ProjectFile + ")"},
	} {
		text := f.none
		if f.path != "" {
			text = w.Short(f.path)
		}
		scr.Line(f.who, "  ", view.Clean(text))
	}
}

func problemText(w setup.World, p config.Problem) string {
	text := view.Clean(w.Short(p.Path)) + ": "
	if p.Line > 0 {
		text += "line " + strconv.Itoa(p.Line) + ": "
	}
	if p.Text = view.Clean(p.Text); p.Broken {
		return text + p.Text + " (the whole file is passed over)"
	}
	return text + p.Text
}

func (a *app) configJSON(c config.Config, rows []config.Row, problems []config.Problem) error {
	type setting struct {
		Key   string `json:"key"`
		Value string `json:"value"`
		From  string `json:"from"`
	}
	type problem struct {
		Path   string `json:"path"`
		Line   int    `json:"line,omitempty"`
		Text   string `json:"text"`
		Broken bool   `json:"broken"`
	}
	out := struct {
		Settings []setting `json:"settings"`
		Person   string    `json:"person"`
		Project  string    `json:"project"`
		Problems []problem `json:"problems"`
	}{Person: c.PersonPath, Project: c.ProjectPath, Problems: []problem{}}
	for _, r := range rows {
		out.Settings = append(out.Settings, setting{r.Key, r.Value, string(r.From)})
	}
	for _, p := range problems {
		out.Problems = append(out.Problems, problem{p.Path, p.Line, p.Text, p.Broken})
	}
	return status.WriteJSON(a.h.Stdout, out)
}

func (a *app) configCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "say what is wrong with the files that count here",
		Long: `check reads the person's file and the project's that count in this folder, and says
what is wrong with them. The exit code is 1 when something is.`,
		Example: `  hookctl config check`,
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return a.runConfigCheck() },
	}
}

// runConfigCheck says what is wrong with the files that count here.
func (a *app) runConfigCheck() error {
	w, err := a.world()
	if err != nil {
		return err
	}
	return a.checkConfig(w)
}

// loadConfig reads the files that count in a folder, with all that is wrong with them.
func loadConfig(h host.Host, cwd string) (config.Config, []config.Problem) {
	c, problems := config.Load(h, cwd)
	return c, append(problems, c.WrongOthers()...)
}

// checkConfig says what is wrong with the files that count here, or that nothing is.
func (a *app) checkConfig(w setup.World) error {
	c, problems := loadConfig(a.h, w.Cwd)
	for _, p := range problems {
		a.say(problemText(w, p))
	}
	if len(problems) > 0 {
		return exitCode{code: exitFailed}
	}
	scr := a.screen()
	for _, path := range []string{c.PersonPath, c.ProjectPath} {
		if path != "" {
			scr.Line(view.Clean(w.Short(path)), ": all is well")
		}
	}
	if c.PersonPath == "" && c.ProjectPath == "" {
		scr.Line("there is no file to check: the defaults hold, and the flags of the entries")
	}
	return nil
}

func (a *app) configEdit() *cobra.Command {
	return &cobra.Command{
		Use:   "edit",
		Short: "open your own file in an editor",
		Long: `edit opens the person's file in $VISUAL or $EDITOR and checks it afterwards. Where
there is none yet, it is made with every setting in it as a comment.`,
		Example: `  hookctl config edit
  EDITOR=nano hookctl config edit`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.runConfigEdit() },
	}
}

// runConfigEdit opens the person's file in an editor and checks what counts afterwards.
func (a *app) runConfigEdit() error {
	w, err := a.world()
	if err != nil {
		return err
	}
	if err := w.OthersHome(); err != nil {
		return err
	}
	path := config.PersonFile(a.h.Env)
	if path == "" {
		return errors.New("no home folder is known: set HOME or XDG_CONFIG_HOME")
	}
	if err := makeConfig(w, path); err != nil {
		return fmt.Errorf("%s: %w", w.Short(path), err)
	}
	if err := a.edit(path); err != nil {
		return err
	}
	return a.checkConfig(w)
}

// makeConfig makes the person's file where there is none.
func makeConfig(w setup.World, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is there is the editor's business
	}
	if err := w.HomeProblem(); err != nil {
		return err
	}
	if _, err := host.MakeDirs(filepath.Dir(path)); err != nil {
		return err
	}
	if err := host.Make(path, []byte(config.Template())); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// edit runs the person's editor on a file. Its variable can hold arguments.
func (a *app) edit(path string) error {
	editor := ""
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if editor == "" {
			editor = strings.TrimSpace(a.h.Env(name))
		}
	}
	words := strings.Fields(editor)
	switch {
	case runtime.GOOS != "windows" && editor != "":
		words = []string{"sh", "-c", editor + ` "$@"`, editor}
	case runtime.GOOS != "windows":
		words = []string{"vi"}
	case editor == "":
		words = []string{"notepad"}
	}
	cmd := exec.CommandContext(a.context(), words[0], append(words[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.h.Stdin, a.h.Stdout, a.h.Stderr
	if err := cmd.Run(); err != nil {
		if editor == "" {
			editor = words[0]
		}
		return fmt.Errorf("the editor %s: %w", view.Clean(editor), err)
	}
	return nil
}
