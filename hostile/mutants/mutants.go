package main

// The packages whose tests see a kind of rule, the likeliest first.
const (
	handlers    = "./pkg/handler ./pkg/replay"
	transcripts = "./pkg/transcript ./pkg/handler ./pkg/replay"
	ledgers     = "./pkg/ledger ./pkg/handler"
	processes   = "./pkg/process"
	histories   = "./pkg/history"
	exports     = "./pkg/export"
	pictures    = "./pkg/timeline"
	lines       = "./pkg/statusline"
	notices     = "./pkg/notice ./pkg/config ./pkg/handler ./pkg/cli"
	otlps       = "./pkg/otlp"
	tellings    = "./pkg/telemetry"
	stores      = "./pkg/store ./pkg/ledger ./pkg/history"
	states      = "./pkg/state ./pkg/handler"
	gates       = "./pkg/gate ./pkg/handler"
	clocked     = "./pkg/clocks ./pkg/handler"
	events      = "./pkg/event ./pkg/handler"
	waits       = "./pkg/wait ./pkg/handler"
	fates       = "./pkg/fate ./pkg/wait"
	attributes  = "./pkg/attribute ./pkg/handler ./pkg/replay"
	installs    = "./pkg/setup ./pkg/cli"
	edits       = "./pkg/settings ./pkg/setup"
)

