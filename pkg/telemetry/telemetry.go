// Package telemetry is what of a session is told to a collector: spans, log records
// and measures, made from a snapshot of its store and its status. Pure: it reads and
// sends nothing. What was told before goes in as a [Done], and comes out further.
//
// Whatever is told is told once, when it is final, and never otherwise again: a stop
// when it was answered, a task when its end is known and somebody heard of it, the
// agents and the session, and what nobody heard of, when the session is over. Ids are
// derived, so that what is told twice after a failure is the same thing.
//
// No command, no path, no name and no text goes out unless [Teller].Texts says so.
package telemetry

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/otlp"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
)

// Teller says how sessions are told.
type Teller struct {
	// Texts tells commands, names and folders too.
	Texts bool
	// Secret keys the hash by which a project is told where its path is not.
	Secret string
	// Command looks the text of a task up; nil knows of none.
	Command func(status.Session, status.Task) string
}

// Done is what of a session was told. The zero value is nothing.
type Done struct {
	// Begun is the beginning of the record: another record is told from its start.
	Begun time.Time `json:"begun"`
	// Seq is the number of the last stop or act: they share one numbering.
	Seq uint64 `json:"seq,omitempty"`
	// Agents, Tasks and Wakes are those whose spans were told, by their ids.
	Agents map[string]bool `json:"agents,omitempty"`
	Tasks  map[string]bool `json:"tasks,omitempty"`
	Wakes  map[string]bool `json:"wakes,omitempty"`
	// Session tells that the session's own span was told.
	Session bool `json:"session,omitempty"`
}

// Known are the facts of a session that are told.
type Known struct {
	Snapshot ledger.Snapshot
	Status   status.Session
	// Version is the client's; "" where it is unknown.
	Version string
	// Over tells that the session has ended or has not been heard of for long: what is
	// not known of it now will not be known later.
	Over bool
	// Now is the time of the look.
	Now time.Time
}

// Measure is one observation for a metric.
type Measure struct {
	Metric     Metric
	Value      float64
	Attributes []otlp.KeyValue
}

// Telling is what is told of a session at one time.
type Telling struct {
	Spans    []otlp.Span
	Logs     []otlp.Record
	Measures []Measure
}

// Len counts the spans and records.
func (t Telling) Len() int { return len(t.Spans) + len(t.Logs) }

// session is one session that is being told.
type session struct {
	Teller
	Known
	rec    ledger.Session
	trace  otlp.ID
	client []otlp.KeyValue
	agents map[string]status.Agent
	tasks  map[string]status.Task
	begun  time.Time
	ended  time.Time
	done   Done
	out    Telling
}

// Tell tells what is new of a session, at most about limit spans and records, and
// whether there is more.
func (t Teller) Tell(k Known, done Done, limit int) (Telling, Done, bool) {
	rec := k.Snapshot.Session
	if !done.Begun.Equal(rec.Begun) {
		done = Done{Begun: rec.Begun}
	}
	done.Agents, done.Tasks, done.Wakes = clone(done.Agents), clone(done.Tasks), clone(done.Wakes)
	s := &session{
		Teller: t, Known: k, rec: rec, trace: TraceID(rec.ID), done: done,
		agents: map[string]status.Agent{}, tasks: map[string]status.Task{},
	}
	s.begun, s.ended = s.extent()
	for _, a := range k.Status.Agents {
		s.agents[a.ID] = a
	}
	for _, task := range k.Status.Tasks {
		s.tasks[task.ID] = task
	}
	s.client = s.clientAttributes()
	more := s.tellAll(limit)
	return s.out, s.done, more
}

func clone(m map[string]bool) map[string]bool {
	if m == nil {
		return map[string]bool{}
	}
	return maps.Clone(m)
}

func (s *session) tellAll(limit int) (more bool) {
	full := func() bool { return s.out.Len() >= limit }
	for _, a := range s.numbered() {
		if full() {
			return true
		}
		s.tell(a)
		s.done.Seq = a.seq
	}
	for _, id := range slices.Sorted(maps.Keys(s.Snapshot.Couriers)) {
		if s.done.Wakes[id] {
			continue
		}
		if full() {
			return true
		}
		s.wake(s.Snapshot.Couriers[id])
		s.done.Wakes[id] = true
	}
	for _, task := range s.Status.Tasks {
		if s.done.Tasks[task.ID] || !Told(task, s.Over) {
			continue
		}
		if full() {
			return true
		}
		s.task(task)
		s.done.Tasks[task.ID] = true
	}
	if !s.Over {
		return false
	}
	for _, a := range s.Status.Agents {
		if s.done.Agents[a.ID] {
			continue
		}
		if full() {
			return true
		}
		s.agent(a)
		s.done.Agents[a.ID] = true
	}
	if !s.done.Session {
		s.whole()
		s.done.Session = true
	}
	return false
}

