package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"stopgate/pkg/handler"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/replay"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
	"stopgate/pkg/watch"
)

// demoOptions are what demo was asked for.
type demoOptions struct{ picture string }

func (a *app) demo() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "play a recorded session through the gate: no client needed",
		Long: `demo plays a recorded session that is part of this program through the real
gate, as hookctl replay does: two background agents that would stop while their
own shells still run. Nothing of it stays behind.`,
		Example: `  hookctl demo
  hookctl demo --picture watch.svg`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.runDemo(o) },
	}
	o.flags(cmd)
	return cmd
}

func (o *demoOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.picture, "picture", "", "write instead what hookctl watch shows in the middle of it to this `FILE`, as SVG")
	_ = cmd.MarkFlagFilename("picture", "svg") // fails only for an unknown flag
}

func (a *app) runDemo(o demoOptions) error {
	rec, err := replay.Demo()
	if err != nil {
		return err
	}
	if o.picture != "" {
		return a.drawDemo(rec, o.picture)
	}
	a.screen().Text("", "", "Agent A and agent B run in the background. Each starts a shell of its own and ends its turn while the shell still runs; "+
		"the coordinator has one too. Without the gate each agent would report before its result is there. "+
		"The gate finds out whose task is whose, blocks each agent once for its own, and for nobody else's.", view.Normal)
	a.screen().Line()
	return a.play(rec, replay.Options{})
}

// The picture: how large its screen is, and behind which event of the recording it is
// made, when agent A has been held for a while and agent B wants to stop.
const (
	pictureWidth, pictureHeight = 110, 20
	pictureEvent                = 18
)

// drawDemo draws the live view in the middle of the recording. A replay holds no stop,
// so the hold of an agent that the gate would hold is written as the gate writes it.
func (a *app) drawDemo(rec *replay.Recording, path string) error {
	root, remove, err := workFolder()
	if err != nil {
		return err
	}
	defer remove()
	play, err := rec.Start(root)
	if err != nil {
		return err
	}
	var picture []byte
	var drawing error
	err = play.Run(replay.Options{Args: []string{"--blocks", "0"}}, func(s replay.Step) {
		for _, out := range s.Outcomes {
			if s.IsStop() && s.Index <= pictureEvent && len(out.Facts.Own) > 0 {
				drawing = errors.Join(drawing, a.holdPlayed(play, out, s.Time))
			}
		}
		if s.Index != pictureEvent || drawing != nil {
			return
		}
		picture, drawing = a.drawn(play, s.Time)
	})
	if err := errors.Join(err, drawing); err != nil {
		return err
	}
	return host.Write(path, picture, 0o644) // a picture to be shown
}

// holdPlayed writes the hold of a played stop.
func (a *app) holdPlayed(play *replay.Play, out handler.Outcome, at time.Time) error {
	h := ledger.Hold{AgentID: out.Event.AgentID, Since: at, Until: at.Add(playedHold), Left: time.Hour, Process: ledger.Process{PID: a.h.PID}}
	for _, t := range out.Facts.Own {
		h.Tasks = append(h.Tasks, t.ID)
	}
	return ledger.Update(a.context(), play.State, out.Event.SessionID, at, func(tx *ledger.Tx) error {
		tx.PutHold(h)
		tx.AddAct(ledger.Act{Deed: ledger.Held, AgentID: h.AgentID, Tasks: h.Tasks, Until: h.Until})
		return nil
	})
}

// playedHold is how long a hold is as installed.
const playedHold = 9*time.Minute + 30*time.Second

// drawn is the live view of a played session.
func (a *app) drawn(play *replay.Play, now time.Time) ([]byte, error) {
	src := status.Source{Dir: play.State, Files: play.Files, Now: now, Env: func(string) string { return "" }}
	st, err := src.Load(a.context(), status.Filter{All: true, Faces: true})
	if err != nil {
		return nil, err
	}
	// A stop that is held is not answered yet, and the recording has the outputs as they
	// were in the end.
	for i := range st.Sessions {
		st.Sessions[i].Stops = nil
		for k := range st.Sessions[i].Tasks {
			st.Sessions[i].Tasks[k].Face.Last = ""
		}
	}
	w := watch.World{
		Load:   func(context.Context) (status.Status, error) { return st, nil },
		Now:    func() time.Time { return now },
		Watch:  func() (host.Watcher, error) { return nil, errors.ErrUnsupported },
		Colour: true, Zone: time.UTC,
	}
	return watch.Picture(watch.Frame(w, st, pictureWidth, pictureHeight), pictureWidth, "hookctl watch: agents, their tasks, who is held, and the log"), nil
}
