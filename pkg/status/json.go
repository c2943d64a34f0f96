package status

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode"
	"unicode/utf8"

	"stopgate/pkg/ledger"
)

// The JSON of `hookctl status --json`, described in docs/status.md. The fields
// up to the mark are a promise; more may follow behind them.
type (
	jsonStatus struct {
		Sessions []jsonSession `json:"sessions"`
		// Behind the contract.
		Problems  []jsonProblem `json:"problems"`
		Elsewhere int           `json:"elsewhere"`
		Teams     []jsonTeam    `json:"teams"`
		Off       bool          `json:"off"`
		StateDir  string        `json:"state_dir"`
		Time      *time.Time    `json:"time"`
	}
	jsonProblem struct {
		Path    string `json:"path"`
		Problem string `json:"problem"`
	}
	jsonSession struct {
		SessionID  string      `json:"session_id"`
		Cwd        string      `json:"cwd"`
		Transcript string      `json:"transcript_path"`
		Ended      bool        `json:"ended"`
		LastEvent  *jsonEvent  `json:"last_event"`
		Ephemeral  int64       `json:"ephemeral"`
		Agents     []jsonAgent `json:"agents"`
		Tasks      []jsonTask  `json:"tasks"`
		Stops      []jsonStop  `json:"stops"`
		// Behind the contract.
		Coordinator *jsonAgent `json:"coordinator"`
		Teams       []jsonTeam `json:"teams"`
		EndedAt     *time.Time `json:"ended_at"`
		Blocks      int        `json:"blocks"`
		Off         bool       `json:"off"`
	}
	jsonEvent struct {
		Name string     `json:"name"`
		Time *time.Time `json:"time"`
	}
	jsonAgent struct {
		ID     string `json:"agent_id"`
		Type   string `json:"agent_type"`
		Name   string `json:"name"`
		State  string `json:"state"`
		Stops  int    `json:"stops"`
		Blocks int    `json:"blocks"`
		// Behind the contract.
		Since       *time.Time `json:"since"`
		Own         []string   `json:"own"`
		Stuck       bool       `json:"stuck"`
		Why         Why        `json:"why"`
		Advice      string     `json:"advice"`
		Say         string     `json:"say"`
		Held        *jsonHold  `json:"held"`
		Courier     *jsonWatch `json:"courier"`
		Description string     `json:"description"`
		Parent      string     `json:"parent"`
		Team        string     `json:"team"`
		Color       string     `json:"color"`
	}
	jsonTeam struct {
		Name        string         `json:"name"`
		Dir         string         `json:"dir"`
		TasksDir    string         `json:"tasks_dir"`
		LeadSession string         `json:"lead_session_id"`
		Lead        string         `json:"lead"`
		Advice      string         `json:"advice"`
		Members     []jsonMember   `json:"members"`
		Tasks       []jsonTeamTask `json:"tasks"`
	}
	jsonMember struct {
		Name     string     `json:"name"`
		ID       string     `json:"member_id"`
		AgentID  string     `json:"agent_id"`
		Color    string     `json:"color"`
		Type     string     `json:"agent_type"`
		Backend  string     `json:"backend"`
		Pane     string     `json:"pane"`
		Lead     bool       `json:"lead"`
		Separate bool       `json:"separate"`
		State    string     `json:"state"`
		Since    *time.Time `json:"since"`
		Unread   int        `json:"unread"`
		Asked    *time.Time `json:"shutdown_asked_at"`
		Stuck    bool       `json:"stuck"`
		Why      Why        `json:"why"`
		Advice   string     `json:"advice"`
	}
	jsonTeamTask struct {
		ID       string   `json:"id"`
		Subject  string   `json:"subject"`
		Status   string   `json:"status"`
		Owner    *string  `json:"owner"`
		WaitsFor []string `json:"waits_for"`
	}
	jsonHold struct {
		Since *time.Time `json:"since"`
		Until *time.Time `json:"until"`
		Tasks []string   `json:"tasks"`
		// Limit says what sets Until, Left how much patience there was when it
		// began, in milliseconds, and Host on which kind of host.
		Limit string `json:"limit"`
		Left  int64  `json:"patience_left_ms"`
		Host  string `json:"host"`
	}
	jsonWatch struct {
		Since *time.Time `json:"since"`
		Until *time.Time `json:"until"`
		Tasks []string   `json:"tasks"`
	}
	jsonTask struct {
		ID       string  `json:"id"`
		Type     string  `json:"type"`
		Owner    *string `json:"owner"`
		State    string  `json:"state"`
		ExitCode *int    `json:"exit_code"`
		Output   string  `json:"output"`
		Evidence string  `json:"evidence"`
		// Behind the contract.
		Sign       string     `json:"sign"`
		LaunchedAt *time.Time `json:"launched_at"`
		EndedAt    *time.Time `json:"ended_at"`
		Blocks     int        `json:"blocks"`
		Persistent bool       `json:"persistent"`
		Ignored    bool       `json:"ignored"`
		Worth      *jsonWorth `json:"worth"`
		Released   bool       `json:"released"`
		CourierAt  *time.Time `json:"courier_at"`
		// The face is "" and null with --no-text.
		Command     string     `json:"command"`
		Description string     `json:"description"`
		LastLine    string     `json:"last_line"`
		PrintedAt   *time.Time `json:"printed_at"`
		Progress    string     `json:"progress"`
		Took        int64      `json:"took_ms"`
	}
)

