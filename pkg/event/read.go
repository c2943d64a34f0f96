package event

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"stopgate/pkg/extent"
)

// Limits of reading stdin.
const (
	// MaxPayload bounds a payload in bytes; the client's are far smaller.
	MaxPayload = 32 << 20
	// IdleLimit is how long stdin may bring nothing before it is given up.
	IdleLimit = 5 * time.Second
	// TotalLimit is how long stdin may take in all, however steadily it brings a little.
	TotalLimit = 10 * time.Second
)

// Errors of [Read].
var (
	// ErrIdle is returned when stdin brought nothing for the idle limit.
	ErrIdle = errors.New("stdin stopped before one whole JSON value had come")
	// ErrSlow is returned when the total limit was over before one whole value had come.
	ErrSlow = errors.New("stdin took too long to bring one whole JSON value")
	// ErrTooLarge is returned for a payload beyond [MaxPayload].
	ErrTooLarge = errors.New("stdin holds more than 32 MiB")
	// ErrTooDeep is returned for a payload nested beyond [extent.MaxDepth].
	ErrTooDeep = errors.New("stdin holds JSON that is nested too deep")
)

// Read returns one whole JSON object from r. It does not wait for the end of
// r, which on some systems never comes (docs/client.md: the hook contract), and
// gives up with [ErrIdle] when nothing has come for idle, and with [ErrSlow] when
// total is over. An input that ends early is returned as it is. A goroutine that
// reads may outlive the call.
func Read(r io.Reader, idle, total time.Duration) ([]byte, error) {
	next := chunksOf(r)
	deadline := time.Now().Add(total)
	var payload []byte
	var end extent.Scanner
	for {
		left := time.Until(deadline)
		data, err := next(min(idle, max(left, 0)))
		if errors.Is(err, ErrIdle) && left < idle {
			err = ErrSlow
		}
		payload = append(payload, data...)
		if n, whole := end.Feed(data); whole {
			return payload[:len(payload)-len(data)+n], nil
		}
		switch {
		case end.TooDeep():
			return nil, ErrTooDeep
		case errors.Is(err, io.EOF):
			return bytes.TrimSpace(payload), nil
		case err != nil:
			return nil, err
		case len(payload) > MaxPayload:
			return nil, ErrTooLarge
		}
	}
}

// chunksOf gives the next bytes of r at each call, or [ErrIdle] where none come in
// time. The bytes are valid until the next call.
func chunksOf(r io.Reader) func(idle time.Duration) ([]byte, error) {
	if file, ok := r.(*os.File); ok && canPoll {
		// Waiting in the kernel needs no second thread: that is a good part of
		// what the hook costs.
		buf := make([]byte, 16<<10)
		return func(idle time.Duration) ([]byte, error) {
			if err := readable(file, idle); err != nil {
				return nil, err
			}
			n, err := file.Read(buf)
			return buf[:n], err
		}
	}
	type chunk struct {
		data []byte
		err  error
	}
	chunks := make(chan chunk, 1)
	again := make(chan []byte, 1)
	again <- make([]byte, 16<<10)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				chunks <- chunk{err: fmt.Errorf("read: %v", p)}
			}
		}()
		for buf := range again {
			n, err := r.Read(buf)
			chunks <- chunk{buf[:n], err}
			if err != nil {
				return
			}
		}
	}()
	var last []byte
	return func(idle time.Duration) ([]byte, error) {
		if last != nil {
			again <- last[:cap(last)]
		}
		timer := time.NewTimer(idle)
		defer timer.Stop()
		select {
		case c := <-chunks:
			last = c.data
			return c.data, c.err
		case <-timer.C:
			return nil, ErrIdle
		}
	}
}
