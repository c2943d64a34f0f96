// Package extent finds where the first JSON object or array of a byte stream
// ends, and refuses one that is nested without end: what checks JSON afterwards
// does so by recursion, and a few megabytes of brackets would cost it a gigabyte
// of stack. Bytes go in; a length comes out. It does not check the syntax.
package extent

// MaxDepth is how deep objects and arrays may be nested. The client's are a
// dozen deep.
const MaxDepth = 512

// Scanner follows a stream. The zero value stands before its first byte.
type Scanner struct {
	depth            int
	inString, escape bool
	tooDeep          bool
}

// Feed takes the next bytes and tells after how many of them the value is whole.
// It is never whole once it was nested too deep.
func (x *Scanner) Feed(b []byte) (n int, whole bool) {
	for i, c := range b {
		switch {
		case x.tooDeep:
			return 0, false
		case x.escape:
			x.escape = false
		case x.inString:
			switch c {
			case '\\':
				x.escape = true
			case '"':
				x.inString = false
			}
		case c == '"':
			x.inString = x.depth > 0
		case c == '{' || c == '[':
			if x.depth++; x.depth > MaxDepth {
				x.tooDeep = true
			}
		case c == '}' || c == ']':
			if x.depth--; x.depth <= 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// TooDeep tells whether the value was nested deeper than [MaxDepth].
func (x *Scanner) TooDeep() bool { return x.tooDeep }

// Of is the length of the value that b starts with; ok is false for one that is
// not whole or nested too deep.
func Of(b []byte) (n int, ok bool) {
	var x Scanner
	return x.Feed(b)
}
