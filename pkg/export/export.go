// Package export sends what stopgate did, session by session, to where a team's
// telemetry goes. It reads the sessions' stores, read-only, remembers in a cursor of
// its own how far it is, and sends in small batches, each of which is written down
// before it is sent: nothing is lost while nobody takes it, nothing is sent twice as
// a new thing, and no more than one batch is ever in memory.
//
// What is told is pkg/telemetry's business, and how it travels pkg/otlp's.
package export

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/otlp"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/telemetry"
	"stopgate/pkg/transcript"
)

const (
	// batchSize is how many spans and records are sent at a time.
	batchSize = 1000
	// idle is how long nothing is heard of a session until it counts as over: its
	// client can have died without a word.
	idle = 6 * time.Hour
	// grain is how old a store must be for its time to tell it from a later one.
	grain = 2 * time.Second
)

// Sender takes one signal's message. Its errors are those of [otlp.Poster].
type Sender interface {
	Send(ctx context.Context, signal otlp.Signal, message any) (otlp.Rejected, error)
}

// Exporter is one export. All fields but Since, Teller and Say are needed.
type Exporter struct {
	Host host.Host
	Dir  state.Dir
	// Source gives where the status of a session comes from, now.
	Source func() status.Source
	// Target is the sort of target, in one lower-case word: each has its cursor.
	Target string
	To     Sender
	// Off are the signals that are not sent.
	Off map[otlp.Signal]bool
	// Resource are the attributes of where it comes from; the instance is added.
	Resource []otlp.KeyValue
	Teller   telemetry.Teller
	// Since leaves out what was before; zero leaves out nothing.
	Since time.Time
	// Say is told of what does not stop the export; nil for nobody.
	Say func(text string)
	// Patience is how long a batch is tried to be sent; 0 tries for ever.
	Patience time.Duration

	c *cursor
	// failing tells that the last try failed, so that it is said once; dry that nothing
	// is written down.
	failing, dry bool
}

// Report counts what was sent.
type Report struct {
	Sessions, Spans, Logs, Batches int
	// Rejected counts what the other side said it did not keep.
	Rejected int64
	// Waits tells that a batch was not taken: the next run begins with it.
	Waits bool
}

func (e *Exporter) say(format string, args ...any) {
	if e.Say != nil {
		e.Say(fmt.Sprintf(format, args...))
	}
}

// Once sends all that is new. An error leaves the cursor where it was: the next run
// begins with what was being sent.
func (e *Exporter) Once(ctx context.Context) (Report, error) {
	var r Report
	if _, err := os.Stat(e.Dir.Path()); err != nil {
		return r, nil // nothing was ever recorded
	}
	l, err := lock(ctx, e.Dir, e.Target)
	if err != nil {
		return r, err
	}
	defer l.Release()
	if e.c, err = readCursor(e.Dir.Cursor(e.Target), e.Host.Clock.Now()); err != nil {
		return r, err
	}
	return r, e.pass(ctx, &r)
}

// pass sends what is pending, and then whatever is new, batch by batch.
func (e *Exporter) pass(ctx context.Context, r *Report) error {
	if err := e.flush(ctx, r); err != nil {
		return err
	}
	sent := r.Batches
	for {
		batch, err := e.next(ctx, r)
		if err != nil || batch == nil {
			if err == nil && r.Batches > sent {
				err = e.c.write(e.Dir, e.Target)
			}
			return err
		}
		e.c.Pending = batch
		if err := e.c.write(e.Dir, e.Target); err != nil {
			return err
		}
		if err := e.flush(ctx, r); err != nil {
			return err
		}
	}
}

// Preview gives each batch that would be sent to show, and changes nothing.
func (e *Exporter) Preview(ctx context.Context, show func(Batch) error) (Report, error) {
	var r Report
	c, err := readCursor(e.Dir.Cursor(e.Target), e.Host.Clock.Now())
	if err != nil {
		return r, err
	}
	e.c, e.dry = c, true
	batch := c.Pending
	for {
		if batch == nil {
			if batch, err = e.next(ctx, &r); err != nil || batch == nil {
				return r, err
			}
		}
		r.count(batch)
		if err := show(*batch); err != nil {
			return r, err
		}
		batch = nil
	}
}

