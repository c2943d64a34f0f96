package command

import "strings"

// list is words with commas between them, as the table has them. The hook is kept
// small: a list of this kind costs its letters, and what is called from everywhere is
// kept from being copied there (go:noinline): 45 kB.
type list string

// find is the word of a list that is the same as this one, or "".
func (l list) find(word string) string {
	if word == "" || strings.IndexByte(word, ',') >= 0 {
		return ""
	}
	for from := 0; ; {
		i := strings.Index(string(l[from:]), word)
		if i < 0 {
			return ""
		}
		at := from + i
		from = at + len(word)
		if (at == 0 || l[at-1] == ',') && (from == len(l) || l[from] == ',') {
			return string(l[at:from])
		}
	}
}

// has tells whether a word is in a list.
//
//go:noinline
func (l list) has(word string) bool { return l.find(word) != "" }

// first is the first of some words that is in a list, or "".
func (l list) first(words []string) string {
	for _, w := range words {
		if found := l.find(w); found != "" {
			return found
		}
	}
	return ""
}

// each calls f with the words of a list until it returns true.
func (l list) each(f func(word string) bool) {
	for rest := string(l); rest != ""; {
		word, more, _ := strings.Cut(rest, ",")
		if f(word) {
			return
		}
		rest = more
	}
}
