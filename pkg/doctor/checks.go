package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
	"stopgate/pkg/setup"
	"stopgate/pkg/span"
	"stopgate/pkg/state"
)

// Variables of the client that bear on what stopgate can do (docs/client.md).
const (
	envNoBackground = "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"
	envCap          = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
	envTeams        = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"
	envFork         = "CLAUDE_CODE_FORK_SUBAGENT"
)

// defaultCap is the client's own bound on blocks in a row.
const defaultCap = 8

func settingsRead(f facts) Check {
	var broken, misfit, read []string
	for _, s := range f.sources {
		if s.Err != nil {
			broken = append(broken, s.Err.Error())
			if !strings.Contains(s.Err.Error(), s.Path) {
				broken[len(broken)-1] = f.short(s.Path) + ": " + s.Err.Error()
			}
			continue
		}
		if s.Misfit != nil {
			misfit = append(misfit, f.short(s.Path)+": "+s.Misfit.Error())
		}
		read = append(read, s.Scope+" "+f.short(s.Path))
	}
	if c, refused := settingsRefused(f); refused && len(misfit)+len(broken) == 0 {
		return c
	}
	switch {
	case len(misfit) > 0:
		return Check{Status: Fail, Found: strings.Join(append(misfit, broken...), "; "), Mend: "mend that place in the file, then " + again}
	case len(broken) > 0:
		return Check{Status: Fail, Found: strings.Join(broken, "; "), Mend: "mend that file: the client cannot read it either"}
	case len(read) == 0:
		return Check{Status: Note, Found: "no settings file exists for this user and folder"}
	}
	return Check{Status: OK, Found: strings.Join(read, ", ")}
}

// settingsRefused tells of a file with entries of ours of which clients read nothing
// (docs/client.md: settings that are refused), unless the one here is none of them.
func settingsRefused(f facts) (c Check, refused bool) {
	for _, s := range f.sources {
		for _, o := range s.Offences {
			if len(s.Hooks) == 0 || f.version != "" && !o.Minds(f.version, older) {
				continue
			}
			status := Warn
			if f.version != "" || o.Always() {
				status = Fail
			}
			if refused && rank[status] <= rank[c.Status] {
				continue
			}
			refused = true
			c = Check{Status: status, Found: f.short(s.Path) + ": " + o.Error() + ": " + o.Who() + " that was tried reads nothing of such a file, and runs no hook of it", Mend: "mend that place in the file"}
		}
	}
	return c, refused
}

// hook is one entry of ours with where it stands.
type hook struct {
	setup.Hook
	source setup.SettingsFile
	policy policy.Policy
	err    error
}

func (f facts) hooks() []hook {
	var all []hook
	for _, s := range f.sources {
		for _, e := range s.Hooks {
			h := hook{Hook: e, source: s}
			h.policy, h.err = e.Policy()
			all = append(all, h)
		}
	}
	return all
}

func (h hook) is(event, mode string) bool {
	return h.err == nil && h.Event == event && h.policy.Mode == mode
}

// title names an entry for people.
func (h hook) title() string {
	if h.err != nil || h.Event != event.SubagentStop && h.policy.Mode != policy.Lead {
		return h.Event
	}
	return title(h.policy)
}

// title names what a command line does at a stop.
func title(p policy.Policy) string {
	switch {
	case p.Mode == policy.Courier:
		return "courier --for " + span.Text(p.For)
	case p.Mode == policy.Lead:
		return "lead --patience " + span.Text(p.Patience)
	case p.Hold > 0:
		return "gate --hold " + span.Text(p.Hold) + " --patience " + span.Text(p.Patience)
	}
	return "gate"
}

func (f facts) plugin() string {
	name := ""
	for _, s := range f.sources {
		if s.Plugin != "" {
			name = s.Plugin + " in " + s.Scope
		}
	}
	return name
}

// pluginOut is the client's own command that takes the plugin out again.
func (f facts) pluginOut() string {
	out := ""
	for _, s := range f.sources {
		if s.Plugin == "" {
			continue
		}
		if out = "claude plugin uninstall " + s.Plugin; s.Scope != settings.User {
			out += " --scope " + s.Scope
		}
	}
	return out
}

