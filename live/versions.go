// Package live proves stopgate on the real Claude Code: tests behind the build
// tag live run the client from the npm registry against a model server of our
// own, inside a network namespace that has nothing but loopback.
//
// See README.md in this folder.
package live

// Versions are the clients that a full run covers, oldest first: the oldest
// with background_tasks in use, and one of each kind of behaviour since
// (docs/compatibility.md). The last one is what the smoke set runs on.
var Versions = []string{"2.1.150", "2.1.198", "2.1.220", "2.1.235", "2.1.245", "2.1.300", "2.1.332"}
