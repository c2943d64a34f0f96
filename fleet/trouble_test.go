//go:build fleet

package fleet

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// trouble stands before an engine, and does to every few requests what endpoints do.
type trouble struct {
	t   *testing.T
	to  string
	mu  sync.Mutex
	n   int
	did map[string]int
}

// kinds are what can happen to a request. The last ones are the bad ones: the engine
// has it, and the sender does not know.
var kinds = []string{"", "", "", "429", "", "503", "", "killed before", "", "slow", "", "full", "", "killed behind", "", "503 behind"}

func inTrouble(t *testing.T, to string) (*trouble, string) {
	t.Helper()
	p := &trouble{t: t, to: to, did: map[string]int{}}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	return p, srv.URL
}

func (p *trouble) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	kind := kinds[p.n%len(kinds)]
	p.n++
	p.did[kind]++
	p.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	switch kind {
	case "429":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case "503":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "full":
		w.WriteHeader(http.StatusInsufficientStorage)
	case "killed before":
		hangUp(w)
	case "killed behind":
		p.pass(r, body)
		hangUp(w)
	case "503 behind":
		p.pass(r, body)
		w.WriteHeader(http.StatusServiceUnavailable)
	case "slow":
		p.pass(r, body)
		time.Sleep(1500 * time.Millisecond) // the sender waits for one second
	default:
		code, answer, kind := p.pass(r, body)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		_, _ = w.Write(answer)
	}
}

func (p *trouble) pass(r *http.Request, body []byte) (code int, answer []byte, kind string) {
	req, err := http.NewRequest(r.Method, p.to, bytes.NewReader(body))
	if err != nil {
		p.t.Error(err)
		return http.StatusInternalServerError, nil, ""
	}
	req.Header = r.Header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return http.StatusBadGateway, nil, "" // the engine itself is away
	}
	defer resp.Body.Close()
	answer, _ = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, resp.Header.Get("Content-Type")
}

func hangUp(w http.ResponseWriter) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = conn.Close()
	}
}
