package export

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/otlp"
)

// Pauses between tries.
const (
	firstPause = time.Second
	mostPause  = 2 * time.Minute
)

// Messages are what is still to be sent of a batch.
func (b *Batch) Messages() iter.Seq2[otlp.Signal, any] {
	all := map[otlp.Signal]any{}
	if b.Traces != nil {
		all[otlp.SignalTraces] = b.Traces
	}
	if b.Metrics != nil {
		all[otlp.SignalMetrics] = b.Metrics
	}
	if b.Logs != nil {
		all[otlp.SignalLogs] = b.Logs
	}
	return func(yield func(otlp.Signal, any) bool) {
		for _, signal := range otlp.Signals {
			if message, ok := all[signal]; ok && !slices.Contains(b.Sent, signal) && !yield(signal, message) {
				return
			}
		}
	}
}

// send sends one message, again and again where it fails for now, with pauses that
// grow, and in halves where it is too large.
func (e *Exporter) send(ctx context.Context, signal otlp.Signal, message any) (otlp.Rejected, error) {
	began := e.Host.Clock.Now()
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		rejected, err := e.To.Send(ctx, signal, message)
		if err == nil && e.failing {
			e.failing = false
			e.say("%s are taken again", signal)
		}
		if errors.Is(err, otlp.ErrTooLarge) {
			return e.halves(ctx, signal, message, err)
		}
		var later *otlp.LaterError
		passes := errors.As(err, &later)
		if err == nil || !passes && e.Patience > 0 {
			return rejected, err
		}
		wait := pause/2 + rand.N(pause/2) //nolint:gosec // so that fifty machines do not come at once
		if passes && later.After > 0 {
			wait = later.After + rand.N(pause/2) //nolint:gosec // likewise
		} else if !passes {
			wait = mostPause // it was refused: somebody has to mend that
		}
		if e.Patience > 0 && e.Host.Clock.Now().Add(wait).Sub(began) > e.Patience {
			return rejected, err
		}
		if !e.failing {
			e.failing = true
			e.say("%s wait: %v", signal, err)
		}
		if !e.Host.Clock.Sleep(ctx, wait) {
			return rejected, ctx.Err()
		}
	}
}

// halves sends a message that is too large in two. One of a single item stays too
// large.
func (e *Exporter) halves(ctx context.Context, signal otlp.Signal, message any, tooLarge error) (otlp.Rejected, error) {
	first, second, ok := otlp.Halves(message)
	if !ok {
		return otlp.Rejected{}, tooLarge
	}
	a, err := e.send(ctx, signal, first)
	if err != nil {
		return a, err
	}
	b, err := e.send(ctx, signal, second)
	b.Items += a.Items
	if b.Text == "" {
		b.Text = a.Text
	}
	return b, err
}

// schemaURL names the conventions whose names are used.
const schemaURL = "https://opentelemetry.io/schemas/1.37.0"

func scope() otlp.Scope { return otlp.Scope{Name: "stopgate"} }

// resource are the attributes of this machine's exports, the instance among them.
func (e *Exporter) resource() []otlp.KeyValue {
	return append(slices.Clone(e.Resource), otlp.String("service.instance.id", e.c.Instance))
}

// Resource are the attributes of this machine by the system and the environment:
// $OTEL_SERVICE_NAME and $OTEL_RESOURCE_ATTRIBUTES win.
func Resource(env func(string) string, version, system, arch string) []otlp.KeyValue {
	host, _ := os.Hostname() // "" where it is not known
	attrs := []otlp.KeyValue{
		otlp.String("service.name", "stopgate"), otlp.String("service.version", version),
		otlp.String("host.name", host), otlp.String("host.arch", arch), otlp.String("os.type", system),
	}
	set := func(key, value string) {
		attrs = slices.DeleteFunc(attrs, func(a otlp.KeyValue) bool { return a.Key == key })
		attrs = append(attrs, otlp.String(key, value))
	}
	for name, value := range otlp.Pairs(env("OTEL_RESOURCE_ATTRIBUTES")) {
		set(name, strings.ToValidUTF8(value, "�"))
	}
	if name := env("OTEL_SERVICE_NAME"); name != "" {
		set("service.name", strings.ToValidUTF8(name, "�"))
	}
	return attrs
}
