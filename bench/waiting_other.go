//go:build unix && !linux

package main

import "time"

// waiting needs /proc.
func (b *bench) waiting(int, bool, time.Duration) error { return nil }
