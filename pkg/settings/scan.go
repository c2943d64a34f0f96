package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A SyntaxError says where a settings file stops being JSON. Comments and
// trailing commas are no JSON: the client refuses such a file too.
type SyntaxError struct {
	// Line and Column count from 1; Column counts characters.
	Line, Column int
	// Err is the problem at that place.
	Err error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Err)
}

// Unwrap returns the problem at the place.
func (e *SyntaxError) Unwrap() error { return e.Err }

// node is one JSON value in a document, by its offsets.
type node struct {
	kind       byte // '{' '[' '"' '0' 't' 'f' 'n'
	start, end int
	items      []child
}

// child is an element of an array or a member of an object.
type child struct {
	key   string // decoded; "" in an array
	start int    // of the key, or of the element
	colon int    // end of the key; 0 in an array
	val   *node
}

func (n *node) kindName() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a boolean"
}

// last is the value of a member, by the client's rule: the last of a name.
func (n *node) last(key string) *node {
	if i := n.lastIndex(key); i >= 0 {
		return n.items[i].val
	}
	return nil
}

func (n *node) lastIndex(key string) int {
	if n.kind == '{' {
		for i := len(n.items) - 1; i >= 0; i-- {
			if n.items[i].key == key {
				return i
			}
		}
	}
	return -1
}

func (n *node) count(key string) int {
	c := 0
	for _, it := range n.items {
		if it.key == key {
			c++
		}
	}
	return c
}

var utf8BOM = []byte("\xef\xbb\xbf")

func splitBOM(src []byte) (bom, body []byte) {
	if bytes.HasPrefix(src, utf8BOM) {
		return src[:len(utf8BOM)], src[len(utf8BOM):]
	}
	return nil, src
}

func isBlank(body []byte) bool { return len(bytes.Trim(body, " \t\r\n")) == 0 }

func sum(src []byte) string {
	if src == nil {
		return "" // a missing file is no file that a merge left
	}
	s := sha256.Sum256(src)
	return hex.EncodeToString(s[:])
}

// parse checks body, which has no byte order mark, and scans it.
func parse(body []byte) (*node, error) {
	if bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
		return nil, &SyntaxError{1, 1, errUTF16}
	}
	var value json.RawMessage
	if err := json.Unmarshal(body, &value); err != nil {
		return nil, locate(body, err)
	}
	return mustParse(body), nil
}

// locate turns the offset of an encoding/json error into line and column.
func locate(body []byte, err error) error {
	at := len(body)
	var se *json.SyntaxError
	// The offset counts the offending byte, unless the text ended too early.
	if errors.As(err, &se) && se.Offset > 0 && int(se.Offset) <= len(body) && se.Error() != "unexpected end of JSON input" {
		at = int(se.Offset) - 1
	}
	line, column := position(body, at)
	if at < len(body) {
		switch before := bytes.TrimRight(body[:at], " \t\r\n"); {
		case body[at] == '/':
			err = fmt.Errorf("%w (comments are not allowed)", err)
		case (body[at] == '}' || body[at] == ']') && bytes.HasSuffix(before, []byte(",")):
			err = fmt.Errorf("%w (a trailing comma is not allowed)", err)
		}
	}
	return &SyntaxError{line, column, err}
}

// position is the line and the column of an offset.
func position(body []byte, at int) (line, column int) {
	line, start := 1, 0
	for i := range at {
		if body[i] == '\n' || (body[i] == '\r' && (i+1 >= len(body) || body[i+1] != '\n')) {
			line, start = line+1, i+1
		}
	}
	return line, utf8.RuneCount(body[start:at]) + 1
}

// mustParse scans bytes that are known to be valid JSON.
func mustParse(body []byte) *node {
	s := scanner{body: body}
	s.space()
	return s.value()
}

type scanner struct {
	body []byte
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.body) && isSpace(s.body[s.at]) {
		s.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) value() *node {
	n := &node{start: s.at}
	switch c := s.body[s.at]; c {
	case '{', '[':
		n.kind = c
		s.at++
		for s.space(); s.body[s.at] != c+2; s.space() { // '}' is '{'+2, ']' is '['+2
			if s.body[s.at] == ',' {
				s.at++
				s.space()
			}
			it := child{start: s.at}
			if c == '{' {
				key := s.value()
				it.key = str(s.body, key)
				it.colon = s.at
				s.space()
				s.at++ // the colon
				s.space()
			}
			it.val = s.value()
			n.items = append(n.items, it)
		}
		s.at++
	case '"':
		n.kind = c
		for s.at++; s.body[s.at] != '"'; s.at++ {
			if s.body[s.at] == '\\' {
				s.at++
			}
		}
		s.at++
	default:
		n.kind = c
		if c == '-' || (c >= '0' && c <= '9') {
			n.kind = '0'
		}
		for s.at < len(s.body) && !isSpace(s.body[s.at]) && strings.IndexByte(",]}", s.body[s.at]) < 0 {
			s.at++
		}
	}
	n.end = s.at
	return n
}

// str decodes a string value.
func str(body []byte, n *node) string {
	if raw := body[n.start+1 : n.end-1]; bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	var s string
	_ = json.Unmarshal(body[n.start:n.end], &s) // valid by construction
	return s
}
