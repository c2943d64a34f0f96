package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version as the build names it:
// go build -ldflags "-X stopgate/pkg/cli.release=v1.2.3".
var release string

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Long: `version prints which stopgate this is: the release it was built as, else the
module's version, with the revision and the Go release it was built from.`,
		Example: `  hookctl version`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.h.Stdout, "hookctl", versionText(debug.ReadBuildInfo()))
			return err
		},
	}
}

// versionText is the version in one line.
func versionText(info *debug.BuildInfo, ok bool) string {
	text := release
	if !ok {
		return cmp.Or(text, "(unknown version)") + " " + runtime.GOOS + "/" + runtime.GOARCH
	}
	text = cmp.Or(text, info.Main.Version, "(devel)")
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	if rev := set["vcs.revision"]; rev != "" {
		text += " " + rev[:min(12, len(rev))]
		if at := set["vcs.time"]; at != "" {
			text += " of " + at
		}
		if set["vcs.modified"] == "true" {
			text += ", changed since"
		}
	}
	return text + " " + info.GoVersion + " " + runtime.GOOS + "/" + runtime.GOARCH
}
