package timeline

import (
	"strconv"
	"strings"
)

// Place is where an agent works: by it the client decides what becomes of the
// agent's own task when the agent stops.
type Place struct {
	// Client is the client's version; an unknown one counts as the newest.
	Client string
	// Teammate and Background tell what the agent is; neither is one that its
	// launcher waits for.
	Teammate, Background bool
	// Host is the kind of host in the words of pkg/clocks.
	Host string
}

// Lost tells whether the result of an agent's own shell is lost where the agent
// stops without a gate (docs/client.md: what becomes of an own task without the
// gate).
func (p Place) Lost() bool {
	switch {
	case p.Teammate || !p.Background || p.Host == "print":
		return true
	case p.Host == "terminal":
		return before(p.Client, 300)
	}
	return before(p.Client, 235)
}

// before tells whether a client is older than 2.1.patch.
func before(client string, patch int) bool {
	parts := strings.Split(client, ".")
	if len(parts) < 3 || parts[0] != "2" || parts[1] != "1" {
		return false
	}
	n, err := strconv.Atoi(parts[2])
	return err == nil && n < patch
}
