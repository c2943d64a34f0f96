package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
	"stopgate/pkg/span"
	"stopgate/pkg/version"
)

// InstallOptions are what a person asked for.
type InstallOptions struct {
	// Scope is the settings scope; File takes its place unless "".
	Scope, File string
	// Hold, Patience, Blocks and Courier are nil where nothing was said: then what
	// is installed there stays, or else the default counts.
	Hold, Patience *time.Duration
	Blocks         *int
	Courier        *bool
	// Lead says when the coordinator is held; nil where nothing was said.
	Lead *string
	// StatusLine adds our line to the client's status line; without it one that is
	// there stays.
	StatusLine bool
	// CI installs what a runner needs: no courier, which has nobody to wake there,
	// and no link for a person.
	CI bool
}

// check tells which option cannot be meant, as a [UsageError].
func (o InstallOptions) check() error {
	for _, d := range []struct {
		flag  string
		value *time.Duration
	}{{"--hold", o.Hold}, {"--patience", o.Patience}} {
		if d.value != nil && (*d.value < 0 || *d.value > policy.MaxHold) {
			return UsageError(fmt.Sprintf("%s %s: not between 0 and %s", d.flag, span.Text(*d.value), span.Text(policy.MaxHold)))
		}
	}
	if o.Blocks != nil && *o.Blocks < 0 {
		return UsageError(fmt.Sprintf("--blocks %d: less than 0", *o.Blocks))
	}
	if o.Lead != nil && !slices.Contains([]string{policy.LeadHeadless, policy.LeadAlways, policy.LeadNever}, *o.Lead) {
		return UsageError(fmt.Sprintf("--lead %q: not headless, always or never", *o.Lead))
	}
	return nil
}

// InstallPlan is what an installation would do, and after [InstallPlan.Apply] what
// it did.
type InstallPlan struct {
	// File is the settings file, Edit what becomes of it, and Diff shows it; "" where
	// nothing changes.
	File string
	Edit settings.Result
	Diff string
	// Choice is what is registered, Kept whether parts of it were taken over from an
	// earlier installation, and Moved whether the hold there was the default of a
	// former version.
	Choice      Choice
	Kept, Moved bool
	// Strains are the ways in which what is registered cannot wait as it says.
	Strains []Strain
	// ByHand are entries of that file which somebody wrote: they stay, and nothing is
	// registered beside them for the same.
	ByHand []Hook
	// Elsewhere are other settings files that register the hook.
	Elsewhere []Elsewhere
	// Programs are the files put in place; Built tells that they were built.
	Programs []Placed
	Built    bool
	// Was is the version of the programs in place, "" where it is not known or there
	// are none, and Now the one that takes their place.
	Was, Now string
	// Link is the link to hookctl; its Path is "" for none, and NoLink says why.
	Link   Placed
	NoLink string
	// Proofs say how the installed command lines answered; nil before Apply.
	Proofs []Proof

	w        World
	o        InstallOptions
	programs Programs
	placings []placing
	entries  []settings.Entry
}

// Elsewhere is another settings file that registers the hook. Differs are the flags of
// its gate where they are others, "" where they are the same.
type Elsewhere struct{ Path, Differs string }

// PlanInstall finds out what is to be done to have the programs in place, registered
// in a settings file, and hookctl linked; nothing is done yet. What cannot be done
// (a settings file that is no JSON or cannot be written, a file of somebody else
// where a program belongs, another's home folder) is an error here. Close the plan.
func (w World) PlanInstall(o InstallOptions) (*InstallPlan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if w.Data() == "" {
		return nil, ErrNoHome
	}
	if err := w.HomeProblem(); err != nil {
		return nil, err
	}
	p := &InstallPlan{w: w, o: o, File: o.File}
	if p.File == "" {
		file, err := w.File(o.Scope)
		if err != nil {
			return nil, err
		}
		p.File = file
	}
	rec, err := w.load()
	if err != nil {
		return nil, err
	}
	if err := p.register(rec); err != nil { // before the programs, which may have to be built
		return nil, err
	}
	if p.programs, err = w.Programs(); err != nil {
		return nil, err
	}
	p.Built = p.programs.Built
	if err := p.make(rec); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close removes what was built for the plan.
func (p *InstallPlan) Close() { p.programs.Close() }

// Changed tells whether anything would be, or was, changed.
func (p *InstallPlan) Changed() bool {
	return p.Edit.Changed || p.Link.Changed || slices.ContainsFunc(p.Programs, func(p Placed) bool { return p.Changed })
}

// Failed are the proofs that failed.
func (p *InstallPlan) Failed() []Proof {
	return slices.DeleteFunc(slices.Clone(p.Proofs), func(p Proof) bool { return p.Err == nil })
}

// make finds out all of it, as the world is now.
func (p *InstallPlan) make(rec record) error {
	if err := p.register(rec); err != nil {
		return err
	}
	p.placings, p.Programs = nil, nil
	p.Was, p.Now = rec.Version, version.Number()
	for _, f := range []struct{ source, target string }{
		{p.programs.Hook, p.w.Hook()}, {p.programs.Hookctl, p.w.Hookctl()},
	} {
		placing, err := place(f.source, f.target, rec.Programs[f.target])
		if err != nil {
			return err
		}
		p.placings, p.Programs = append(p.placings, placing), append(p.Programs, placing.Placed)
	}
	if p.Link, p.NoLink = p.w.link(); p.o.CI {
		p.Link, p.NoLink = Placed{}, "a runner needs none"
	}
	return nil
}

// register finds out what becomes of the settings file.
func (p *InstallPlan) register(rec record) error {
	old, err := settings.Read(p.File)
	if err != nil {
		return err
	}
	hooks, err := p.w.recogniser().hooks(old)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", p.File, err)
	}
	p.choose(hooks, rec)
	p.entries = Entries(p.w.Hook(), p.Choice)
	gate := Hook{Found: settings.Found{Entry: p.entries[0]}, Flags: p.entries[0].Args}
	p.Strains = p.w.Limits(host.Host{}, p.w.Sources()).Strains(gate)
	if p.leaveAlone(hooks); len(p.entries) == 0 || mode(p.entries[0].Args) != policy.Gate || p.entries[0].Event != gate.Event {
		p.Strains = nil
	}
	p.elsewhere(rec, gate)
	return p.edit(true)
}