const again = "hookctl install"

func entriesPresent(f facts) Check {
	hooks := f.hooks()
	if len(hooks) == 0 {
		if p := f.plugin(); p != "" {
			return Check{Status: OK, Found: "by the plugin " + p}
		}
		return Check{Status: Fail, Found: "no settings of this user or folder register stopgate", Mend: again}
	}
	var parts, titles []string
	for i, h := range hooks {
		title := h.title()
		if h.ByHand {
			title += " (by a line of your own)"
		}
		titles = append(titles, title)
		if i+1 == len(hooks) || hooks[i+1].source.Path != h.source.Path {
			parts = append(parts, h.source.Scope+": "+strings.Join(titles, ", "))
			titles = nil
		}
	}
	c := Check{Status: OK, Found: strings.Join(parts, "; ")}
	has := func(event, mode string) bool {
		return slices.ContainsFunc(hooks, func(h hook) bool { return h.is(event, mode) })
	}
	var missing []string
	for _, name := range []string{event.SubagentStart, event.PostToolUse, event.SessionEnd} {
		if !has(name, policy.Gate) {
			missing = append(missing, name)
		}
	}
	if !has(event.SubagentStop, policy.Gate) {
		if p := f.plugin(); p != "" {
			return Check{Status: OK, Found: c.Found + "; and by the plugin " + p}
		}
		return Check{Status: Fail, Found: c.Found + "; no gate on " + event.SubagentStop, Mend: again}
	}
	if len(missing) > 0 {
		c.add(Warn, "missing: "+strings.Join(missing, ", "), again)
	}
	for _, h := range hooks {
		c.shape(f, h)
	}
	c.narrowed(f, hooks)
	if !has(event.SubagentStop, policy.Courier) {
		c.add(Note, "no courier: nobody is told of an orphan's end", again+" --no-courier=false")
	}
	return c
}

// add puts one more finding to a check. The worst gives its status, and the first
// of the worst the mend.
func (c *Check) add(status Status, found, mend string) {
	c.Found += "; " + found
	if rank[status] > rank[c.Status] {
		c.Status, c.Mend = status, mend
	}
}

var rank = map[Status]int{OK: 0, Note: 1, Warn: 2, Fail: 3}

// shape looks at how an entry is run: a gate must be waited for, a courier must
// not (docs/client.md: the hook contract, asyncRewake).
func (c *Check) shape(f facts, h hook) {
	in := " in " + f.short(h.source.Path)
	switch {
	case h.is(event.SubagentStop, policy.Gate) && (h.Async || h.AsyncRewake):
		c.add(Fail, "the gate"+in+" runs beside the event (async), so it can block nothing", "take async and asyncRewake out of it")
	case h.is(event.SubagentStop, policy.Courier) && !h.AsyncRewake:
		c.add(Fail, "the courier"+in+" has no asyncRewake: the stop waits for it, and its message goes to the agent", `add "asyncRewake": true to it, or `+again)
	case h.Event == event.PostToolUse && h.Matcher != setup.Launchers && !matchesAll(h.Matcher):
		c.add(Note, fmt.Sprintf("the matcher %q of PostToolUse is not the usual one: launches by other tools are found later, in the transcripts", h.Matcher), again)
	}
}

// narrowed looks for an event whose every entry of one mode stands under a
// matcher: it is matched with the agent's type, or the reason of a session's end.
func (c *Check) narrowed(f facts, hooks []hook) {
	for _, what := range []struct{ event, mode, who string }{
		{event.SubagentStop, policy.Gate, "only those agents are guarded"},
		{event.SubagentStop, policy.Courier, "only those agents have a courier"},
		{event.SubagentStart, policy.Gate, "only those agents' starts are seen"},
		{event.SessionEnd, policy.Gate, "only such ends of a session are seen"},
	} {
		var only *hook
		for i, h := range hooks {
			if !h.is(what.event, what.mode) {
				continue
			}
			if only = &hooks[i]; matchesAll(h.Matcher) {
				only = nil
				break
			}
		}
		if only != nil {
			c.add(Warn, fmt.Sprintf("under the matcher %q of %s %s", only.Matcher, what.event, what.who), "take the matcher out of "+f.short(only.source.Path))
		}
	}
}