// next gathers the next batch and moves the marks; nil where nothing is new.
func (e *Exporter) next(ctx context.Context, r *Report) (*Batch, error) {
	now := e.Host.Clock.Now()
	stores := e.Dir.Stores()
	e.c.forget(stores)
	src, told, moved := e.Source(), telemetry.Telling{}, false
	for _, path := range stores {
		if told.Len() >= batchSize {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, ok := e.tell(ctx, src, path, now, batchSize-told.Len())
		if !ok {
			continue
		}
		moved = true
		if t.Len() > 0 {
			r.Sessions++
		}
		told.Spans, told.Logs = append(told.Spans, t.Spans...), append(told.Logs, t.Logs...)
		e.c.add(t.Measures)
	}
	if told.Len() == 0 {
		if moved {
			return nil, e.keep()
		}
		return nil, nil //nolint:nilnil // nothing new is no error
	}
	return e.batch(told, now), nil
}

// keep writes the marks where nothing was told by them.
func (e *Exporter) keep() error {
	if e.c.Pending != nil || e.dry {
		return nil
	}
	return e.c.write(e.Dir, e.Target)
}

// tell tells what is new of one session; ok is false where nothing can be.
func (e *Exporter) tell(ctx context.Context, src status.Source, path string, now time.Time, limit int) (told telemetry.Telling, ok bool) {
	info, err := os.Stat(path)
	if err != nil {
		return told, false
	}
	m := e.c.Sessions[nameOf(path)]
	if m != nil && m.Size == info.Size() && m.Modified.Equal(info.ModTime()) && (m.Over || now.Sub(m.Heard) < e.idle()) {
		return told, false
	}
	ctx, cancel := context.WithTimeout(ctx, status.Patience)
	defer cancel()
	snap, err := ledger.ReadFile(ctx, path)
	if err != nil || !snap.Exists {
		if err != nil {
			e.say("%s: %v", path, err)
		}
		return told, false
	}
	if m == nil {
		m = &mark{}
		e.c.Sessions[nameOf(path)] = m
	}
	rec := snap.Session
	m.Heard = rec.LastEventAt
	over := (!rec.Ended.IsZero() || now.Sub(rec.LastEventAt) >= e.idle()) && !e.held(snap)
	e.leaveOut(&snap)
	old := e.Since.After(rec.LastEventAt)
	more := false
	if old {
		m.Done = telemetry.Done{Begun: rec.Begun, Session: true}
	} else {
		known := telemetry.Known{Snapshot: snap, Over: over, Now: now, Version: transcript.Version(src.Files, rec.Transcript)}
		known.Status, _ = src.Session(ctx, snap, !over) // what cannot be read is not known
		told, m.Done, more = e.Teller.Tell(known, m.Done, limit)
	}
	m.Over, m.Size, m.Modified = over || old, 0, time.Time{}
	if !more && now.Sub(info.ModTime()).Abs() > grain {
		m.Size, m.Modified = info.Size(), info.ModTime()
	}
	return told, true
}

// leaveOut takes from a snapshot what was before the time that is asked for.
func (e *Exporter) leaveOut(snap *ledger.Snapshot) {
	if e.Since.IsZero() {
		return
	}
	snap.Stops = slices.DeleteFunc(slices.Clone(snap.Stops), func(s ledger.Stop) bool { return s.Time.Before(e.Since) })
	snap.Acts = slices.DeleteFunc(slices.Clone(snap.Acts), func(a ledger.Act) bool { return a.Time.Before(e.Since) })
	maps.DeleteFunc(snap.Couriers, func(_ string, c ledger.Courier) bool { return c.At.Before(e.Since) })
}

// idle is how long nothing is heard of a session until it is over. It is less than
// its files are kept.
func (e *Exporter) idle() time.Duration { return min(idle, state.Keep(e.Host.Env)/2) }

// held tells whether a stop of the session is being held.
func (e *Exporter) held(snap ledger.Snapshot) bool {
	for _, h := range snap.Holds {
		if h.Lives(e.Host) {
			return true
		}
	}
	return false
}

// batch makes messages of what is told.
func (e *Exporter) batch(told telemetry.Telling, now time.Time) *Batch {
	b := &Batch{}
	resource := otlp.Resource{Attributes: e.resource()}
	if len(told.Spans) > 0 && !e.Off[otlp.SignalTraces] {
		b.Traces = &otlp.Traces{Resources: []otlp.ResourceSpans{{Resource: resource, Scopes: []otlp.ScopeSpans{{Scope: scope(), Spans: told.Spans}}, Schema: schemaURL}}}
	}
	if len(told.Logs) > 0 && !e.Off[otlp.SignalLogs] {
		b.Logs = &otlp.Logs{Resources: []otlp.ResourceLogs{{Resource: resource, Scopes: []otlp.ScopeLogs{{Scope: scope(), Records: told.Logs}}, Schema: schemaURL}}}
	}
	if !e.Off[otlp.SignalMetrics] {
		b.Metrics = e.metrics(now)
	}
	return b
}

// metrics are all sums as a message; nil where there are none.
func (e *Exporter) metrics(now time.Time) *otlp.Metrics {
	points := e.c.points(now)
	if len(points) == 0 {
		return nil
	}
	return &otlp.Metrics{Resources: []otlp.ResourceMetrics{{
		Resource: otlp.Resource{Attributes: e.resource()}, Scopes: []otlp.ScopeMetrics{{Scope: scope(), Metrics: points}}, Schema: schemaURL,
	}}}
}

// flush sends what is pending.
func (e *Exporter) flush(ctx context.Context, r *Report) error {
	b := e.c.Pending
	if b == nil {
		return nil
	}
	for signal, message := range b.Messages() {
		rejected, err := e.send(ctx, signal, message)
		if err != nil {
			// What was taken is not sent again, where that can be kept.
			r.Waits = true
			return errors.Join(err, e.c.write(e.Dir, e.Target))
		}
		if rejected.Items > 0 {
			r.Rejected += rejected.Items
			e.say("%d of %s were not kept: %q", rejected.Items, signal, rejected.Text)
		}
		b.Sent = append(b.Sent, signal)
	}
	e.c.Pending = nil
	r.count(b)
	r.Batches++
	return nil
}

func (r *Report) count(b *Batch) {
	if b.Traces != nil {
		r.Spans += b.Traces.Len()
	}
	if b.Logs != nil {
		r.Logs += b.Logs.Len()
	}
}
