// Package stats sums up what stopgate did in a span of time: for a person what
// pkg/telemetry measures for a collector, by project, by day and by command. Pure:
// snapshots and their status go in, sums come out, and a table, JSON or a page of them.
package stats

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/telemetry"
	"stopgate/pkg/transcript"
)

// Sums are what happened, counted. They are those of the metrics of docs/telemetry.md.
type Sums struct {
	// Sessions are those with a stop or a task in the span.
	Sessions int `json:"sessions"`
	// Stops were answered, Blocks of them blocked: each costs an agent one turn.
	Stops  int `json:"stops"`
	Blocks int `json:"blocks"`
	// Holds of stops lasted Held in all.
	Holds int     `json:"holds"`
	Held  Seconds `json:"held_seconds"`
	// Results are ends of tasks that were handed over to their agents, which a stop
	// would have lost.
	Results int `json:"results"`
	// Left ran on when their agent was let go; of Unheard nobody was told. Wakes are
	// those of the coordinator by couriers.
	Left    int `json:"left"`
	Unheard int `json:"unheard"`
	Wakes   int `json:"wakes"`
}

// Seconds is a duration that is written in seconds.
type Seconds time.Duration

// MarshalJSON writes it as a number.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Round(time.Millisecond).Seconds(), 'f', -1, 64), nil
}

// Project is a folder that sessions ran in.
type Project struct {
	Folder string `json:"folder"`
	Sums
}

// Day is one day of the person's.
type Day struct {
	Date string `json:"date"`
	Sums
}

// Command is what agents waited for: tasks that ran the same command, or those of one
// kind whose command is not known.
type Command struct {
	// Command is the text, "" where it is not known; Kind is the tasks' kind.
	Command string `json:"command,omitempty"`
	Kind    string `json:"kind"`
	Tasks   int    `json:"tasks"`
	// Held is how long stops were held for them. A hold for two tasks counts for both.
	Held    Seconds `json:"held_seconds"`
	Results int     `json:"results"`
	Left    int     `json:"left"`
	Unheard int     `json:"unheard"`
}

// Stats are the sums of a span of time.
type Stats struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	Total Sums      `json:"total"`
	// Projects come with the longest holds first, and so do Commands. Days are all of
	// the span, the oldest first.
	Projects []Project `json:"projects"`
	Commands []Command `json:"commands"`
	Days     []Day     `json:"days"`
}

// Session is what is known of one session.
type Session struct {
	Snapshot ledger.Snapshot
	Status   status.Session
	// Over tells that it has ended.
	Over bool
}

// Request says how sessions are summed up.
type Request struct {
	// Since is the beginning of the span, Now its end.
	Since, Now time.Time
	// Zone is where the person's days begin.
	Zone *time.Location
	// Command looks the text of a task up; nil knows of none.
	Command func(status.Session, status.Task) string
}

// Of sums sessions up.
func (src Request) Of(sessions []Session) Stats {
	b := &builder{
		Request: src, stats: Stats{Since: src.Since.UTC().Truncate(time.Millisecond), Until: src.Now.UTC().Truncate(time.Millisecond)},
		projects: map[string]*Sums{}, days: map[string]*Sums{}, commands: map[[2]string]*Command{},
	}
	for at := src.Since.In(src.Zone); !at.After(src.Now); at = at.AddDate(0, 0, 1) {
		b.day(at)
	}
	b.day(src.Now)
	for _, s := range sessions {
		b.session(s)
	}
	return b.finish()
}

type builder struct {
	Request
	stats    Stats
	projects map[string]*Sums
	days     map[string]*Sums
	commands map[[2]string]*Command
}

func (b *builder) day(at time.Time) *Sums {
	date := at.In(b.Zone).Format(time.DateOnly)
	if b.days[date] == nil {
		b.days[date] = &Sums{}
	}
	return b.days[date]
}

