package cli

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
	"strings"

	"github.com/spf13/cobra"
)

var (
	shells    = []string{"bash", "zsh", "fish", "powershell"}
	allShells = strings.Join(shells[:len(shells)-1], ", ") + " or " + shells[len(shells)-1]
)

func knownShell(_ *cobra.Command, args []string) error {
	if !slices.Contains(shells, args[0]) {
		return fmt.Errorf("no completion for %q: give it %s", args[0], allShells)
	}
	return nil
}

func (a *app) completion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print the completion script of a shell",
		Long: `completion prints a script that makes a shell complete commands, flags and the
ids of recorded sessions.`,
		Example: `  source <(hookctl completion bash)
  hookctl completion fish > ~/.config/fish/completions/hookctl.fish`,
		ValidArgs: shells,
		Args:      cobra.MatchAll(needs("a shell: "+allShells, 1), knownShell),
		RunE:      func(cmd *cobra.Command, args []string) error { return a.runCompletion(cmd.Root(), args[0]) },
	}
}

// runCompletion prints the script of a shell.
func (a *app) runCompletion(root *cobra.Command, shell string) error {
	w := a.h.Stdout
	switch shell {
	case "bash":
		var script bytes.Buffer
		if err := root.GenBashCompletionV2(&script, true); err != nil {
			return err
		}
		_, err := w.Write(bytes.Replace(script.Bytes(), []byte(wholeWords), []byte(ownWords+wholeWords), 1))
		return err
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return errors.New("unknown shell")
}

// wholeWords is where the script asks the package bash-completion for the words of the
// command line, which bash takes apart at "=" and ":"; ownWords puts them together
// where that package is missing.
const (
	wholeWords = "    _get_comp_words_by_ref \"$@\" cur prev words cword\n"
	ownWords   = `    if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        local line=$COMP_LINE gap word i
        words=()
        for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
            word=${COMP_WORDS[i]}
            gap=${line%%"$word"*}
            line=${line#"$gap$word"}
            if ((i > 0)) && [[ -n $word && -z $gap ]]; then
                words[${#words[@]}-1]+=$word
            else
                words+=("$word")
            fi
            if ((i == COMP_CWORD)); then
                cword=$((${#words[@]} - 1))
            fi
        done
        cur=${words[cword]} prev=${words[cword > 0 ? cword - 1 : 0]}
        return
    fi
`
)

// completeAgents offers the agents of the sessions around here, with what they are.
func (a *app) completeAgents(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, s := range a.nearby() {
		for _, x := range s.Agents {
			out = append(out, view.Clean(x.ID)+"\t"+view.Clean(x.Title()))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeTasks offers the tasks that run, or ended unheard, with their commands.
func (a *app) completeTasks(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	now := a.h.Clock.Now()
	for _, s := range a.nearby() {
		for _, t := range s.Tasks {
			if t.State.Open() && !slices.Contains(given, t.ID) {
				_, words, _ := strings.Cut(view.TaskLine(s, t, now), ", ")
				out = append(out, view.Clean(t.ID)+"\t"+words)
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// mostNumbers is how many stops are offered.
const mostNumbers = 20

// completeStops offers the numbers of the last stops, with what became of them.
func (a *app) completeStops(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, s := range a.nearby() {
		for i := len(s.Stops) - 1; i >= max(0, len(s.Stops)-mostNumbers); i-- {
			stop := s.Stops[i]
			out = append(out, fmt.Sprintf("%d\t%s %s", stop.Seq, view.Clean(s.Label(stop.AgentID)), view.Clean(stop.Verdict+", "+stop.Code)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// nearby are the sessions around this folder that have not ended, or all such where
// there are none here.
func (a *app) nearby() []status.Session {
	f, err := a.filter("", false)
	if err != nil {
		f.All = true
	}
	f.Brief, f.Faces = true, true
	st, err := a.source().Load(a.context(), f)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(st.Sessions, func(s status.Session) bool { return s.Brief })
}
