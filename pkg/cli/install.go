package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
	"stopgate/pkg/setup"
	"stopgate/pkg/span"
	"stopgate/pkg/state"
	"stopgate/pkg/view"
)

// installOptions are what install was asked for. What was not named on the command
// line is no choice: the plan then keeps what is there.
type installOptions struct {
	plan              setup.InstallOptions
	hold, patience    time.Duration
	blocks            int
	lead              string
	noCourier, dryRun bool
}

func (a *app) install() *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "install",
		Short: "put stopgate in place and register it",
		Long: `install copies (or builds) the two programs into a folder of their own, adds the
entries of stopgate to a settings file of Claude Code, and proves that what is
registered there answers: it sends a recorded stop through it and expects a block.

Every other byte of the settings file stays as it is, and its old bytes are kept.
Installing the same again changes nothing. What is installed already and not named
on the command line stays as it is, also arguments that you added to the entries.`,
		Example: `  hookctl install
  hookctl install --scope project --patience 2h
  hookctl install --ci
  hookctl install --dry-run`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runInstall(o, cmd.Flags().Changed) },
	}
	o.flags(cmd)
	return cmd
}

func (o *installOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.plan.Scope, "scope", settings.User, "the `SCOPE` of the settings: user, project or local")
	f.StringVar(&o.plan.File, "settings", "", "edit this settings `FILE` instead")
	spanFlag(f, &o.patience, "patience", policy.DefaultPatience, 0, "wait `D` for a task in all, hold after hold; 0 is one hold")
	spanFlag(f, &o.hold, "hold", setup.DefaultHold, 0, "hold a stop for `D` at a time until its tasks end; 0 blocks at once")
	f.IntVar(&o.blocks, "blocks", policy.DefaultBlocks, "one task may be the reason of `N` blocks")
	f.BoolVar(&o.noCourier, "no-courier", false, "do not register the courier")
	f.StringVar(&o.lead, "lead", policy.LeadHeadless, "hold the coordinator's own stop for its agents `WHEN`: headless (nobody attends), always or never")
	f.BoolVar(&o.plan.StatusLine, "statusline", false, "show who is held in the client's status line, below one that is there already")
	f.BoolVar(&o.plan.CI, "ci", false, "install what a CI runner needs: no courier, no link")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be done and change nothing")
	cmd.MarkFlagsMutuallyExclusive("scope", "settings")
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions( // fails only for an unknown flag
		[]cobra.Completion{settings.User, settings.Project, settings.Local}, cobra.ShellCompDirectiveNoFileComp))
}

// runInstall installs, or says what it would do. given tells of a flag that it was named.
func (a *app) runInstall(o installOptions, given func(flag string) bool) error {
	p := o.plan
	if given("hold") {
		p.Hold = &o.hold
	}
	if given("patience") {
		p.Patience = &o.patience
	}
	if given("blocks") {
		p.Blocks = &o.blocks
	}
	if given("no-courier") {
		courier := !o.noCourier
		p.Courier = &courier
	}
	if given("lead") {
		p.Lead = &o.lead
	}
	w, err := a.world()
	if err != nil {
		return err
	}
	plan, err := w.PlanInstall(p)
	if errors.As(err, new(setup.UsageError)) {
		return exitCode{exitUsage, err}
	}
	if err != nil {
		return err
	}
	defer plan.Close()
	if !o.dryRun {
		if err := plan.Apply(a.context()); err != nil {
			return err
		}
	}
	a.installed(w, plan, p.Scope, o.dryRun)
	if failed := plan.Failed(); len(failed) > 0 {
		return fmt.Errorf("%s does not answer as it should", w.Short(failed[0].Hook.Program))
	}
	return nil
}

// world is where install, uninstall and doctor work.
func (a *app) world() (setup.World, error) {
	cwd, err := a.folder()
	if err != nil {
		return setup.World{}, fmt.Errorf("the current folder: %w", err)
	}
	return setup.World{Host: a.h, Cwd: cwd}, nil
}

// own refuses to write state as root where that of another person is meant.
func (a *app) own() error {
	if !state.Place(a.h.Env).Others() {
		return nil
	}
	w, err := a.world()
	if err != nil {
		return err
	}
	return w.OthersHome()
}

// ownState is the state folder, to be written.
func (a *app) ownState() (state.Dir, error) {
	if err := a.own(); err != nil {
		return state.Dir{}, err
	}
	return state.Find(a.h.Env)
}