// session adds one session: what a collector would be told of it, each part on its day.
func (b *builder) session(s Session) {
	var parts []part
	for _, stop := range s.Snapshot.Stops {
		parts = append(parts, part{stop.Time, ofStop(stop)})
	}
	for _, c := range s.Snapshot.Couriers {
		parts = append(parts, part{c.At, Sums{Wakes: 1}})
	}
	for _, t := range s.Status.Tasks {
		if !telemetry.Told(t, s.Over) {
			continue
		}
		p := part{at: cmp.Or(t.Ended, s.Status.Last.Time)}
		if telemetry.LeftRunning(s.Snapshot.Stops, t) {
			p.Left = 1
		}
		if t.State == status.TaskUndelivered {
			p.Unheard = 1
		}
		parts = append(parts, p)
		if !p.at.Before(b.Since) {
			b.task(s, t, p.Sums)
		}
	}
	project := b.projects[s.Status.Cwd]
	if project == nil {
		project = &Sums{}
	}
	seen := map[*Sums]bool{}
	for _, p := range parts {
		if p.at.Before(b.Since) || p.at.After(b.Now) {
			continue
		}
		b.projects[s.Status.Cwd] = project
		for _, sums := range []*Sums{&b.stats.Total, project, b.day(p.at)} {
			sums.add(p.Sums)
			if !seen[sums] {
				seen[sums] = true
				sums.Sessions++
			}
		}
	}
}

// part is something that happened at a time.
type part struct {
	at time.Time
	Sums
}

func (s *Sums) add(o Sums) {
	s.Stops, s.Blocks, s.Holds, s.Held = s.Stops+o.Stops, s.Blocks+o.Blocks, s.Holds+o.Holds, s.Held+o.Held
	s.Results, s.Left, s.Unheard, s.Wakes = s.Results+o.Results, s.Left+o.Left, s.Unheard+o.Unheard, s.Wakes+o.Wakes
}

func ofStop(stop ledger.Stop) Sums {
	s := Sums{Stops: 1, Results: telemetry.HandedOver(stop)}
	if stop.Verdict == ledger.Block {
		s.Blocks = 1
	}
	if held := telemetry.Held(stop); held > 0 {
		s.Holds, s.Held = 1, Seconds(held)
	}
	return s
}

// maxCommand is how much of a command tells it from others.
const maxCommand = 200

// task adds a task to those of its command, if an agent of the session has it.
func (b *builder) task(s Session, t status.Task, sums Sums) {
	if t.Owner == "" || t.Owner == transcript.Main {
		return
	}
	text := ""
	if b.Command != nil {
		text = strings.TrimSpace(b.Command(s.Status, t))
	}
	text = strings.ToValidUTF8(text[:min(len(text), maxCommand)], "")
	key := [2]string{text, t.Kind}
	c := b.commands[key]
	if c == nil {
		c = &Command{Command: text, Kind: t.Kind}
		b.commands[key] = c
	}
	c.Tasks++
	c.Left += sums.Left
	c.Unheard += sums.Unheard
	for _, stop := range s.Snapshot.Stops {
		if stop.Time.Before(b.Since) || !slices.Contains(stop.Own, t.ID) {
			continue
		}
		c.Held += Seconds(telemetry.Held(stop))
		if telemetry.HandedOver(stop) > 0 && slices.Contains(stop.Ended, t.ID) {
			c.Results++
		}
	}
}

func (b *builder) finish() Stats {
	s := b.stats
	s.Projects, s.Commands, s.Days = []Project{}, []Command{}, []Day{}
	for folder, sums := range b.projects {
		s.Projects = append(s.Projects, Project{folder, *sums})
	}
	slices.SortFunc(s.Projects, func(x, y Project) int {
		return cmp.Or(cmp.Compare(y.Held, x.Held), cmp.Compare(y.Stops, x.Stops), cmp.Compare(x.Folder, y.Folder))
	})
	for _, c := range b.commands {
		s.Commands = append(s.Commands, *c)
	}
	slices.SortFunc(s.Commands, func(x, y Command) int {
		return cmp.Or(cmp.Compare(y.Held, x.Held), cmp.Compare(y.Tasks, x.Tasks), cmp.Compare(x.Command, y.Command), cmp.Compare(x.Kind, y.Kind))
	})
	for date, sums := range b.days {
		s.Days = append(s.Days, Day{date, *sums})
	}
	slices.SortFunc(s.Days, func(x, y Day) int { return cmp.Compare(x.Date, y.Date) })
	return s
}
