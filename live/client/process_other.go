//go:build !linux

package client

import "syscall"

// Sessions run on Linux only, where they can be isolated; this keeps the
// package compiling elsewhere.

func ownSession(bool) *syscall.SysProcAttr { return nil }

// Running is known on Linux only.
func Running(string) map[int]string { return nil }

func endAll(string) []string { return nil }
