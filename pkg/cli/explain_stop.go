package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/policy"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
	"strings"
	"syscall"
	"time"
)

// explainStop explains a recorded stop by its number.
func (a *app) explainStop(o explainOptions) error {
	st, err := a.stopsHere(o)
	if err != nil {
		return err
	}
	n := o.number
	var found []status.Session
	var names []string
	for _, s := range st.Sessions {
		for _, stop := range s.Stops {
			if stop.Seq == n {
				found = append(found, s)
				names = append(names, view.Clean(s.ID))
			}
		}
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("no stop %d is recorded here (hookctl log --all)", n)
	case 1:
		return a.explained(o, found[0], n, st.Now)
	}
	return fmt.Errorf("several sessions have a stop %d: name one with --session: %s", n, strings.Join(names[:min(4, len(names))], ", "))
}

// stopsHere are the sessions that are asked about.
func (a *app) stopsHere(o explainOptions) (status.Status, error) {
	f, err := a.filter(o.session, false)
	if err != nil {
		return status.Status{}, err
	}
	f.Faces, f.NoText = true, o.noText
	st, err := a.source().Load(a.context(), f)
	if err != nil {
		return st, err
	}
	a.sayProblems(st.Problems)
	return st, nil
}

// explainLast explains the last stop: the one that is held now, or was answered last.
func (a *app) explainLast(o explainOptions) error {
	ctx, stop := signal.NotifyContext(a.context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	said := ""
	for {
		st, err := a.stopsHere(o)
		if err != nil {
			return err
		}
		s, held, n := lastStop(st)
		if held == nil && n == 0 {
			return errors.New("no stop is recorded here (hookctl status, hookctl log --all)")
		}
		if held == nil || o.asJSON && n > 0 {
			return a.explained(o, s, n, st.Now)
		}
		if key := s.ID + held.ID + held.Hold.Since.String(); key != said {
			said = key
			explaining{a: a, scr: a.screen(), now: st.Now}.held(s, *held)
		}
		if !o.follow && !a.onTerminal() {
			return nil
		}
		if a.out.err != nil || !a.h.Clock.Sleep(ctx, followStep) {
			return nil
		}
	}
}

// lastStop is the agent that has been held since the last answer of its session, or
// the number of the stop that was answered last of all.
func lastStop(st status.Status) (in status.Session, held *status.Agent, number uint64) {
	var last, since time.Time
	for _, s := range st.Sessions {
		for _, stop := range s.Stops {
			if at := stop.Time.Add(stop.Duration); number == 0 || !at.Before(last) {
				in, number, last = s, stop.Seq, at
			}
		}
	}
	answered := in
	for _, s := range st.Sessions {
		for _, x := range s.Agents {
			if x.Hold != nil && x.Hold.Since.After(last) && x.Hold.Since.After(since) {
				held, since, in = &x, x.Hold.Since, s
			}
		}
	}
	if held == nil {
		in = answered
	}
	return in, held, number
}

// held says what a stop is held for.
func (x explaining) held(s status.Session, a status.Agent) {
	h := *a.Hold
	x.scr.Line(x.scr.Paint("the stop of "+view.Clean(s.Label(a.ID))+" is held", view.Busy), " since ", x.scr.Clock(h.Since, x.now), ", until ", x.scr.Clock(h.Until, x.now))
	x.field("why", "its own background work is unfinished; when that has ended it is told how, and goes on")
	x.field("limit", view.Clean(cmp.Or(h.Limit, "-")))
	if h.Left > 0 {
		x.field("patience", gate.Span(max(0, h.Left-x.now.Sub(h.Since)))+" left")
	}
	x.couriers(s, a.ID, h.Since)
	for _, id := range h.Tasks {
		t, ok := s.Task(id)
		if !ok {
			t = status.Task{ID: id}
		}
		x.scr.Text("  - ", "    ", view.TaskLine(s, t, x.now), view.Normal)
	}
}

// couriers says what couriers did beside an agent's stop that came at a time: until its
// next one.
func (x explaining) couriers(s status.Session, agent string, came time.Time) {
	until := time.Time{}
	for _, stop := range s.Stops {
		if stop.AgentID == agent && stop.Time.After(came) && (until.IsZero() || stop.Time.Before(until)) {
			until = stop.Time
		}
	}
	for _, act := range s.Acts {
		if act.AgentID != agent || act.Time.Before(came) || !until.IsZero() && !act.Time.Before(until) {
			continue
		}
		tasks := view.Clean(strings.Join(act.Tasks, ", "))
		switch at := x.scr.Clock(act.Time, x.now); act.Deed {
		case ledger.Stood:
			x.field("courier", "waits for "+tasks+" since "+at+", until "+x.scr.Clock(act.Until, x.now))
		case ledger.Woke:
			x.field("courier", "woke the coordinator for "+tasks+" at "+at)
		case ledger.Left:
			x.field("courier", "left at "+at+": "+view.Clean(act.Note))
		case ledger.Fell:
			x.field("courier", "was lost, as was seen at "+at+": "+view.Clean(act.Note))
		}
	}
}

// explained prints the explanation of one stop.
func (a *app) explained(o explainOptions, s status.Session, n uint64, now time.Time) error {
	x := explaining{a: a, scr: a.screen(), now: now}
	if o.asJSON {
		return x.stopJSON(s, n)
	}
	x.stop(s, n)
	return nil
}

// stopJSON prints the explanation of a recorded stop for programs.
func (x explaining) stopJSON(s status.Session, n uint64) error {
	at := slices.IndexFunc(s.Stops, func(stop ledger.Stop) bool { return stop.Seq == n })
	stop := s.Stops[at]
	j := explanation{
		SessionID: s.ID, Number: n, Time: &stop.Time, AgentID: stop.AgentID, Verdict: stop.Verdict, Code: stop.Code, Note: stop.Note,
		Held: stop.Held.Milliseconds(), Policy: stop.Policy, Tasks: []explainedTask{}, Rules: []explainedRule{},
	}
	j.rules(recalled(s, at))
	for _, id := range stop.Listed {
		t, _ := s.Task(id)
		j.Tasks = append(j.Tasks, explainedTask{id, t.Kind, t.Owner, t.Evidence, string(t.State), t.Face.Title()})
	}
	return j.print(x.a)
}

func (x explaining) stop(s status.Session, n uint64) {
	at := 0
	for i := range s.Stops {
		if s.Stops[i].Seq == n {
			at = i
		}
	}
	stop := s.Stops[at]
	scr := x.scr
	who := cmp.Or(stop.AgentID, "an agent without an id")
	if label := s.Label(stop.AgentID); label != stop.AgentID {
		who += " (" + label + ")"
	}
	scr.Line(scr.Paint(fmt.Sprintf("stop %d", n), view.Strong), " of ", view.Clean(who), " at ", scr.Clock(stop.Time, x.now))
	steps := recalled(s, at)
	why := steps[len(steps)-1]
	if string(why.Code) == stop.Code {
		x.verdict(stop.Verdict == ledger.Block, gate.Code(stop.Code), why.Rule)
	} else {
		x.verdict(stop.Verdict == ledger.Block, gate.Code(stop.Code), unlike(stop, why.Code))
	}
	x.field("session", view.Clean(s.ID))
	x.field("policy", cmp.Or(view.Clean(strings.Join(stop.Policy, " ")), "the default: --blocks=1"))
	x.field("took", fmt.Sprintf("%d ms", (stop.Duration-stop.Held).Milliseconds()))
	if stop.Held > 0 {
		x.field("held", gate.Span(stop.Held)+", until "+view.Clean(cmp.Or(stop.Code, "its end")))
	}
	for _, w := range stop.Worth {
		x.field("task", view.Worth(w))
	}
	x.couriers(s, stop.AgentID, stop.Time)
	if stop.Note != "" {
		x.field("note", view.Clean(stop.Note))
	}
	if stop.Observed {
		x.field("observed", "it would have been blocked without --observe")
	}

	if len(stop.Listed) > 0 {
		x.head("tasks that were unfinished, with what is known of them today")
	}
	for _, id := range stop.Listed {
		t, known := s.Task(id)
		standing := "nothing is known of it any more"
		switch {
		case id == stop.AgentID:
			standing = "the agent itself"
		case known && t.Owner == stop.AgentID:
			standing = "its own, " + string(t.State) + " now"
		case known && t.Owner != "":
			standing = "launched by " + s.Label(t.Owner) + ", " + string(t.State) + " now"
		case known:
			standing = "nobody's, " + string(t.State) + " now"
		}
		x.task(id, t.Kind, standing)
		if t.Face != (status.Face{}) {
			x.scr.Text("    ", "    ", view.TaskLine(s, t, x.now), view.Normal)
		}
		if known && t.Evidence != "" {
			x.evidence(transcript.Launch{Evidence: transcript.Evidence(t.Evidence), ToolUseID: t.ToolUse, At: t.Launched, File: t.File, Line: t.Line})
		}
	}

	x.head("rules, as far as the record tells")
	for _, step := range steps {
		x.rule(step.Answers, step.Rule, step.Code)
	}
	x.head("what cannot be known any more")
	for _, text := range []string{
		"what the event said beyond its list of tasks: it is not kept",
		"the type and status of the listed tasks at that time; above are today's",
		"which of them were excused then, and what the transcripts held at that moment",
	} {
		scr.Text("- ", "  ", text, view.Normal)
	}
}

// unlike says why today's rules do not give the recorded code.
func unlike(stop ledger.Stop, code gate.Code) string {
	if stop.Held > 0 && (code == gate.OwnTask || code == gate.AtWork) {
		return "it was held for its tasks first, and answered by how the hold ended"
	}
	return fmt.Sprintf("from what is known today it would be answered by %s: something that decided is not kept", code)
}

// recalled asks today's rules about a recorded stop: the coordinator has its own.
func recalled(s status.Session, at int) []gate.Step {
	facts, p := recall(s, at)
	if s.Stops[at].AgentID != transcript.Main {
		return gate.Explain(facts, p)
	}
	lead := gate.LeadFacts{
		Disabled: facts.Disabled, Duplicate: facts.Duplicate, Registry: facts.Registry, Session: facts.Session,
		Held: true, Store: facts.Store, Work: facts.Own, Chain: facts.Chain,
	}
	if gate.Code(s.Stops[at].Code) == gate.NewsWaits {
		lead.News, lead.Work = facts.Own, nil
		if len(lead.News) == 0 {
			lead.News = []gate.Task{{}}
		}
	}
	return gate.ExplainLead(lead, p)
}

// recall rebuilds the facts of a recorded stop: from its record, from the stops
// before it, and from what is known today of its own tasks.
func recall(s status.Session, at int) (gate.Facts, gate.Policy) {
	stop := s.Stops[at]
	code := gate.Code(stop.Code)
	f := gate.Facts{
		Disabled:       code == gate.Disabled,
		Ephemeral:      code == gate.Ephemeral,
		Registry:       code != gate.NoRegistry,
		Session:        code != gate.NoSession,
		Unowned:        len(stop.Unowned),
		StopHookActive: stop.Active,
		Store:          code != gate.NoStore,
		StoreRenewed:   code == gate.Renewed,
		Duplicate:      code == gate.Duplicate,
	}
	if code != gate.NoTasks {
		f.Candidates = max(1, len(stop.Own)+len(stop.Unowned))
	}
	for _, id := range stop.Own {
		t, _ := s.Task(id)
		f.Own = append(f.Own, gate.Task{ID: id, Kind: t.Kind, Output: t.Output, Persistent: t.Persistent, Excused: code == gate.Excused})
	}
	for _, before := range s.Stops[:at] {
		if before.AgentID != stop.AgentID {
			continue
		}
		switch {
		case before.Verdict == ledger.Block:
			f.Chain++
		case !before.Observed:
			f.Chain = 0
			continue
		default:
			f.Chain = 0
		}
		if gate.Code(before.Code) == gate.MessageWaits {
			continue // costs nothing
		}
		for i := range f.Own {
			own := &f.Own[i]
			if slices.Contains(before.Own, own.ID) {
				own.Charged++
				own.Waited += before.Held
				own.Told = own.Told || slices.Contains(before.Ended, own.ID)
			}
		}
	}
	f.CeilingOver = code == gate.CeilingOver
	p, err := policy.Parse(stop.Policy)
	if err != nil {
		p.Blocks = policy.DefaultBlocks
	}
	spend := gate.Policy{Blocks: p.Blocks}
	if p.Hold > 0 || p.Mode == policy.Lead {
		spend.Patience = p.Patience
	}
	return f, spend
}
