package host

// Stack8 makes the stack of the calling goroutine 8 kB large, and Stack32 32 kB. It would
// come to that by itself, but by doubling again and again, each time with a copy of what
// lies on it and a look at every function there: that is a part of what an event costs
// that can be measured. Called where little lies on the stack, it costs next to nothing.
func Stack8() { frame5(false) }

// Stack32 is like [Stack8].
func Stack32() { frame18(false) }

// frame5 has a frame of 5 kB that it does not use.
//
//go:noinline
func frame5(used bool) {
	if used {
		var room [5 << 10]byte
		use(room[:])
	}
}

// frame18 has one of 18 kB.
//
//go:noinline
func frame18(used bool) {
	if used {
		var room [18 << 10]byte
		use(room[:])
	}
}

//go:noinline
func use(room []byte) { room[0] = 1 }