// matchesAll tells whether a matcher lets everything through.
func matchesAll(matcher string) bool {
	return slices.Contains([]string{"", "*", ".*", ".+", "^.*$", "^.+$"}, matcher)
}

func hookRuns(f facts) Check {
	if f.proofErr != nil {
		return Check{Status: Warn, Found: "could not be tried: " + f.proofErr.Error()}
	}
	var programs, untried []string
	answer := ""
	for _, p := range f.proofs {
		program := f.short(p.Hook.Program)
		if p.Err != nil {
			c := Check{Status: Fail, Found: fmt.Sprintf("%s on %s: %v", strings.Join(append([]string{program}, p.Hook.Flags...), " "), p.Hook.Event, p.Err), Mend: cmp.Or(p.Mend, again)}
			if errors.Is(p.Err, fs.ErrNotExist) && p.Mend == "" {
				c.Mend = f.reinstall
			}
			return c
		}
		if p.Skipped != "" {
			if !slices.Contains(untried, p.Skipped) {
				untried = append(untried, p.Skipped)
			}
			continue
		}
		if !slices.Contains(programs, program) {
			programs = append(programs, program)
		}
		if pol, err := p.Hook.Policy(); err == nil && pol.Mode == policy.Gate && p.Hook.Event == event.SubagentStop {
			answer = fmt.Sprintf(": %s (%s)", p.Want, p.Took.Round(time.Millisecond))
		}
	}
	if len(programs)+len(untried) == 0 {
		return Check{Status: Note, Found: "nothing registered to try"}
	}
	found := strings.Join(programs, ", ") + answer
	if len(untried) > 0 {
		if slices.ContainsFunc(f.proofs, func(p setup.Proof) bool { return !filepath.IsAbs(p.Hook.Program) }) {
			return Check{Status: Warn, Found: strings.TrimPrefix(found+"; ", "; ") + strings.Join(untried, "; "), Mend: again}
		}
		return Check{Status: Note, Found: strings.TrimPrefix(found+"; ", "; ") + strings.Join(untried, "; ")}
	}
	for _, p := range f.proofs {
		if p.Hook.Shell {
			return Check{Status: Note, Found: found + "; an entry without args goes through a shell", Mend: again}
		}
	}
	return Check{Status: OK, Found: found}
}

// ownFiles looks for what an installation by another user left behind.
func ownFiles(f facts) Check {
	if len(f.strangers) == 0 {
		return Check{Status: OK, Found: "what stopgate and the client write belongs to " + cmp.Or(f.person, "this user")}
	}
	var folders []string
	for _, s := range f.strangers {
		// The outermost of them; what is below comes along.
		if !slices.ContainsFunc(folders, func(dir string) bool { return strings.HasPrefix(s.Path, dir+string(filepath.Separator)) }) {
			folders = append(folders, s.Path)
		}
	}
	var names, quoted []string
	for _, dir := range folders {
		names = append(names, f.short(dir))
		quoted = append(quoted, "'"+strings.ReplaceAll(dir, "'", `'\''`)+"'")
	}
	return Check{
		Status: Warn,
		Found:  fmt.Sprintf("%d files and folders belong to %s, who is not whose home this is, so the hook may not be able to write: %s", len(f.strangers), f.strangers[0].Owner, strings.Join(names, ", ")),
		Mend:   "sudo chown -R " + ownerSpec(f.person) + " " + strings.Join(quoted, " "),
	}
}

// ownerSpec is a person for chown, with the person's group where the list of users has
// one: of a bare number none is known.
func ownerSpec(person string) string {
	if strings.Trim(person, "0123456789") == "" {
		return person
	}
	return person + ":"
}

// where names an entry: its file, and the place in it.
func (f facts) where(s setup.SettingsFile, e setup.Hook) string {
	name := f.short(s.Path)
	if e.Path != "" {
		name += " " + e.Path
	}
	return name
}

