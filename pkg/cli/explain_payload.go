package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/handler"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
	"strings"
)

// explainPayload explains a payload on stdin; given is false where there is none.
func (a *app) explainPayload(o explainOptions) (given bool, err error) {
	flags := o.flags
	payload, err := event.Read(a.h.Stdin, event.IdleLimit, event.TotalLimit)
	if err != nil {
		return true, err
	}
	if len(payload) == 0 {
		return false, nil
	}
	e, err := event.Parse(payload)
	if err != nil {
		return true, fmt.Errorf("stdin: %w", err)
	}
	src := a.source()
	root, remove, err := workFolder()
	if err != nil {
		return true, err
	}
	defer remove()
	private := state.At(filepath.Join(root, "state"))
	if err := src.Copy(a.context(), private, e.SessionID); err != nil {
		return true, err
	}
	if flags == nil {
		flags = lastPolicy(private, e.SessionID, a)
	}
	flags = withoutHold(flags)
	var answer bytes.Buffer
	h := a.h
	h.Stdin, h.Stdout, h.Stderr, h.Args = bytes.NewReader(payload), &answer, io.Discard, flags
	h.Env = func(name string) string {
		switch name {
		case state.EnvDir:
			return private.Path()
		case state.EnvLog:
			return "disabled"
		}
		return a.h.Env(name)
	}
	_, out := handler.Run(h)

	x := explaining{a: a, scr: a.screen(), now: src.Now}
	if o.asJSON {
		return true, x.payloadJSON(out)
	}
	x.payload(out, flags)
	return true, nil
}

// lastPolicy is the policy of the session's last stop.
func lastPolicy(dir state.Dir, sessionID string, a *app) []string {
	snap, err := ledger.ReadFile(a.context(), dir.Store(sessionID))
	if err != nil || len(snap.Stops) == 0 {
		return nil
	}
	flags := snap.Stops[len(snap.Stops)-1].Policy
	if gateFlags(flags) != nil {
		return nil // a newer hook's flags
	}
	return flags
}

// withoutHold are the flags of a gate that answers at once.
func withoutHold(flags []string) []string {
	p := policyOf(flags)
	p.Hold = 0
	return p.Flags()
}

func (x explaining) payload(out handler.Outcome, flags []string) {
	e, d := out.Event, out.Decision
	scr := x.scr
	scr.Line(scr.Paint(view.Clean(cmp.Or(e.Name, "an event without a name")), view.Strong), " of ", view.Clean(agentText(e)))
	x.field("session", view.Clean(cmp.Or(e.SessionID, "(none)")))
	if out.Err != nil {
		x.field("trouble", view.Clean(out.Err.Error()))
	}
	if e.Name != event.SubagentStop {
		switch {
		case out.Handled:
			scr.Line("it is recorded, and never answered")
		default:
			scr.Line("it is let pass: there is nothing in it to record")
		}
		return
	}
	x.field("policy", cmp.Or(view.Clean(strings.Join(flags, " ")), "the default: --blocks=1"))
	if d.Code == gate.Ephemeral {
		why := "no meta file, no transcript, no entry in background_tasks and no record of the agent"
		if e.EmptyAgentType() {
			why = "its agent_type is empty: an internal one-turn fork, no agent"
		}
		x.verdict(false, d.Code, why)
		x.head("rules")
		x.rule(true, why, gate.Ephemeral)
		return
	}
	steps := gate.Explain(out.Facts, out.Spend)
	x.verdict(d.Block, d.Code, steps[len(steps)-1].Rule)
	if len(e.Tasks) > 0 {
		x.head("unfinished tasks that the event lists")
	}
	for _, t := range e.Tasks {
		l, owned := out.Owners[t.ID]
		x.task(t.ID, t.Type, x.standing(t, e, l, owned))
		if owned {
			x.evidence(l)
		}
	}
	x.head("rules")
	if c := out.Clocks; c.By != "" || c.Stall > 0 {
		x.field("client", clocksText(c, out.Limit))
	}
	for _, s := range steps {
		x.rule(s.Answers, s.Rule, s.Code)
	}
	for _, t := range out.Facts.Own {
		text := fmt.Sprintf("was the reason of %s before", countOf(t.Charged, "block"))
		if t.Waited > 0 {
			text += ", and waited for " + gate.Span(t.Waited)
		}
		x.field(view.Clean(t.ID), text)
		x.field("", t.Worth.String())
	}
	if out.Reason != "" {
		x.head("the agent would be told")
		for _, line := range strings.Split(strings.TrimRight(out.Reason, "\n"), "\n") {
			scr.Text("  | ", "  | ", view.Clean(line), view.Normal)
		}
	}
	scr.Line()
	scr.Line("nothing was spent or recorded by this")
}

// clocksText says what was found of the client's clocks, and how long a hold may be
// because of them.
func clocksText(c clocks.Clocks, l clocks.Limit) string {
	parts := []string{cmp.Or(string(c.Kind), "unknown host")}
	if c.By != "" {
		parts[0] += " (by its " + c.By + ")"
	}
	if c.Stall > 0 {
		parts = append(parts, "an agent may stall "+gate.Span(c.Stall))
	}
	if quiet := c.Quiet(); quiet > 0 {
		parts = append(parts, "a background agent is let go "+gate.Span(quiet)+" after the coordinator's last line")
	}
	if c.Timeout > 0 {
		parts = append(parts, "the entry's timeout is "+gate.Span(c.Timeout))
	}
	if l.By != "" {
		parts = append(parts, fmt.Sprintf("a hold may take %s (%s)", gate.Span(l.For), l.By))
	}
	return view.Clean(strings.Join(parts, "; "))
}

func agentText(e event.Event) string {
	switch {
	case e.AgentID == "":
		return "the coordinator"
	case e.AgentType == "":
		return "agent " + e.AgentID
	}
	return "agent " + e.AgentID + " (" + e.AgentType + ")"
}

// standing says what a listed task is to the stopping agent.
func (x explaining) standing(t event.Task, e event.Event, l transcript.Launch, owned bool) string {
	switch {
	case t.ID == e.AgentID:
		return "the agent itself"
	case !owned && t.Type == event.TypeTeammate:
		return "a teammate's own entry, which nobody launched"
	case !owned:
		return "nobody's, as far as is known"
	case l.Owner != e.AgentID:
		return "launched by " + l.Owner
	case !t.CanBeOwn():
		return "its own, of a type or status that is not waited for"
	case l.Persistent:
		return "its own, a monitor without an end: not waited for"
	}
	return "its own"
}

// payloadJSON prints what a payload would come to.
func (x explaining) payloadJSON(out handler.Outcome) error {
	j := explanation{
		SessionID: out.Event.SessionID, AgentID: out.Event.AgentID, Verdict: ledger.Allow, Code: string(out.Decision.Code), Tasks: []explainedTask{}, Rules: []explainedRule{},
	}
	if out.Decision.Block {
		j.Verdict = ledger.Block
	}
	if out.Event.Name == event.SubagentStop && out.Decision.Code != gate.Ephemeral {
		j.rules(gate.Explain(out.Facts, out.Spend))
	}
	for _, t := range out.Event.Tasks {
		l := out.Owners[t.ID]
		j.Tasks = append(j.Tasks, explainedTask{ID: t.ID, Type: t.Type, Owner: l.Owner, Evidence: string(l.Evidence)})
	}
	return j.print(x.a)
}
