package status

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/team"
	"stopgate/pkg/transcript"
)

// Team is a team of agents, as its files and its members' meta files show it.
type Team struct {
	Name string
	// Dir is its folder, TasksDir that of its tasks; "" where there is none.
	Dir, TasksDir string
	// LeadSession is the session that leads it; "" where it is unknown.
	LeadSession string
	Lead        LeadState
	// Members in the order of the file; the lead is one of them.
	Members []Member
	// Tasks are the open ones of the list that its members share.
	Tasks []TeamTask
	// Advice says in one line what to do about a team whose lead is gone or
	// quiet; "" for others.
	Advice string
}

// LeadState is whether a team still has its lead.
type LeadState string

// The states of a lead.
const (
	LeadPresent LeadState = "present"
	// LeadQuiet was not heard of for long.
	LeadQuiet LeadState = "quiet"
	// LeadGone left the team's files behind.
	LeadGone LeadState = "gone"
)

// Member is one member of a team.
type Member struct {
	Name, Color string
	// ID is <name>@<team>; AgentID is its id in hook events, "" for the lead, for
	// one that is a session of its own, and for one that no event named.
	ID, AgentID string
	// Type is what it was made from, Backend where it runs and Pane the
	// terminal's name for its pane; each "" where it is unknown.
	Type, Backend, Pane string
	Lead                bool
	// Separate tells that it is a process and a session of its own, whose stops
	// are those of a coordinator.
	Separate bool
	// State is "" where it is unknown, Since when it began, as far as known.
	State AgentState
	Since time.Time
	// Unread counts the messages that it has not taken in.
	Unread int
	// Asked is when it was last asked to shut down; zero for not.
	Asked time.Time
	// Stuck, Why and Advice are as those of [Agent].
	Stuck  bool
	Why    Why
	Advice string
}

// TeamTask is one open task of a team's list.
type TeamTask struct {
	ID, Subject, Status string
	// Owner is a member's name; "" is nobody.
	Owner string
	// WaitsFor are the open tasks that block it, by their ids.
	WaitsFor []string
}

// teamFiles reads the teams of each configuration folder once.
type teamFiles struct {
	mu   sync.Mutex
	read map[string]teamFolder
}

// teamFolder is what stands in one configuration folder of the client.
type teamFolder struct {
	// path is where it is read, shown what it is called.
	path, shown string
	teams       []team.Team
	problems    []team.Problem
}

