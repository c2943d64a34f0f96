//go:build faults

package main

import (
	"os"
	"runtime/debug"
)

// This build provokes the faults that no recover catches, for main_test.go.
func init() { fault = func() { faults[os.Getenv("HOOK_FAULT")]() } }

var faults = map[string]func(){
	"":         func() {},
	"panic":    func() { panic("on purpose") },
	"deadlock": func() { select {} },
	"nil pointer in another goroutine": func() {
		go func() {
			var p *int
			*p = 1
		}()
		select {}
	},
	"concurrent map writes": func() {
		m := map[int]int{}
		for range 4 {
			go func() {
				for i := 0; ; i++ {
					m[i%8] = i
				}
			}()
		}
		select {}
	},
	"stack overflow": func() {
		debug.SetMaxStack(1 << 20)
		deeper(nil)
	},
	"out of memory": func() {
		var all [][]byte
		for {
			all = append(all, make([]byte, huge))
		}
	},
}

// huge is an amount of memory that no machine has twice: a terabyte, or a gigabyte on
// 32 bits.
const huge = 1 << (30 + 10*(^uint(0)>>63))

func deeper(path []byte) int { return deeper(append(path, 1)) + 1 }
