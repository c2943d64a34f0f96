// Command hookctl is what people run to see what stopgate does and why; see
// `hookctl --help` and docs/status.md. Claude Code runs the other program, hook.
package main

import (
	"os"

	"stopgate/pkg/cli"
	"stopgate/pkg/host"
)

func main() {
	os.Exit(cli.MainAs(cli.NameOf(os.Args[0]), host.System()))
}
