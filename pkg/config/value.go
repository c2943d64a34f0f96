package config

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/policy"
	"stopgate/pkg/span"
)

// Bounds of what a file may say: somebody else may have written it.
const (
	// MaxFile is how many bytes a file may have.
	MaxFile = 64 << 10
	// maxPatterns is how many patterns a list may have, maxPattern how many bytes
	// one, and maxProgram how many instructions all of a list together: a match
	// costs that many steps for each character of a command.
	maxPatterns = 64
	maxPattern  = 500
	maxProgram  = 5000
)

// Origin is where a value comes from.
type Origin string

// The origins, the strongest first.
const (
	Flag    Origin = "flag"
	Project Origin = "project"
	Person  Origin = "person"
	Default Origin = "default"
)

// Value is one setting. The zero value was set nowhere.
type Value[T any] struct {
	V T
	// From is [Project] or [Person], "" where no file sets it.
	From Origin
}

// Set tells whether a file sets it.
func (v Value[T]) Set() bool { return v.From != "" }

// raw is a value as it stands in a file.
type raw struct {
	kind  kind
	text  string // of a string or a boolean
	items []raw  // of an array
}

type kind string

const (
	aString  kind = "a string"
	aBoolean kind = "a boolean"
	aNumber  kind = "a number"
	anArray  kind = "an array"
	aTable   kind = "a table"
	aDate    kind = "a date"
)

func (r raw) want(k kind) error {
	if r.kind != k {
		return fmt.Errorf("%s, not %s", r.kind, k)
	}
	return nil
}

// duration reads a span of time like "1h30m".
func duration(r raw) (time.Duration, error) {
	if err := r.want(aString); err != nil {
		return 0, err
	}
	d, err := span.Parse(r.text)
	switch {
	case err != nil:
		return 0, errors.New(`not a duration like "30s", "10m" or "1h30m"`)
	case d < 0 || d > policy.MaxHold:
		return 0, fmt.Errorf("not between 0s and %s", span.Text(policy.MaxHold))
	}
	return d, nil
}

func boolean(r raw) (bool, error) {
	if err := r.want(aBoolean); err != nil {
		return false, err
	}
	return r.text == "true", nil
}

// oneOf reads one of some words.
func oneOf(words ...string) func(raw) (string, error) {
	return func(r raw) (string, error) {
		if err := r.want(aString); err != nil {
			return "", err
		}
		if !slices.Contains(words, r.text) {
			return "", errors.New("not one of " + strings.Join(words, ", "))
		}
		return r.text, nil
	}
}

// patterns reads regular expressions: one, or a list of them.
func patterns(r raw) ([]*regexp.Regexp, error) {
	items := r.items
	if r.kind == aString {
		items = []raw{r}
	} else if err := r.want(anArray); err != nil {
		return nil, err
	}
	if len(items) > maxPatterns {
		return nil, fmt.Errorf("more than %d patterns", maxPatterns)
	}
	var out []*regexp.Regexp
	size := 0
	for i, item := range items {
		re, n, err := pattern(item)
		if size += n; err == nil && size > maxProgram {
			err = errors.New("too much for one list")
		}
		if err != nil {
			return nil, fmt.Errorf("pattern %d: %w", i+1, err)
		}
		out = append(out, re)
	}
	return out, nil
}

// pattern compiles one regular expression, and says how many instructions it has.
func pattern(r raw) (*regexp.Regexp, int, error) {
	if err := r.want(aString); err != nil {
		return nil, 0, err
	}
	switch {
	case r.text == "":
		return nil, 0, errors.New("empty, which matches everything")
	case len(r.text) > maxPattern:
		return nil, 0, fmt.Errorf("longer than %d bytes", maxPattern)
	}
	tree, err := syntax.Parse(r.text, syntax.Perl)
	if err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return nil, 0, fmt.Errorf("not a regular expression: %s", bad.Code)
		}
		return nil, 0, errors.New("not a regular expression")
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, errors.New("not a regular expression")
	}
	n := len(prog.Inst)
	if n > maxProgram {
		return nil, n, errors.New("too large")
	}
	re, err := regexp.Compile(r.text)
	return re, n, err
}
