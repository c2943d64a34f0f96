// Package team reads the files by which the client's agent teams organise
// themselves: who the members are, what mail waits for them and which tasks
// they share.
//
// In goes the client's configuration folder; out come plain values and a list
// of what could not be read. The files belong to running sessions, are written
// in place and change their shape between versions, so everything is optional:
// a field that is missing or of another type is as if it were not there, a file
// that is no JSON is a [Problem], and a folder that does not exist is nothing.
//
// The package only reads and takes no lock. The files stay when a session dies,
// and members stay in them when they have ended: who still runs, others judge.
package team

import (
	"slices"
	"strings"
	"time"

	"stopgate/pkg/lazy"
)

// Backends of a member (docs/client.md: teams). Others may come.
const (
	// InProcess members live in the lead's process and session.
	InProcess = "in-process"
	// Tmux members are processes and sessions of their own, in a tmux pane.
	Tmux = "tmux"
	// ITerm2 members are processes and sessions of their own, in a pane of
	// iTerm2.
	ITerm2 = "iterm2"
)

// Types of protocol messages: those that say something of a member's state.
const (
	// Idle is sent by a member that has ended a turn.
	Idle = "idle_notification"
	// ShutdownRequest asks a member to end.
	ShutdownRequest = "shutdown_request"
	// ShutdownApproved is the member's consent.
	ShutdownApproved = "shutdown_approved"
	// ShutdownRejected is the member's refusal.
	ShutdownRejected = "shutdown_rejected"
)

// Statuses of a task. Others may come; all but Completed and Deleted are open.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
	Deleted    = "deleted"
)

// Team is one folder under teams/ with its inboxes, and the folder of the same
// name under tasks/ (docs/client.md: teams). Every field may be empty.
type Team struct {
	// Dir is the name of the folder, which also names the tasks' folder.
	Dir string
	// Name is the team's name; Dir where the file gives none.
	Name string
	// LeadAgentID is the lead's Member.AgentID, LeadSessionID the session that
	// leads: the one whose events the team's in-process members are in.
	LeadAgentID   string
	LeadSessionID string
	// LeadPID is the lead's process; 0 is unknown, as on older clients. It means
	// something only in LeadPIDSpace, which names machine and pid namespace.
	LeadPID      int
	LeadPIDSpace string
	// LeadStart is the start of that process as the system counts it (on Linux
	// field 22 of /proc/<pid>/stat); it tells a reused pid. "" is unknown.
	LeadStart string
	// CreatedAt is zero where the file gives no time.
	CreatedAt time.Time
	// Members in the order of the file; the lead is one of them.
	Members []Member
	// Mail holds the inboxes by the name of their file, which is the member's
	// name (see MailOf), each in the order of the file. In-process delivery
	// often leaves an inbox empty.
	Mail map[string][]Message
	// Tasks in the order of their ids.
	Tasks []Task
}

// Member is one agent of a team. Every field but one of AgentID and Name may be
// empty.
type Member struct {
	// AgentID is <name>@<team>; it is not the agent id of hook events.
	AgentID string
	Name    string
	// Color is a colour's name, for example blue.
	Color string
	// AgentType is the type the member was made from, for example
	// general-purpose; team-lead for the lead.
	AgentType string
	Model     string
	// Backend is InProcess, Tmux, ITerm2 or a name of the client's; told by the
	// pane where the file names none; "" for the lead of older clients.
	Backend string
	// PaneID is the terminal's name for the member's pane, for example %1; ""
	// for members without one.
	PaneID string
	// Active is what a member in a pane says of itself; nil where it does not.
	Active *bool
	// JoinedAt is zero where the file gives no time.
	JoinedAt time.Time
	Cwd      string
}

// Separate reports whether the member is a process and session of its own, so
// that none of its events carry an agent id.
func (m Member) Separate() bool { return m.Backend != "" && m.Backend != InProcess }

// Message is one message in an inbox.
type Message struct {
	// From is the sender's name.
	From string
	// Text is the message; a JSON object where Protocol is set.
	Text    string
	Summary string
	// Type is the type of the envelope, mostly "message".
	Type string
	// Time is when it was sent; zero where the file gives no time.
	Time time.Time
	// Read is set when the addressee has taken it in.
	Read bool
	// Protocol is what the client said to the client; its Type is "" for
	// messages that an agent wrote.
	Protocol Protocol
}

// Protocol is a message between clients: a JSON object with a type inside the
// text of a message.
type Protocol struct {
	// Type is Idle, ShutdownRequest or another name of the client's.
	Type string
	// From is the sender, as the object itself says.
	From string
	// Time is when the object was made; for Idle, since when the sender is
	// idle. Zero where it gives none.
	Time time.Time
	// Reason is the idleReason or the reason.
	Reason string
	// RequestID joins an answer to its request.
	RequestID string
	// TaskID is the task it is about.
	TaskID string
}

// Task is one task of the team's shared list.
type Task struct {
	// ID is the name of its file where the file gives none.
	ID      string
	Subject string
	// Status is Pending, InProgress, Completed, Deleted or another.
	Status string
	// Owner is a member's name; "" is nobody.
	Owner string
	// Blocks and BlockedBy are ids of other tasks.
	Blocks, BlockedBy []string
	// Internal tasks are the client's own bookkeeping.
	Internal bool
}

