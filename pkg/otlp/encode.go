// Package otlp is the OpenTelemetry protocol as far as it is needed here: spans, log
// records, sums and histograms as Go values, written as protobuf or as OTLP/JSON, and
// sent over HTTP or added to a file. What is in the records is pkg/telemetry's
// business. docs/architecture.md says why it is not the official SDK.
//
// Each message is one struct whose tags name its fields in both forms: `json` as
// OTLP/JSON has them, `pb` with the number in the .proto file. The official types
// read what is written here: see the tests.
package otlp

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// Count is a number of things; in OTLP/JSON it stands in quotes.
type Count uint64

// MarshalJSON writes it so.
func (c Count) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(c), 10)), nil
}

// UnmarshalJSON reads it back.
func (c *Count) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseUint(strings.Trim(string(data), `"`), 10, 64)
	*c = Count(n)
	return err
}

// JSON writes a message as OTLP/JSON, in one line without its end.
func JSON(message any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(message); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Protobuf writes a message as protobuf.
func Protobuf(message any) []byte {
	return appendMessage(nil, reflect.Indirect(reflect.ValueOf(message)))
}

// field is one field of a message.
type field struct {
	index int
	num   protowire.Number
	// fixed tells that a whole number takes eight bytes.
	fixed bool
}

var fields sync.Map // of a type: []field

func fieldsOf(t reflect.Type) []field {
	if known, ok := fields.Load(t); ok {
		out, _ := known.([]field) // nothing else is kept there
		return out
	}
	var out []field
	for i := range t.NumField() {
		tag, how, _ := strings.Cut(t.Field(i).Tag.Get("pb"), ",")
		n, err := strconv.Atoi(tag)
		if err != nil {
			continue
		}
		out = append(out, field{i, protowire.Number(n), how == "fixed"}) //nolint:gosec // a tag of ours
	}
	fields.Store(t, out)
	return out
}

func appendMessage(b []byte, v reflect.Value) []byte {
	for _, f := range fieldsOf(v.Type()) {
		b = appendField(b, f, v.Field(f.index))
	}
	return b
}

// appendField writes a field; what is zero is left out, unless it is behind a pointer.
func appendField(b []byte, f field, v reflect.Value) []byte {
	given := v.Kind() == reflect.Pointer
	if v.IsZero() {
		return b
	}
	if given {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return protowire.AppendString(protowire.AppendTag(b, f.num, protowire.BytesType), v.String())
	case reflect.Bool:
		return protowire.AppendVarint(protowire.AppendTag(b, f.num, protowire.VarintType), protowire.EncodeBool(v.Bool()))
	case reflect.Int32, reflect.Int64:
		if f.fixed {
			return protowire.AppendFixed64(protowire.AppendTag(b, f.num, protowire.Fixed64Type), uint64(v.Int())) //nolint:gosec // as the form wants it
		}
		return protowire.AppendVarint(protowire.AppendTag(b, f.num, protowire.VarintType), uint64(v.Int())) //nolint:gosec // as the form wants it
	case reflect.Uint64: // a time, or the number of values
		return protowire.AppendFixed64(protowire.AppendTag(b, f.num, protowire.Fixed64Type), v.Uint())
	case reflect.Float64:
		return protowire.AppendFixed64(protowire.AppendTag(b, f.num, protowire.Fixed64Type), math.Float64bits(v.Float()))
	case reflect.Struct:
		return protowire.AppendBytes(protowire.AppendTag(b, f.num, protowire.BytesType), appendMessage(nil, v))
	case reflect.Slice:
		return appendList(b, f, v)
	}
	panic("otlp: a field of type " + v.Type().String())
}

func appendList(b []byte, f field, v reflect.Value) []byte {
	switch v.Type().Elem().Kind() {
	case reflect.Uint8:
		return protowire.AppendBytes(protowire.AppendTag(b, f.num, protowire.BytesType), v.Bytes())
	case reflect.Uint64:
		var packed []byte
		for i := range v.Len() {
			packed = protowire.AppendFixed64(packed, v.Index(i).Uint())
		}
		return protowire.AppendBytes(protowire.AppendTag(b, f.num, protowire.BytesType), packed)
	case reflect.Float64:
		var packed []byte
		for i := range v.Len() {
			packed = protowire.AppendFixed64(packed, math.Float64bits(v.Index(i).Float()))
		}
		return protowire.AppendBytes(protowire.AppendTag(b, f.num, protowire.BytesType), packed)
	}
	for i := range v.Len() {
		b = protowire.AppendBytes(protowire.AppendTag(b, f.num, protowire.BytesType), appendMessage(nil, v.Index(i)))
	}
	return b
}
