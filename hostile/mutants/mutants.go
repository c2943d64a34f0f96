package main

// The packages whose tests see a kind of rule, the likeliest first.
const (
	handlers    = "./pkg/handler ./pkg/replay"
	transcripts = "./pkg/transcript ./pkg/handler ./pkg/replay"
	ledgers     = "./pkg/ledger ./pkg/handler"
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
	{"an agent's end ends the session", "pkg/handler/record.go", "\t\tif r.e.AgentID != \"\" {\n\t\t\treturn out // an agent's", "\t\tif false {\n\t\t\treturn out // an agent's", handlers},
	{"a session that goes on stays ended", "pkg/handler/handler.go", `if r.e.Name != event.SessionEnd {`, `if false {`, handlers},
	{"patience has no end", "pkg/gate/gate.go", `t.Waited < p.Patience`, `true`, gates},
	{"what was handed over is waited for again", "pkg/gate/gate.go", `return !t.Told && t.Waited`, `return t.Waited`, gates},
	{"a message costs a task its patience", "pkg/handler/stop.go", `if d.Block && d.Code != gate.MessageWaits {`, `if d.Block {`, handlers},
	{"an agent near the ceiling is held on", "pkg/handler/hold.go", `watch.Quiet = r.clocks.Quiet()`, `watch.Quiet = 0`, handlers},
	{"an agent past the ceiling is held", "pkg/handler/stop.go", `facts.CeilingOver = r.began.Sub(last) >= quiet`, `_ = last`, handlers},
	{"a held coordinator's agents see a ceiling", "pkg/handler/hold.go", `h.AgentID == transcript.Main && h.Lives(r.h)`, `false`, handlers},
	{"a lost hold is not recorded", "pkg/ledger/tx.go", `if !h.Over && !lives(h.Process) {`, `if false {`, ledgers},
	{"an id that lives again is the same process", "pkg/ledger/ledger.go", `return !ok || now == p.Started`, `return !ok || now != ""`, ledgers},
	{"couriers heap up", "pkg/handler/hold.go", `return ok && w.At.After(l.r.began)`, `return ok && w.At.IsZero()`, handlers},
	{"a busy coordinator is woken", "pkg/handler/courier.go", `busy = busy && ok && now`, `busy = busy && !ok && now`, handlers},
	{"a stopped agent's stop is answered", "pkg/gate/hold.go", `return f.AgentStopped }`, `return false }`, gates},
	{"an attended coordinator is held", "pkg/gate/lead.go", `return !f.Held }`, `return false }`, gates},
	{"a coordinator's turn has no patience", "pkg/handler/lead.go", `spent.Waited = waited`, `_ = waited`, handlers},
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
	{"a released task is waited for", "pkg/handler/stop.go", `l.Ignored || released`, `l.Ignored`, handlers},
	{"a command to be ignored is not", "pkg/handler/stop.go", `!l.Ignored && r.p.Ignored(t.Command)`, `false`, handlers},
	{"run_in_background is ignored", "pkg/transcript/launch.go", `asked := call.Asked ||`, `asked := true ||`, transcripts},
	{"the version rule is dropped", "pkg/transcript/launch.go", `if s.needsAsking && !asked && !olderThan(version, askingSince) {`, `if false {`, transcripts},
	{"old versions are as new ones", "pkg/transcript/launch.go", `if s.needsAsking && !asked && !olderThan(version, askingSince) {`, `if s.needsAsking && !asked {`, transcripts},
	{"text is trusted over PostToolUse", "pkg/transcript/transcript.go", `[]Evidence{Text, TextAsked, Meta, ToolUseResult, PostToolUse}`, `[]Evidence{TextAsked, Meta, ToolUseResult, PostToolUse, Text}`, transcripts},
	{"text is trusted over what asked for the background", "pkg/transcript/transcript.go", `[]Evidence{Text, TextAsked, Meta,`, `[]Evidence{TextAsked, Text, Meta,`, transcripts},
	{"the later of two equals wins", "pkg/transcript/transcript.go", `return l.At.Before(other.At)`, `return l.At.After(other.At)`, transcripts},
	{"an error launches", "pkg/transcript/record.go", `if !open || block.Get("is_error").Type == gjson.True {`, `if !open {`, transcripts},
	{"another agent's line counts", "pkg/transcript/record.go", `return r.agentID == owner`, `return true`, transcripts},
	{"an agent's line counts as the coordinator's", "pkg/transcript/record.go", `return r.agentID == "" && !r.sidechain`, `return true`, transcripts},
	{"the sentence counts anywhere in the text", "pkg/transcript/launch.go", `!strings.HasPrefix(text, s.begins)`, `!strings.Contains(text, s.begins)`, transcripts},
	{"the parent in the meta file is ignored", "pkg/attribute/attribute.go", `if meta.ParentAgentID != "" {`, `if false {`, attributes},
	{"the others' transcripts are not read", "pkg/attribute/attribute.go", "\t\ts.others(ctx)\n", "", attributes},
	{"a transcript that lags is not waited for", "pkg/attribute/attribute.go", `for s.waitable() && clock`, `for false && clock`, attributes},
	{"it is waited for too long", "pkg/attribute/attribute.go", `clock.Now().Sub(start) < Settle`, `clock.Now().Sub(start) < 10*Settle`, attributes},
	{"a reading that was cut short is not said", "pkg/handler/stop.go", `if found.Cut && len(unowned) > 0 {`, `if false {`, handlers},
	{"siblings that were not read are not said", "pkg/attribute/attribute.go", "\t\t\t\ts.cut = true\n", "", attributes},
	{"a stop whose tasks have owners waits", "pkg/attribute/attribute.go", `return s.missing() && slices.ContainsFunc(s.listed, func(t event.Task) bool {
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
	{"the charge is skipped", "pkg/handler/stop.go", `tx.Charge(r.row(t.ID), held, t.Ending != nil)`, `_ = t`, handlers},
	{"the charge does not count up", "pkg/ledger/tx.go", `Blocks: c.Blocks + 1`, `Blocks: 1`, ledgers},
	{"a doubled event is two", "pkg/handler/stop.go", `f.Duplicate = r.doubles(agent)`, `_ = r.doubles(agent)`, handlers},
	{"the same event is doubled for ever", "pkg/handler/stop.go", `|| r.began.Sub(agent.LastSumAt).Abs() >= duplicateWithin {`, `{`, handlers},
	{"an event between does not end the window", "pkg/ledger/tx.go", "\ta.LastSum = \"\"\n", "", ledgers},
	{"stop_hook_active is ignored for a renewed store", "pkg/gate/gate.go", `return f.StoreRenewed && f.StopHookActive }`, `return false }`, gates},
	{"a renewed store never blocks", "pkg/gate/gate.go", `return f.StoreRenewed && f.StopHookActive }`, `return f.StoreRenewed }`, gates},
	{"a block without a ledger", "pkg/gate/gate.go", `return !f.Store }`, `return false }`, gates},
	{"to observe is to block", "pkg/handler/stop.go", `if !out.Decision.Block || r.p.Observe {`, `if !out.Decision.Block {`, handlers},
	{"to observe is to hold", "pkg/handler/stop.go", `r.limit.For > 0 && !r.p.Observe`, `r.limit.For > 0`, handlers},

	// the hold
	{"a hold charges when it begins", "pkg/handler/hold.go", "\t\th.Tasks = append(h.Tasks, t.ID)\n", "\t\th.Tasks = append(h.Tasks, t.ID)\n\t\ttx.Charge(t.ID, 0, false)\n", handlers},
	{"the claim stays", "pkg/handler/hold.go", "\t\t\ttx.EndHold(row)\n", "\t\t\t_ = row\n", handlers},
	{"what cannot be charged is told", "pkg/handler/hold.go", "\t\tout.Decision = gate.Decision{Code: gate.NoStore}\n", "", handlers},
	{"a message does not end a hold", "pkg/gate/hold.go", `return f.Message }`, `return false }`, gates},
	{"an old message ends a hold", "pkg/wait/mail.go", `!m.At.Before(w.Since) && w.Message(m)`, `w.Message(m)`, waits},
	{"a message to somebody else ends a hold", "pkg/handler/hold.go", `return slices.Contains(names, m.To) }`, `return len(names) > 0 }`, handlers},
	{"stopped tasks are blocked for", "pkg/gate/hold.go", `t.Ending != nil && t.Ending.Killed })`, `t.Ending != nil && t.Ending.Killed && false })`, gates},
	{"a hold does not see the switch", "pkg/gate/hold.go", `return f.Disabled }`, `return false }`, gates},
	{"a hold does not see the end of the session", "pkg/gate/hold.go", `return f.SessionOver }`, `return false }`, gates},
	{"a hold does not see its parent die", "pkg/handler/hold.go", `h.Parent() != l.parent, l.client`, `l.client`, handlers},
	{"a hold does not see its client die", "pkg/handler/hold.go", `l.client > 0 && !h.Alive(l.client)`, `false`, handlers},
	{"a hold does not see the session end", "pkg/handler/hold.go", `s.Ended.After(l.r.began) && (`, `false && (`, handlers},
	{"a hold does not see the agent go on", "pkg/handler/hold.go", `l.snap.Agents[l.r.e.AgentID].Started.After(l.r.began.Add(startMargin)) || l.superseded()`, `false`, handlers},
	{"a released task is held for", "pkg/handler/hold.go", `return l.snap.Released[task] }`, `return false }`, handlers},
	{"the deadline", "pkg/wait/wait.go", `if res.Why == "" && !now.Before(limit) {`, `if false {`, waits},
	{"one task that ended is enough", "pkg/wait/wait.go", `case done == tasks:`, `case done > 0:`, waits},
	{"an agent ends at its first word", "pkg/wait/agent.go", `s.Working = a.active.After(end.At)`, `s.Working = false`, waits},
	{"an agent's earlier life counts", "pkg/fate/judge.go", `!s.End.At.Before(s.Since) && !refuted()`, `!refuted()`, fates},
	{"an agent's own tasks are not waited for", "pkg/wait/agent.go", `if !w.ownedEnded(ctx, l, now, depth) {`, `if !w.ownedEnded(ctx, l, now, depth) && false {`, waits},
	{"an agent gets no time to go on", "pkg/wait/agent.go", `return now.Sub(a.freed) < grace`, `return false`, waits},
	{"a parked agent has ended", "pkg/fate/judge.go", `s.End.Parked && !s.Owns &&`, `false &&`, fates},
	{"the output's last line is not read", "pkg/fate/judge.go", `case s.marked(gone):`, `case false:`, fates},
	{"a printed last line is an end", "pkg/fate/judge.go", `return s.Output.Quiet >= QuietEnd`, `return true`, fates},
	{"whoever has the output open is not asked", "pkg/fate/judge.go", `return !s.Output.Held`, `return true`, fates},
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
	{"an older list counts", "pkg/wait/tasks.go", `l.At.After(s.list.At)`, `!l.At.IsZero()`, waits},

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
	{"a burst is looked at without a pause", "pkg/wait/rest.go", `w.looked.Add(Step).Sub(w.Clock.Now())`, `time.Duration(0)`, waits},
	{"without a watch nothing is looked at for long", "pkg/wait/rest.go", `min(max(now.Sub(w.changed)/backoffPart, Step), backoffMost)`, `time.Minute`, waits},

	// the courier
	{"a courier wakes twice", "pkg/handler/courier.go", `if _, told := tx.Courier(t.ID); told {`, `if _, told := tx.Courier(t.ID); told && false {`, handlers},
	{"a courier ignores deliveries", "pkg/handler/courier.go", ` && !heard[t.ID] {`, ` {`, handlers},
	{"a courier tells of killed tasks", "pkg/handler/courier.go", `t.Ending != nil && !t.Ending.Killed &&`, `t.Ending != nil &&`, handlers},
	{"a courier does not see that the agent went on", "pkg/handler/courier.go", ` || r.actedSince(live, spot) {`, ` || spot < -1 {`, handlers},
	{"a courier tells of somebody else's task", "pkg/handler/courier.go", `if l.Owner != r.e.AgentID ||`, `if l.Owner == "?" ||`, handlers},

	// transcripts
	{"a cursor outlives a rewrite", "pkg/transcript/scan.go", ` || sum != from.Sum {`, ` || sum == "" {`, transcripts},
	{"a cursor outlives a replacement", "pkg/transcript/scan.go", `inode != from.Inode || from`, `from`, transcripts},
	{"half a line counts", "pkg/transcript/scan.go", "\t\t\tb.Cursor.Offset = lineAt\n\t\t}\n", "\t\t\tb.Cursor.Offset = at\n\t\t}\n", transcripts},
	{"a line that is too long is the end", "pkg/transcript/scan.go", "\t\t\t\tskipping, b.Cursor.Inside = true, true\n", "\t\t\t\treturn nil\n", transcripts},
	{"a word of a monitor is an end", "pkg/transcript/record.go", `if len(all) == 0 || all[0].status == "" {`, `if len(all) == 0 {`, transcripts},
	{"a removal is an end", "pkg/transcript/record.go", `case r.operation == "enqueue":`, `case r.operation == "enqueue" || r.operation == "remove":`, transcripts},
	{"an agent's transcript tells ends", "pkg/transcript/record.go", "\tif src.Owner != Main {\n\t\treturn\n\t}\n", "", transcripts},
	{"prose that quotes a notification is a delivery", "pkg/transcript/record.go", "\tif !isNotice(text) {\n\t\treturn\n\t}\n", "", transcripts},

	// the ledger
	{"the lock is skipped", "pkg/ledger/store.go", "\tdefer lock.Release()\n\n\tpath := dir.Store(sessionID)\n\trenewed", "\tlock.Release()\n\n\tpath := dir.Store(sessionID)\n\trenewed", ledgers},
	{"a store is set aside as often as it breaks", "pkg/ledger/store.go", `!last.IsZero() && now.Sub(last).Abs() < asideEvery {`, `!last.IsZero() && false {`, ledgers},
	{"a renewed store does not know it", "pkg/ledger/store.go", `updateStore(path, sessionID, now, now, change)`, `updateStore(path, sessionID, now, time.Time{}, change)`, ledgers},
	{"a newer store is written", "pkg/ledger/tx.go", `binary.BigEndian.Uint64(v) > schema`, `binary.BigEndian.Uint64(v) > schema+1000`, ledgers},
	{"a cursor moves back", "pkg/ledger/tx.go", ` && have.Offset >= step.To.Offset {`, ` && false {`, ledgers},
	{"worse evidence replaces better", "pkg/ledger/tx.go", `launch = transcript.Join(have, launch)`, `_ = have`, ledgers},
	{"damage is not looked for", "pkg/ledger/store.go", "\t\t\tif err := intact(tx); err != nil {\n\t\t\t\treturn err\n\t\t\t}\n", "", ledgers},
	{"a failed beginning stays", "pkg/ledger/store.go", "\t\t// What a full disk left of a beginning would count as broken later on.\n\t\t_ = os.Remove(path)\n", "", ledgers},
	{"faults are not caught", "pkg/ledger/store.go", `old := debug.SetPanicOnFault(true)`, `old := debug.SetPanicOnFault(false)`, ledgers},
	{"stops are kept for ever", "pkg/ledger/tx.go", `if seq > maxStops {`, `if false {`, ledgers},
	{"rows are kept for ever", "pkg/ledger/tx.go", `if rows >= maxRows {`, `if false {`, ledgers},

	// the process, the folder and the words
	{"stdin is read to its end", "pkg/event/read.go", `end.Feed(data); whole {`, `end.Feed(data); whole && false {`, events},
	{"stdin is waited for without end", "pkg/event/poll_unix.go", `case left == 0:`, `case left < 0:`, events},
	{"stdin may trickle for ever", "pkg/event/read.go", `next(min(idle, max(left, 0)))`, `next(idle)`, events},
	{"the log goes by when stops came", "pkg/view/log.go", `last = later(last, e.Answered())`, `last = later(last, e.Time)`, "./pkg/cli"},
	{"the log goes by the clock within a session", "pkg/view/log.go", `last = later(last, e.Answered())`, `last = e.Answered()`, "./pkg/cli"},
	{"what a new record holds is not news", "pkg/cli/log.go", `e.Seq > last.seq || !e.Begun.Equal(last.begun)`, `e.Seq > last.seq`, "./pkg/cli"},
	{"an error moves the terminal", "pkg/cli/errors.go", `a.name+": "+view.Spelled(text)+"\n"`, `a.name+": "+view.Spelled("")+text+"\n"`, "./pkg/cli"},
	{"what could not be printed was done", "pkg/cli/errors.go", "\tcase printing:\n", "\tcase printing && len(a.name) == 0:\n", "./pkg/cli"},
	{"a terminal is waited for", "pkg/handler/handler.go", `if host.IsTerminal(h.Stdin) {`, `if h.Stdin == nil {`, "./pkg/handler"},
	{"nesting has no limit", "pkg/extent/extent.go", `x.depth > MaxDepth {`, `x.depth > 1<<30 {`, "./pkg/extent ./pkg/event"},
	{"work has no limit", "pkg/handler/handler.go", "WorkLimit = 3 * time.Second", "WorkLimit = 3 * time.Hour", "./pkg/handler ./cmd/hook"},
	{"a panic is not caught", "pkg/handler/handler.go", "\t\t\tif v := recover(); v != nil {\n\t\t\t\tres = ", "\t\t\tif v := any(nil); v != nil {\n\t\t\t\tres = ", "./pkg/handler ./cmd/hook"},
	{"a crash exits with 2", "cmd/hook/main.go", "\tdebug.SetTraceback(\"crash\")\n", "\t_ = debug.SetTraceback\n", "./cmd/hook"},
	{"a store that others can read", "pkg/ledger/store.go", `os.WriteFile(beside, template, 0o600)`, `os.WriteFile(beside, template, 0o644)`, ledgers},
	{"another's folder is taken", "pkg/state/os_unix.go", `case info.Mode().Perm() != 0o700:`, `case false:`, states},
	{"two sessions share a name", "pkg/state/names.go", `return hashMark + hex.EncodeToString(sum[:hashBytes])`, `return hashMark + hex.EncodeToString(sum[:1])`, states},
	{"a session's id is a path", "pkg/state/names.go", `i > 0 && (c == '-' || c == '_')`, `i > 0 && (c == '-' || c == '_' || c == '/' || c == '.')`, states},
	{"a stop that another process holds is answered", "pkg/handler/hold.go", `claimed && (row.Over || !r.holds(row)) ||`, `false ||`, handlers},
	{"a task that another process charged is charged again", "pkg/handler/hold.go", `return tx.Charged(r.row(t.ID)).Blocks > t.Charged })`, `return false })`, handlers},
	{"prose that quotes a notification ends a task", "pkg/transcript/record.go", "\tif !isNotice(text) {\n\t\treturn // a person", "\tif false {\n\t\treturn // a person", transcripts},
	{"any text with a slash is an output file", "pkg/transcript/notice.go", `if whole := drive ||`, `if whole := true || drive ||`, transcripts},
	{"what is used is swept", "pkg/state/sweep.go", `now.Sub(info.ModTime()) >= keep`, `now.Sub(info.ModTime()) >= -keep`, states},
	{"the sweep ignores a held lock", "pkg/state/sweep.go", "\tif !ok {\n\t\treturn 0\n\t}\n\tdefer lock.Release()\n", "\tif ok {\n\t\tdefer lock.Release()\n\t}\n", states},
	{"the sweep does not look again", "pkg/state/sweep.go", `err == nil && !unusedFor(info, now, keep)`, `err == nil && info == nil`, states},
	{"a file is ours by its name alone", "pkg/state/ours.go", `return k.form(file, info.Size())`, `return k >= aStore`, states},
	{"a name that comes close is ours", "pkg/state/names.go", `if !isSafe(session) {`, `if session == "" {`, states},
	{"a link is ours", "pkg/state/ours.go", `if err != nil || !info.Mode().IsRegular() {`, `if err != nil {`, states},
	{"any store of bbolt is ours", "pkg/state/ours.go", `if bytes.Contains(buf[:n], []byte(sessionRow)) {`, `if n > 0 {`, states},
	{"what is not ours is removed", "pkg/state/ours.go", "\tif !d.ours(path) {\n\t\treturn fmt.Errorf", "\tif d.path == \"\" {\n\t\treturn fmt.Errorf", states},
	{"a log of somebody else is written into", "pkg/state/log.go", `if info.Size() > 0 && !isLog(head(file, len(logBegins))) {`, `if info.Size() < 0 {`, states},
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
	{"any program in our place is run for a proof", "pkg/setup/prove.go", `hashOf(data) == known {`, `len(data) > 0 {`, installs},
	{"any program of that name is run for a proof", "pkg/setup/prove.go", `case !info.Mode().IsRegular() || !isProgram(program, hookName):`, "case info.Mode().IsRegular():\n\t\treturn \"\", nil\n\tcase true:", installs},
	{"root installs into a person's home", "pkg/setup/owner.go", `w.uid() != 0 || owner == 0 {`, `w.uid() != 0 || owner >= 0 {`, installs},
	{"a deleted home is made again", "pkg/setup/owner.go", `if home := w.Home(); home != "" {`, `if home := w.Home(); home == "" {`, installs},
	{"a purge does not end what waits", "pkg/setup/uninstall.go", `p.w.endRunning(ctx, p.Running)`, `p.w.endRunning(ctx, nil)`, installs},
	{"somebody's file is purged", "pkg/state/files.go", `name.MatchString(e.Name()) && fits(head(path), info.Size())`, `name.MatchString(e.Name()) && (fits != nil || fits(head(path), info.Size()))`, installs},
	{"a folder that a person named is purged", "pkg/setup/leftovers.go", `return dir != w.Env(state.EnvDir) ||`, `return true ||`, installs},
	{"a former hold stays", "pkg/setup/entries.go", `if moved = h.former(); moved {`, `if moved = false; moved {`, installs},
	{"a hold over the stall limit is fine", "pkg/setup/limits.go", `if p.Hold > l.Longest() {`, `if false {`, "./pkg/doctor ./pkg/cli"},
	{"a read-only file is found too late", "pkg/settings/file.go", `if err := ready(target, info); err != nil {`, `if err := ready(target, info); false && err != nil {`, edits},
	{"bytes that never were are the old ones", "pkg/settings/file.go", `prev.left(old) && !prev.Derived`, `prev.left(old)`, edits},
	{"a mount is not written", "pkg/settings/file.go", `if !errors.Is(err, syscall.EBUSY) {`, `if err != nil || !errors.Is(err, syscall.EBUSY) {`, edits},
}