// Told tells whether a task is told: nothing about it can change any more, since it has
// ended and the news arrived, or it was killed, or its session is over. An agent can
// work again.
func Told(t status.Task, over bool) bool {
	return over || t.Kind != kindAgent && (t.State == status.TaskFinished || t.State == status.TaskKilled) && !t.Ended.IsZero()
}

// kindAgent is the kind of a task that is an agent.
const kindAgent = "subagent"

// extent is when the session was under way, by all that is recorded of it.
func (s *session) extent() (begun, ended time.Time) {
	begun, ended = s.rec.Begun, latest(s.rec.Ended, s.rec.LastEventAt, s.rec.Begun)
	for _, l := range s.Snapshot.Launches {
		if plausible(l.At) && l.At.Before(begun) {
			begun = l.At
		}
	}
	for _, stop := range s.Snapshot.Stops {
		if stop.Time.Before(begun) && plausible(stop.Time) {
			begun = stop.Time
		}
		ended = latest(ended, stop.Time.Add(stop.Duration))
	}
	for _, c := range s.Snapshot.Couriers {
		ended = latest(ended, c.At)
	}
	for _, t := range s.Status.Tasks {
		ended = latest(ended, t.Ended)
	}
	ended = latest(ended, lastAct(s.Snapshot.Acts))
	if ended.After(s.Now) {
		ended = latest(s.Now, begun)
	}
	return begun, ended
}

func plausible(t time.Time) bool { return otlp.At(t) != 0 }

func latest(times ...time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) && plausible(t) {
			last = t
		}
	}
	return last
}

// clientAttributes are those of the client, which measures bear too.
func (s *session) clientAttributes() []otlp.KeyValue {
	host := ""
	for _, stop := range s.Snapshot.Stops {
		host = cmp.Or(stop.Host, host)
	}
	var out []otlp.KeyValue
	if s.Version != "" {
		out = append(out, otlp.String(attrClientVersion, word(versionForm(), s.Version)))
	}
	if host != "" {
		out = append(out, otlp.String(attrClientHost, word(codeForm(), host)))
	}
	return out
}

// common are the attributes by which a span or record is joined with others, the
// client's own telemetry included.
func (s *session) common(agent string, more ...otlp.KeyValue) []otlp.KeyValue {
	id := s.id(sessionForm(), s.rec.ID)
	out := append([]otlp.KeyValue{otlp.String(attrSession, id), otlp.String(attrConversation, id)}, s.client...)
	if agent != "" {
		out = append(out, otlp.String(attrAgentID, s.id(agentForm(), agent)))
	}
	return append(out, more...)
}

// parent is the span that what an agent does hangs under: the agent's, or the
// session's for the coordinator and for an agent that nothing is known of.
func (s *session) parent(agent string) otlp.ID {
	if _, known := s.agents[agent]; known {
		return s.span(spanAgent, agent)
	}
	return s.span(spanSession, "")
}

func (s *session) measure(m Metric, value float64, attrs ...otlp.KeyValue) {
	s.out.Measures = append(s.out.Measures, Measure{m, value, append(slices.Clone(attrs), s.client...)})
}

func (s *session) add(kind, id string, parent otlp.ID, start, end time.Time, attrs []otlp.KeyValue) *otlp.Span {
	start = between(start, s.begun, s.ended)
	s.out.Spans = append(s.out.Spans, otlp.Span{
		TraceID: s.trace, SpanID: s.span(kind, id), ParentID: parent, Name: kind, Kind: otlp.KindInternal,
		Start: otlp.At(start), End: otlp.At(between(end, start, s.ended)), Attributes: attrs,
	})
	return &s.out.Spans[len(s.out.Spans)-1]
}

// linkTo links a span to those of tasks.
func (s *session) linkTo(span *otlp.Span, tasks []string) {
	for _, id := range tasks {
		kind := spanTask
		if s.tasks[id].Kind == kindAgent {
			kind = spanAgent
		}
		span.Links = append(span.Links, otlp.Link{TraceID: s.trace, SpanID: s.span(kind, id)})
	}
}

