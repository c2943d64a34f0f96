// Package handler takes one hook event from stdin to the answer on stdout. It
// joins the other packages in the order that docs/architecture.md draws and keeps
// the promise that whatever goes wrong lets the agent stop: silent stdout, exit
// code 0, the cause in the log.
//
// It holds no rule of its own: when a stop is blocked stands in pkg/gate.
package handler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"stopgate/pkg/clocks"
	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/history"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/policy"
	"stopgate/pkg/process"
	"stopgate/pkg/state"
	"stopgate/pkg/transcript"
)

// Limits of the hook's own work. Waiting for stdin and a hold do not count.
const (
	// WorkLimit is when the hook gives up and lets the agent stop.
	WorkLimit = 3 * time.Second
	// readLimit is when it stops reading transcripts and decides on what it has.
	readLimit = 2200 * time.Millisecond
	// storeLimit is when it stops waiting for the ledger.
	storeLimit = 2800 * time.Millisecond
)

// Outcome is what became of one event, for replays and explanations.
type Outcome struct {
	Event event.Event
	// Handled is false for input that was no event, or an event of no interest.
	Handled bool
	Facts   gate.Facts
	// Lead are the facts of the coordinator's own stop.
	Lead gate.LeadFacts
	// Decision is set for a SubagentStop.
	Decision gate.Decision
	// Owners are the launches of the listed tasks, as far as they are known.
	Owners map[string]transcript.Launch
	// Settled is how long it waited for a transcript that lagged; 0 for not at all.
	Settled time.Duration
	// Cut tells that the time to read transcripts was over before their end.
	Cut bool
	// Held is how long the stop was held; 0 for not at all.
	Held time.Duration
	// Spend is what the agent's tasks may cost; Clocks are the client's and Limit
	// how long a hold may be because of them, where the stop could be held.
	Spend  gate.Policy
	Clocks clocks.Clocks
	Limit  clocks.Limit
	// Reason is the text of a block that was answered.
	Reason string
	// Err is what went wrong, if anything did.
	Err error
}

// Main runs the hook once and returns the process's exit code: 0, always, but
// for a courier that means to wake the coordinator.
func Main(h *host.Host) int {
	var out Outcome
	return guarded(h, &out)
}

// Run is Main with its outcome.
func Run(h host.Host) (code int, out Outcome) {
	code = guarded(&h, &out)
	return code, out
}

// guarded fills the outcome in, whatever happens.
func guarded(h *host.Host, out *Outcome) (code int) {
	defer func() {
		if v := recover(); v != nil {
			code, *out = 0, Outcome{Err: failed(h, "panic", fmt.Errorf("panic: %v", v))}
		}
	}()
	return answer(h, out)
}

// answer reads an event and answers it. Most events are ephemeral ones, or tool calls
// that launched nothing: they are answered before anything else, even before the flags
// are read, and with little on the stack, whose growing can be measured.
func answer(h *host.Host, out *Outcome) (code int) {
	mode := policy.ModeOf(h.Args)
	if mode == "" {
		_, _ = parse(h, out)
		return 0
	}
	if host.IsTerminal(h.Stdin) {
		_, _ = fmt.Fprint(h.Stderr, "hook: stdin is a terminal, from which no event comes\n\n", policy.Usage)
		return 0
	}
	payload, err := event.Read(h.Stdin, event.IdleLimit, event.TotalLimit)
	if err != nil {
		out.Err = fail(h, "stdin", err)
		return 0
	}
	e := &out.Event
	if err := e.Parse(payload); err != nil {
		out.Err = fail(h, "payload", err)
		return 0
	}
	switch {
	case e.Name == event.SubagentStop && e.EmptyAgentType():
		if mode != policy.Courier { // the gate counts it
			noteFiles(h, e)
			ephemeral(h, out)
		}
		return 0
	case e.Name == event.PostToolUse && !launches(e):
		return 0
	}
	p, ok := parse(h, out)
	if !ok || p.Mode == policy.Lead && leadPasses(h, &p, e) {
		return 0
	}
	return supervise(h, p, out)
}

// parse reads the flags. false where nothing is to be done: for help, which it prints,
// and for a command line that it does not know.
func parse(h *host.Host, out *Outcome) (p policy.Policy, ok bool) {
	p, err := policy.Parse(h.Args)
	switch {
	case errors.Is(err, policy.ErrHelp):
		_, _ = fmt.Fprint(h.Stderr, policy.Usage)
	case err != nil:
		out.Err = fail(h, "unknown command line", err)
	default:
		return p, true
	}
	return p, false
}

