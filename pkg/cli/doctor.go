package cli

import (
	"github.com/spf13/cobra"

	"stopgate/pkg/doctor"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// doctorOptions are what doctor was asked for.
type doctorOptions struct{ asJSON bool }

func (a *app) doctor() *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "check that stopgate is registered, runs, and can do its job",
		Long: `doctor asks one question a line and says what it found: ok, note (worth knowing),
warn (works, but not as it should) or fail (does not work), with the mend behind
"->". It sends a recorded stop through what is registered and changes nothing.

The exit code is 1 when a check failed.`,
		Example: `  hookctl doctor
  hookctl doctor --json | jq '.checks[] | select(.status != "ok")'`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.runDoctor(o) },
	}
	o.flags(cmd)
	return cmd
}

func (o *doctorOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON for programs")
}

// runDoctor checks what is there. A check that failed is its exit code.
func (a *app) runDoctor(o doctorOptions) error {
	w, err := a.world()
	if err != nil {
		return err
	}
	rep := doctor.Doctor{World: w, Now: a.h.Clock.Now()}.Run(a.context())
	if o.asJSON {
		err = status.WriteJSON(a.h.Stdout, rep)
	} else {
		a.diagnosis(rep)
	}
	if err == nil && !rep.OK {
		err = exitCode{code: exitFailed}
	}
	return err
}

// diagnosis prints a report.
func (a *app) diagnosis(rep doctor.Report) {
	scr := a.screen()
	styles := map[doctor.Status]view.Style{doctor.OK: view.Good, doctor.Note: view.Normal, doctor.Warn: view.Busy, doctor.Fail: view.Alarm}
	counts := map[doctor.Status]int{}
	const indent = "                 " // under the text of a check
	for _, c := range rep.Checks {
		counts[c.Status]++
		lead := scr.Paint(pad(string(c.Status), 4), styles[c.Status]) + "  " + pad(c.Name, 10) + " "
		text := view.Clean(c.Found)
		scr.Text(lead, indent, text, view.Normal)
		if c.Mend != "" {
			scr.Text(indent+"-> ", indent+"   ", view.Clean(c.Mend), view.Normal)
		}
	}
	scr.Line()
	switch {
	case counts[doctor.Fail] > 0:
		scr.Line(countOf(counts[doctor.Fail], "check"), " failed")
	case counts[doctor.Warn] > 0:
		scr.Line("it works; ", countOf(counts[doctor.Warn], "warning"))
	default:
		scr.Line("all is well")
	}
}

func pad(text string, n int) string {
	for len(text) < n {
		text += " "
	}
	return text
}