// stop tells one stop that was answered: a span, below it the hold, a record, and
// the measures.
func (s *session) stop(stop ledger.Stop) {
	seq := strconv.FormatUint(stop.Seq, 10)
	verdict, code := otlp.String(attrVerdict, word(codeForm(), stop.Verdict)), otlp.String(attrCode, word(codeForm(), stop.Code))
	held := Held(stop)
	work := max(0, stop.Duration) - held
	end := stop.Time.Add(max(0, stop.Duration))
	attrs := s.common(stop.AgentID, verdict, code,
		otlp.Int(attrSeq, int64(stop.Seq)), //nolint:gosec // a number in a row
		otlp.Double(attrWork, work.Seconds()), otlp.Double(attrHeld, held.Seconds()),
		otlp.Int(attrOwn, int64(len(stop.Own))), otlp.Int(attrListed, int64(len(stop.Listed))), otlp.Int(attrUnowned, int64(len(stop.Unowned))))
	if stop.Prompt != "" {
		attrs = append(attrs, otlp.String(attrPrompt, s.id(sessionForm(), stop.Prompt)))
	}
	if stop.Observed {
		attrs = append(attrs, otlp.Bool(attrObserved, true))
	}
	handed := HandedOver(stop)
	if handed > 0 {
		attrs = append(attrs, otlp.Int(attrHanded, int64(handed)))
	}
	span := s.add(spanStop, seq, s.parent(stop.AgentID), stop.Time, end, attrs)
	s.linkTo(span, stop.Own)
	id := span.SpanID
	if held > 0 {
		hold := s.common(stop.AgentID, code, otlp.Double(attrHeld, held.Seconds()))
		if stop.Limit != "" {
			hold = append(hold, otlp.String(attrLimit, limitOf(stop.Limit)))
		}
		s.linkTo(s.add(spanHold, seq, id, end.Add(-held), end, hold), stop.Own)
		s.measure(Holds, held.Seconds(), code)
	}
	severity := int32(otlp.SeverityInfo)
	if stop.Code == string(gate.HoldLost) {
		severity = otlp.SeverityWarn
	}
	s.log(eventStop, seq, "a stop was answered: "+*verdict.Value.String+", "+*code.Value.String, severity, end, id, attrs)
	s.measure(Stops, 1, verdict, code)
	s.measure(Hooks, work.Seconds())
	if handed > 0 {
		s.measure(Results, float64(handed))
	}
}

// Held is how long a stop was held.
func Held(stop ledger.Stop) time.Duration { return min(max(0, stop.Held), max(0, stop.Duration)) }

// HandedOver counts the tasks whose end a stop's block told to their agent.
func HandedOver(stop ledger.Stop) int {
	if stop.Verdict != ledger.Block || stop.Code == string(gate.MessageWaits) {
		return 0
	}
	return len(stop.Ended)
}

// log adds a record. Its id is the same whenever it is told.
func (s *session) log(event, id, body string, severity int32, at time.Time, span otlp.ID, attrs []otlp.KeyValue) {
	name := map[int32]string{otlp.SeverityInfo: "INFO", otlp.SeverityWarn: "WARN"}[severity]
	uid := hex.EncodeToString(hash("stopgate record", event, string(s.span(event, id)))[:traceBytes])
	s.out.Logs = append(s.out.Logs, otlp.Record{
		Time: otlp.At(between(at, s.begun, s.ended)), Observed: otlp.At(s.Now), Severity: severity, SeverityText: name,
		Body: otlp.AnyValue{String: &body}, Event: event, TraceID: s.trace, SpanID: span,
		Attributes: append(slices.Clone(attrs), otlp.String(attrRecordUID, uid)),
	})
}

// wake tells that a courier woke the coordinator.
func (s *session) wake(c ledger.Courier) {
	attrs := s.common(c.AgentID, otlp.String(attrTask, s.id(taskForm(), c.Task)))
	span := s.add(spanCourier, c.Task, s.parent(c.AgentID), c.At, c.At, attrs)
	s.linkTo(span, []string{c.Task})
	s.log(eventCourier, c.Task, "the coordinator was woken for a task that nobody was told of", otlp.SeverityInfo, c.At, span.SpanID, attrs)
	s.measure(Wakes, 1)
}

// task tells a task, and its span unless it is an agent, which has one of its own.
func (s *session) task(t status.Task) {
	kind, state := otlp.String(attrTaskKind, kindOf(t.Kind)), otlp.String(attrTaskState, string(t.State))
	left, unheard := LeftRunning(s.Snapshot.Stops, t), t.State == status.TaskUndelivered
	s.measure(Tasks, 1, kind, state)
	if left {
		s.measure(Left, 1, kind)
	}
	if unheard {
		s.measure(Unheard, 1, kind)
	}
	if t.Kind == kindAgent {
		return
	}
	span := s.add(spanTask, t.ID, s.parent(t.Owner), t.Launched, cmp.Or(t.Ended, s.ended), append(s.taskAttributes(t), kind, state, otlp.Bool(attrTaskLeft, left)))
	if unheard {
		span.Status = &otlp.Status{Code: otlp.StatusError, Message: "nobody heard of its end"}
	} else if t.ExitCode != nil && *t.ExitCode != 0 {
		span.Status = &otlp.Status{Code: otlp.StatusError, Message: "exit code " + strconv.Itoa(*t.ExitCode)}
	}
}

