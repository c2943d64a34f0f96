package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
)

// Stop prints a recorded stop in one line: its number in its session, when it was answered,
// which session and agent, what was answered and why, and how long it took.
func Stop(scr Screen, e status.Entry, now time.Time) {
	verdict, style := "allowed", Good
	switch {
	case e.Verdict == ledger.Block:
		verdict, style = "blocked", Alarm
	case e.Observed:
		verdict, style = "would block", Busy
	}
	agent := cmp.Or(e.AgentID, "?")
	if e.Type != "" {
		agent += " " + e.Type
	}
	parts := []string{Clean(e.Code)}
	if len(e.Own) > 0 {
		parts = append(parts, "own "+Clean(strings.Join(e.Own, " ")))
	}
	if len(e.Unowned) > 0 {
		parts = append(parts, "nobody's "+Clean(strings.Join(e.Unowned, " ")))
	}
	if e.Held > 0 {
		parts = append(parts, "held "+gate.Span(e.Held)+" (limited by "+Clean(e.Limit)+")")
	}
	if e.Left > 0 {
		parts = append(parts, "patience left "+gate.Span(e.Left))
	}
	if len(e.Ended) > 0 {
		parts = append(parts, "ended meanwhile: "+Clean(strings.Join(e.Ended, " ")))
	}
	if e.Note != "" {
		parts = append(parts, Clean(e.Note))
	}
	parts = append(parts, fmt.Sprintf("%d ms", (e.Duration-e.Held).Milliseconds()))
	lead := fmt.Sprintf("%4d  %s  %s  %s  ", e.Seq, scr.Clock(e.Answered(), now), Clean(cut(e.SessionID, 9)), Clean(agent))
	scr.Text(lead+scr.Paint(verdict, style)+"  ", "      ", strings.Join(parts, ", "), Normal)
}
