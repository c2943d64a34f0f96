package cli

import (
	"slices"
	"strings"
	"testing"

	"howett.net/plist"
)

// folders in which a program can lie, each with what some manager takes for its own.
var oddFolders = []string{"/usr/bin", "/Users/a b", "/p%n", "/d$HOME/${x}", `/q"x`, `/b\x41`, "/s'q", "/semi;x", "/a&b<c>]]>", "/ü", "/#c", "/n\nl"}

// launchd reads its property list by a library here: the program is started by its own
// path, whatever stands in that, again only after a failure, and at the start.
func TestTheAgentOfLaunchd(t *testing.T) {
	t.Parallel()
	for _, folder := range oddFolders {
		var got struct {
			Label            string
			ProgramArguments []string
			RunAtLoad        bool
			KeepAlive        struct{ SuccessfulExit *bool }
			ThrottleInterval int
			ProcessType      string
		}
		self := folder + "/hookctl"
		if _, err := plist.Unmarshal([]byte(launchdUnit(self)), &got); err != nil {
			t.Errorf("%q: %v", folder, err)
			continue
		}
		if !slices.Equal(got.ProgramArguments, []string{self, "export", "--follow"}) {
			t.Errorf("%q: it starts %q", folder, got.ProgramArguments)
		}
		if again := got.KeepAlive.SuccessfulExit; got.Label != launchdLabel || !got.RunAtLoad || again == nil || *again || got.ThrottleInterval < 10 || got.ProcessType != "Background" {
			t.Errorf("%q: %+v", folder, got)
		}
	}
}

// systemd takes the name of a program as it is but for %, and none with a quote or a
// backslash in it; in arguments $ is a variable's beginning too. The fleet's suite asks
// systemd itself (TestTheUnitOfSystemd).
func TestTheUnitOfSystemd(t *testing.T) {
	t.Parallel()
	for self, want := range map[string]string{
		"/usr/bin/hookctl": `"/usr/bin/hookctl" export --follow`,
		"/a b/hookctl":     `"/a b/hookctl" export --follow`,
		"/p%n/hookctl":     `"/p%%n/hookctl" export --follow`,
		"/d$H/hookctl":     `/bin/sh -c 'exec "$$0" export --follow' "/d$$H/hookctl"`,
		`/q"%/hookctl`:     `/bin/sh -c 'exec "$$0" export --follow' "/q\"%%/hookctl"`,
		`/b\x/hookctl`:     `/bin/sh -c 'exec "$$0" export --follow' "/b\\x/hookctl"`,
		"/n\nl/hookctl":    `/bin/sh -c 'exec "$$0" export --follow' "/n\nl/hookctl"`,
	} {
		unit := systemdUnit(self)
		if !strings.Contains(unit, "\nExecStart="+want+"\n") {
			t.Errorf("%q: no %s in\n%s", self, want, unit)
		}
	}
	// Each of these needs the rights of a system's manager, or a user namespace, or keeps
	// the state folder from being written.
	for _, line := range strings.Split(systemdUnit("/usr/bin/hookctl"), "\n") {
		for _, never := range []string{"ProtectHome=", "ProtectSystem=", "PrivateUsers=", "DynamicUser=", "ReadOnlyPaths=", "PrivateNetwork=", "User="} {
			if strings.HasPrefix(line, never) {
				t.Errorf("%s cannot be", line)
			}
		}
	}
}