var mutants = []mutant{
	// the client's clocks, and patience
	{"a hold sits on the stall limit", "pkg/clocks/clocks.go", `StallMargin = 30 * time.Second`, `StallMargin = 0 * time.Second`, clocked},
	{"a hold outlasts its entry's timeout", "pkg/clocks/clocks.go", `if c.Timeout > 0 {`, `if false {`, clocked},
	{"a stream's input is not looked for", "pkg/clocks/clocks.go", `return Stream, line`, `return Print, line`, clocked},
	{"a courier stays in a print run", "pkg/handler/courier.go", `return r.clocks.Rewakes()`, `return true`, handlers},
	{"any process named in the environment is the client", "pkg/clocks/clocks.go", `pid == named && named > 1`, `named > 1`, clocked},
	{"another client's end ends a hold", "pkg/handler/hold.go", ` || s.EndedBy == l.client)`, ` || true)`, handlers},
	{"an agent's end ends the session", "pkg/handler/record.go", "\t\tif r.e.AgentID != \"\" {\n\t\t\treturn // an agent's", "\t\tif false {\n\t\t\treturn // an agent's", handlers},
	{"a session that goes on stays ended", "pkg/handler/handler.go", `if r.e.Name != event.SessionEnd && !r.overtaken(s.Ended) {`, `if false {`, handlers},
	{"a stop that waited takes the session's end back", "pkg/handler/handler.go", `if r.e.Name != event.SessionEnd && !r.overtaken(s.Ended) {`, `if r.e.Name != event.SessionEnd {`, handlers},
	{"a record that was busy is asked again with the next change", "pkg/handler/hold.go", `l.again = l.r.h.Clock.Now().Add(busyAgain)`, `_ = busyAgain`, handlers},
	{"a look goes by the record of the one before", "pkg/handler/hold.go", "\tl.refresh()\n\treturn l.snap.Session.List()", "\treturn l.snap.Session.List()", handlers},
	{"a stop that waited brings an older list", "pkg/handler/handler.go", `if r.e.RegistryGiven && !r.overtaken(s.ListedAt) {`, `if r.e.RegistryGiven {`, handlers},
	{"a clock that was set back keeps the old list", "pkg/handler/handler.go", `return have.After(r.began) && !have.After(r.h.Clock.Now())`, `return have.After(r.began)`, handlers},
	{"a hold that was taken over makes its agent's stop the last", "pkg/handler/stop.go", `(held == 0 || agent.LastSumAt.Equal(r.began))`, `(held == 0 || true)`, handlers},
	{"what serves is waited for", "pkg/gate/worth.go", `return s.Does == Serves }`, `return false }`, gates},
	{"what is idle is waited for", "pkg/gate/worth.go", `return s.Does == Idle }`, `return false }`, gates},
	{"a person's word counts for nothing", "pkg/gate/worth.go", `return s.Person == LetItRun }`, `return false }`, gates},
	{"what never ended is waited for", "pkg/gate/worth.go", `return s.Left && s.Age >= NeverEnded }`, `return false }`, gates},
	{"what ended before is let go", "pkg/gate/worth.go", `return s.Ends }`, `return false }`, gates},
	{"what was let go is waited for at the next look", "pkg/handler/looks.go", `if t.Worth.Wait { // what`, `if true { // what`, handlers},
	{"a hold forgets how long a task was idle", "pkg/handler/looks.go", `one.watched.Resume(live.snap.Worth[t.ID].State)`, `_ = live`, handlers},
	{"a task without processes runs", "pkg/handler/looks.go", `t.gone = now`, `t.gone = time.Time{}`, handlers},
	{"an end is noted twice", "pkg/handler/worth.go", `if before.Task == "" {`, `if true {`, handlers},
	{"what the command was is kept", "pkg/handler/worth.go", `if t.Worth.By == gate.ByText {`, `if false {`, "./pkg/cli"},
	{"patience has no end", "pkg/gate/gate.go", `t.Waited < p.Patience`, `true`, gates},
	{"what was handed over is waited for again", "pkg/gate/gate.go", `return !t.Told && t.Waited`, `return t.Waited`, gates},
	{"a message costs a task its patience", "pkg/handler/stop.go", `if d.Block && d.Code != gate.MessageWaits {`, `if d.Block {`, handlers},
	{"an agent that is woken again is not waited for", "pkg/handler/lead.go", `return ok && t.Type == event.TypeSubagent && atWork(a)`, `return ok && t.ID == "" && atWork(a)`, handlers},
	{"the end of an agent's next life is no news", "pkg/handler/lead.go", `told := spent.Told && (`, `told := spent.Told && (true || `, handlers},
	{"a mate in its first turn is none", "pkg/handler/lead.go", `return ofTeam(meta)`, `return meta.Teammate && false`, handlers},
	{"an agreement that comes late is not seen", "pkg/handler/hold.go", `if note == "" && r.agreedToEnd() {`, `if false {`, handlers},
	{"an agent near the ceiling is held on", "pkg/handler/hold.go", `watch.Quiet = r.clocks.Quiet()`, `watch.Quiet = 0`, handlers},
	{"an agent past the ceiling is held", "pkg/handler/stop.go", `facts.CeilingOver = r.began.Sub(last) >= quiet`, `_ = last`, handlers},
	{"a held coordinator's agents see a ceiling", "pkg/handler/hold.go", `h.AgentID == transcript.Main && h.Lives(r.h)`, `false`, handlers},
	{"a lost hold is not recorded", "pkg/ledger/tx.go", `if !lives(h.Process) {`, `if false {`, ledgers},
	{"an id that lives again is the same process", "pkg/ledger/ledger.go", `return !ok || now == p.Started`, `return !ok || now != ""`, ledgers},
	{"a dead courier takes a living one's place", "pkg/handler/hold.go", `return ok && w.Lives(l.r.h) && l.since(w.At,`, `return ok && l.since(w.At,`, handlers},
	{"a dead courier keeps its place", "pkg/handler/courier.go", ` || !have.Lives(r.h) {`, ` {`, handlers},
	{"a dead hold of the coordinator's binds its agents", "pkg/handler/hold.go", `h.AgentID == transcript.Main && h.Lives(r.h) })`, `h.AgentID == transcript.Main })`, handlers},
	{"a dead courier is shown", "pkg/status/catchup.go", "\tfor id, w := range b.snap.Watches {\n\t\tif b.src.Lives == nil || b.src.Lives(w.Process) {", "\tfor id, w := range b.snap.Watches {\n\t\tif true {", "./pkg/status"},
	{"what couriers did is explained with another stop", "pkg/cli/explain_stop.go", `if act.AgentID != agent || act.Time.Before(came) ||`, `if act.AgentID != agent ||`, "./pkg/cli"},
	{"the log does not go by the numbers", "pkg/status/log.go", "\tslices.SortStableFunc(out, func(a, b Entry) int { return cmp.Compare(cmp.Or(a.Seq, a.Act.Seq), cmp.Or(b.Seq, b.Act.Seq)) })\n", "\t_ = cmp.Compare[int]\n", "./pkg/status ./pkg/cli"},
	{"couriers heap up", "pkg/handler/hold.go", `return ok && w.Lives(l.r.h) && l.since(w.At,`, `return ok && w.At.IsZero() && l.since(w.At,`, handlers},
	{"a busy coordinator is woken", "pkg/handler/courier.go", `busy = busy && ok && now`, `busy = busy && !ok && now`, handlers},
	{"a stopped agent's stop is answered", "pkg/gate/hold.go", `return f.AgentStopped }`, `return false }`, gates},
	{"an attended coordinator is held", "pkg/gate/lead.go", `return !f.Held }`, `return false }`, gates},
	{"a coordinator's turn has no patience", "pkg/handler/lead.go", `spent.Waited, spent.Told = waited,`, `_, spent.Told = waited,`, handlers},
	{"news that waits is not seen", "pkg/gate/lead.go", `return len(f.Work)+len(f.News) == 0 }`, `return len(f.Work) == 0 }`, gates},
	{"a silent agent holds its coordinator", "pkg/handler/lead.go", `return becauseStuck`, `return ""`, handlers},

	// which events are an agent's stop
	{"the first kind of ephemeral event is none", "pkg/event/event.go", `return e.AgentTypeGiven && e.AgentType == ""`, `return false`, events},
	{"a missing agent_type is ephemeral", "pkg/event/event.go", `return e.AgentTypeGiven && e.AgentType == ""`, `return e.AgentType == ""`, events},
	{"the second kind of ephemeral event is none", "pkg/handler/stop.go", "\tif facts.Ephemeral {", "\tif false {", handlers},
	{"an agent without a meta file is ephemeral", "pkg/handler/stop.go", `return err == nil && !snap.Knows(r.e.AgentID)`, `return err == nil && snap.Session.ID != "?"`, handlers},
	{"a listed agent can be ephemeral", "pkg/handler/stop.go", `r.e.Lists(r.e.AgentID) || path`, `path`, handlers},
	{"the rule for ephemeral events", "pkg/gate/gate.go", `return f.Ephemeral }`, `return false }`, gates},
	{"the off switch", "pkg/gate/gate.go", `return f.Disabled }},` + "\n\t{\"the event is eph", `return false }},` + "\n\t{\"the event is eph", gates},
	{"the off switch is not looked at", "pkg/handler/stop.go", `state.Off(r.h.Env, r.dir, e.SessionID, r.began)`, `state.Off(r.h.Env, state.Dir{}, e.SessionID, r.began)`, handlers},
	{"a missing list of tasks is an empty one", "pkg/gate/gate.go", `return !f.Registry }`, `return false }`, gates},
	{"a session without an id", "pkg/event/event.go", `if e.SessionID = text(value); e.SessionID == "null" {`, `if e.SessionID = text(value); false {`, events},

	// what is the agent's own
	{"the agent itself is a candidate", "pkg/event/event.go", `if t.CanBeOwn() && t.ID != e.AgentID {`, `if t.CanBeOwn() {`, events},
	{"the agent itself is its own task", "pkg/handler/stop.go", "\t\t\tif t.ID == r.e.AgentID {\n\t\t\t\tcontinue\n\t\t\t}\n", "", handlers},
	{"a teammate's entry blocks", "pkg/event/event.go", `case TypeShell, TypeMonitor, TypeSubagent, TypeWorkflow, TypeMCP:`, `case TypeShell, TypeMonitor, TypeSubagent, TypeWorkflow, TypeMCP, TypeTeammate:`, events},
	{"a monitor does not block", "pkg/event/event.go", `case TypeShell, TypeMonitor, TypeSubagent,`, `case TypeShell, TypeSubagent,`, events},
	{"a pending task is none", "pkg/event/event.go", `case "running", "pending", "":`, `case "running", "":`, events},
	{"somebody else's task is own", "pkg/handler/stop.go", `case l.Owner == r.e.AgentID && r.e.AgentID != "":`, `case r.e.AgentID != "":`, handlers},
	{"a persistent monitor is waited for", "pkg/gate/gate.go", `if !t.Persistent && !t.Excused {`, `if !t.Excused {`, gates},
	{"an excused task is waited for", "pkg/gate/gate.go", `if !t.Persistent && !t.Excused {`, `if !t.Persistent {`, gates},
	{"a released task is waited for", "pkg/handler/worth.go", `case released:`, `case released && s.Age < 0:`, handlers},
	{"a command to be ignored is not", "pkg/handler/stop.go", `!l.Ignored && r.p.Ignored(t.Command)`, `false`, handlers},
	{"run_in_background is ignored", "pkg/transcript/launch.go", `asked := call.Asked ||`, `asked := true ||`, transcripts},
	{"the version rule is dropped", "pkg/transcript/launch.go", `if s.needsAsking && !asked && !olderThan(version, askingSince) {`, `if false {`, transcripts},
	{"old versions are as new ones", "pkg/transcript/launch.go", `if s.needsAsking && !asked && !olderThan(version, askingSince) {`, `if s.needsAsking && !asked {`, transcripts},
	{"text is trusted over PostToolUse", "pkg/transcript/transcript.go", `[]Evidence{Text, TextAsked, Meta, ToolUseResult, PostToolUse}`, `[]Evidence{TextAsked, Meta, ToolUseResult, PostToolUse, Text}`, transcripts},
	{"text is trusted over what asked for the background", "pkg/transcript/transcript.go", `[]Evidence{Text, TextAsked, Meta,`, `[]Evidence{TextAsked, Text, Meta,`, transcripts},
	{"a resumption is trusted as a launch", "pkg/transcript/transcript.go", "\tcase l.Resumed:\n", "\tcase false:\n", transcripts},
	{"two that woke each other wait for each other", "pkg/transcript/transcript.go", "\t\tif owner == l.Task {\n\t\t\treturn true\n", "\t\tif owner == l.Task {\n\t\t\treturn false\n", attributes},
	{"the later of two equals wins", "pkg/transcript/transcript.go", `return l.At.Before(other.At)`, `return l.At.After(other.At)`, transcripts},
	{"an error launches", "pkg/transcript/call.go", `return a.block.Get("is_error").Type == gjson.True }`, `return false }`, transcripts},
	{"another agent's line counts", "pkg/transcript/record.go", `return r.agentID == owner`, `return true`, transcripts},
	{"an agent's line counts as the coordinator's", "pkg/transcript/record.go", `return r.agentID == "" && !r.sidechain`, `return true`, transcripts},
	{"the sentence counts anywhere in the text", "pkg/transcript/launch.go", `rest, ok = strings.CutPrefix(text, s.begins)`, `_, rest, ok = strings.Cut(text, s.begins)`, transcripts},
	{"a call that came before is not looked for", "pkg/transcript/lone.go", `switch call, is := p.search(id, a.offset); is {`, `switch call, is := (ToolUse{}), foundNothing; is {`, transcripts},
	{"what a tool gives that launches nothing waits for no call", "pkg/transcript/prefilter.go", `if len(p.Cursor.Early) > 0 {`, `if false {`, transcripts},
	{"what a command printed counts without its call", "pkg/transcript/lone.go", `return l, whole && (l.Output`, `return l, whole || (l.Output`, transcripts},
	{"a result without a call counts for nothing", "pkg/transcript/scan.go", "\tp.withoutCalls()\n", "", transcripts},
	{"the parent in the meta file is ignored", "pkg/attribute/attribute.go", `if l, ok := meta.Launch(t.ID, path); ok {`, `if l, ok := meta.Launch(t.ID, path); ok && false {`, attributes},
	{"the others' transcripts are not read", "pkg/attribute/attribute.go", "\t\ts.others(ctx)\n", "", attributes},
	{"a sibling's file is the own one", "pkg/transcript/whose.go", `return id != "" && id != p.id && plainName(p.id)`, `return id == "?"`, attributes},
	{"a file is read as the one's it is given for", "pkg/transcript/whose.go", `cmp.Or(AgentOf(s.Path), s.Owner)`, `cmp.Or(s.Owner, AgentOf(s.Path))`, transcripts},
	{"a cursor of another owner counts", "pkg/transcript/scan.go", `anothers := from.Owner != "" && from.Owner != src.Owner`, `anothers := from.Owner == "?"`, transcripts},
	{"a workflow's agent is not found", "pkg/transcript/whose.go", `range flows(files, dir) {`, `range []string(nil) {`, transcripts},
	{"the coordinator's transcript is an agent's", "pkg/transcript/whose.go", `return err != nil || !os.SameFile(info, main)`, `return err != nil || !os.SameFile(info, main) || true`, transcripts},
	{"the last message is looked for after reading", "pkg/attribute/attribute.go", "\tcaughtUp := s.e.LastMessageGiven", "\ts.scan(ctx, s.own)\n\tif true {\n\t\treturn s.e.LastMessageGiven && transcript.CaughtUp(s.files, s.own.Path, s.e.LastMessage, s.snap.Agents[s.e.AgentID].Stopped)\n\t}\n\tcaughtUp := s.e.LastMessageGiven", attributes},
	{"a transcript that lags is not waited for", "pkg/attribute/attribute.go", `for s.waitable() && clock`, `for false && clock`, attributes},
	{"it is waited for too long", "pkg/attribute/attribute.go", `clock.Now().Sub(start) < Settle`, `clock.Now().Sub(start) < 10*Settle`, attributes},
	{"a reading that was cut short is not said", "pkg/handler/stop.go", `if found.Cut && len(unowned) > 0 {`, `if false {`, handlers},
	{"siblings that were not read are not said", "pkg/attribute/attribute.go", "\t\t\t\ts.reading.Cut = true\n", "", attributes},
	{"a stop whose tasks have owners waits", "pkg/attribute/attribute.go", `return s.doubtful() && slices.ContainsFunc(s.listed, func(t event.Task) bool {
		_, known := s.launches[t.ID]
		return !known && t.CanBeOwn()`, `return slices.ContainsFunc(s.listed, func(t event.Task) bool {
		_, known := s.launches[t.ID]
		return known || t.CanBeOwn()`, attributes},

	// the budget
	{"one block more", "pkg/gate/gate.go", `return t.Charged < p.Blocks`, `return t.Charged <= p.Blocks`, gates},
	{"the budget is not asked", "pkg/gate/gate.go", `return !affordable(Waitable(f.Own), p) }`, `return false }`, gates},
	{"one block in a row more", "pkg/gate/gate.go", `{"the agent was blocked too often in a row", false, BudgetSpent, func(f Facts, p Policy) bool { return f.Chain >= p.chain() }}`, `{"the agent was blocked too often in a row", false, BudgetSpent, func(f Facts, p Policy) bool { return f.Chain > p.chain() }}`, gates},
	{"blocks in a row are not counted", "pkg/handler/stop.go", "\t\tagent.Chain++\n", "", handlers},
	{"a stop that was let through does not end the row", "pkg/handler/stop.go", "\t\tagent.Chain = 0\n", "", handlers},
	{"the charge is skipped", "pkg/handler/stop.go", `tx.Charge(r.row(t.ID), held, t.Fate.Over())`, `_ = t`, handlers},
	{"the charge does not count up", "pkg/ledger/tx.go", `Blocks: c.Blocks + 1`, `Blocks: 1`, ledgers},
	{"a doubled event is two", "pkg/handler/stop.go", `f.Duplicate = r.doubles(tx, agent)`, `_ = r.doubles(tx, agent)`, handlers},
	{"what follows a hold that was killed is its double", "pkg/handler/stop.go", `h.Since.Equal(agent.LastSumAt) && !h.Lives(r.h)`, `false`, handlers},
	{"the same event is doubled for ever", "pkg/handler/stop.go", `|| r.began.Sub(agent.LastSumAt).Abs() >= duplicateWithin {`, `{`, handlers},
	{"an event between does not end the window", "pkg/ledger/tx.go", "\ta.LastSum = \"\"\n", "", ledgers},
	{"stop_hook_active is ignored for a renewed store", "pkg/gate/gate.go", `return f.StoreRenewed && f.StopHookActive }`, `return false }`, gates},
	{"a renewed store never blocks", "pkg/gate/gate.go", `return f.StoreRenewed && f.StopHookActive }`, `return f.StoreRenewed }`, gates},
	{"a block without a ledger", "pkg/gate/gate.go", `return !f.Store }`, `return false }`, gates},
	{"to observe is to block", "pkg/handler/stop.go", `if !out.Decision.Block || r.p.Observe {`, `if !out.Decision.Block {`, handlers},
	{"to observe is to hold", "pkg/handler/stop.go", `r.limit.For > 0 && !r.p.Observe`, `r.limit.For > 0`, handlers},

	// the hold
	{"a hold charges when it begins", "pkg/handler/hold.go", "\ttx.PutHold(h)\n", "\ttx.PutHold(h)\n\tfor _, t := range d.Tasks {\n\t\ttx.Charge(t.ID, 0, false)\n\t}\n", handlers},
	{"the claim stays", "pkg/handler/hold.go", "\t\t\ttx.EndHold(row)\n", "\t\t\t_ = row\n", handlers},
	{"what cannot be charged is told", "pkg/handler/hold.go", "\t\tout.Decision = gate.Decision{Code: gate.NoStore}\n", "", handlers},
	{"a message does not end a hold", "pkg/gate/hold.go", `return f.Message }`, `return false }`, gates},
	{"an old message ends a hold", "pkg/wait/mail.go", `!m.At.Before(w.Since) && w.Message(m)`, `w.Message(m)`, waits},
	{"a message to somebody else ends a hold", "pkg/handler/hold.go", `return slices.Contains(names, m.To) }`, `return len(names) > 0 }`, handlers},
	{"stopped tasks are blocked for", "pkg/gate/hold.go", `t.Fate.How == fate.Killed })`, `t.Fate.How == fate.Killed && false })`, gates},
	{"a hold does not see the switch", "pkg/gate/hold.go", `return f.Disabled }`, `return false }`, gates},
	{"a hold does not see the end of the session", "pkg/gate/hold.go", `return f.SessionOver }`, `return false }`, gates},
	{"a hold does not see its parent die", "pkg/handler/hold.go", `h.Parent() != l.parent, l.client`, `l.client`, handlers},
	{"a hold does not see its client die", "pkg/handler/hold.go", `l.client > 0 && !h.Alive(l.client)`, `false`, handlers},
	{"a hold does not see the session end", "pkg/handler/hold.go", `l.since(s.Ended, l.first.Session.Ended, 0) && (`, `false && (`, handlers},
	{"a hold does not see the agent go on", "pkg/handler/hold.go", `l.since(l.snap.Agents[agent].Started, l.first.Agents[agent].Started, startMargin) || l.superseded()`, `agent == "?"`, handlers},
	{"a released task is held for", "pkg/handler/hold.go", `return l.snap.Released[task] ||`, `return`, handlers},
	{"the deadline", "pkg/wait/wait.go", `if res.Why == "" && !now.Before(limit) {`, `if false {`, waits},
	{"one task that ended is enough", "pkg/wait/wait.go", `case done == tasks:`, `case done > 0:`, waits},
	{"an agent ends at its first word", "pkg/wait/agent.go", `s.Working = a.active.After(end.At)`, `s.Working = false`, waits},
	{"an agent's earlier life counts", "pkg/fate/judge.go", `!s.End.At.Before(s.Since) && !refuted()`, `!refuted()`, fates},
	{"an agent's own tasks are not waited for", "pkg/wait/agent.go", `if !w.ownedEnded(ctx, l, now, depth) {`, `if !w.ownedEnded(ctx, l, now, depth) && false {`, waits},
	{"a wait does not know what its agent launched", "pkg/wait/agent.go", `if l.Owner == t.ID {`, `if l.Owner == "?" {`, "./pkg/cli"},
	{"an agent that was killed runs", "pkg/status/resolve.go", `unfinished && !killed`, `(unfinished || killed)`, "./pkg/cli"},
	{"an agent gets no time to go on", "pkg/wait/agent.go", `return now.Sub(a.freed) < grace`, `return false`, waits},
	{"a parked agent has ended", "pkg/fate/judge.go", `s.End.Parked && !s.Owns &&`, `false &&`, fates},
	{"the output's last line is not read", "pkg/fate/judge.go", `case s.marked(gone):`, `case false:`, fates},
	{"a printed last line is an end", "pkg/fate/judge.go", `return s.Output.Quiet >= QuietEnd`, `return true`, fates},
	{"whoever has the output open is not asked", "pkg/fate/judge.go", `return !held`, `return held || !held`, fates},
	{"an old client's output has a last line", "pkg/fate/output.go", `if !o.Unmarked {`, `if true {`, fates},
	{"a list does not refute a printed end", "pkg/fate/judge.go", `s.refuted(s.Output.Written, s.Output.Seen)`, `false`, fates},
	{"a list does not refute a told end", "pkg/fate/judge.go", `!s.refuted(s.End.At, s.EndSeen)`, `true`, fates},
	{"what was seen to come is older than the list", "pkg/fate/judge.go", `(seen.IsZero() || seen.Before(s.ListSeen)) && `, ``, fates},
	{"stopped is no kill", "pkg/fate/fate.go", `case "killed", "stopped", "cancelled", "canceled":`, `case "killed":`, fates},
	{"news for a third one was heard", "pkg/fate/account.go", `d.To == owner || d.To == transcript.Main || d.To == ""`, `true`, fates},
	{"an older end replaces a newer", "pkg/fate/account.go", `!e.At.Before(have.At)`, `!e.At.Equal(have.At)`, fates},
	{"a task that is no longer listed runs", "pkg/fate/judge.go", `case gone:
		f.Sign, f.How = NotListed, Unknown`, `case false:
		f.Sign, f.How = NotListed, Unknown`, fates},
	{"the news of an end gets no time to come", "pkg/wait/tasks.go", `f.Sign == fate.NotListed && now.Before(until)`, `false`, waits},
	{"an older list counts", "pkg/wait/tasks.go", `l.At.After(s.list.At) ||`, `true ||`, waits},
	{"a wait does not see the clock set back", "pkg/wait/tasks.go", ` || s.list.At.After(now) && !l.At.Equal(s.list.At) && !l.At.IsZero() {`, ` && !l.At.IsZero() && !now.IsZero() {`, waits},

	// what else ends a wait
	{"the print ceiling ends no wait", "pkg/wait/wait.go", `quiet.Before(w.Until)`, `false`, waits},
	{"the client's bookkeeping moves the ceiling", "pkg/transcript/turn.go", `return r, r.belongs(Main)`, `return r, true`, "./pkg/transcript"},
	{"a message that is to come is a turn's end", "pkg/transcript/turn.go", `if reason == "tool_use" {`, `if false {`, "./pkg/transcript"},
	{"an old entry of an inbox is a message", "pkg/wait/mail.go", `!m.At.IsZero() && !m.At.Before(w.Since)`, `!m.At.IsZero()`, waits},
	{"an entry that was read is a message", "pkg/wait/mail.go", `if m.Read || m.Idle {`, `if m.Idle {`, waits},
	{"news of being idle is a message", "pkg/wait/mail.go", `if m.Read || m.Idle {`, `if m.Read {`, waits},
	{"an agent that was stopped before is stopped", "pkg/wait/mail.go", `e.At.IsZero() || e.At.Before(w.Since)`, `e.At.IsZero()`, waits},
	{"what a look finds is not watched before it is believed", "pkg/wait/rest.go", `case w.fresh:
		return`, `case false:
		return`, waits},
	{"a burst is looked at without a pause", "pkg/wait/rest.go", `min(w.looked.Add(Step).Sub(now), until.Sub(now))`, `min(0, until.Sub(now))`, waits},
	{"without a watch nothing is looked at for long", "pkg/wait/rest.go", `min(max(now.Sub(w.changed)/backoffPart, Step), backoffMost)`, `time.Minute`, waits},
	{"what stirs is not looked at", "pkg/wait/rest.go", `case next.Before(until):
			until = next`, `case next.Before(until):`, waits},
	{"what stirs is looked at without a pause", "pkg/wait/rest.go", `switch next := w.looked.Add(stirRest); {`, `switch next := w.looked; {`, waits},
	{"a file that is not there is not awaited", "pkg/wait/rest.go", `			if !w.deaf {
				w.await(filepath.Dir(path))
			}
`, ``, waits},
	{"what cannot be awaited counts as quiet", "pkg/wait/rest.go", `		path = filepath.Dir(path)
	}
	w.deaf = true`, `		path = filepath.Dir(path)
	}`, waits},
	{"mail that stirred beside a change is forgotten", "pkg/wait/mail.go", `w.again(due) // what`, `_ = due // what`, waits},
	{"what is awaited is told for ever", "pkg/host/watch.go", `			w.set(w.awaited, path, nil)
			_ = w`, `			_ = w`, "./pkg/host"},
	{"the end of a process is not told", "pkg/host/gone_linux.go", `unix.EpollEvent{Events: unix.EPOLLIN}`, `unix.EpollEvent{}`, "./pkg/host"},
	{"that nobody waits is not told", "pkg/handler/hold.go", `case l.ctx.Err() != nil, h.Parent()`, `case h.Parent()`, handlers},

	// the courier
	{"a courier wakes twice", "pkg/handler/courier.go", `if _, told := tx.Courier(t.ID); told {`, `if _, told := tx.Courier(t.ID); told && false {`, handlers},
	{"a courier has no margin for the start beside it", "pkg/handler/courier.go", `t.After(r.began.Add(courierStart))`, `t.After(r.began)`, handlers},
	{"a courier does not wait for what comes to be", "pkg/handler/courier.go", `r.h.Clock.Sleep(ctx, courierStart)`, `r.h.Clock.Sleep(ctx, 0)`, handlers},
	{"a courier ignores deliveries", "pkg/handler/courier.go", ` && !account.Heard(t.ID, r.e.AgentID) {`, ` {`, handlers},
	{"a courier tells of killed tasks", "pkg/handler/courier.go", `t.Fate.Over() && t.Fate.How != fate.Killed &&`, `t.Fate.Over() &&`, handlers},
	{"a courier does not see that the agent went on", "pkg/handler/courier.go", ` || r.actedSince(live, spot) {`, ` || spot < -1 {`, handlers},
	{"a courier tells of somebody else's task", "pkg/handler/courier.go", `if l.Owner != r.e.AgentID ||`, `if l.Owner == "?" ||`, handlers},

	// transcripts
	{"a cursor outlives a rewrite", "pkg/transcript/scan.go", ` || sum != from.Sum {`, ` || sum == "" {`, transcripts},
	{"a cursor outlives a replacement", "pkg/transcript/scan.go", `inode != from.Inode || from`, `from`, transcripts},
	{"half a line counts", "pkg/transcript/scan.go", "\t\t\tp.Cursor.Offset = lineAt\n\t\t}\n", "\t\t\tp.Cursor.Offset = at\n\t\t}\n", transcripts},
	{"a line that is too long is the end", "pkg/transcript/scan.go", "\t\t\t\tskipping, p.Cursor.Inside = true, true\n", "\t\t\t\treturn nil\n", transcripts},
	{"the newest open call is dropped", "pkg/transcript/call.go", `p.Cursor.Open = slices.Delete(p.Cursor.Open, 0, 1)`, `p.Cursor.Open = slices.Delete(p.Cursor.Open, maxOpen-1, maxOpen)`, transcripts},
	{"a word of a monitor is an end", "pkg/transcript/notice.go", `case "", "running", "pending":`, `case "running", "pending":`, transcripts},
	{"a task that runs has ended", "pkg/transcript/notice.go", `case "", "running", "pending":`, `case "":`, transcripts},
	{"only the first task of a notification is delivered", "pkg/transcript/record.go", "for _, n := range noticesOf(text) {\n\t\tif n.ended() {\n\t\t\tp.Deliveries", "for i, n := range noticesOf(text) {\n\t\tif n.ended() && i == 0 {\n\t\t\tp.Deliveries", transcripts},
	{"only the first task of a notification ends", "pkg/transcript/record.go", "for _, n := range noticesOf(text) {\n\t\t\tif n.ended() {", "for i, n := range noticesOf(text) {\n\t\t\tif n.ended() && i == 0 {", transcripts},
	{"only the first block is delivered", "pkg/transcript/record.go", `if content.Type == gjson.String {
		p.heard(content.Str,`, `if content = gjson.ParseBytes(gjson.AppendJSONString(nil, userText(content))); content.Type == gjson.String {
		p.heard(content.Str,`, transcripts},
	{"a second notification of a text is one", "pkg/transcript/notice.go", `body, _, _ := strings.Cut(text, noticeClose)`, `body := strings.ReplaceAll(text, noticeClose, "")`, transcripts},
	{"a name of a task tells of another", "pkg/transcript/notice.go", `range tags(head, "task-id")`, `range tags(head+rest, "task-id")`, transcripts},
	{"a removal is an end", "pkg/transcript/record.go", `case r.operation == "enqueue":`, `case r.operation == "enqueue" || r.operation == "remove":`, transcripts},
	{"an agent's transcript tells ends", "pkg/transcript/record.go", "\tif p.src.Owner != Main {\n\t\treturn\n\t}\n", "", transcripts},
	{"prose that quotes a notification is one", "pkg/transcript/notice.go", `} else if rest, found := strings.CutPrefix(text, noticeOpen); found {`, `} else if _, rest, found := strings.Cut(text, noticeOpen); found {`, transcripts},
	{"what quotes a notification behind the client's words is one", "pkg/transcript/notice.go", `strings.Cut(text, "\n"+noticeOpen)`, `strings.Cut(text, noticeOpen)`, transcripts},

	// the ledger
	{"the lock is skipped", "pkg/ledger/store.go", "\tdefer lock.Release()\n\n\tpath := dir.Store(sessionID)\n\trenewed", "\tlock.Release()\n\n\tpath := dir.Store(sessionID)\n\trenewed", ledgers},
	{"a store is set aside as often as it breaks", "pkg/ledger/store.go", `!last.IsZero() && now.Sub(last).Abs() < asideEvery {`, `!last.IsZero() && false {`, ledgers},
	{"a renewed store does not know it", "pkg/ledger/store.go", `updateStore(path, sessionID, now, now, change)`, `updateStore(path, sessionID, now, time.Time{}, change)`, ledgers},
	{"a newer store is written", "pkg/store/store.go", `binary.BigEndian.Uint64(v) > schema`, `binary.BigEndian.Uint64(v) > schema+1000`, stores},
	{"a cursor moves back", "pkg/ledger/tx.go", ` && have.Offset >= step.To.Offset {`, ` && false {`, ledgers},
	{"worse evidence replaces better", "pkg/ledger/tx.go", `launch = transcript.Join(have, launch)`, `_ = have`, ledgers},
	{"damage is not looked for", "pkg/store/store.go", "\t\t\tif err := intact(tx); err != nil {\n\t\t\t\treturn err\n\t\t\t}\n", "", stores},
	{"a failed beginning stays", "pkg/store/store.go", "\t\t// What a full disk left of a beginning would count as broken later on.\n\t\t_ = os.Remove(path)\n", "", stores},
	{"faults are not caught", "pkg/store/store.go", `old := debug.SetPanicOnFault(true)`, `old := debug.SetPanicOnFault(false)`, stores},
	{"stops are kept for ever", "pkg/ledger/act.go", `if seq > maxRecords {`, `if false {`, ledgers},
	{"rows are kept for ever", "pkg/ledger/tx.go", `if rows >= maxRows {`, `if false {`, ledgers},

	// the process, the folder and the words
	{"stdin is read to its end", "pkg/event/read.go", `end.Feed(data); whole {`, `end.Feed(data); whole && false {`, events},
	{"stdin is waited for without end", "pkg/event/poll_unix.go", `case left == 0:`, `case left < 0:`, events},
	{"stdin may trickle for ever", "pkg/event/read.go", `next(min(idle, max(left, 0)))`, `next(idle)`, events},
	{"the log goes by when stops came", "pkg/status/log.go", `last = later(last, e.Answered())`, `last = later(last, e.Time)`, "./pkg/cli"},
	{"the log goes by the clock within a session", "pkg/status/log.go", `last = later(last, e.Answered())`, `last = e.Answered()`, "./pkg/cli"},
	{"what a new record holds is not news", "pkg/status/log.go", `e.Begun.Format(time.RFC3339Nano) + " "`, `" "`, "./pkg/cli"},
	{"an error moves the terminal", "pkg/cli/errors.go", `a.name+": "+view.Spelled(text)+"\n"`, `a.name+": "+view.Spelled("")+text+"\n"`, "./pkg/cli"},
	{"what could not be printed was done", "pkg/cli/errors.go", "\tcase printing:\n", "\tcase printing && len(a.name) == 0:\n", "./pkg/cli"},
	{"a terminal is waited for", "pkg/handler/handler.go", `if host.IsTerminal(h.Stdin) {`, `if h.Stdin == nil {`, "./pkg/handler"},
	{"nesting has no limit", "pkg/extent/extent.go", `x.depth > MaxDepth {`, `x.depth > 1<<30 {`, "./pkg/extent ./pkg/event"},
	{"work has no limit", "pkg/handler/handler.go", "WorkLimit = 3 * time.Second", "WorkLimit = 3 * time.Hour", "./pkg/handler ./cmd/hook"},
	{"a panic is not caught", "pkg/handler/handler.go", "\t\t\tif v := recover(); v != nil {\n\t\t\t\tres, r.out = ", "\t\t\tif v := any(nil); v != nil {\n\t\t\t\tres, r.out = ", "./pkg/handler ./cmd/hook"},
	{"a crash exits with 2", "cmd/hook/main.go", "\tdebug.SetTraceback(\"crash\")\n", "\t_ = debug.SetTraceback\n", "./cmd/hook"},
	{"a store that others can read", "pkg/store/store.go", `host.Write(beside, template(), 0o600)`, `host.Write(beside, template(), 0o644)`, stores},
	{"another's folder is taken", "pkg/state/os_unix.go", `case info.Mode().Perm() != 0o700:`, `case false:`, states},
	{"two sessions share a name", "pkg/state/names.go", `return hashMark + hex.EncodeToString(sum[:])`, `return hashMark + hex.EncodeToString(sum[:1])`, states},
	{"a session's id is a path", "pkg/state/names.go", `i > 0 && (c == '-' || c == '_')`, `i > 0 && (c == '-' || c == '_' || c == '/' || c == '.')`, states},
	{"a stop that another process holds is answered", "pkg/handler/hold.go", `claimed && (row.Over || !r.holds(row)) ||`, `false ||`, handlers},
	{"a task that another process charged is charged again", "pkg/handler/hold.go", `return tx.Charged(r.row(t.ID)).Blocks > t.Charged })`, `return false })`, handlers},
	{"a path that another call printed is learned", "pkg/transcript/transcript.go", `if a.ToolUseID != b.ToolUseID {`, `if false {`, transcripts},
	{"a path of any length", "pkg/transcript/path.go", ` || len(path) > maxOutput ||`, ` ||`, transcripts},
	{"a path of no task", "pkg/transcript/path.go", `if task == "" || word(task)`, `if word(task)`, transcripts},
	{"a path in any folder", "pkg/transcript/path.go", ` || names[last-1] != outputDir {`, ` {`, transcripts},
	{"a path of any characters", "pkg/transcript/path.go", `if r != ' ' && !strings.ContainsRune(`, `if false && !strings.ContainsRune(`, transcripts},
	{"a path of any words", "pkg/transcript/path.go", `joints != last+1 || strings.Count(path, " ") > maxSpaces {`, `joints != last+1 {`, transcripts},
	{"any text with a slash is an output file", "pkg/transcript/path.go", "\tdefault:\n\t\treturn \"\"\n", "\tdefault:\n\t\tjoints++\n", transcripts},
	{"what is used is swept", "pkg/state/sweep.go", `now.Sub(info.ModTime()) >= keep`, `now.Sub(info.ModTime()) >= -keep`, states},
	{"the sweep ignores a held lock", "pkg/state/sweep.go", "\tif !ok {\n\t\treturn 0\n\t}\n\tdefer lock.Release()\n", "\tif ok {\n\t\tdefer lock.Release()\n\t}\n", states},
	{"the sweep does not look again", "pkg/state/sweep.go", `err == nil && !unusedFor(info, now, keep)`, `err == nil && info == nil`, states},
	{"a file is ours by its name alone", "pkg/state/ours.go", `return k.form(file, info.Size())`, `return k >= aStore`, states},
	{"a name that comes close is ours", "pkg/state/names.go", `if !isSafe(session) {`, `if session == "" {`, states},
	{"a link is ours", "pkg/state/ours.go", `if err != nil || !info.Mode().IsRegular() {`, `if err != nil {`, states},
	{"any store of bbolt is ours", "pkg/state/ours.go", `if bytes.Contains(buf[:n], []byte(row)) {`, `if n > 0 {`, states},
	{"what is not ours is removed", "pkg/state/ours.go", "\tif !d.ours(path) {\n\t\treturn fmt.Errorf", "\tif d.path == \"\" {\n\t\treturn fmt.Errorf", states},
	{"a log of somebody else is written into", "pkg/state/log.go", `if info.Size() > 0 && !isLog(head(file, maxBegin)) {`, `if info.Size() < 0 {`, states},
	{"a home that was deleted is made again", "pkg/state/state.go", `case d.home != "" && !isFolder(d.home):`, `case d.home != "" && d.path == "":`, states},
	{"a folder that was taken away is made again", "pkg/state/state.go", `case d.found:`, `case false:`, states},
	{"records of another home are shown", "pkg/state/state.go", `(isFolder(d.sessions()) || d.makeable())`, `isFolder(d.sessions())`, states},
	{"control characters are quoted", "pkg/gate/reason.go", `r != ' ' && !unicode.IsGraphic(r) ||`, ``, gates},
	{"quotes are quoted", "pkg/gate/reason.go", `strings.ContainsRune("\"'` + "`" + `$\u2018\u2019\u201c\u201d", r) ||`, ``, gates},
	{"an id that is prose is quoted", "pkg/gate/reason.go", ` && !strings.Contains(t.ID, " ") {`, ` {`, gates},
	{"a reason of any length", "pkg/gate/reason.go", "\troom := MaxReason - utf8", "\troom := 9*MaxReason - utf8", gates},

	// what install, doctor and uninstall touch
	{"somebody's line is replaced", "pkg/setup/ours.go", `return ok && !h.ByHand`, `return ok && h.Event == ""`, installs},
	{"an entry is added beside somebody's line", "pkg/setup/install.go", "hooks[taken])\n\t\treturn true", "hooks[taken])\n\t\treturn false", installs},
	{"any program in our place is run for a proof", "pkg/setup/foreign.go", `hashOf(data) == known {`, `len(data) > 0 {`, installs},
	{"any program of that name is run for a proof", "pkg/setup/foreign.go", `case !info.Mode().IsRegular() || !isProgram(program, hookName):`, "case info.Mode().IsRegular():\n\t\treturn \"\", nil\n\tcase true:", installs},
	{"root installs into a person's home", "pkg/setup/owner.go", `w.uid() != 0 || owner == 0 {`, `w.uid() != 0 || owner >= 0 {`, installs},
	{"a deleted home is made again", "pkg/setup/owner.go", `if home := w.Home(); home != "" {`, `if home := w.Home(); home == "" {`, installs},
	{"a purge does not end what waits", "pkg/setup/uninstall.go", `p.w.endRunning(ctx, p.Running)`, `p.w.endRunning(ctx, nil)`, installs},
	{"a folder that a person named is purged", "pkg/setup/leftovers.go", `return dir != w.Env(state.EnvDir) ||`, `return true ||`, installs},
	{"a former hold stays", "pkg/setup/entries.go", `if moved = h.former(); moved {`, `if moved = false; moved {`, installs},
	{"a hold over the stall limit is fine", "pkg/setup/limits.go", `if p.Hold > l.Longest() {`, `if false {`, "./pkg/doctor ./pkg/cli"},
	{"a read-only file is found too late", "pkg/settings/file.go", `if err := ready(target, info); err != nil {`, `if err := ready(target, info); false && err != nil {`, edits},
	{"bytes that never were are the old ones", "pkg/settings/file.go", `prev.left(old) && !prev.Derived`, `prev.left(old)`, edits},
	{"a mount is not written", "pkg/host/write.go", `if errors.Is(err, syscall.EBUSY) {`, `if err == nil && errors.Is(err, syscall.EBUSY) {`, edits},

	// what processes do
	{"a child whose output goes elsewhere is not the task's", "pkg/process/tree_linux.go", "\t\tnext = append(next, children[st.PID]...)\n", "", processes},
	{"any stdout of that name is the output", "pkg/process/scan_linux.go", `return id != identity{} && (id == s.found[task].file || id == s.asks[task].file)`, `return id != identity{}`, processes},
	{"a device is an output", "pkg/process/scan_linux.go", `if err == nil && !regular(st) {`, `if false {`, processes},
	{"another user's process is looked at", "pkg/process/tree_linux.go", `if there && !ours && !st.Ended ||`, `if false && !ours ||`, processes},
	{"a launcher that leads its output elsewhere is gone", "pkg/process/tree_linux.go", `launcher.PID != 0 && st.Start == launcher.Start`, `false && st.Start == launcher.Start`, processes},
	{"one look that finds none is enough", "pkg/process/judge.go", `j.gone++; j.gone < 2`, `j.gone++; j.gone < 1`, processes},
	{"a task that was never seen is gone", "pkg/process/judge.go", `case !j.was && !l.Sure:`, `case false:`, processes},
	{"it is always sure that there is none", "pkg/process/tree_linux.go", "\t\t\treturn false\n\t\t}\n\t}\n\treturn true", "\t\t\treturn true\n\t\t}\n\t}\n\treturn true", processes},
	{"what its parent listens on counts", "pkg/process/deep_linux.go", `if !slices.Contains(inherited, socket) {`, `if socket != 0 || inherited == nil {`, processes},
	{"an inotify without watches watches", "pkg/process/deep_linux.go", `d.watches = watching(d.read(pid + "/fdinfo/" + name))`, `d.watches = len(d.read(pid+"/fdinfo/"+name)) > 0`, processes},
	{"a socket that is connected listens", "pkg/process/deep_linux.go", `|| string(fields[state]) != "0A"`, `|| false`, processes},
	{"a busy server serves", "pkg/process/judge.go", "\tif w.words != \"\" {\n\t\tj.rest = 0\n\t}\n", "", processes},
	{"a working task is idle", "pkg/process/judge.go", "\tif w.much {\n\t\tj.idle = 0\n\t}\n", "", processes},
	{"a poll loop works for ever", "pkg/process/work.go", `lasts || polls}`, `true}`, processes},
	{"what ended counts again when it is waited for", "pkg/process/work.go", `d.used = ticks - min(ticks, then)`, `d.used = ticks - min(ticks, then-then%100)`, processes},
	{"a night counts as seen", "pkg/process/judge.go", `gap = min(gap, maxGap)`, `_ = maxGap`, processes},
	{"part that cannot be seen is idle", "pkg/process/judge.go", `case !l.Deep && j.idle >= IdleAfter:`, `case false:`, processes},

	// what commands did before
	{"left running once is enough", "pkg/history/entry.go", `x.NotWaited = e.Left >= never &&`, `x.NotWaited = e.Left >= 1 &&`, histories},
	{"what ended once is not waited for", "pkg/history/entry.go", `e.Ended == 0 && e.Left > e.Failed`, `e.Left > e.Failed`, histories},
	{"an old end counts for ever", "pkg/history/entry.go", `x.Ends = e.LeftSince < never && (`, `x.Ends = (`, histories},
	{"one failure is an end", "pkg/history/entry.go", `e.Failed >= 2 && e.Left == 0`, `e.Failed >= 1 && e.Left == 0`, histories},
	{"the project does not count", "pkg/history/secret.go", `[]byte(filepath.Clean(project)`, `[]byte(filepath.Clean("x")`, histories},
	{"the key is the same everywhere", "pkg/history/secret.go", `PutUint64(key[i:], rand.Uint64())`, `PutUint64(key[i:], 0*rand.Uint64())`, histories},
	{"commands are remembered for ever", "pkg/history/entry.go", `return now.Sub(e.Last) > Keep`, `return false`, histories},
	{"a full history grows", "pkg/history/rows.go", `if b.Sequence() >= MaxEntries {`, `if false {`, histories},
	{"variables that matter are dropped", "pkg/history/normal.go", `!more || !harmless(name) {`, `!more || name == "" {`, histories},

	// what is told to a collector
	{"what was sent is not written down before", "pkg/export/export.go", "\t\te.c.Pending = batch\n\t\tif err := e.c.write(e.Dir, e.Target); err != nil {", "\t\te.c.Pending = batch\n\t\tif err := error(nil); err != nil {", exports},
	{"a batch that was not taken is given up", "pkg/export/export.go", `return errors.Join(err, e.c.write(e.Dir, e.Target))`, `e.c.Pending = nil; return errors.Join(err, e.c.write(e.Dir, e.Target))`, exports},
	{"Retry-After is not heard", "pkg/export/send.go", `if passes && later.After > 0 {`, `if passes && later.After < 0 {`, exports},
	{"a dry run writes down that it was sent", "pkg/export/export.go", `e.c, e.dry = c, true`, `e.c = c`, exports},
	{"pauses do not grow", "pkg/export/send.go", `pause = min(2*pause, mostPause)`, `pause = firstPause`, exports},
	{"batches are without bounds", "pkg/export/export.go", `batchSize-told.Len())`, `100*batchSize)`, exports},
	{"acts before the time that is asked for are told", "pkg/export/export.go", `func(a ledger.Act) bool { return a.Time.Before(e.Since) }`, `func(a ledger.Act) bool { return false }`, exports},
	{"an export that follows sends nothing new", "pkg/export/follow.go", `filepath.Ext(event.Name) != ".db"`, `filepath.Ext(event.Name) != ".none"`, exports},
	{"what is shown on a terminal is as it was written", "pkg/export/target.go", `status.Visible(line)`, `append(status.Visible(nil), line...)`, exports},
	{"what is refused is given up by a service", "pkg/export/send.go", `if err == nil || !passes && e.Patience > 0 {`, `if err == nil || !passes {`, exports},
	{"what is too large is given up", "pkg/export/send.go", `if errors.Is(err, otlp.ErrTooLarge) {`, `if false {`, exports},
	{"a series begins with its value", "pkg/export/sums.go", `first.Time, first.Int = otlp.At(last), &zero`, `first.Time, first.Int = otlp.At(last), &value; _ = zero`, exports},
	{"a point is older than the last", "pkg/export/sums.go", `if earliest := c.Last.Add(pointGap); now.Before(earliest) {`, `if earliest := c.Last.Add(pointGap); now.Before(earliest) && false {`, exports},
	{"a bound belongs to the bucket above it", "pkg/export/sums.go", `at, _ := slices.BinarySearch(m.Metric.Bounds, m.Value)`, `at, found := slices.BinarySearch(m.Metric.Bounds, m.Value); if found { at++ }`, exports},
	{"series are without bounds", "pkg/export/sums.go", `len(c.Sums) >= maxSeries`, `len(c.Sums) < 0`, exports},
	{"half a line is gone on with", "pkg/export/target.go", `line = append([]byte{'\n'}, line...)`, `_ = line`, exports},
	{"somebody's file is a cursor", "pkg/export/cursor.go", `return nil, fmt.Errorf("%s: %w", path, state.ErrNotOurs)`, `return newCursor(now), nil`, exports},
	{"a broken cursor is begun anew", "pkg/export/cursor.go", `return nil, fmt.Errorf("%s: %w: %w", path, ErrBroken, err)`, `return newCursor(now), nil`, exports},
	{"a session that fell silent is never over", "pkg/export/export.go", `|| now.Sub(rec.LastEventAt) >= e.idle()) &&`, `|| false) &&`, exports},
	{"an answer that makes no sense to wait for is waited for", "pkg/otlp/send.go", `return min(max(0, at.Sub(now)), maxAfter)`, `return at.Sub(now)`, otlps},
	{"headers are not decoded", "pkg/otlp/config.go", `value, err := url.PathUnescape(strings.TrimSpace(value))`, `value, err := strings.TrimSpace(value), error(nil)`, otlps},
	{"the general variable wins over a signal's own", "pkg/otlp/config.go", `return cmp.Or(env(envPrefix+name+"_"+what), env(envPrefix+what), fallback)`, `return cmp.Or(env(envPrefix+what), env(envPrefix+name+"_"+what), fallback)`, otlps},
	{"no certificate of its own is shown", "pkg/otlp/config.go", `config.Certificates = []tls.Certificate{pair}`, `_ = pair`, otlps},
	{"any protocol will do", "pkg/otlp/config.go", `case "http/protobuf":`, `case "http/protobuf", "grpc":`, otlps},
	{"a request has no time", "pkg/otlp/config.go", `Timeout: t.Timeout, CheckRedirect`, `CheckRedirect`, otlps},
	{"a redirect is followed with the headers", "pkg/otlp/config.go", `return http.ErrUseLastResponse }`, `return nil }`, otlps},
	{"the end of what is compressed is missing", "pkg/otlp/send.go", `err = errors.Join(err, w.Close()) //`, `defer w.Close() //`, otlps},
	{"a signal's own endpoint gets a path", "pkg/otlp/config.go", `if own == "" {`, `if true {`, otlps},
	{"a zero attribute is left out", "pkg/otlp/encode.go", `given := v.Kind() == reflect.Pointer
	if v.IsZero() {
		return b
	}
	if given {
		v = v.Elem()
	}`, `if v.IsZero() {
		return b
	}
	if v.Kind() == reflect.Pointer {
		if v = v.Elem(); v.IsZero() {
			return b
		}
	}`, otlps},
	{"a teammate's name is told in its id", "pkg/telemetry/clean.go", `case form.MatchString(id) || id == "":`, `case id != " ":`, tellings},
	{"any word is told", "pkg/telemetry/clean.go", `if len(w) > 32 || !form.MatchString(w) {`, `if len(w) > 320 {`, tellings},
	{"the project's folder is told", "pkg/telemetry/telemetry.go", `	if s.Texts {
		attrs = append(attrs, otlp.String(attrProjectPath`, `	if true {
		attrs = append(attrs, otlp.String(attrProjectPath`, tellings},
	{"an agent's name is told", "pkg/telemetry/telemetry.go", `s.Texts && name != ""`, `name != ""`, tellings},
	{"a task is told before anybody heard of it", "pkg/telemetry/telemetry.go", `return over || t.Kind != kindAgent && (t.State == status.TaskFinished || t.State == status.TaskKilled) &&`, `return over ||`, tellings},
	{"a stop is told twice", "pkg/telemetry/acts.go", `if stop.Seq > s.done.Seq {`, `if stop.Seq >= s.done.Seq {`, tellings},
	{"an act is told twice", "pkg/telemetry/acts.go", `if act.Seq > s.done.Seq {`, `if act.Seq >= s.done.Seq {`, tellings},
	{"acts are told behind later stops", "pkg/telemetry/acts.go", `return cmp.Compare(a.seq, b.seq)`, `return 0`, tellings},
	{"a note of the ledger is told as it is", "pkg/telemetry/acts.go", `	if !slices.Contains(reasons, note) {
		return "other"
	}
	return strings.ReplaceAll(note, " ", "-")`, `	return note`, tellings},
	{"a courier that gave way ends the later one's waiting", "pkg/telemetry/acts.go", `			which = 0`, `			which = len(open) - 1`, tellings},
	{"a record that began afresh is not told", "pkg/telemetry/telemetry.go", `if !done.Begun.Equal(rec.Begun) {`, `if false {`, tellings},
	{"ids of two records are the same", "pkg/telemetry/clean.go", `s.rec.Begun.UTC().Format(time.RFC3339Nano)`, `""`, tellings},
	{"a message counts as a result", "pkg/telemetry/telemetry.go", `|| stop.Code == string(gate.MessageWaits) {`, `{`, tellings},
	{"the hold counts as the hook's work", "pkg/telemetry/telemetry.go", `work := max(0, stop.Duration) - held`, `work := max(0, stop.Duration)`, tellings},
	{"what an exporter keeps is nobody's", "pkg/state/names.go", `if !is || target == "" ||`, `if is || target == "" ||`, exports},
	{"a task's end is nobody's news", "pkg/timeline/tasks.go", `made.Unheard = t.State == status.TaskUndelivered && len(made.News) == 0`, `made.Unheard = false`, pictures},
	{"news of the client from before the end counts", "pkg/timeline/tasks.go", `(t.Ended.IsZero() || !d.At.Before(t.Ended))`, `true`, pictures},
	{"who told it first does not count", "pkg/timeline/tasks.go", `return told[n.To]`, `return false`, pictures},
	{"a result counts as saved though its owner never worked on", "pkg/timeline/tasks.go", `return kept.Seq != 0 && worked && place.Lost()`, `return kept.Seq != 0 && (worked || true) && place.Lost()`, pictures},
	{"a result counts as saved that nobody would have lost", "pkg/timeline/tasks.go", `return kept.Seq != 0 && worked && place.Lost()`, `return kept.Seq != 0 && worked && (place.Lost() || true)`, pictures},
	{"a terminal of a newer client loses results", "pkg/timeline/lost.go", `return before(p.Client, 300)`, `return true`, pictures},
	{"a hold is not drawn", "pkg/timeline/spans.go", `if stop.AgentID == id && stop.Held > 0 {`, `if false {`, pictures},
	{"a hold that lasts is not drawn", "pkg/timeline/spans.go", `if h := a.Hold; h != nil {`, `if h := a.Hold; h != nil && false {`, pictures},
	{"a call that has no answer is work", "pkg/timeline/spans.go", `turn(Waiting, m.At, "for the answer of "+view.Clean(tools(open)))`, `turn(Working, m.At, "for the answer of "+view.Clean(tools(open)))`, pictures},
	{"an agent that rests works on", "pkg/timeline/spans.go", `turn(Idle, m.At, "")`, `turn(Working, m.At, "")`, pictures},
	{"a merged hold is not drawn", "pkg/timeline/merge.go", `run.Doing != Held && spans[i].Doing != Held &&`, ``, pictures},
	{"a block is drawn as allowed", "pkg/timeline/marks.go", `m.Kind, verdict = MarkBlock, "blocked"`, `verdict = "blocked"`, pictures},
	{"a block's answer counts as a wake of the client", "pkg/timeline/marks.go", `return rested && !slices.ContainsFunc(`, `return rested || !slices.ContainsFunc(`, pictures},
	{"a child stands beside its launcher", "pkg/timeline/build.go", `add(child, depth+1)`, `add(child, depth)`, pictures},
	{"a far deadline squeezes what was", "pkg/timeline/build.go", `t.Until = earlier(t.Until, b.until.Add(b.until.Sub(b.from)*2/5)) //`, `//`, pictures},
	{"words stand in a timeline without text", "pkg/timeline/marks.go", `call.Text != "" && !b.NoText {`, `call.Text != "" {`, pictures},
	{"holds that last cost no time", "pkg/timeline/totals.go", `			t.Waited += max(0, b.Now.Sub(a.Hold.Since))
`, ``, pictures},
	{"a wake costs no turn", "pkg/timeline/totals.go", `t.Turns = t.Blocks + t.Wakes`, `t.Turns = t.Blocks`, pictures},
	{"an excused task counts as unheard", "pkg/timeline/totals.go", `if task.Unheard && !task.Excused {`, `if task.Unheard {`, pictures},
	{"the status line shows a hold whose process is gone", "pkg/statusline/statusline.go", `if s.Lives != nil && !s.Lives(h.Process) {`, `if false {`, lines},
	{"the status line names a task that has ended", "pkg/statusline/statusline.go", `seen[id] || ended {`, `seen[id] && ended {`, lines},
	{"the status line counts an end of this moment", "pkg/statusline/statusline.go", `s.Now.Sub(e.At) < settled:`, `s.Now.Sub(e.At) < 0:`, lines},
	{"the status line counts an end while its owner works", "pkg/statusline/statusline.go", `case owner.Stopped.Before(owner.Started) ||`, `case false ||`, lines},
	{"the status line counts an end that a courier told", "pkg/statusline/statusline.go", `case told || snap.Told[id] ||`, `case told && snap.Told[id] ||`, lines},
	{"the status line is wider than its place", "pkg/statusline/statusline.go", `if width == 0 || view.Width(line) <= width || n == 0 {`, `if n >= 0 {`, lines},
	{"the status line has words in spite of --no-text", "pkg/statusline/statusline.go", `if !s.NoText {`, `if true {`, lines},
	{"the status line names no command that an event told of", "pkg/statusline/statusline.go", `if path == "" {`, `if false {`, lines},
	{"a notice is given again and again", "pkg/ledger/notice.go", `was || !storable(key)`, `was && !storable(key)`, notices},
	{"a notice of yesterday is given", "pkg/notice/notice.go", `is && now.Sub(stop.Time.Add(stop.Duration)) <= fresh {`, `is {`, notices},
	{"own work that is waited for is told of", "pkg/notice/notice.go", `a.Stuck && a.Why != status.WhyOwnWork {`, `a.Stuck {`, notices},
	{"a task that has ended is told of as running", "pkg/notice/notice.go", `return !ok || t.State != status.TaskRunning || t.Excused()`, `return !ok || t.Excused()`, notices},
	{"a notice moves a terminal", "pkg/notice/notice.go", `view.Snip(strings.TrimLeft(view.Clean(s), "- "), width)`, `view.Snip(strings.TrimLeft(s, "- "), width)`, notices},
	{"a notice's text is an option", "pkg/notice/notice.go", `strings.TrimLeft(view.Clean(s), "- ")`, `view.Clean(s)`, notices},
	{"a project wants notices", "pkg/config/parse.go", `if r.from == Person && len(path) == 2 &&`, `if len(path) == 2 &&`, notices},
	{"a notice's program is the working folder's", "pkg/config/notice.go", `filepath.Base(words[0]) != words[0]:`, `words[0] == "":`, notices},
	{"the hook hands over though nobody wants it", "pkg/handler/notice.go", `if r.configure(); r.notify {`, `if r.configure(); true {`, notices},
	{"the hook hands over though there is no news", "pkg/handler/notice.go", `if !r.tell || r.h.Become == nil {`, `if r.h.Become == nil {`, notices},
	{"a courier that has woken somebody hands over", "pkg/handler/handler.go", `if res.wake == "" {`, `if r.tell = r.tell || res.wake != ""; true {
				r.handOver()
			}
			if res.wake == "" {`, notices},
	{"a hook that handed over ends as hookctl does", "pkg/handler/notice.go", `2>&1 & exit 0`, `2>&1`, "./cmd/hook"},
	{"a sentence is as wide as it is", "pkg/view/screen.go", `if s.Width <= 0 || Width(line) <= s.Width ||`, `if s.Width <= 0 || Width(line) > 0 ||`, "./pkg/cli"},
}
