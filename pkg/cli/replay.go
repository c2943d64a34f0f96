package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/handler"
	"stopgate/pkg/policy"
	"stopgate/pkg/replay"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
)

// replayOptions are what replay was asked for.
type replayOptions struct{ play replay.Options }

func (a *app) replay() *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay PATH [-- FLAG...]",
		Short: "send a recorded session through the gate, event by event",
		Long: `replay reads a folder with a recorded session and sends its events through the
real gate, with a state folder of its own that is removed again. It prints for
each event whether it was ignored, recorded, allowed or blocked, and why, and the
status in the end.

The session was recorded without a gate: after a block the recording goes on as
if the agent had stopped. Flags behind -- are those of the hook; a hold is not
played.`,
		Example: `  hookctl replay pkg/replay/testdata/captures/2.1.332/fg-sdk
  hookctl replay --without PostToolUse --doubled FOLDER -- --blocks 2`,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := len(args); cmd.ArgsLenAtDash() > 1 || cmd.ArgsLenAtDash() < 0 && n > 1 {
				return errors.New("replay takes one folder")
			} else if n == 0 || cmd.ArgsLenAtDash() == 0 {
				return errors.New("replay needs the folder of a recorded session")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.runReplay(o.play, args[0], args[1:]) },
	}
	o.flags(cmd)
	return cmd
}

func (o *replayOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&o.play.Without, "without", nil, "leave out the events of this `NAME`; may be repeated")
	cmd.Flags().BoolVar(&o.play.Doubled, "doubled", false, "send every event twice at once, as if registered twice")
}

// runReplay plays the recording of a folder, with flags of the hook's.
func (a *app) runReplay(o replay.Options, folder string, hook []string) error {
	rec, err := replay.Load(os.DirFS(folder))
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	o.Args = hook
	if err := gateFlags(o.Args); err != nil {
		return exitCode{exitUsage, err}
	}
	if policyOf(o.Args).Hold > 0 {
		// The recorded world does not wait, and its outputs are those of the end.
		a.say("a hold is not played: the stops are answered at once")
		o.Args = withoutHold(o.Args)
	}
	return a.play(rec, o)
}

// gateFlags checks flags that are meant for the hook.
func gateFlags(args []string) error {
	p, err := policy.Parse(args)
	switch {
	case errors.Is(err, policy.ErrHelp):
		return errors.New("the hook's flags are shown by hook --help")
	case err != nil:
		return fmt.Errorf("flags of the hook: %w", err)
	case p.Mode != policy.Gate:
		return fmt.Errorf("only the gate can be played, not the %s", p.Mode)
	}
	return nil
}

// play sends a recording through the gate and prints what happens.
func (a *app) play(rec *replay.Recording, o replay.Options) error {
	root, remove, err := workFolder()
	if err != nil {
		return err
	}
	defer remove()
	play, err := rec.Start(root)
	if err != nil {
		return err
	}
	scr := a.screen()
	scr.Zone = time.UTC
	t := &telling{scr: scr, names: rec.Descriptions(), blocks: policyOf(o.Args).Blocks}
	scr.Line(scr.Paint(fmt.Sprintf("%s, recorded with Claude Code %s", countOf(rec.Events(), "event"), view.Clean(rec.Version())), view.Strong))
	if err := play.Run(o, func(s replay.Step) { t.tell(rec, s) }); err != nil {
		return err
	}
	t.sum(len(o.Args) == 0)

	src := status.Source{Dir: play.State, Files: play.Files, Now: play.Clock().Now(), Env: func(string) string { return "" }}
	st, err := src.Load(a.context(), status.Filter{All: true, Faces: true})
	if err != nil {
		return err
	}
	scr.Line()
	view.Sessions(scr, st)
	return nil
}

func policyOf(args []string) policy.Policy {
	p, err := policy.Parse(args)
	if err != nil {
		p, _ = policy.Parse(nil) // no flags are always understood
	}
	return p
}

// telling tells a replay event by event.
type telling struct {
	scr    view.Screen
	names  map[string]string
	blocks int
	first  time.Time
	// reason is the text of the first block.
	reason string
	stops  int
	// wrong are the events whose verdict is not the recorded one.
	wrong []string
}