func (s *session) taskAttributes(t status.Task) []otlp.KeyValue {
	owner := t.Owner
	attrs := s.common(owner, otlp.String(attrTask, s.id(taskForm(), t.ID)), otlp.Int(attrTaskBlocks, int64(t.Blocks)))
	if t.State == status.TaskFinished || t.State == status.TaskUndelivered {
		attrs = append(attrs, otlp.Bool(attrTaskHeard, t.State == status.TaskFinished))
	}
	if t.ToolUse != "" {
		attrs = append(attrs, otlp.String(attrToolCall, s.id(toolForm(), t.ToolUse)))
	}
	if t.ExitCode != nil {
		attrs = append(attrs, otlp.Int(attrExitCode, int64(*t.ExitCode)))
	}
	if s.Texts && s.Command != nil {
		if command := s.Command(s.Status, t); command != "" {
			attrs = append(attrs, otlp.String(attrCommand, text(command)))
		}
	}
	return attrs
}

// LeftRunning tells that a task ran on when its agent was let go, by the stops of its
// session.
func LeftRunning(stops []ledger.Stop, t status.Task) bool {
	return t.Owner != transcript.Main && slices.ContainsFunc(stops, func(stop ledger.Stop) bool {
		return stop.AgentID == t.Owner && stop.Verdict == ledger.Allow && slices.Contains(stop.Own, t.ID) && !slices.Contains(stop.Ended, t.ID)
	})
}

// kinds are those of the client's tasks (docs/client.md: background_tasks).
var kinds = []string{"shell", kindAgent, "monitor", "workflow", "teammate", "MCP task", "cloud session", "dream", "auto-mode scan", "memory import"}

func kindOf(kind string) string {
	if slices.Contains(kinds, kind) {
		return kind
	}
	return "other"
}

// agent tells an agent, under the one that launched it.
func (s *session) agent(a status.Agent) {
	first, last := s.agentExtent(a)
	attrs := s.common(a.ID, otlp.String(attrOperation, spanAgent),
		otlp.Int(attrStops, int64(a.Stops)), otlp.Int(attrBlocks, int64(a.Blocks)))
	if a.Team != "" {
		attrs = append(attrs, otlp.Bool(attrMember, true))
	}
	if t, launched := s.tasks[a.ID]; launched && t.ToolUse != "" {
		attrs = append(attrs, otlp.String(attrToolCall, s.id(toolForm(), t.ToolUse)))
	}
	if name := cmp.Or(a.Name, a.Type); s.Texts && name != "" {
		attrs = append(attrs, otlp.String(attrAgentName, text(name)))
	}
	parent := s.span(spanSession, "")
	if a.Parent != a.ID {
		parent = s.parent(a.Parent)
	}
	s.add(spanAgent, a.ID, parent, first, last, attrs)
}

// agentExtent is when an agent was at work, by all that is recorded of it.
func (s *session) agentExtent(a status.Agent) (first, last time.Time) {
	rec, task := s.Snapshot.Agents[a.ID], s.tasks[a.ID]
	first, last = cmp.Or(task.Launched, rec.First), latest(rec.Last, rec.Stopped, rec.Answered, task.Ended)
	for _, stop := range s.Snapshot.Stops {
		if stop.AgentID != a.ID {
			continue
		}
		last = latest(last, stop.Time.Add(stop.Duration))
		if first.IsZero() || stop.Time.Before(first) {
			first = stop.Time
		}
	}
	for _, id := range a.Own {
		if at := s.tasks[id].Launched; !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first, last
}

// whole tells the session itself.
func (s *session) whole() {
	attrs := s.common("", otlp.Int(attrStops, int64(len(s.Snapshot.Stops))), otlp.String(attrProject, s.project()))
	if s.Texts {
		attrs = append(attrs, otlp.String(attrProjectPath, text(s.rec.Cwd)))
	}
	s.add(spanSession, "", nil, s.begun, s.ended, attrs)
	s.measure(Sessions, 1)
}

// project is a project's folder as a hash that means something on this machine only.
func (s *session) project() string {
	return hex.EncodeToString(hash("stopgate project", s.Secret, s.rec.Cwd)[:spanBytes])
}
