// Package doctor finds out whether stopgate can do its job on this machine: is
// it registered, does it run, does the client let it, and is there anything in
// the surroundings that defeats it.
//
// In goes the world of an installation; out comes one [Check] a question, with
// what was found and the mend. Gathering (gather.go) and judging (checks.go)
// are apart: every check is a pure function over the facts. It mends nothing.
package doctor

import (
	"context"
	"time"

	"stopgate/pkg/setup"
)

// Status is how a check came out.
type Status string

// The statuses, from good to bad. Only Fail means that stopgate does not work.
const (
	OK   Status = "ok"
	Note Status = "note"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is the answer to one question.
type Check struct {
	// Name is the question in one word.
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Found says what was found, Mend what to do about it; "" for nothing.
	Found string `json:"found"`
	Mend  string `json:"mend,omitempty"`
}

// Report is the answers to all questions.
type Report struct {
	// OK is false when a check failed.
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Doctor asks the questions.
type Doctor struct {
	World setup.World
	Now   time.Time
}

// checks are the questions, in the order in which they are shown.
var checks = []struct {
	name string
	ask  func(facts) Check
}{
	{"settings", settingsRead},
	{"config", filesUsable},
	{"entries", entriesPresent},
	{"hook", hookRuns},
	{"timeout", waitsFit},
	{"clocks", clientsClocks},
	{"doubled", entriesDoubled},
	{"policy", hooksAllowed},
	{"switch", switchedOn},
	{"state", stateUsable},
	{"owner", ownFiles},
	{"recorded", lastRecorded},
	{"client", clientVersion},
	{"background", backgroundTasks},
	{"cap", blockCap},
	{"teams", teamsInForkMode},
}

// Run asks all questions.
func (d Doctor) Run(ctx context.Context) Report {
	f := d.gather(ctx)
	r := Report{OK: true}
	for _, c := range checks {
		answer := c.ask(f)
		answer.Name = c.name
		r.OK = r.OK && answer.Status != Fail
		r.Checks = append(r.Checks, answer)
	}
	return r
}