// waitsFit asks whether what waits, in any scope and in the plugin, is let wait as
// long as it says: by its own entry's timeout and by the client's stall limit.
func waitsFit(f facts) Check {
	c := Check{Status: OK}
	var fine, bad, known []string
	look := func(s setup.SettingsFile, e setup.Hook) {
		p, err := e.Policy()
		if err != nil || e.Event != event.SubagentStop && e.Event != event.Stop {
			return
		}
		strains := f.limits.Strains(e)
		for _, strain := range strains {
			text := f.where(s, e) + ": " + strain.Text
			if !strain.Broken {
				known = append(known, text)
				continue
			}
			bad = append(bad, text)
			status := Warn
			if strain.Lost {
				status = Fail
			}
			if rank[status] > rank[c.Status] {
				c.Status, c.Mend = status, strain.Mend
				if s.Scope == setup.ScopePlugin {
					c.Mend = "build the plugin anew: hookctl plugin build"
				}
			}
		}
		if len(strains) == 0 && s.Scope != setup.ScopePlugin {
			fine = append(fine, fmt.Sprintf("%s under a timeout of %s", title(p), span.Text(setup.TimeoutOf(e.Entry))))
		}
	}
	for _, s := range slices.Concat(f.sources, f.plugins) {
		for _, e := range s.Hooks {
			look(s, e)
		}
	}
	switch {
	case len(bad) > 0:
		c.Found = strings.Join(bad, "; ")
	case len(known) > 0:
		return Check{Status: Note, Found: strings.Join(known, "; ")}
	case len(fine) == 0:
		return Check{Status: Note, Found: "nothing registered that waits"}
	default:
		c.Found = strings.Join(fine, ", ")
	}
	return c
}

// clientsClocks says against which clocks of the client a hold runs.
func clientsClocks(f facts) Check {
	by := "the client's own"
	if f.limits.StallBy != "" {
		by = f.limits.StallBy
	}
	found := fmt.Sprintf("an agent may make no progress for %s (%s), so a hold ends after %s at the latest; a print run waits for agents in the background ", span.Text(f.limits.Stall), by, span.Text(f.limits.Longest()))
	if f.limits.Ceiling > 0 {
		found += "for " + span.Text(f.limits.Ceiling)
	} else {
		found += "as long as they take"
	}
	if f.limits.Client > 0 && f.limits.Kind != clocks.Unknown {
		found += fmt.Sprintf("; this is run in a session of the kind %s, told by its %s", f.limits.Kind, f.limits.By)
	}
	return Check{Status: OK, Found: found}
}

func entriesDoubled(f facts) Check {
	type key struct{ event, mode string }
	where := map[key][]string{}
	var order []key
	for _, h := range f.hooks() {
		if h.err != nil {
			continue
		}
		k := key{h.Event, h.policy.Mode}
		if where[k] == nil {
			order = append(order, k)
		}
		where[k] = append(where[k], h.source.Scope)
	}
	if p := f.plugin(); p != "" && len(order) > 0 {
		return Check{Status: Note, Found: "registered in settings and by the plugin " + p + ": each event is answered once, and costs two processes", Mend: "hookctl uninstall, or " + f.pluginOut()}
	}
	var doubled []string
	for _, k := range order {
		if len(where[k]) > 1 {
			name := k.event
			if k.mode != policy.Gate {
				name += " " + k.mode
			}
			doubled = append(doubled, fmt.Sprintf("%s %d times (%s)", name, len(where[k]), strings.Join(where[k], ", ")))
		}
	}
	if len(doubled) > 0 {
		return Check{Status: Warn, Found: strings.Join(doubled, "; ") + ": each event is answered once, but which entry's flags count is left to chance", Mend: "hookctl uninstall, then hookctl install once"}
	}
	return Check{Status: OK, Found: "nothing is registered twice"}
}

func hooksAllowed(f facts) Check {
	var off, only *setup.SettingsFile
	managed := false
	for i, s := range f.sources {
		if v := s.DisableAllHooks; v != nil {
			off = nil // a stronger scope has its way
			if *v {
				off = &f.sources[i]
			}
		}
		if s.Scope != settings.Managed {
			continue
		}
		managed = managed || len(s.Hooks) > 0
		if v := s.AllowManagedHooksOnly; v != nil {
			only = nil
			if *v {
				only = &f.sources[i]
			}
		}
	}
	switch {
	case off != nil:
		return Check{Status: Fail, Found: "disableAllHooks in " + f.short(off.Path) + ": the client runs no hook", Mend: "take it out there"}
	case only != nil && !managed:
		return Check{Status: Fail, Found: "allowManagedHooksOnly in " + only.Path + ": the client runs only hooks that managed settings register", Mend: "ask whoever manages this machine to register stopgate there"}
	}
	return Check{Status: OK, Found: "no settings file disables hooks"}
}

