//go:build live

package live

var clocked []scenario