// jsonStop is one stop as `hookctl status --json` and `hookctl log --json` give
// it.
type jsonStop struct {
	Time     *time.Time `json:"time"`
	AgentID  string     `json:"agent_id"`
	Verdict  string     `json:"verdict"`
	Code     string     `json:"code"`
	Own      []string   `json:"own"`
	Duration int64      `json:"duration_ms"`
	// Behind the contract.
	Number    uint64   `json:"number"`
	AgentType string   `json:"agent_type"`
	Listed    []string `json:"listed"`
	Unowned   []string `json:"unowned"`
	Active    bool     `json:"stop_hook_active"`
	Observed  bool     `json:"observed"`
	Policy    []string `json:"policy"`
	Held      int64    `json:"held_ms"`
	Ended     []string `json:"ended"`
	Note      string   `json:"note"`
	// Limit, Left and Host are of a stop that was held.
	Limit string `json:"limit"`
	Left  int64  `json:"patience_left_ms"`
	Host  string `json:"host"`
	// SessionID is set in the log, where stops stand alone.
	SessionID string `json:"session_id,omitempty"`
}

// JSON is the status as `hookctl status --json` prints it.
func (s Status) JSON() ([]byte, error) {
	out := jsonStatus{
		Sessions: []jsonSession{}, Problems: []jsonProblem{}, Elsewhere: s.Elsewhere,
		Teams: teamsJSON(s.Teams), Off: s.Off || s.Disabled != "", StateDir: s.StateDir, Time: when(s.Now),
	}
	for _, p := range s.Problems {
		out.Problems = append(out.Problems, jsonProblem{p.Path, p.Text})
	}
	for _, x := range s.Sessions {
		out.Sessions = append(out.Sessions, x.json(s.Now))
	}
	return encode(out, "  ")
}

func (s Session) json(now time.Time) jsonSession {
	out := jsonSession{
		SessionID: s.ID, Cwd: s.Cwd, Transcript: s.Transcript, Ended: !s.Ended.IsZero(), EndedAt: when(s.Ended),
		Ephemeral: s.Ephemeral, Agents: []jsonAgent{}, Tasks: []jsonTask{}, Stops: []jsonStop{}, Blocks: s.Blocks(), Off: s.Off,
		Teams: teamsJSON(s.Teams),
	}
	if s.Last.Name != "" {
		out.LastEvent = &jsonEvent{s.Last.Name, when(s.Last.Time)}
	}
	if s.Coordinator != nil {
		x := agentJSON(*s.Coordinator)
		out.Coordinator = &x
	}
	for _, a := range s.Agents {
		out.Agents = append(out.Agents, agentJSON(a))
	}
	for _, t := range s.Tasks {
		x := jsonTask{
			Command: t.Face.Command, Description: t.Face.Description, LastLine: t.Face.Last, PrintedAt: when(t.Face.Printed), Progress: t.Face.Progress,
			Took: t.Took(now).Milliseconds(),
			ID:   t.ID, Type: t.Kind, State: string(t.State), ExitCode: t.ExitCode, Output: t.Output, Evidence: t.Evidence,
			Sign: string(t.Sign), LaunchedAt: when(t.Launched), EndedAt: when(t.Ended), Blocks: t.Blocks,
			Persistent: t.Persistent, Ignored: t.Ignored, Worth: worthJSON(t.Worth), Released: t.Released, CourierAt: when(t.Courier),
		}
		if t.Owner != "" {
			x.Owner = &t.Owner
		}
		out.Tasks = append(out.Tasks, x)
	}
	for _, stop := range s.Stops {
		out.Stops = append(out.Stops, stopJSON(stop))
	}
	return out
}