func (f *teamFiles) of(path, shown string) teamFolder {
	if path == "" {
		return teamFolder{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	have, ok := f.read[path]
	if !ok {
		have = teamFolder{path: path, shown: shown}
		have.teams, have.problems = team.Read(path)
		if f.read == nil {
			f.read = map[string]teamFolder{}
		}
		f.read[path] = have
	}
	return have
}

// teams reads the teams beside a session's transcript, or those of the
// environment's configuration folder.
func (s Source) teams(f *teamFiles, mainTranscript string) teamFolder {
	if shown := configDir(mainTranscript); shown != "" {
		return f.of(configDir(s.Files.Path(mainTranscript)), shown)
	}
	dir := host.ClientHome(s.Env)
	return f.of(dir, dir)
}

// configDir is the client's folder above a transcript, which lies in
// projects/<slug> of it (docs/client.md: files); "" for a path that does not.
func configDir(mainTranscript string) string {
	projects := filepath.Dir(filepath.Dir(mainTranscript))
	if mainTranscript == "" || filepath.Base(projects) != "projects" {
		return ""
	}
	return filepath.Dir(projects)
}

// leadFacts gathers what is known of a team's lead. heard is when anything was
// last heard of its session, zero for a session that is not found.
func (s Source) leadFacts(t team.Team, ended, heard time.Time) leadFacts {
	l := leadFacts{pid: t.LeadPID, ended: ended, heard: heard, created: t.CreatedAt}
	if l.pid > 0 && s.Here != nil && s.Here(t.LeadPIDSpace) && s.Alive != nil {
		l.here, l.alive = true, s.Alive(l.pid)
		if t.LeadStart != "" && s.StartOf != nil {
			if start := s.StartOf(l.pid); start != "" && start != t.LeadStart {
				l.alive = false
			}
		}
	}
	return l
}

// past is a time that may be later than now by a clock that is set otherwise, or
// by a copy: then it says nothing.
func (s Source) past(t time.Time) time.Time {
	if t.After(s.Now) {
		return time.Time{}
	}
	return t
}

// lead judges the lead of a team that this session leads.
func (b *builder) lead(t team.Team) (LeadState, string) {
	heard := b.snap.Session.LastEventAt
	if info, err := b.src.Files.Stat(b.snap.Session.Transcript); err == nil {
		heard = later(heard, b.src.past(info.ModTime()))
	}
	return leadVerdict(b.src.leadFacts(t, b.snap.Session.Ended, heard), b.src.Now)
}

// teamFile finds the files of a team that a teammate of this session belongs to,
// by its name; "" is the only one that the session leads.
func (b *builder) teamFile(name string) (team.Team, bool) {
	led := team.ForSession(b.folder.teams, b.snap.Session.ID)
	if name == "" && len(led) == 1 {
		return led[0], true
	}
	for _, t := range led {
		if t.Called(name) {
			return t, true
		}
	}
	for _, t := range b.folder.teams {
		if t.LeadSessionID == "" && t.Called(name) { // its config cannot be read
			return t, true
		}
	}
	return team.Team{}, false
}

// mate is a teammate's place in its team.
type mate struct {
	team team.Team
	name string
}

// mate finds a teammate's place; ok is false for an agent that is none, and for
// one whose team has left no files.
func (b *builder) mate(agent string) (m mate, ok bool) {
	rec, meta := b.snap.Agents[agent], b.metas[agent]
	if !b.teammate(agent) {
		return m, false
	}
	m.team, ok = b.teamFile(cmp.Or(rec.Team, meta.TeamName))
	m.name = cmp.Or(meta.Name, rec.Name, team.NameOf(agent), rec.Type, meta.AgentType)
	if member, found := m.team.Member(agent, m.name); found {
		m.name = member.Name
	}
	return m, ok
}

// teammate tells whether an agent is a member of a team.
func (b *builder) teammate(agent string) bool {
	rec, meta := b.snap.Agents[agent], b.metas[agent]
	return meta.Teammate || rec.Team != "" || !rec.Idle.IsZero()
}

// teams are the teams of the session: those it leads, and those that its agents'
// meta files name.
func (b *builder) teams(s Session) []Team {
	var out []Team
	var files []team.Team
	add := func(t team.Team) int {
		out = append(out, b.team(t))
		files = append(files, t)
		return len(out) - 1
	}
	for _, t := range team.ForSession(b.folder.teams, s.ID) {
		add(t)
	}
	for _, a := range s.Agents {
		if !b.teammate(a.ID) {
			continue
		}
		m, known := b.mate(a.ID)
		if !known {
			if a.Team == "" {
				continue
			}
			m.team = team.Team{Name: a.Team, LeadSessionID: s.ID}
		}
		i := slices.IndexFunc(files, func(t team.Team) bool { return t.Dir == m.team.Dir && t.Name == m.team.Name })
		if i < 0 {
			i = add(m.team)
		}
		out[i].seat(a, m.name)
	}
	return out
}

// seat gives a teammate its place among the members. Of several agents with one
// name the last one is the member.
func (t *Team) seat(a Agent, name string) {
	i := slices.IndexFunc(t.Members, func(m Member) bool { return m.Name == name && !m.Lead })
	if i < 0 {
		t.Members = append(t.Members, Member{Name: name, Backend: team.InProcess})
		i = len(t.Members) - 1
	}
	m := &t.Members[i]
	m.AgentID, m.State, m.Since = a.ID, a.State, a.Since
	m.Stuck, m.Why, m.Advice = a.Stuck, a.Why, a.Advice
	m.Color, m.Type = cmp.Or(m.Color, a.Color), cmp.Or(m.Type, a.Type)
}

// team shows a team of this session, its members without their agents.
func (b *builder) team(t team.Team) Team {
	state, why := b.lead(t)
	out := b.folder.team(t, state, why)
	for i := range out.Members {
		b.src.restOf(&out.Members[i], t, state)
	}
	return out
}

// team shows a team as its files tell it.
func (f teamFolder) team(t team.Team, lead LeadState, why string) Team {
	out := Team{Name: t.Name, LeadSession: t.LeadSessionID, Lead: lead}
	for _, m := range t.Members {
		out.Members = append(out.Members, Member{
			Name: m.Name, Color: m.Color, ID: m.AgentID, Type: m.AgentType, Backend: m.Backend, Pane: m.PaneID,
			Lead: t.IsLead(m), Separate: m.Separate(), Unread: t.Unread(m.Name),
		})
	}
	for _, task := range t.Tasks {
		if !task.Open() || task.Internal {
			continue
		}
		shown := TeamTask{ID: task.ID, Subject: task.Subject, Status: task.Status, Owner: task.Owner}
		for _, other := range t.Blockers(task) {
			shown.WaitsFor = append(shown.WaitsFor, other.ID)
		}
		out.Tasks = append(out.Tasks, shown)
	}
	if t.Dir == "" {
		return out
	}
	out.Dir = filepath.Join(f.shown, "teams", t.Dir)
	rest := out.Dir
	if info, err := os.Stat(filepath.Join(f.path, "tasks", t.Dir)); err == nil && info.IsDir() {
		out.TasksDir = filepath.Join(f.shown, "tasks", t.Dir)
		rest += " and " + out.TasksDir
	}
	switch lead {
	case LeadGone:
		out.Advice = fmt.Sprintf("the lead of %s is gone, %s: its files are left over; once nobody needs them, remove %s", t.Name, why, rest)
	case LeadQuiet:
		out.Advice = fmt.Sprintf("the lead of %s may be gone, %s: if it is, its files are left over; then remove %s", t.Name, why, rest)
	}
	return out
}

// restOf tells what the files say of a member that no hook event named.
func (s Source) restOf(m *Member, t team.Team, lead LeadState) {
	asked, waits := t.ShutdownAsked(m.Name)
	if waits {
		m.Asked = asked
	}
	member, _ := t.Member("", m.Name)
	idle, agreed := t.IdleSince(m.Name), t.ShutdownAgreed(m.Name)
	switch {
	case lead == LeadGone && m.Separate:
		return // its process may live on
	case lead == LeadGone:
		m.State = AgentEnded
		return
	case m.Lead:
		return
	case agreedToEnd(agreed, time.Time{}, idle):
		m.State, m.Since = AgentEnded, agreed
	case member.Active != nil && *member.Active:
		m.State = AgentRunning
	case member.Active != nil, !idle.IsZero():
		m.State, m.Since = AgentIdle, idle
	}
	p := plight{who: m.Name, state: m.State, owed: owed(t, m.Name)}
	if waits {
		p.ask(asked, s.Now)
	}
	if !idle.IsZero() {
		p.rested = s.since(idle)
	}
	m.Why, m.Advice = p.verdict()
	m.Stuck = m.Why != ""
}

// ask takes in that an agent was asked to shut down; zero is an unknown time.
func (p *plight) ask(at, now time.Time) {
	p.asked, p.askedFor = true, -1
	if !at.IsZero() {
		p.askedFor = max(0, now.Sub(at))
	}
}

// since is how long ago something was; 0 for the unknown and the future.
func (s Source) since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(0, s.Now.Sub(t))
}

// owed are the team tasks that a member has begun and that nothing blocks, in
// words.
func owed(t team.Team, name string) []string {
	var out []string
	for _, task := range t.OpenTasks(name) {
		if task.Status == team.InProgress && len(t.Blockers(task)) == 0 {
			out = append(out, "team task "+taskName(task.ID, task.Subject))
		}
	}
	return out
}

func taskName(id, subject string) string {
	if subject == "" {
		return id
	}
	return fmt.Sprintf("%s (%s)", id, subject)
}

// leftover are the teams whose lead is gone and was never recorded: their
// session appears nowhere else.
func (s Source) leftover(files *teamFiles, f Filter, recorded map[string]bool) []Team {
	if f.Session != "" || f.Bare {
		return nil
	}
	s.teams(files, "")
	var out []Team
	for _, path := range sorted(files.read) {
		folder := files.read[path]
		for _, t := range folder.teams {
			ours := f.All || slices.ContainsFunc(t.Members, func(m team.Member) bool { return related(f.Folder, m.Cwd) })
			if !ours || t.LeadSessionID == "" || recorded[t.LeadSessionID] {
				continue
			}
			heard, _ := team.SessionWritten(folder.path, t.LeadSessionID)
			state, why := leadVerdict(s.leadFacts(t, time.Time{}, s.past(heard)), s.Now)
			if state == LeadGone {
				out = append(out, folder.team(t, state, why))
			}
		}
	}
	return out
}

// problemsOf are the unreadable files of the shown teams; those of others are
// nobody's concern here.
func (f teamFolder) problemsOf(teams []Team) []Problem {
	var out []Problem
	for _, p := range f.problems {
		for _, t := range teams {
			dir := filepath.Base(cmp.Or(t.Dir, t.Name))
			below := func(kind string) bool {
				folder := filepath.Join(f.path, kind, dir)
				return dir != "." && p.Path != folder && inside(p.Path, folder)
			}
			if below("teams") || below("tasks") {
				out = append(out, Problem{p.Path, problemText(p)})
				break
			}
		}
	}
	return out
}

func problemText(p team.Problem) string {
	text := p.Error()
	if rest := len(p.Path) + len(": "); len(text) > rest && text[:len(p.Path)] == p.Path {
		return text[rest:]
	}
	return text
}

// plight gathers what may keep an agent from going on.
func (b *builder) plight(s Session, a Agent) plight {
	p := plight{who: s.Label(a.ID), state: a.State}
	if a.Lost != nil {
		p.lost, p.lostFor = true, b.src.Now.Sub(a.Lost.Since)
	}
	for _, id := range a.Own {
		t, _ := s.Task(id)
		switch {
		case t.Excused():
		case t.State == TaskRunning:
			p.runs = append(p.runs, t.label(b.src.Now))
			p.watched = (p.watched || len(p.runs) == 1) && a.Courier != nil && slices.Contains(a.Courier.Tasks, id)
		case t.State == TaskUndelivered:
			p.unheard = append(p.unheard, t.label(b.src.Now))
			p.told = p.told || !t.Courier.IsZero()
		}
	}
	if m, ok := b.mate(a.ID); ok {
		if at, asked := m.team.ShutdownAsked(m.name); asked {
			p.ask(at, b.src.Now)
		}
		p.owed, p.rested = owed(m.team, m.name), b.src.since(a.Since)
	}
	if a.State == AgentRunning && a.Hold == nil {
		p.waits, p.silent = b.waiting(a.ID)
		if rec := b.snap.Agents[a.ID]; len(p.waits) == 0 && rec.Chain > 0 && !b.grew(a.ID, silentAfter) {
			p.blocked = true
			p.silent = b.src.since(later(b.src.past(b.written(a.ID)), rec.Last))
		}
	}
	return p
}

// waiting tells which tools an agent waits for and since when its transcript has
// not grown. A caller of another agent rests as long as that one works, and which
// one that is no older client says: so long as any of them writes, it does not
// count as silent.
func (b *builder) waiting(agent string) (tools []string, silent time.Duration) {
	if b.bare || b.grew(agent, silentAfter) {
		return nil, 0
	}
	rest := transcript.AtRest(b.src.Files, transcript.Source{Path: b.paths[agent], Owner: agent})
	last := later(b.src.past(rest.Told), b.src.past(rest.Written))
	if len(rest.Waits) == 0 || last.IsZero() {
		return nil, 0
	}
	if rest.ForAgent() {
		for id, path := range b.paths {
			if id != agent && path != "" {
				other := transcript.AtRest(b.src.Files, transcript.Source{Path: path, Owner: id})
				last = later(last, later(b.src.past(other.Told), b.src.past(other.Written)))
			}
		}
	}
	for _, call := range rest.Waits {
		if !slices.Contains(tools, call.Name) {
			tools = append(tools, call.Name)
		}
	}
	return tools, b.src.since(last)
}

// written is when an agent's transcript was last written; zero where it is unknown.
func (b *builder) written(agent string) time.Time {
	if info, err := b.src.Files.Stat(b.paths[agent]); err == nil {
		return info.ModTime()
	}
	return time.Time{}
}

// grew tells, without reading it, whether an agent's transcript was written
// within d.
func (b *builder) grew(agent string, d time.Duration) bool {
	path := b.paths[agent]
	if path == "" {
		return true
	}
	info, err := b.src.Files.Stat(path)
	return err != nil || !info.ModTime().After(b.src.Now) && b.src.since(info.ModTime()) < d
}
