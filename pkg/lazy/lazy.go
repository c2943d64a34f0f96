// Package lazy makes what a program may not need: most commands of hookctl match
// nothing, and the status line waits for its start.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled when it is first asked for. One that
// is wrong panics then.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
