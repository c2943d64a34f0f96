// Command release makes what a release holds beside the two programs; the file
// .goreleaser.yaml and the script .ci/release call it. docs/releasing.md says how a
// release is made.
//
//	go run ./release pages DIR           man pages, completions, licences of others
//	go run ./release sbom ARCHIVE FILE   what the programs in an archive are made of
//	go run ./release npm DIST            npm packages out of what goreleaser built
//
// What it writes depends on the sources and on $SOURCE_DATE_EPOCH alone (unset: the
// time of the commit), so that a release can be made again with the same bytes.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: pages DIR, sbom ARCHIVE FILE, or npm DIST")

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "pages":
		return pages(args[1])
	case len(args) == 3 && args[0] == "sbom":
		return sbom(args[1], args[2])
	case len(args) == 2 && args[0] == "npm":
		return npm(args[1])
	}
	return errUsage
}

// epoch is the time that everything made bears.
func epoch() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("time of the commit: %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, and no number of seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