// installed prints what an installation did, or would do.
func (a *app) installed(w setup.World, rep *setup.InstallPlan, scope string, dryRun bool) {
	scr := a.screen()
	if dryRun {
		scr.Line("dry run: nothing was changed")
		scr.Line()
	}
	scr.Line("programs")
	for _, p := range rep.Programs {
		scr.Line(fmt.Sprintf("  %-11s ", placedWord(p, dryRun, rep.Built)), w.Short(p.Path))
	}
	if rep.Was != "" && rep.Was != rep.Now {
		scr.Line(fmt.Sprintf("  %-11s ", "version"), view.Clean(rep.Was), " -> ", rep.Now)
	}
	if rep.Link.Path != "" {
		scr.Line(fmt.Sprintf("  %-11s ", linkWord(rep.Link, dryRun)), w.Short(rep.Link.Path))
	}
	scr.Line("settings")
	switch {
	case !rep.Edit.Changed:
		scr.Line(fmt.Sprintf("  %-11s ", "as before"), w.Short(rep.File))
	default:
		scr.Line(fmt.Sprintf("  %-11s ", would(dryRun, "edited", "would edit")), w.Short(rep.File))
		if rep.Edit.Backup != "" {
			scr.Text("  backup      ", "              ", w.Short(rep.Edit.Backup), view.Normal)
		}
	}
	if rep.Moved {
		scr.Text("  ", "  ", "the hold of 10m that former versions registered is "+span.Text(setup.DefaultHold)+" now: after 10m without progress the client fails an agent", view.Normal)
	}
	if rep.Kept {
		scr.Text("  ", "  ", "what you had chosen stays: "+chosen(rep.Choice), view.Normal)
	}
	for _, h := range rep.ByHand {
		scr.Text("  ", "  ", "left alone: "+byHand(h)+"; so no entry of ours was added beside it. To have one, take that line out and install again", view.Normal)
	}
	for _, e := range rep.Elsewhere {
		text := "also registered in " + w.Short(e.Path) + ": each event is answered once all the same"
		if e.Differs != "" {
			text += ", by whichever of the two comes first, and the flags there are others (" + view.Clean(e.Differs) + "): hookctl uninstall, then install once, leaves nothing to chance"
		}
		scr.Text("  ", "  ", text, view.Normal)
	}
	if rep.Diff != "" {
		scr.Line()
		a.diff(scr, rep.Diff)
	}
	if len(rep.Proofs) > 0 {
		scr.Line()
		scr.Line("proved, with a recorded session sent through the entries in that file")
		for _, p := range rep.Proofs {
			a.proof(scr, p)
		}
	}
	a.caveats(scr, w, rep, scope)
	scr.Line()
	switch {
	case dryRun && !rep.Changed():
		scr.Line("everything is installed like this already")
	case dryRun:
	case !rep.Changed():
		scr.Line("nothing was changed: everything is installed like this already")
	default:
		scr.Line("next")
		scr.Text("- ", "  ", "start a new session of Claude Code: running ones took their hooks at their start", view.Normal)
		hookctl := "hookctl"
		if rep.Link.Path == "" {
			if hookctl = w.Short(w.Hookctl()); strings.ContainsRune(hookctl, ' ') {
				hookctl = quoted(w.Hookctl())
			}
			scr.Text("- ", "  ", "hookctl is not linked ("+rep.NoLink+"); its path is "+hookctl, view.Normal)
		}
		scr.Text("- ", "  ", hookctl+" status: who runs what, once a subagent has started", view.Normal)
		scr.Text("- ", "  ", hookctl+" doctor: is everything as it should be", view.Normal)
		scr.Text("- ", "  ", hookctl+" uninstall: take it out again", view.Normal)
	}
}