func switchedOn(f facts) Check {
	v, where := f.value(state.EnvDisable)
	switch {
	case state.Disables(v):
		return Check{Status: Warn, Found: "stopgate is off by " + state.EnvDisable + "=" + v + " in " + where + ": every stop is let through", Mend: "take it out of " + where}
	case f.state.off == "":
		return Check{Status: OK, Found: "stopgate is on"}
	case f.state.until.IsZero():
		return Check{Status: Warn, Found: "stopgate is off by " + f.state.off + ": every stop is let through", Mend: "hookctl on"}
	}
	return Check{Status: Note, Found: "stopgate is off by " + f.state.off + " until " + f.state.until.Local().Format("2006-01-02 15:04"), Mend: "hookctl on"}
}

func stateUsable(f facts) Check {
	s := f.state
	here := f.env(state.EnvDir)
	there, where := f.value(state.EnvDir)
	switch {
	case there != "" && !filepath.IsAbs(there):
		return Check{Status: Warn, Found: state.EnvDir + "=" + there + " in " + where + " is no absolute path, so it is not used", Mend: "give the whole path"}
	case there != "" && filepath.Clean(there) != filepath.Clean(here):
		return Check{Status: Warn, Found: where + " give the hook " + state.EnvDir + "=" + there + ", which hookctl does not have here: it looks at " + f.short(s.path), Mend: "set it for your shell too"}
	case s.err != nil && s.path == "":
		return Check{Status: Fail, Found: s.err.Error(), Mend: "set HOME or STOPGATE_STATE_DIR"}
	case s.err != nil:
		return Check{Status: Fail, Found: f.short(s.path) + ": " + s.err.Error() + "; the hook makes do with " + state.Fallback(), Mend: "make it writable, or set STOPGATE_STATE_DIR to a folder on a local disk"}
	case s.missing:
		return Check{Status: OK, Found: f.short(s.path) + " will be made by the first event"}
	case f.sessions.unreadable > 0:
		return Check{Status: Warn, Found: fmt.Sprintf("%s can be written and locked; %d of %d sessions cannot be read", f.short(s.path), f.sessions.unreadable, f.sessions.count), Mend: "hookctl status says why"}
	}
	return Check{Status: OK, Found: f.short(s.path) + " can be written and locked"}
}

func lastRecorded(f facts) Check {
	s := f.sessions
	if s.at.IsZero() {
		c := Check{Status: Note, Found: "no event has been recorded yet", Mend: "start a new session: running ones took their hooks at their start"}
		if s.ephemeral > 0 {
			c.Found = fmt.Sprintf("the hook was called %d times, so far only for the client's own helpers", s.ephemeral)
			c.Mend = ""
		}
		return c
	}
	id := s.id
	if len(id) > 8 {
		id = id[:8]
	}
	return Check{Status: OK, Found: fmt.Sprintf("%s of session %s, %s ago", s.event, id, age(f.now.Sub(s.at)))}
}

// age is a duration in its two largest units at most.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return span.Text(max(0, d).Round(time.Second))
	case d < 48*time.Hour:
		return span.Text(d.Round(time.Minute))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

