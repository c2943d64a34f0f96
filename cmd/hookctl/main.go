// Command hookctl is what people run to see what stopgate does and why; see
// `hookctl --help` and docs/status.md. Claude Code runs the other program, hook.
package main

import (
	"os"

	"stopgate/pkg/cli"
	"stopgate/pkg/host"
	"stopgate/pkg/process"
)

func main() {
	h := host.System()
	h.Held, h.Processes = process.Held, true
	os.Exit(cli.Main(cli.NameOf(os.Args[0]), h))
}
