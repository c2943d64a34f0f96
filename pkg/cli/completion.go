package cli

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
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
		RunE: func(cmd *cobra.Command, args []string) error {
			root, w := cmd.Root(), a.h.Stdout
			switch args[0] {
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
		},
	}
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
