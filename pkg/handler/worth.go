package handler

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/attribute"
	"stopgate/pkg/command"
	"stopgate/pkg/event"
	"stopgate/pkg/fate"
	"stopgate/pkg/gate"
	"stopgate/pkg/history"
	"stopgate/pkg/ledger"
	"stopgate/pkg/process"
	"stopgate/pkg/transcript"
)

// historyLimit bounds what is waited for the history: it is a convenience.
const historyLimit = 150 * time.Millisecond

// past is what the history knows of a task's command.
type past struct {
	history.Expectation
	key string
}

// projectDir is the project that the history keeps commands by.
func (r *run) projectDir() string { return cmp.Or(r.h.Env("CLAUDE_PROJECT_DIR"), r.e.Cwd) }

// remember asks the history for the commands of tasks, and what can be told at one
// look of those that are not held for. It is called with nothing open.
func (r *run) remember(found attribute.Result, wanted func(event.Task, transcript.Launch) bool) {
	var tasks []event.Task
	var commands []string
	for _, t := range r.e.Tasks {
		if t.Type != event.TypeShell || !t.CanBeOwn() || !wanted(t, found.Owners[t.ID]) {
			continue
		}
		if t.Command != "" {
			tasks, commands = append(tasks, t), append(commands, t.Command)
		}
		if r.limit.For <= 0 && r.h.Processes {
			l := found.Owners[t.ID]
			if v := process.AtOnce(l.Output, l.At, r.began); v.Kind != "" {
				r.seen = with(r.seen, t.ID, v)
			}
		}
	}
	if r.p.NoHistory || len(commands) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), historyLimit)
	defer cancel()
	keys, expected, err := history.Ask(ctx, r.dir, r.began, r.projectDir(), commands...)
	if err != nil {
		r.logger().Warn("read the history", "error", err)
	}
	for i, t := range tasks {
		r.past = with(r.past, t.ID, past{expected[i], keys[i]})
	}
}

func with[V any](m map[string]V, key string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = v
	return m
}

// signs are what is known of a task before its processes are looked at.
func (r *run) signs(t event.Task, l transcript.Launch, before ledger.Worth, released bool) gate.Signs {
	var s gate.Signs
	wait, told, from := r.p.Told(t.Command)
	switch {
	case released:
		s.Person, s.PersonWords = gate.LetItRun, "released"
	case t.Command == "" && (l.Ignored || before.By != "" && !before.Wait):
		s.Never, s.TextWords = true, cmp.Or(before.Words, "was judged before")
	case t.Command != "" && told && wait:
		s.Person, s.PersonWords = gate.WaitForIt, from+" waits for it"
	case t.Command != "" && told:
		s.Person, s.PersonWords = gate.LetItRun, from+" ignores it"
	case t.Command != "":
		v := command.Judge(t.Command)
		s.Never = v.Answer == command.Never
		if v.Answer != command.Unclear {
			s.TextWords = v.String()
		}
	}
	if p, ok := r.past[t.ID]; ok {
		s.Ends, s.Left = p.Ends, p.NotWaited
		switch {
		case s.Ends && p.Usually > 0:
			s.HistoryWords = "ended before, " + gate.Usually(p.Usually, p.Times)
		case s.Ends:
			s.HistoryWords = "ended before"
		case s.Left:
			s.HistoryWords = "was left running more than once and never ended"
		}
	}
	if before.By == string(gate.ByProcesses) && !before.Wait { // it does not change its ways
		s.Does, s.DoesWords = gate.Does(before.Does), before.Words
	}
	if !l.At.IsZero() {
		s.Age = max(0, r.began.Sub(l.At))
	}
	does(&s, r.seen[t.ID])
	return s
}

// does adds what the processes of a task were seen to do. Where nothing of them can
// be told, growing output is the sign of work.
func does(s *gate.Signs, v process.Verdict) {
	kind := gate.Does("")
	switch v.Kind {
	case process.Works:
		kind = gate.Works
	case process.Serves:
		kind = gate.Serves
	case process.Idle:
		kind = gate.Idle
	case process.Unknown:
		if v.Quiet >= process.IdleAfter {
			kind = gate.Idle
		}
	case process.Quiet, process.Gone:
	case "":
		return
	}
	s.Does, s.DoesWords = kind, v.String()
}

// weigh judges one of the tasks that a stop is about, and fills that in.
func (r *run) weigh(own *gate.Task, t event.Task, l transcript.Launch, before ledger.Worth, released bool) {
	s := r.signs(t, l, before, released)
	if s.Age == 0 {
		s.Age = own.Waited
	}
	own.Worth = gate.Weigh(s)
	own.Excused = !own.Worth.Wait
	own.Usually, own.Times = r.past[t.ID].Usually, r.past[t.ID].Times
	r.known = with(r.known, t.ID, s)
}

