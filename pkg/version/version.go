// Package version says which stopgate a program is. The number stands in one
// place, the file VERSION beside this one; the plugin, the npm packages, the
// changelog and the tag of a release bear the same (docs/releasing.md).
package version

import (
	"cmp"
	_ "embed" // the file VERSION
	"runtime"
	"runtime/debug"
	"strings"
)

//go:embed VERSION
var file string

// number and commit are set by a build that knows better than the file and the
// go tool: -ldflags "-X stopgate/pkg/version.commit=…". The tests of upgrades
// build programs of other numbers so.
var number, commit string

// Number is the version, as in "0.1.0".
func Number() string { return cmp.Or(number, strings.TrimSpace(file)) }

// Info is what a program can tell of its own making. Every field but Number, Go
// and System may be "".
type Info struct {
	// Number is as the function of that name says.
	Number string
	// Commit is the revision that it was built from, in full, and Time the time of
	// that revision as RFC 3339.
	Commit, Time string
	// Changed tells that the sources differed from the revision.
	Changed bool
	// Go is the release of Go that built it, System its operating system and
	// processor as in "linux/amd64".
	Go, System string
}

// This is what the running program can tell of itself.
func This() Info {
	info, _ := debug.ReadBuildInfo() // nil without the go tool
	return describe(info)
}

func describe(info *debug.BuildInfo) Info {
	i := Info{Number: Number(), Commit: commit, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return i
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = cmp.Or(i.Commit, s.Value)
		case "vcs.time":
			i.Time = s.Value
		case "vcs.modified":
			i.Changed = s.Value == "true"
		}
	}
	return i
}

// String is all of it in one line: "0.1.0 (0123456789ab of 2026-11-30T12:00:00Z)
// go1.26.0 linux/amd64".
func (i Info) String() string {
	text := i.Number
	if i.Commit != "" {
		text += " (" + i.Commit[:min(12, len(i.Commit))]
		if i.Time != "" {
			text += " of " + i.Time
		}
		if i.Changed {
			text += ", changed since"
		}
		text += ")"
	}
	return text + " " + i.Go + " " + i.System
}
