package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/handler"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/policy"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

func (a *app) explain() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "explain [NUMBER] [-- FLAG...]",
		Short: "say why a stop was blocked or let through, rule by rule",
		Long: `explain NUMBER explains a stop of the log from its record and from what is known
today. Without a number it reads the payload of a hook event on stdin and sends
it through the gate's own code, on a private copy of the session's store: nothing
is spent, and nothing is recorded.

Flags behind -- are those of the hook; without them it is the policy of the
session's last stop. A hold is not waited for: the stop is answered at once.`,
		Example: `  hookctl explain 12 --session 65f459a2
  hookctl explain < payload.json
  hookctl explain -- --blocks 2 < payload.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 1 || n < 0 && len(args) > 1 {
				return errors.New("explain takes one number")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			numbers, flags := args, []string(nil)
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				numbers, flags = args[:n], args[n:]
			}
			if err := gateFlags(flags); err != nil {
				return exitCode{exitUsage, err}
			}
			if len(numbers) == 0 {
				return a.explainPayload(flags)
			}
			n, err := strconv.ParseUint(strings.TrimPrefix(numbers[0], "#"), 10, 64)
			if err != nil || n == 0 {
				return misused("%q is not the number of a stop (hookctl log)", numbers[0])
			}
			return a.explainStop(n, session)
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "the session whose stop it is: its `ID`, or how it begins")
	_ = cmd.RegisterFlagCompletionFunc("session", a.completeSessions) // fails only for an unknown flag
	return cmd
}

// errNoStop is returned where neither a number nor a payload was given.
var errNoStop = misused("give the number of a stop (hookctl log), or a payload on stdin")

// explainPayload explains a payload on stdin.
func (a *app) explainPayload(flags []string) error {
	if host.IsTerminal(a.h.Stdin) {
		return errNoStop
	}
	payload, err := event.Read(a.h.Stdin, event.IdleLimit, event.TotalLimit)
	if err != nil {
		return err
	}
	if len(payload) == 0 {
		return errNoStop
	}
	e, err := event.Parse(payload)
	if err != nil {
		return fmt.Errorf("stdin: %w", err)
	}
	src := a.source()
	root, remove, err := workFolder()
	if err != nil {
		return err
	}
	defer remove()
	private := state.At(filepath.Join(root, "state"))
	if err := src.Copy(a.context(), private, e.SessionID); err != nil {
		return err
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
	x.payload(out, flags)
	return nil
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

// explaining prints one explanation.
type explaining struct {
	a   *app
	scr view.Screen
	now time.Time
}

func (x explaining) head(text string) {
	x.scr.Line()
	x.scr.Line(x.scr.Paint(text, view.Strong))
}

func (x explaining) field(name, text string) {
	lead := fmt.Sprintf("  %-10s", name)
	x.scr.Text(x.scr.Paint(lead, view.Faint), strings.Repeat(" ", len(lead)), text, view.Normal)
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
		x.head("rules")
		if e.EmptyAgentType() {
			x.rule(true, "its agent_type is empty: an internal one-turn fork, no agent", gate.Ephemeral)
		} else {
			x.rule(true, "no meta file, no transcript, no entry in background_tasks and no record of the agent", gate.Ephemeral)
		}
		x.verdict(false, d.Code)
		return
	}
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
	steps := gate.Explain(out.Facts, out.Spend)
	for _, s := range steps {
		x.rule(s.Answers, s.Rule, s.Code)
	}
	x.verdict(d.Block, d.Code)
	for _, t := range out.Facts.Own {
		text := fmt.Sprintf("was the reason of %s before", countOf(t.Charged, "block"))
		if t.Waited > 0 {
			text += ", and waited for " + gate.Span(t.Waited)
		}
		x.field(view.Clean(t.ID), text)
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

func (x explaining) task(id, kind, standing string) {
	x.scr.Text("  ", "    ", view.Clean(fmt.Sprintf("%s (%s): %s", id, cmp.Or(kind, "unknown kind"), standing)), view.Normal)
}

// evidence says how a launch was seen, and where.
func (x explaining) evidence(l transcript.Launch) {
	how := map[transcript.Evidence]string{
		transcript.PostToolUse:   "a PostToolUse event",
		transcript.ToolUseResult: "the structured result in a transcript",
		transcript.TextAsked:     "the result's first sentence; its call asked for the background",
		transcript.Text:          "the result's first sentence alone, which a command can print too",
		transcript.Meta:          "the parent in its meta file",
	}[l.Evidence]
	text := "by " + cmp.Or(how, "unknown evidence")
	if l.ToolUseID != "" {
		text += ", call " + l.ToolUseID
	}
	if !l.At.IsZero() {
		text += ", at " + x.scr.Clock(l.At, x.now)
	}
	x.scr.Text("    ", "    ", view.Clean(text), view.Faint)
	switch {
	case l.File != "" && l.Evidence == transcript.Meta:
		x.scr.Line("    ", x.scr.Paint(view.Clean(l.File), view.Faint))
	case l.File != "":
		where := fmt.Sprintf("byte %d", l.Line)
		if n := x.line(l.File, l.Line); n > 0 {
			where = fmt.Sprintf("line %d", n)
		}
		if l.Evidence == transcript.PostToolUse {
			where = "also " + where // the event told it first
		}
		x.scr.Text("    ", "    ", where+" of "+view.Clean(l.File), view.Faint)
	}
}

// maxCounted bounds how far into a transcript lines are counted, in bytes.
const maxCounted = 256 << 20

// line is the number of the line that begins at an offset; 0 where it cannot be
// told.
func (x explaining) line(path string, offset int64) int {
	if offset > maxCounted {
		return 0
	}
	file, _, err := x.a.h.Files.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close() //nolint:errcheck // only read
	n := 1
	r := bufio.NewReaderSize(io.LimitReader(file, offset), 64<<10)
	var read int64
	for {
		b, err := r.ReadSlice('\n')
		read += int64(len(b))
		if err == nil {
			n++
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if read < offset {
		return 0
	}
	return n
}

func (x explaining) rule(answers bool, rule string, code gate.Code) {
	if answers {
		x.scr.Text("  "+x.scr.Paint("yes", view.Strong)+"  ", "       ", view.Clean(rule)+" ["+view.Clean(string(code))+"]", view.Strong)
		return
	}
	x.scr.Text("  no   ", "       ", view.Clean(rule), view.Faint)
}

func (x explaining) verdict(block bool, code gate.Code) {
	x.scr.Line()
	if block {
		x.scr.Line("the stop is ", x.scr.Paint("blocked", view.Alarm), " [", view.Clean(string(code)), "]")
		return
	}
	x.scr.Line("the stop is ", x.scr.Paint("let through", view.Good), " [", view.Clean(string(code)), "]")
}

// explainStop explains a recorded stop.
func (a *app) explainStop(n uint64, session string) error {
	f, err := a.filter(session, false)
	if err != nil {
		return err
	}
	src := a.source()
	st, err := src.Load(a.context(), f)
	if err != nil {
		return err
	}
	for _, p := range st.Problems {
		a.say(p.Path + " " + p.Text)
	}
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
		explaining{a: a, scr: a.screen(), now: src.Now}.stop(found[0], n)
		return nil
	}
	return fmt.Errorf("several sessions have a stop %d: name one with --session: %s", n, strings.Join(names[:min(4, len(names))], ", "))
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
	x.field("session", view.Clean(s.ID))
	x.field("policy", cmp.Or(view.Clean(strings.Join(stop.Policy, " ")), "the default: --blocks=1"))
	x.field("took", fmt.Sprintf("%d ms", (stop.Duration-stop.Held).Milliseconds()))
	if stop.Held > 0 {
		x.field("held", gate.Span(stop.Held)+", until "+view.Clean(cmp.Or(stop.Code, "its end")))
	}
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
		if known && t.Evidence != "" {
			x.evidence(transcript.Launch{Evidence: transcript.Evidence(t.Evidence), ToolUseID: t.ToolUse, At: t.Launched, File: t.File, Line: t.Line})
		}
	}

	x.head("rules, as far as the record tells")
	steps := recalled(s, at)
	for _, step := range steps {
		x.rule(step.Answers, step.Rule, step.Code)
	}
	x.verdict(stop.Verdict == ledger.Block, gate.Code(stop.Code))
	if last := steps[len(steps)-1]; string(last.Code) != stop.Code {
		scr.Text("", "  ", unlike(stop, last.Code), view.Normal)
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