func (t *telling) tell(rec *replay.Recording, s replay.Step) {
	if t.first.IsZero() {
		t.first = s.Time
	}
	lead := fmt.Sprintf("%3d %6.1fs  %-13s  ", s.Index, s.Time.Sub(t.first).Seconds(), view.Clean(s.Name()))
	indent := strings.Repeat(" ", view.Width(lead))
	// Of two deliveries at once either may be the first to be answered.
	outcomes := slices.Clone(s.Outcomes)
	slices.SortStableFunc(outcomes, func(x, y handler.Outcome) int { return duplicate(x) - duplicate(y) })
	for k, out := range outcomes {
		text, style := t.words(out)
		if k > 0 {
			if !s.IsStop() {
				break // recorded twice, which changes nothing
			}
			text = "the other delivery: " + text
			lead = indent
		}
		t.scr.Text(lead, indent, view.Clean(text), style)
		if out.Reason != "" && t.reason == "" {
			t.reason = out.Reason
		}
	}
	if want, ok := rec.Expect(s.Index); ok {
		t.stops++
		if got := s.Verdict(); got != want.Verdict {
			t.wrong = append(t.wrong, fmt.Sprintf("event %d: %s, and %s was expected", s.Index, got, want.Verdict))
		}
	}
}

func duplicate(out handler.Outcome) int {
	if out.Decision.Code == gate.Duplicate {
		return 1
	}
	return 0
}

// words says what became of an event.
func (t *telling) words(out handler.Outcome) (string, view.Style) {
	e := out.Event
	who := t.name(e.AgentID)
	switch e.Name {
	case event.SubagentStop:
		return t.stop(out, who)
	case event.PostToolUse:
		l, found := transcript.FromResponse(e.Tool, e.ToolUseID, e.ToolInput, e.ToolResponse, transcript.PostToolUse)
		if !found {
			return fmt.Sprintf("%s used %s: nothing to record", who, e.Tool), view.Faint
		}
		verb := "launched"
		if l.Resumed {
			verb = "resumed"
		}
		return fmt.Sprintf("%s %s %s (%s)", who, verb, t.name(l.Task), l.Kind), view.Normal
	case event.SubagentStart:
		return fmt.Sprintf("%s starts (%s)", who, e.AgentType), view.Normal
	case event.Stop:
		if e.RegistryGiven {
			return fmt.Sprintf("the coordinator stops; %s unfinished", countOf(len(e.Tasks), "task")), view.Normal
		}
		return "the coordinator stops", view.Normal
	case event.TeammateIdle:
		return fmt.Sprintf("%s is idle", e.TeammateName), view.Normal
	}
	if out.Err != nil {
		return out.Err.Error(), view.Bad
	}
	return "", view.Normal
}

func (t *telling) stop(out handler.Outcome, who string) (string, view.Style) {
	d := out.Decision
	if d.Code == gate.Ephemeral {
		return "ignored (ephemeral: an internal fork, no agent)", view.Faint
	}
	why := string(d.Code)
	if steps := gate.Explain(out.Facts, gate.Policy{Blocks: t.blocks}); len(steps) > 0 && steps[len(steps)-1].Code == d.Code {
		why += ": " + steps[len(steps)-1].Rule
	}
	var own []string
	for _, task := range out.Facts.Own {
		text := task.ID + ", " + task.Kind
		if task.Running > 0 {
			text += " for " + gate.Span(task.Running)
		}
		own = append(own, text)
	}
	text, style := fmt.Sprintf("%s stops: allowed (%s)", who, why), view.Good
	if d.Block {
		text, style = fmt.Sprintf("%s stops: BLOCKED (%s)", who, why), view.Alarm
		if out.Reason == "" {
			text = fmt.Sprintf("%s stops: allowed, would be blocked (%s)", who, why)
		}
	}
	if len(own) > 0 {
		text += " [" + strings.Join(own, "; ") + "]"
	}
	if out.Err != nil {
		text += ": " + out.Err.Error()
	}
	return text, style
}

func (t *telling) name(id string) string {
	switch name := t.names[id]; {
	case id == "":
		return "the coordinator"
	case name != "":
		return name
	}
	return id
}

// sum ends the telling: what the agents were told, and whether the verdicts are
// the recorded ones. Other flags than the default have other verdicts.
func (t *telling) sum(compare bool) {
	if t.reason != "" {
		t.scr.Line()
		t.scr.Line(t.scr.Paint("the first block said to the agent:", view.Strong))
		for _, line := range strings.Split(strings.TrimRight(t.reason, "\n"), "\n") {
			t.scr.Text("  | ", "  | ", view.Clean(line), view.Normal)
		}
	}
	if !compare || t.stops == 0 {
		return
	}
	t.scr.Line()
	if len(t.wrong) == 0 {
		t.scr.Line("all ", countOf(t.stops, "verdict"), " of SubagentStop are the expected ones")
	}
	for _, w := range t.wrong {
		t.scr.Line(t.scr.Paint("not as expected: "+w, view.Alarm))
	}
}

// countOf counts things in words.
func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
