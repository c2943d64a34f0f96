//go:build live

package live

import "stopgate/live/client"

// The ways in which stopgate comes into a session beside `hookctl install` out of the
// sources, each a column of docs/compatibility.md.
const (
	wayNPM        = "npm"
	wayPlugin     = "plugin"
	wayConfigured = "configured"
	wayBeside     = "beside"
	wayOut        = "out"
)

// wayModes are columns alone: TestMarketplace and TestNPM fill them.
var wayModes = []mode{
	{Name: wayNPM, Column: "out of npm"},
	{Name: wayPlugin, Column: "plugin from its folder"},
	{Name: wayConfigured, Column: "plugin with a patience chosen"},
	{Name: wayBeside, Column: "plugin beside the settings"},
	{Name: wayOut, Column: "plugin taken out again"},
}

// ways is how docs/compatibility.md tells of them.
var ways = []scenario{{
	Name:  "ways",
	About: "a foreground subagent leaves a shell, and stopgate was put in place by npm or by the client's own plugin commands",
	Hosts: []client.Host{client.SDK},
	Modes: []string{wayNPM, wayPlugin, wayConfigured, wayBeside, wayOut},
}}

// noteWay keeps what a session of that way showed, for the table.
func noteWay(version, way, cell string) {
	notesMu.Lock()
	defer notesMu.Unlock()
	notes[seen{version, ways[0].Name, client.SDK, way}] = cell
}
