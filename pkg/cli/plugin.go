package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stopgate/pkg/view"
	"stopgate/plugin"
)

func (a *app) plugin() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "build stopgate as a plugin of Claude Code",
		Long: `plugin is for those who would rather have stopgate as a plugin than as entries in
their settings. Have one or the other; with both each event is answered once all
the same, but by two processes.`,
		Example: `  hookctl plugin build ~/stopgate-plugin`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "build DIR",
		Short: "make a plugin folder with the programs in it",
		Long: `build makes a folder that Claude Code loads as a plugin: the registrations, and the
programs of this machine, copied from beside this hookctl or built from the sources
around the current folder. The folder is also a marketplace with this one plugin, out
of which the client's own commands install it; it then runs where it lies, so DIR
should be a place to stay. DIR is new, empty, or a plugin folder built before: built
again, the plugin is renewed, also while a stop is held.`,
		Example: `  hookctl plugin build ~/stopgate-plugin
  claude plugin marketplace add ~/stopgate-plugin
  claude plugin install stopgate@stopgate --config patience=2h`,
		Args: needs("the folder to make", 1),
		RunE: func(_ *cobra.Command, args []string) error { return a.runPluginBuild(args[0]) },
	})
	return cmd
}

// runPluginBuild makes a plugin folder.
func (a *app) runPluginBuild(dir string) error {
	w, err := a.world()
	if err != nil {
		return err
	}
	programs, err := w.Programs()
	if err != nil {
		return err
	}
	defer programs.Close()
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(w.Cwd, dir)
	}
	written, err := plugin.Build(dir, programs.Hook, programs.Hookctl)
	if err != nil {
		return err
	}
	scr := a.screen()
	scr.Line("built ", view.Clean(w.Short(dir)))
	for _, name := range written {
		scr.Line("  ", name)
	}
	scr.Line()
	scr.Line("next")
	scr.Line("- to keep it: claude plugin marketplace add ", view.Clean(quoted(dir)))
	scr.Line("              claude plugin install ", plugin.ID)
	scr.Line("- to try it in one session: claude --plugin-dir ", view.Clean(quoted(dir)))
	return nil
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`/._-+:\`, r)
	}
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