// failed is fail for when the log itself may be what fails or never answers.
func failed(h *host.Host, what string, err error) error {
	within(logLimit, func() { _ = fail(h, what, err) })
	return err
}

// logLimit bounds the writing of a line of the log that nobody waits for.
const logLimit = 200 * time.Millisecond

// within runs what is not worth waiting for any longer than limit, nor a panic.
func within(limit time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // the answer does not depend on it
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// noteFiles logs an event that counts as ephemeral by its type although the agent
// has a transcript and a meta file, as no internal fork has (docs/client.md:
// ephemeral events). It opens nothing but the log; a bound in time would need a thread
// and a clock, which cost more than all else that is done for such an event.
func noteFiles(h *host.Host, e *event.Event) {
	path := transcript.OfAgent(h.Files, e.TranscriptPath, e.AgentID, e.AgentTranscript)
	if h.Files.Regular(path) && h.Files.Regular(transcript.MetaPath(path)) {
		_ = fail(h, "counted as ephemeral", fmt.Errorf("an empty agent_type, but agent %s has files", clip(e.AgentID)))
	}
}

// fail logs what went wrong, and gives it back.
func fail(h *host.Host, what string, err error) error {
	dir, _ := state.Find(h.Env) // without a folder there is no log
	log, done := state.OpenLog(h.Env, dir)
	defer done()
	log.Warn(what, "error", err)
	return err
}

// ephemeral counts an ephemeral event; the count is for people, so its failure
// is no matter.
func ephemeral(h *host.Host, out *Outcome) {
	out.Handled, out.Decision = true, gate.Decision{Code: gate.Ephemeral}
	if out.Event.SessionID != "" {
		out.Err = state.Place(h.Env).CountEphemeral(out.Event.SessionID)
	}
}

// supervise runs the work in a goroutine of its own, so that a panic, a fault or
// the time limit ends in an allowed stop, and only here anything is printed.
func supervise(h *host.Host, p policy.Policy, out *Outcome) (code int) {
	r := &run{h: *h, p: p, e: out.Event, began: h.Clock.Now(), working: time.Now(), phases: make(chan bool)}
	if r.e.AgentID == "" && r.e.Name == event.SubagentStop {
		r.e.AgentID = transcript.AgentOf(r.e.AgentTranscript)
	}
	r.out.Event = r.e
	type result struct {
		answer []byte
		wake   string
	}
	done := make(chan result, 1)
	go func() {
		host.Stack32()
		debug.SetPanicOnFault(true)
		var res result
		defer func() {
			if v := recover(); v != nil {
				res, r.out = result{}, Outcome{Event: r.e, Err: fmt.Errorf("panic: %v", v)}
				r.logger().Error(fmt.Sprint(v), "stack", string(debug.Stack()))
			}
			r.closeLog()
			done <- res
		}()
		if p.Mode == policy.Courier {
			res.wake = r.deliver()
		} else {
			res.answer = r.handle()
		}
	}()
	limit := time.NewTimer(WorkLimit)
	defer limit.Stop()
	for {
		select {
		case res := <-done:
			*out = r.out
			if len(res.answer) > 0 {
				if _, err := h.Stdout.Write(res.answer); err != nil {
					out.Err = failed(h, "stdout", err)
				}
			}
			r.keepNotes()
			if r.tidy {
				r.sweep()
			}
			if res.wake == "" {
				r.handOver()
			} else if _, err := io.WriteString(h.Stderr, res.wake); err == nil {
				return wakeCode
			}
			return 0
		case working := <-r.phases:
			if working {
				limit.Reset(WorkLimit)
			} else {
				limit.Stop()
			}
		case <-limit.C:
			out.Err = failed(h, "gave up", errors.New("out of time"))
			return 0
		}
	}
}

// run is the handling of one event.
type run struct {
	h host.Host
	p policy.Policy
	e event.Event
	// out is what comes of it.
	out   Outcome
	began time.Time
	dir   state.Dir
	// working is when the work, or its last part after a wait, began, by the
	// machine's clock.
	working time.Time
	// phases tells the supervisor when waiting on purpose begins (false) and
	// ends (true).
	phases chan bool

	// clocks are the client's, where the event asked for them; limit is how long its
	// stop may be held, and background that the agent works in the background of a
	// run that is over some time after the coordinator's turn.
	clocks     clocks.Clocks
	limit      clocks.Limit
	background bool

	// past is what the history knows of the commands of tasks, seen what a single
	// look told of them, known all that is known of each, by task.
	past  map[string]past
	seen  map[string]process.Verdict
	known map[string]gate.Signs
	// states are where the looks at tasks ended.
	states map[string]process.State
	// notes are what the history is to be told once the event is answered.
	notes []history.Note

	// tell tells that there may be something that a person wants to be told, notify that
	// there is a word about that in the person's file, once [run.configure] has read it.
	tell, notify bool

	// tidy tells that the folder is to be swept once the event is answered.
	tidy bool

	log      *slog.Logger
	closelog func()
}

func (r *run) logger() *slog.Logger {
	if r.log == nil {
		log, done := state.OpenLog(r.h.Env, r.dir)
		r.log = log.With("event", r.e.Name, "session", clip(r.e.SessionID), "agent", clip(r.e.AgentID))
		r.closelog = done
	}
	return r.log
}

// clip bounds an id in the log, which is bounded as a whole.
func clip(id string) string {
	const most = 128
	if len(id) <= most {
		return id
	}
	return strings.ToValidUTF8(id[:most], "") + "…"
}

func (r *run) closeLog() {
	if r.closelog != nil {
		r.closelog()
	}
}

// wakeCode is the exit code by which an asyncRewake hook wakes the coordinator
// (docs/client.md: asyncRewake). Nothing else ever exits with it.
const wakeCode = 2

// deliver runs the courier; its result is the message for the coordinator, or "".
func (r *run) deliver() string {
	dir, err := state.Find(r.h.Env)
	if err != nil {
		r.out.Err = err
		return ""
	}
	r.dir = dir
	if !r.courierOn() {
		return ""
	}
	return r.courier()
}

func (r *run) handle() []byte {
	dir, err := state.Find(r.h.Env)
	if err != nil {
		// Without a folder nothing can be promised, so nothing is blocked.
		r.out.Handled, r.out.Decision, r.out.Err = true, gate.Decision{Code: gate.NoStore}, err
		return nil
	}
	r.dir = dir
	switch {
	case r.p.Mode == policy.Lead:
		return r.lead()
	case r.e.Name == event.SubagentStop:
		return r.stop()
	}
	r.record()
	return nil
}

// until gives a context for the part of the work that must be over when limit has
// passed since the work, or its last part after a wait, began.
func (r *run) until(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithDeadline(context.Background(), r.working.Add(limit))
}

// pause tells the supervisor that a wait on purpose begins; resume that the work
// goes on, with the whole of its time.
func (r *run) pause() {
	r.phases <- false
	if r.h.Calm != nil {
		r.h.Calm()
	}
}

func (r *run) resume() {
	r.working = time.Now()
	r.phases <- true
}

// waiter is the path of hookctl where it lies beside the hook and can be quoted.
func waiter(h host.Host) string {
	self := h.Self()
	if self == "" {
		return ""
	}
	path := filepath.Join(filepath.Dir(self), "hookctl"+filepath.Ext(self))
	if !h.Files.Regular(path) || !gate.Quotable(path, 200) {
		return ""
	}
	return path
}

// touchSession fills in what every event tells of the session.
func (r *run) touchSession(tx *ledger.Tx) {
	s := &tx.Session
	if r.e.Cwd != "" {
		s.Cwd = r.e.Cwd
	}
	if r.e.TranscriptPath != "" {
		s.Transcript = r.e.TranscriptPath
	}
	if r.e.Name != event.SessionEnd && !r.overtaken(s.Ended) {
		s.Ended, s.EndedBy = time.Time{}, 0 // it goes on under its id
	}
	if !r.overtaken(s.LastEventAt) {
		s.LastEvent, s.LastEventAt = r.e.Name, r.began
	}
	if r.e.RegistryGiven && !r.overtaken(s.ListedAt) {
		s.ListedAt, s.Listed = r.began, nil
		for _, t := range r.e.Tasks {
			s.Listed = append(s.Listed, ledger.Listed{ID: t.ID, Type: t.Type})
		}
	}
}

// overtaken tells whether what was recorded at have came after this event, which has
// waited meanwhile for a transcript or the store. A time that is yet to come does not:
// the clock was set back since.
func (r *run) overtaken(have time.Time) bool {
	return have.After(r.began) && !have.After(r.h.Clock.Now())
}