// choose takes what the person said, else what is registered there.
func (p *InstallPlan) choose(hooks []Hook, rec record) {
	c, moved, before := Adopt(hooks)
	if !before {
		c = Default()
	} else if f := rec.file(p.File); f == nil || !f.NoCourier {
		c.Courier = true // its lack is no choice
	}
	if f := rec.file(p.File); before && c.Lead == policy.LeadNever && (f == nil || !f.NoLead) {
		c.Lead = policy.LeadHeadless
	}
	p.Kept, p.Moved = false, moved && p.o.Hold == nil
	take(&c.Hold, p.o.Hold)
	take(&c.Patience, p.o.Patience)
	take(&c.Blocks, p.o.Blocks)
	c.Courier = c.Courier && !p.o.CI
	take(&c.Courier, p.o.Courier)
	take(&c.Lead, p.o.Lead)
	take(&c.LeadPatience, p.o.Patience)
	std := Default()
	p.Kept = before && (p.o.Hold == nil && c.Hold != std.Hold || p.o.Patience == nil && c.Patience != std.Patience ||
		p.o.Blocks == nil && c.Blocks != std.Blocks || p.o.Courier == nil && !p.o.CI && !c.Courier ||
		p.o.Lead == nil && c.Lead != std.Lead || p.o.Patience == nil && c.LeadPatience != std.LeadPatience ||
		len(c.LeadExtra) > 0 || len(c.Extra)+len(c.CourierExtra) > 0 || c.CourierFor != std.CourierFor)
	p.Choice = c
}

func take[T any](into, said *T) {
	if said != nil {
		*into = *said
	}
}

// leaveAlone wants nothing beside an entry that somebody wrote for the same, unless
// one of ours is there as well.
func (p *InstallPlan) leaveAlone(hooks []Hook) {
	p.ByHand = nil
	same := func(h Hook, e settings.Entry) bool { return h.Event == e.Event && mode(h.Flags) == mode(e.Args) }
	p.entries = slices.DeleteFunc(p.entries, func(e settings.Entry) bool {
		taken := slices.IndexFunc(hooks, func(h Hook) bool { return h.ByHand && same(h, e) })
		if taken < 0 || slices.ContainsFunc(hooks, func(h Hook) bool { return !h.ByHand && same(h, e) }) {
			return false
		}
		p.ByHand = append(p.ByHand, hooks[taken])
		return true
	})
}

// mode is what arguments make the hook, also where it does not know all of them.
func mode(args []string) string {
	if len(args) > 0 && (args[0] == policy.Courier || args[0] == policy.Lead) {
		return args[0]
	}
	return policy.Gate
}

// edit brings the entries into the settings file, or finds out how.
func (p *InstallPlan) edit(dryRun bool) (err error) {
	opts := p.w.edits(dryRun)
	opts.StatusLine.Want = p.o.StatusLine
	p.Edit, err = settings.Install(p.File, p.entries, p.w.Ours(), opts)
	if errors.As(err, new(*settings.SyntaxError)) || errors.As(err, new(*settings.ShapeError)) {
		err = fmt.Errorf("%w; nothing was changed", err)
	}
	p.Diff = settings.Diff(p.Edit.Old, p.Edit.New, p.w.Short(p.File))
	return err
}

// elsewhere looks for other settings files that register the hook.
func (p *InstallPlan) elsewhere(rec record, gate Hook) {
	p.Elsewhere = nil
	r := p.w.recogniser()
	mine, _ := gate.Policy() // as we wrote it
	for _, path := range p.w.candidates(rec, "") {
		s := r.source("", path)
		if path == p.File || s.Err != nil || len(s.Hooks) == 0 {
			continue
		}
		e := Elsewhere{Path: path}
		for _, h := range s.Hooks {
			theirs, err := h.Policy()
			if err == nil && h.Event == gate.Event && theirs.Mode == policy.Gate && !slices.Equal(mine.Flags(), theirs.Flags()) {
				e.Differs = strings.Join(append([]string{policy.Gate}, theirs.Flags()...), " ")
			}
		}
		p.Elsewhere = append(p.Elsewhere, e)
	}
}
