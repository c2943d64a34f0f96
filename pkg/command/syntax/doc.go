// Package syntax is the shell parser of mvdan.cc/sh/v3, copied file by file from the
// module that go.mod pins, without its printer: that compiles two regular expressions
// whenever a program starts, and the hook starts at every event. LICENSE is the
// module's.
package syntax

//go:generate go test -run TestTheParserIsACopy -update
