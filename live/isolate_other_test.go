//go:build live && !linux

package live

import (
	"errors"
	"runtime"
)

var errNoNamespace = errors.New("no network namespaces on " + runtime.GOOS)

func isolated(string) (int, error) { return 0, errNoNamespace }

func loopbackOnly() error { return errNoNamespace }