// jsonWorth is whether a task is waited for, and by which of the four that was
// decided.
type jsonWorth struct {
	Wait  bool       `json:"wait"`
	By    string     `json:"by"`
	Words string     `json:"words"`
	At    *time.Time `json:"at"`
	// UsuallySeconds is how long its command took before; null where that is unknown.
	UsuallySeconds *float64 `json:"usually_seconds"`
	Times          int      `json:"times"`
}

func worthJSON(w ledger.Worth) *jsonWorth {
	if w.Task == "" {
		return nil
	}
	out := &jsonWorth{Wait: w.Wait, By: w.By, Words: w.Words, At: when(w.At), Times: w.Times}
	if w.Usually > 0 {
		s := w.Usually.Seconds()
		out.UsuallySeconds = &s
	}
	return out
}

func teamsJSON(teams []Team) []jsonTeam {
	out := []jsonTeam{}
	for _, t := range teams {
		x := jsonTeam{
			Name: t.Name, Dir: t.Dir, TasksDir: t.TasksDir, LeadSession: t.LeadSession, Lead: string(t.Lead),
			Advice: t.Advice, Members: []jsonMember{}, Tasks: []jsonTeamTask{},
		}
		for _, m := range t.Members {
			x.Members = append(x.Members, jsonMember{
				Name: m.Name, ID: m.ID, AgentID: m.AgentID, Color: m.Color, Type: m.Type, Backend: m.Backend, Pane: m.Pane,
				Lead: m.Lead, Separate: m.Separate, State: cmp.Or(string(m.State), "unknown"), Since: when(m.Since),
				Unread: m.Unread, Asked: when(m.Asked), Stuck: m.Stuck, Why: m.Why, Advice: m.Advice,
			})
		}
		for _, task := range t.Tasks {
			y := jsonTeamTask{ID: task.ID, Subject: task.Subject, Status: task.Status, WaitsFor: some(task.WaitsFor)}
			if task.Owner != "" {
				y.Owner = &task.Owner
			}
			x.Tasks = append(x.Tasks, y)
		}
		out = append(out, x)
	}
	return out
}

func agentJSON(a Agent) jsonAgent {
	x := jsonAgent{
		ID: a.ID, Type: a.Type, Name: a.Name, State: string(a.State), Stops: a.Stops, Blocks: a.Blocks,
		Since: when(a.Since), Own: some(a.Own), Stuck: a.Stuck, Why: a.Why, Advice: a.Advice, Say: a.Say,
		Description: a.Description, Parent: a.Parent, Team: a.Team, Color: a.Color,
	}
	if a.Hold != nil {
		x.Held = &jsonHold{when(a.Hold.Since), when(a.Hold.Until), some(a.Hold.Tasks), a.Hold.Limit, a.Hold.Left.Milliseconds(), a.Hold.Host}
	}
	if a.Courier != nil {
		x.Courier = &jsonWatch{when(a.Courier.At), when(a.Courier.Until), some(a.Courier.Tasks)}
	}
	return x
}

func stopJSON(s ledger.Stop) jsonStop {
	return jsonStop{
		Time: when(s.Time), AgentID: s.AgentID, Verdict: s.Verdict, Code: s.Code, Own: some(s.Own),
		Duration: s.Duration.Milliseconds(), Number: s.Seq, AgentType: s.Type, Listed: some(s.Listed),
		Unowned: some(s.Unowned), Active: s.Active, Observed: s.Observed, Policy: some(s.Policy),
		Held: s.Held.Milliseconds(), Ended: some(s.Ended), Note: s.Note,
		Limit: s.Limit, Left: s.Left.Milliseconds(), Host: s.Host,
	}
}

// when is a time for JSON; none is null.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}

// some is a list that is never null.
func some(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// encode is JSON that is also safe to look at: what a terminal could take for a
// command (control and format characters) is escaped.
func encode(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return Visible(buf.Bytes()), nil
}

// Visible is JSON that means the same and is also safe to look at on a terminal.
func Visible(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == '\n' || r == ' ' || r > ' ' && r < 0x7f, r >= 0xa0 && unicode.IsGraphic(r) && !unicode.IsSpace(r):
			out = append(out, raw[:size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		raw = raw[size:]
	}
	return out
}

// WriteJSON prints a value as JSON that is also safe to look at on a terminal.
func WriteJSON(w io.Writer, v any) error {
	data, err := encode(v, "  ")
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// WriteJSON prints the status as JSON.
func (s Status) WriteJSON(w io.Writer) error {
	data, err := s.JSON()
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