// keep records what was decided of a task, and gives the part of it that stands in the
// stop's own record.
func (r *run) keep(tx *ledger.Tx, t gate.Task) ledger.Worth {
	before, _ := tx.Worth(t.ID)
	w := ledger.Worth{
		Task: t.ID, Wait: t.Worth.Wait, By: string(t.Worth.By), Words: t.Worth.Words,
		Usually: t.Usually, Times: t.Times, Key: before.Key, State: before.State,
	}
	if t.Worth.By == gate.ByProcesses && !t.Worth.Wait {
		w.Does = string(r.known[t.ID].Does)
	}
	if t.Worth.By == gate.ByText {
		w.Words, _, _ = strings.Cut(w.Words, ":") // words of the command are not kept
	}
	if s, ok := r.states[t.ID]; ok {
		w.State = s
	}
	if before.Task == "" {
		w.Key = r.past[t.ID].key // a row without one is settled
	}
	if w.Does == string(gate.Serves) && before.Does != w.Does {
		r.note(before.Key, history.Note{What: history.Served})
	}
	tx.PutWorth(w)
	w.Key, w.State = "", process.State{}
	return w
}

// note adds to what the history is told of a command by its key, where one is kept.
func (r *run) note(key string, n history.Note) {
	if n.Key = key; key != "" && !r.p.NoHistory {
		r.notes = append(r.notes, n)
	}
}

// noteEnds notes the ends that were told of commands, each once.
func (r *run) noteEnds(tx *ledger.Tx, ends []transcript.End) {
	for _, e := range ends {
		how := fate.Word(e.Status)
		if how == fate.Ended && e.ExitCode != nil {
			how = fate.Exited
		}
		r.noteEnd(tx, fate.Fate{Task: e.Task, How: how, ExitCode: e.ExitCode, At: e.At})
	}
}

// noteOutcomes notes the ends that a hold saw.
func (r *run) noteOutcomes(tx *ledger.Tx, tasks []gate.Task, outcomes []fate.Fate) {
	for _, f := range outcomes {
		if slices.ContainsFunc(tasks, func(t gate.Task) bool { return t.ID == f.Task && t.Kind == event.TypeShell }) {
			r.noteEnd(tx, f)
		}
	}
}

// noteEnd notes one end. What was killed says nothing, nor an end of which nobody
// knows anything.
func (r *run) noteEnd(tx *ledger.Tx, f fate.Fate) {
	w, ok := tx.Worth(f.Task)
	if !ok || w.Key == "" || !f.Over() {
		return
	}
	n := history.Note{What: history.Ended}
	if l, ok := tx.Launch(f.Task); ok && !l.At.IsZero() && !f.At.IsZero() {
		n.Took = max(0, f.At.Sub(l.At))
	}
	switch {
	case f.How == fate.Killed, f.How == fate.Unknown:
		n.What = 0
	case f.ExitCode != nil && *f.ExitCode != 0:
		n.What = history.Failed
	}
	r.note(w.Key, n)
	w.Key = ""
	tx.PutWorth(w)
}

// lastEnds reads what the coordinator's transcript tells of ends that no stop has
// read, where one of a command could be among them.
func (r *run) lastEnds() ledger.Learned {
	ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
	defer cancel()
	snap, err := ledger.Read(ctx, r.dir, r.e.SessionID, nil)
	open := func(w ledger.Worth) bool { return w.Key != "" }
	if err != nil || !slices.ContainsFunc(slices.Collect(maps.Values(snap.Worth)), open) {
		return ledger.Learned{}
	}
	path := r.e.TranscriptPath
	b, err := transcript.Scan(ctx, r.h.Files, transcript.Source{Path: path, Owner: transcript.Main}, snap.Cursors[path])
	if err != nil {
		return ledger.Learned{}
	}
	return ledger.Learned{
		Launches: b.Launches, Ends: b.Ends, Deliveries: b.Deliveries,
		Cursors: map[string]transcript.Step{path: {From: snap.Cursors[path], To: b.Cursor}},
	}
}

// noteLeft notes what still runs when the session ends, as far as transcripts and
// outputs tell.
func (r *run) noteLeft(tx *ledger.Tx) {
	outputs := fate.Outputs{Files: r.h.Files, Held: r.h.Held}
	ends := tx.Ends()
	for id, w := range tx.Worths() {
		if w.Key == "" {
			continue
		}
		l, _ := tx.Launch(id)
		s := fate.Signs{Task: id, Output: outputs.Look(l.Output, r.began), Launched: l.At, List: tx.Session.List(), SessionOver: true}
		if end, ok := ends[id]; ok && end.Status != "" {
			s.End = &end.End
		}
		if f := fate.Judge(s); f.Sign == fate.SessionOver {
			r.note(w.Key, history.Note{What: history.Left})
			w.Key = ""
			tx.PutWorth(w)
		} else {
			r.noteEnd(tx, f)
		}
	}
}

// keepNotes tells the history what was noted. Nobody waits for that any longer than
// for the sweeping.
func (r *run) keepNotes() {
	if len(r.notes) == 0 {
		return
	}
	within(sweepLimit, func() {
		ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
		defer cancel()
		if err := history.Record(ctx, r.dir, r.h.Clock.Now(), r.notes...); err != nil {
			r.log = nil // it was closed with the answer
			r.logger().Warn("keep the history", "error", err)
			r.closeLog()
		}
	})
}
