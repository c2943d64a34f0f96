package export

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/otlp"
	"stopgate/pkg/state"
	"stopgate/pkg/telemetry"
)

// Errors.
var (
	// ErrBusy is returned where another process exports to the same sort of target.
	ErrBusy = errors.New("another export is at work")
	// ErrBroken is returned for a cursor that cannot be read. It is left as it is:
	// to begin anew would count everything again.
	ErrBroken = errors.New("the record of what was exported cannot be read")
)

// schema is the version of the cursor's form.
const schema = 1

// cursor is how far everything was told. It is written before a batch is sent, with
// the batch in it, and again when that was taken: whatever happens between the two,
// the same bytes are sent again, and nothing else.
type cursor struct {
	Stopgate string `json:"stopgate"`
	Schema   int    `json:"schema"`
	// Instance names this machine's exports, and keys what is told as a hash.
	Instance string `json:"instance"`
	// Begun is since when sums are kept, Last the time of their last points.
	Begun time.Time `json:"begun"`
	Last  time.Time `json:"last"`
	// Sessions are the marks, by the names of the stores.
	Sessions map[string]*mark `json:"sessions"`
	// Sums are those of the metrics, by their names and attributes.
	Sums map[string]*sum `json:"sums"`
	// Pending is what is being sent.
	Pending *Batch `json:"pending,omitempty"`
}

// mark is how far one session was told.
type mark struct {
	telemetry.Done
	// Size and Modified are those of the store when all of it was told; zero where
	// there is more.
	Size     int64     `json:"size,omitempty"`
	Modified time.Time `json:"modified,omitzero"`
	// Heard is when the session was last heard of, Over tells that it was told as one
	// that is over.
	Heard time.Time `json:"heard,omitzero"`
	Over  bool      `json:"over,omitempty"`
}

func newCursor(now time.Time) *cursor {
	return &cursor{
		Stopgate: "export", Schema: schema, Instance: uuid(), Begun: now, Last: now,
		Sessions: map[string]*mark{}, Sums: map[string]*sum{},
	}
}

// uuid is a random one of version 4.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:])                      // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 //nolint:mnd // as RFC 9562 has it
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// readCursor reads a cursor; a missing one is new.
func readCursor(path string, now time.Time) (*cursor, error) {
	file, _, err := host.Files{}.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newCursor(now), nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(data[:min(len(data), len(state.CursorBegin))]), state.CursorBegin) {
		return nil, fmt.Errorf("%s: %w", path, state.ErrNotOurs)
	}
	c := &cursor{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrBroken, err)
	}
	if c.Schema != schema {
		return nil, fmt.Errorf("%s: %w: a newer version wrote it", path, ErrBroken)
	}
	if c.Sessions == nil {
		c.Sessions = map[string]*mark{}
	}
	if c.Sums == nil {
		c.Sums = map[string]*sum{}
	}
	return c, nil
}

// write puts a cursor in place, so that it is whole whatever happens.
func (c *cursor) write(dir state.Dir, target string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return err
	}
	begin := dir.CursorBeginning(target)
	if err := dir.Remove(begin); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := host.Make(begin, b.Bytes()); err != nil {
		return err
	}
	return host.Place(begin, dir.Cursor(target))
}

// lock makes this the one process that exports to a sort of target.
func lock(ctx context.Context, dir state.Dir, target string) (*state.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	l, err := state.Acquire(ctx, dir.CursorLock(target), false)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, ErrBusy
	}
	return l, err
}

// forget drops the marks of stores that are no more.
func (c *cursor) forget(stores []string) {
	there := map[string]bool{}
	for _, path := range stores {
		there[nameOf(path)] = true
	}
	for name := range c.Sessions {
		if !there[name] {
			delete(c.Sessions, name)
		}
	}
}

// nameOf is a session's name in the cursor.
func nameOf(store string) string {
	return strings.TrimSuffix(filepath.Base(store), filepath.Ext(store))
}

// Batch is what is sent at a time.
type Batch struct {
	Traces  *otlp.Traces  `json:"traces,omitempty"`
	Metrics *otlp.Metrics `json:"metrics,omitempty"`
	Logs    *otlp.Logs    `json:"logs,omitempty"`
	// Sent are the signals that were taken already.
	Sent []otlp.Signal `json:"sent,omitempty"`
}