func clientVersion(f facts) Check {
	v := f.version
	if v == "" {
		return Check{Status: Note, Found: "no transcript of a recorded session names the client's version yet"}
	}
	switch {
	case older(v, execForm):
		return Check{Status: Fail, Found: v + " cannot start the hook: it knows no args", Mend: "update Claude Code to " + withTasks + " or newer"}
	case older(v, withTasks):
		return Check{Status: Fail, Found: v + " does not tell a hook what runs, so no stop is ever blocked", Mend: "update Claude Code to " + withTasks + " or newer"}
	}
	what := ""
	for _, b := range behaviours {
		if b.upTo == "" || !older(b.upTo, v) {
			what = b.what
			break
		}
	}
	below, above := around(v)
	const see = " (docs/compatibility.md)"
	switch {
	case below == above:
		return Check{Status: OK, Found: v + ", tested: " + what + see}
	case above == "":
		return Check{Status: Note, Found: v + " is newer than the newest tested one, " + below + ": " + what + " there" + see, Mend: "look at hookctl status after the next session: an agent's tasks should have owners"}
	case below == "":
		return Check{Status: Note, Found: v + " is older than the oldest tested one, " + above + ": " + what + " there" + see}
	}
	return Check{Status: OK, Found: v + ", between the tested " + below + " and " + above + ": " + what + see}
}

// value is what a variable is for a session here, and where that is said.
func (f facts) value(name string) (value, where string) { return setup.Value(f.env, f.sources, name) }

func truthy(v string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(strings.TrimSpace(v)))
}

func falsy(v string) bool {
	return slices.Contains([]string{"0", "false", "no", "off"}, strings.ToLower(strings.TrimSpace(v)))
}

func backgroundTasks(f facts) Check {
	if v, where := f.value(envNoBackground); truthy(v) {
		return Check{Status: Note, Found: envNoBackground + "=" + v + " in " + where + ": agents launch nothing in the background, so there is nothing to guard"}
	}
	return Check{Status: OK, Found: "agents may run tasks in the background"}
}

func blockCap(f facts) Check {
	blocks := policy.DefaultBlocks
	for _, h := range f.hooks() {
		if h.is(event.SubagentStop, policy.Gate) {
			blocks = max(blocks, h.policy.Blocks)
		}
	}
	limit, from := defaultCap, "the client's own"
	v, where := f.value(envCap)
	if n, err := strconv.Atoi(strings.TrimSpace(v)); v != "" && err == nil && n >= 0 {
		limit, from = n, envCap+" in "+where
	} else if v != "" {
		from = "the client's own; " + envCap + "=" + v + " in " + where + " is no number"
	}
	if limit == 0 {
		return Check{Status: OK, Found: "no cap (" + from + "); stopgate itself stops at " + strconv.Itoa(gate.MaxChain) + " blocks in a row"}
	}
	found := fmt.Sprintf("%d blocks in a row (%s)", limit, from)
	switch {
	case limit < min(blocks, gate.MaxChain):
		return Check{Status: Warn, Found: fmt.Sprintf("%s, but --blocks %d asks for more: the client lets the agent go earlier", found, blocks), Mend: "raise or unset " + envCap}
	case blocks > gate.MaxChain:
		return Check{Status: Note, Found: fmt.Sprintf("%s; of --blocks %d an agent gets at most %d in a row", found, blocks, gate.MaxChain)}
	case limit < gate.MaxChain:
		return Check{Status: Note, Found: fmt.Sprintf("%s: enough for --blocks %d, not for an agent that leaves %d tasks one after the other", found, blocks, limit+1), Mend: "raise or unset " + envCap}
	}
	return Check{Status: OK, Found: fmt.Sprintf("%s, --blocks %d", found, blocks)}
}

func teamsInForkMode(f facts) Check {
	teams, where := f.value(envTeams)
	if !truthy(teams) {
		return Check{Status: OK, Found: "agent teams are off"}
	}
	fork, forkWhere := f.value(envFork)
	on := "agent teams are on (" + where + ")"
	switch {
	case falsy(fork):
		return Check{Status: OK, Found: on + ", fork mode is pinned off (" + forkWhere + ")"}
	case f.version != "" && older(deafTeams, f.version):
		return Check{Status: OK, Found: on + "; from client " + f.version + " on teammates hear of their child agents"}
	}
	state := ", fork mode is not pinned off and can be switched on remotely"
	if truthy(fork) {
		state = ", fork mode is on (" + forkWhere + ")"
	}
	return Check{
		Status: Warn,
		Found:  on + state + ": up to client " + deafTeams + " a teammate's child agents then report where it cannot hear them",
		Mend:   `set "` + envFork + `": "0" under "env" in the user's settings`,
	}
}
