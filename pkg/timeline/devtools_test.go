//go:build browser

package timeline

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium that is spoken to over two pipes: JSON messages,
// each with a NUL behind it.
type browser struct {
	t    *testing.T
	to   io.Writer
	mu   sync.Mutex
	next int
	// waiting are the calls without an answer, events what came without a call.
	waiting map[int]chan message
	events  []message
	session string
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// chromium is the program, "" where there is none.
func chromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// start starts a browser with one empty page.
func start(t *testing.T) *browser {
	t.Helper()
	program := chromium()
	if program == "" {
		t.Fatal("no chromium: apt-get install chromium, or set $CHROMIUM")
	}
	fromUs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, toUs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{fromUs, toUs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = fromUs.Close(), toUs.Close()
	b := &browser{t: t, to: to, waiting: map[int]chan message{}}
	go b.listen(from)
	t.Cleanup(func() {
		_ = to.Close() // it ends with its pipe
		_ = cmd.Wait()
		cancel()
		_ = from.Close()
	})
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.call("Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			var attached struct{ SessionID string }
			b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
			b.session = attached.SessionID
		}
	}
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func (b *browser) listen(from io.Reader) {
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		data, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(data[:len(data)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if answer := b.waiting[m.ID]; m.ID > 0 && answer != nil {
			answer <- m
		} else {
			b.events = append(b.events, m)
		}
		b.mu.Unlock()
	}
}

// call calls a method of the browser, and reads its answer into result.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

func (b *browser) try(method string, params, result any) error {
	b.mu.Lock()
	b.next++
	id, answer := b.next, make(chan message, 1)
	b.waiting[id] = answer
	b.mu.Unlock()
	call := map[string]any{"id": id, "method": method}
	if params != nil {
		call["params"] = params
	}
	if b.session != "" {
		call["sessionId"] = b.session
	}
	data, err := json.Marshal(call)
	if err != nil {
		return err
	}
	if _, err := b.to.Write(append(data, 0)); err != nil {
		return err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return errors.New(m.Error.Message)
		}
		if result != nil {
			return json.Unmarshal(m.Result, result)
		}
		return nil
	case <-time.After(30 * time.Second):
		return errors.New("no answer within 30 s")
	}
}

// eval is the value of an expression in the page.
func (b *browser) eval(expression string, into any) {
	b.t.Helper()
	var out struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, out.ExceptionDetails)
	}
	if into != nil {
		if err := json.Unmarshal(out.Result.Value, into); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// open loads a file and waits until it is painted; it gives how long that took.
func (b *browser) open(path string) time.Duration {
	b.t.Helper()
	b.mu.Lock()
	b.events = nil
	b.mu.Unlock()
	begun := time.Now()
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	for state := ""; state != "complete"; {
		if b.eval("document.readyState + (document.location.href === 'about:blank' ? ' blank' : '')", &state); time.Since(begun) > 30*time.Second {
			b.t.Fatal("the page does not load")
		}
	}
	b.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))", nil)
	return time.Since(begun)
}

// trouble is what the page's console said, and what was asked for but the page.
func (b *browser) trouble() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
			out = append(out, e.Method+" "+string(e.Params))
		case "Network.requestWillBeSent":
			var asked struct {
				DocumentURL string
				Request     struct{ URL string }
			}
			if err := json.Unmarshal(e.Params, &asked); err != nil || asked.Request.URL != asked.DocumentURL {
				out = append(out, fmt.Sprintf("asked for %s", asked.Request.URL))
			}
		}
	}
	return out
}

// press presses a key.
func (b *browser) press(key string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": key}
		if len(key) == 1 && kind == "keyDown" {
			params["text"] = key
		}
		b.call("Input.dispatchKeyEvent", params, nil)
	}
}
