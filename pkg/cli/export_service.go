package cli

import (
	"encoding/xml"
	"errors"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) exportService() *cobra.Command {
	var systemd, launchd bool
	cmd := &cobra.Command{
		Use:   "service",
		Short: "print a unit that runs export --follow",
		Long: `service prints what makes "hookctl export --follow" run as a service of yours: a unit
for systemd, or a property list for launchd, whichever this system has. It installs
nothing; the first lines say where the file goes and what starts it. Where to send
belongs into [export] of config.toml: a service does not have your shell's variables.`,
		Example: `  hookctl export service > ~/.config/systemd/user/stopgate-export.service
  hookctl export service --launchd`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			self := a.h.Self()
			if self == "" {
				return errors.New("it is not known where this program lies")
			}
			if launchd || !systemd && runtime.GOOS == "darwin" {
				return a.write(launchdUnit(self))
			}
			if runtime.GOOS == "windows" && !systemd {
				return errors.New(`there is no unit for Windows: register "hookctl export --follow" with the task scheduler`)
			}
			return a.write(systemdUnit(self))
		},
	}
	cmd.Flags().BoolVar(&systemd, "systemd", false, "print a unit for systemd")
	cmd.Flags().BoolVar(&launchd, "launchd", false, "print a property list for launchd")
	cmd.MarkFlagsMutuallyExclusive("systemd", "launchd")
	return cmd
}

func (a *app) write(text string) error {
	_, err := a.h.Stdout.Write([]byte(text))
	return err
}

// systemdCommand is the unit's command. systemd takes the program's own name as it is
// but for %, and none with a quote or a backslash in it: such a one a shell runs.
func systemdCommand(self string) string {
	const odd = "\"'\\$\n\t"
	if !strings.ContainsAny(self, odd) {
		return `"` + strings.ReplaceAll(self, "%", "%%") + `" export --follow`
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`, "\n", `\n`, "\t", `\t`).Replace(self)
	return `/bin/sh -c 'exec "$$0" export --follow' "` + quoted + `"`
}

// systemdUnit is a unit of the person's own manager. What it forbids needs no rights of
// the manager's: a folder that is hidden or read-only would need a user namespace.
func systemdUnit(self string) string {
	return `# Save it as ~/.config/systemd/user/stopgate-export.service, then:
#   systemctl --user daemon-reload && systemctl --user enable --now stopgate-export
# It runs while you are logged in; "loginctl enable-linger" makes it run always.
[Unit]
Description=stopgate: send what was recorded to the collector

[Service]
ExecStart=` + systemdCommand(self) + `
Restart=on-failure
RestartSec=30
Nice=10
MemoryMax=128M
UMask=0077
NoNewPrivileges=true
LockPersonality=true
MemoryDenyWriteExecute=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=default.target
`
}

// launchdLabel names the service to launchd.
const launchdLabel = "io.stopgate.export"

// launchdUnit is a property list of an agent of the person's.
func launchdUnit(self string) string {
	var path strings.Builder
	_ = xml.EscapeText(&path, []byte(self)) // into memory it does not fail
	return `<?xml version="1.0" encoding="UTF-8"?>
<!-- Save it as ~/Library/LaunchAgents/` + launchdLabel + `.plist, then:
     launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/` + launchdLabel + `.plist -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + launchdLabel + `</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + path.String() + `</string>
		<string>export</string>
		<string>--follow</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>30</integer>
	<key>ProcessType</key>
	<string>Background</string>
</dict>
</plist>
`
}
