package settings

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// A value to be written: what a hook entry is made of.
type (
	value interface{ isValue() }

	object []item
	array  []item
	// atom is a scalar, or a list of scalars, written on one line.
	atom []string

	item struct {
		key   string // "" in an array
		named bool
		val   value
	}
)

func (object) isValue() {}
func (array) isValue()  {}
func (atom) isValue()   {}

func member(key string, v value) item { return item{key, true, v} }

// quoted is s as JSON, without the escapes that only HTML needs.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

func renderHook(e Entry) object {
	args := atom{"["}
	for _, a := range e.Args {
		args = append(args, quoted(a))
	}
	o := object{
		member(keyType, atom{quoted(typeCommand)}),
		member(keyCommand, atom{quoted(e.Command)}),
		member(keyArgs, args),
	}
	if e.Timeout > 0 {
		o = append(o, member(keyTimeout, atom{strconv.Itoa(e.Timeout)}))
	}
	if e.Async {
		o = append(o, member(keyAsync, atom{"true"}))
	}
	if e.AsyncRewake {
		o = append(o, member(keyAsyncRewake, atom{"true"}))
	}
	return o
}

func renderGroup(e Entry) object {
	var o object
	if e.Matcher != "" {
		o = append(o, member(keyMatcher, atom{quoted(e.Matcher)}))
	}
	return append(o, member(keyHooks, array{{val: renderHook(e)}}))
}

// style is how a document is laid out.
type style struct {
	eol     string // line end
	unit    string // one step of indentation
	colon   string // between key and value
	gap     string // after a comma on the same line
	oneLine bool   // the whole document stands on one line
}

var plain = style{eol: "\n", unit: "  ", colon: ": ", gap: " "}

// styleOf reads the layout off the document; what it does not show is as the
// client itself writes it: two spaces.
func styleOf(body []byte, root *node) style {
	st := plain
	if i := bytes.IndexAny(body, "\r\n"); i >= 0 {
		st.eol = string(body[i])
		if strings.HasPrefix(string(body[i:min(i+2, len(body))]), "\r\n") {
			st.eol = "\r\n"
		}
	}
	st.oneLine = len(root.items) > 0 && !bytes.ContainsAny(body[root.start:root.end], "\r\n")

	unit, colon := "", ""
	var walk func(n *node)
	walk = func(n *node) {
		for i, it := range n.items {
			if unit != "" && colon != "" {
				return
			}
			if colon == "" && it.colon > 0 {
				colon = string(body[it.colon:it.val.start])
			}
			if i == 0 && unit == "" {
				if in, ok := indentOf(body, it.start); ok {
					if base := lineIndent(body, n.start); strings.HasPrefix(in, base) {
						unit = in[len(base):]
					}
				}
			}
			walk(it.val)
		}
	}
	walk(root)
	if unit != "" && len(unit) <= 16 {
		st.unit = unit
	}
	if colon == ":" || colon == " : " || colon == " :" {
		st.colon = colon
	}
	if st.colon == ":" {
		st.gap = ""
	}
	return st
}

// indentOf is the indentation of the item at offset at; false if it is not the
// first of its line.
func indentOf(body []byte, at int) (string, bool) {
	i := at
	for i > 0 && (body[i-1] == ' ' || body[i-1] == '\t') {
		i--
	}
	if i == 0 || (body[i-1] != '\n' && body[i-1] != '\r') {
		return "", false
	}
	return string(body[i:at]), true
}

// lineIndent is the indentation of the line that holds offset at.
func lineIndent(body []byte, at int) string {
	start := bytes.LastIndexAny(body[:at], "\r\n") + 1
	end := start
	for end < len(body) && (body[end] == ' ' || body[end] == '\t') {
		end++
	}
	return string(body[start:end])
}

// inline writes v on one line.
func (o object) inline(st style) string {
	var b strings.Builder
	st.write(&b, o, "", true)
	return b.String()
}

// at writes v for the place of n, in n's layout.
func (st style) at(body []byte, n *node, v value) string {
	var b strings.Builder
	old := body[n.start:n.end]
	st.write(&b, v, lineIndent(body, n.start), st.oneLine || !bytes.ContainsAny(old, "\r\n"))
	return b.String()
}

// write appends v, whose first line is indented by indent already.
func (st style) write(b *strings.Builder, v value, indent string, inline bool) {
	var items []item
	open, end := "{", "}"
	switch v := v.(type) {
	case atom:
		if v[0] == "[" {
			b.WriteString("[" + strings.Join(v[1:], ","+st.gap) + "]")
		} else {
			b.WriteString(v[0])
		}
		return
	case array:
		items, open, end = v, "[", "]"
	case object:
		items = v
	}
	b.WriteString(open)
	for i, it := range items {
		if i > 0 {
			b.WriteString(",")
			if inline {
				b.WriteString(st.gap)
			}
		}
		if !inline {
			b.WriteString(st.eol + indent + st.unit)
		}
		st.writeItem(b, it, indent+st.unit, inline)
	}
	if len(items) > 0 && !inline {
		b.WriteString(st.eol + indent)
	}
	b.WriteString(end)
}

func (st style) writeItem(b *strings.Builder, it item, indent string, inline bool) {
	if it.named {
		b.WriteString(quoted(it.key) + st.colon)
	}
	st.write(b, it.val, indent, inline)
}

// appendItem puts it behind the last item of c, laid out like its neighbours,
// and changes no byte but the one gap: removeItem takes it out to the byte.
func appendItem(body []byte, root, c *node, it item) []byte {
	st := styleOf(body, root)
	var b strings.Builder
	if len(c.items) == 0 {
		base := lineIndent(body, c.start)
		if !st.oneLine {
			b.WriteString(st.eol + base + st.unit)
		}
		st.writeItem(&b, it, base+st.unit, st.oneLine)
		if !st.oneLine {
			b.WriteString(st.eol + base)
		}
		return replace(body, c.start+1, c.end-1, b.String())
	}
	end := c.items[len(c.items)-1].val.end
	b.WriteString(",")
	for i := len(c.items) - 1; i >= 0; i-- {
		if indent, ok := indentOf(body, c.items[i].start); ok {
			b.WriteString(st.eol + indent)
			st.writeItem(&b, it, indent, false)
			return replace(body, end, end, b.String())
		}
	}
	b.WriteString(st.gap)
	st.writeItem(&b, it, "", true)
	return replace(body, end, end, b.String())
}
