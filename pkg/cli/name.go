package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stopgate/pkg/lazy"
)

// Names are what the program is called: Names[0] everywhere, the others beside it
// in packages, where the name of the product is what people try first.
var Names = [...]string{"hookctl", "stopgate"}

// NameOf is the one of [Names] by which a program was called, from the first word
// of its command line; Names[0] for any other.
func NameOf(called string) string {
	base := filepath.Base(called)
	for _, name := range Names {
		if strings.EqualFold(strings.TrimSuffix(strings.ToLower(base), ".exe"), name) {
			return name
		}
	}
	return Names[0]
}

// Command is the whole command line under one of [Names], for the makers of man
// pages and completions; it is not meant to be run.
func Command(name string) *cobra.Command {
	a := &app{name: name}
	return a.root()
}

// itself is the program where a text names it, as a word of its own.
var itself = lazy.Regexp(`\bhookctl\b`)

// named is a text of ours with the program under the name by which it was called.
func (a *app) named(text string) string {
	if a.name == Names[0] {
		return text
	}
	return itself().ReplaceAllLiteralString(text, a.name)
}

// rename gives a command and those below it help that names the program by how it
// was called.
func (a *app) rename(cmd *cobra.Command) {
	cmd.Short, cmd.Long, cmd.Example = a.named(cmd.Short), a.named(cmd.Long), a.named(cmd.Example)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = a.named(f.Usage) })
	for _, sub := range cmd.Commands() {
		a.rename(sub)
	}
}
