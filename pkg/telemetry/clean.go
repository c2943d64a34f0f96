package telemetry

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"stopgate/pkg/lazy"
	"stopgate/pkg/otlp"
)

// What an id of the client's looks like (docs/client.md: background_tasks). One that
// looks otherwise can be text: a teammate's holds its name.
var (
	agentForm   = lazy.Regexp(`^(main|a[0-9a-f]{8,40})$`)
	taskForm    = lazy.Regexp(`^([a-z][0-9a-z]{8}|a[0-9a-f]{8,40})$`)
	sessionForm = lazy.Regexp(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	toolForm    = lazy.Regexp(`^[a-z]{2,8}_[0-9A-Za-z_-]{8,64}$`)
	versionForm = lazy.Regexp(`^[0-9]+(\.[0-9]+){1,3}(-[0-9a-z.]{1,16})?$`)
	codeForm    = lazy.Regexp(`^[a-z]+(-[a-z]+){0,5}$`)
)

// longest is the longest text that is told.
const longest = 1000

// id is an id of this form as it is, and any other as a hash, unless texts are told.
func (t Teller) id(form *regexp.Regexp, id string) string {
	switch {
	case form.MatchString(id) || id == "":
		return id
	case t.Texts:
		return text(id)
	}
	return "x-" + hex.EncodeToString(hash("id", id)[:8])
}

// word is a word out of a small set of the client's or of ours; another is "other".
func word(form *regexp.Regexp, w string) string {
	if len(w) > 32 || !form.MatchString(w) {
		return "other"
	}
	return w
}

// text is somebody's text as one that can be sent.
func text(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), longest)], "�")
}

// hash joins words to 32 bytes that are the same wherever and whenever.
func hash(words ...string) []byte {
	h := sha256.New()
	var size [8]byte
	for _, w := range words {
		h.Write(binary.BigEndian.AppendUint64(size[:0], uint64(len(w))))
		h.Write([]byte(w))
	}
	return h.Sum(nil)
}

const (
	traceBytes = 16
	spanBytes  = 8
)

// TraceID is the id of a session's trace. It depends on nothing but the session.
func TraceID(session string) otlp.ID { return hash("stopgate trace", session)[:traceBytes] }

// span is the id of a part of a session. What it is derived from never changes, so a
// part that is told twice bears the same id. A record that was begun afresh counts
// its stops anew, so its beginning is part of it.
func (s *session) span(kind, id string) otlp.ID {
	return hash("stopgate span", s.rec.ID, s.rec.Begun.UTC().Format(time.RFC3339Nano), kind, id)[:spanBytes]
}

// between is a time that lies in the session, as far as that is known.
func between(at, first, last time.Time) time.Time {
	if at.IsZero() || at.Before(first) {
		return first
	}
	if at.After(last) {
		return last
	}
	return at
}
