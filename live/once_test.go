//go:build live

package live

var counted []scenario
