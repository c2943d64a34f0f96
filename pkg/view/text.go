// Package view is how it looks: what pkg/status knows, as tables, screens and text
// for people. Whatever somebody else wrote goes through [Clean] before it is printed.
package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Terminals show characters of ambiguous width, the ellipsis among them, in one
// column unless they are told otherwise, in every language.
func init() { //nolint:gochecknoinits // a setting of that package, before anything is shown
	text.OverrideRuneWidthEastAsianWidth(false)
}

// maxText bounds a printed text of somebody else, in characters.
const maxText = 400

// Spelled makes a text fit to be printed as [Clean] does, whole: a message of ours that
// holds a text of somebody else.
func Spelled(s string) string { return spell(s, len(s)) }

// Clean makes a text of somebody else fit to be printed: an id, a name, a path
// or a command can hold whatever its author liked. Control and format characters
// (escape sequences, bidirectional marks, line breaks) are spelled out, bytes
// that are no text too, and the length is bounded.
func Clean(s string) string { return spell(s, maxText) }

func spell(s string, most int) string {
	if plain(s, most) {
		return s
	}
	var b strings.Builder
	n := 0
	for len(s) > 0 {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

func plain(s string, most int) bool {
	if len(s) > most {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Width is how many columns a text takes on a terminal, colours not counted.
func Width(s string) int { return text.StringWidthWithoutEscSequences(s) }

// Snip shortens a text to so many columns.
func Snip(s string, width int) string { return cut(s, width) }

// cut shortens a text to so many columns.
func cut(s string, width int) string {
	if width < 1 {
		return ""
	}
	return text.Snip(s, width, "…")
}

// wrap breaks a text at blanks into lines of at most width columns; a longer
// word stays whole, so that a path can still be copied.
func wrap(s string, width int) []string {
	if width <= 0 || Width(s) <= width {
		return []string{s}
	}
	var lines []string
	line := ""
	for _, word := range strings.Split(s, " ") {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