// caveats says what keeps the entries from doing what the person expects.
func (a *app) caveats(scr view.Screen, w setup.World, rep *setup.InstallPlan, scope string) {
	warn := func(text string) {
		scr.Line()
		scr.Text("! ", "  ", text, view.Bad)
	}
	for _, s := range rep.Strains {
		text := s.Text
		if s.Mend != "" {
			text += ": " + s.Mend
		}
		warn(text)
	}
	for _, look := range w.Sources() {
		file := w.Short(look.Path)
		for _, o := range look.Offences[:min(1, len(look.Offences))] {
			if look.Path == rep.File {
				warn("no hook of this file may run: " + file + ": " + o.Error() + ": " + o.Who() + " that was tried reads nothing of such a file")
			}
		}
		if look.DisableAllHooks != nil && *look.DisableAllHooks {
			warn("no hook will run: disableAllHooks is set in " + file)
		}
		if off := look.Env[state.EnvDisable]; state.Disables(off) {
			warn("every stop will be let through: " + state.EnvDisable + "=" + view.Clean(off) + " is set in " + file)
		}
		if dir := look.Env[state.EnvDir]; dir != "" && dir != a.h.Env(state.EnvDir) {
			warn("hookctl will not find what is recorded: " + state.EnvDir + "=" + view.Clean(dir) + " is set in " + file + ", and not for this shell")
		}
		if look.Scope == settings.Managed && look.AllowManagedHooksOnly != nil && *look.AllowManagedHooksOnly {
			warn("no hook of yours will run: allowManagedHooksOnly is set in " + file)
		}
	}
	if scope == settings.Project {
		warn("the entries name programs in your home folder: in a repository that others use, --scope local keeps them to yourself")
	}
}

func would(dryRun bool, done, dry string) string {
	if dryRun {
		return dry
	}
	return done
}

func placedWord(p setup.Placed, dryRun, built bool) string {
	switch {
	case !p.Changed:
		return "as before"
	case dryRun && p.Replaced:
		return "would renew"
	case dryRun:
		return "would add"
	case p.Replaced:
		return "renewed"
	case built:
		return "built"
	}
	return "copied"
}

func linkWord(p setup.Placed, dryRun bool) string {
	switch {
	case !p.Changed:
		return "as before"
	case dryRun:
		return "would link"
	}
	return "linked"
}

// chosen says a choice as flags.
func chosen(c setup.Choice) string {
	parts := []string{"--hold " + span.Text(c.Hold), "--patience " + span.Text(c.Patience), fmt.Sprint("--blocks ", c.Blocks)}
	parts = append(parts, c.Extra...)
	if c.Courier {
		parts = append(parts, append([]string{"courier --for " + span.Text(c.CourierFor)}, c.CourierExtra...)...)
	} else {
		parts = append(parts, "--no-courier")
	}
	if c.Lead == policy.LeadNever {
		parts = append(parts, "--lead never")
	} else {
		parts = append(parts, append([]string{"lead --patience " + span.Text(c.LeadPatience)}, c.LeadExtra...)...)
	}
	return view.Clean(strings.Join(parts, " "))
}

// proof prints how one entry answered.
func (a *app) proof(scr view.Screen, p setup.Proof) {
	who := p.Hook.Event
	if pol, err := p.Hook.Policy(); err == nil && pol.Mode != policy.Gate {
		who += " " + pol.Mode
	}
	switch {
	case p.Skipped != "":
		scr.Text("  -    ", "       ", who+": "+view.Clean(p.Skipped), view.Normal)
	case p.Err != nil:
		scr.Text("  FAIL ", "       ", who+": "+view.Clean(p.Err.Error()), view.Normal)
		if p.Mend != "" {
			scr.Text("       -> ", "          ", view.Clean(p.Mend), view.Normal)
		}
	default:
		scr.Text("  ok   ", "       ", who+": "+p.Want+" ("+p.Took.Round(time.Millisecond).String()+")", view.Normal)
	}
}

// byHand names an entry that somebody wrote.
func byHand(h setup.Hook) string {
	return h.Path + " runs the hook by a line of your own (" + view.Clean(strings.Join(append([]string{h.Command}, h.Args...), " ")) + ")"
}

// diff prints a unified diff.
func (a *app) diff(scr view.Screen, text string) {
	for line := range strings.Lines(text) {
		style := view.Normal
		switch line[0] {
		case '+':
			style = view.Good
		case '-':
			style = view.Bad
		}
		scr.Line(scr.Paint(legible(strings.TrimRight(line, "\r\n")), style))
	}
}

// legible is a line of somebody's file, fit to be printed: whole, with its tabs.
func legible(line string) string {
	var b strings.Builder
	for len(line) > 0 {
		_, size := utf8.DecodeRuneInString(line)
		if line[0] == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteString(view.Clean(line[:size]))
		}
		line = line[size:]
	}
	return b.String()
}