// Open reports whether the task is still to be done.
func (t Task) Open() bool { return t.Status != Completed && t.Status != Deleted }

// ForSession picks the teams that a session leads. Members in panes are
// sessions of their own and lead none.
func ForSession(teams []Team, sessionID string) []Team {
	var led []Team
	for _, t := range teams {
		if sessionID != "" && t.LeadSessionID == sessionID {
			led = append(led, t)
		}
	}
	return led
}

var inProcessID = lazy.Regexp(`^a(.+)-[0-9a-f]{8,}$`)

// NameOf is the member's name inside the agent id that an in-process member has
// in hook events: ping for aping-4976bb1b79928c86. Ids of the client up to
// 2.1.150, and of agents without a name, hold none: "" (docs/client.md: teams).
func NameOf(agentID string) string {
	if m := inProcessID().FindStringSubmatch(agentID); m != nil {
		return m[1]
	}
	return ""
}

// Member finds a member by its id in hook events or in the file, or by its
// name. metaName is the name in the agent's meta file, for ids that hold none;
// "" is unknown. The lead has no agent id and is found by its name alone.
func (t Team) Member(agentID, metaName string) (Member, bool) {
	for _, name := range []string{metaName, NameOf(agentID)} {
		if name == "" {
			continue
		}
		for _, m := range t.Members {
			if m.Name == name {
				return m, true
			}
		}
		for _, m := range t.Members {
			if fileName(m.Name) == fileName(name) {
				return m, true
			}
		}
	}
	for _, m := range t.Members {
		if agentID != "" && (m.AgentID == agentID || m.Name == agentID) {
			return m, true
		}
	}
	return Member{}, false
}

// Called reports whether a name, as meta files and events have it, is the team's.
func (t Team) Called(name string) bool {
	return name != "" && (t.Name == name || t.Dir == name || t.Dir == fileName(name))
}

// IsLead reports whether a member is the team's lead.
func (t Team) IsLead(m Member) bool { return t.LeadAgentID != "" && m.AgentID == t.LeadAgentID }

// MailOf is the inbox of a member; nil if there is none.
func (t Team) MailOf(name string) []Message {
	if mail, ok := t.Mail[name]; ok {
		return mail
	}
	return t.Mail[fileName(name)]
}

// Unread counts the messages in a member's inbox that it has not taken in,
// protocol messages among them.
func (t Team) Unread(name string) int {
	n := 0
	for _, m := range t.MailOf(name) {
		if !m.Read {
			n++
		}
	}
	return n
}

// IdleSince is when a member last said that it is idle; zero if no inbox holds
// that. Members in the lead's process often leave no such message.
func (t Team) IdleSince(name string) time.Time {
	return t.last(name, Idle)
}

// ShutdownAsked is when a member was last asked to end; false if it was not, or
// has refused since.
func (t Team) ShutdownAsked(name string) (time.Time, bool) {
	var asked Message
	found := false
	for _, m := range t.MailOf(name) {
		if m.Protocol.Type == ShutdownRequest && (!found || !m.at().Before(asked.at())) {
			asked, found = m, true
		}
	}
	if !found {
		return time.Time{}, false
	}
	if no := t.last(name, ShutdownRejected); !no.IsZero() && !no.Before(asked.at()) {
		return time.Time{}, false
	}
	return asked.at(), true
}

// ShutdownAgreed is when a member last consented to end; zero if no inbox holds
// that.
func (t Team) ShutdownAgreed(name string) time.Time { return t.last(name, ShutdownApproved) }

// last is the time of the newest protocol message of a type from a member.
func (t Team) last(from, kind string) time.Time {
	var at time.Time
	for _, mail := range t.Mail {
		for _, m := range mail {
			if m.Protocol.Type == kind && (m.Protocol.From == from || (m.Protocol.From == "" && m.From == from)) && m.at().After(at) {
				at = m.at()
			}
		}
	}
	return at
}

// at is when a message was made.
func (m Message) at() time.Time {
	if !m.Protocol.Time.IsZero() {
		return m.Protocol.Time
	}
	return m.Time
}

// OpenTasks are the tasks of an owner that are still to be done, without the
// internal ones; "" lists those that nobody owns.
func (t Team) OpenTasks(owner string) []Task {
	var open []Task
	for _, task := range t.Tasks {
		if task.Open() && !task.Internal && (task.Owner == owner || (owner != "" && strings.HasPrefix(task.Owner, owner+"@"))) {
			open = append(open, task)
		}
	}
	return open
}

// Blockers are the open tasks that a task waits for, whichever of the two says
// so, in the order of the list. A blocker that is not in the list any more does
// not block.
func (t Team) Blockers(task Task) []Task {
	var all []Task
	for _, other := range t.Tasks {
		if other.ID == task.ID || !other.Open() {
			continue
		}
		if slices.Contains(task.BlockedBy, other.ID) || slices.Contains(other.Blocks, task.ID) {
			all = append(all, other)
		}
	}
	return all
}

// fileName is a name as the client writes it into file names.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || (r >= '0' && r <= '9') || (r >= 'A' && r <= 'Z') || (r >= 'a' && r <= 'z') {
			return r
		}
		return '-'
	}, name)
}
