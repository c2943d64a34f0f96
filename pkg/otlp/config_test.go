package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

func TestWhereASignalGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		env  map[string]string
		file Settings
		want string
	}{
		{"nothing is said", nil, Settings{}, "http://localhost:4318/v1/traces 10s"},
		{"a base", map[string]string{"ENDPOINT": "https://c.example.org"}, Settings{}, "https://c.example.org/v1/traces 10s"},
		{"a base with a path", map[string]string{"ENDPOINT": "https://c.example.org/otlp/"}, Settings{}, "https://c.example.org/otlp/v1/traces 10s"},
		{"its own, as it is", map[string]string{"ENDPOINT": "https://x", "TRACES_ENDPOINT": "http://j:1/a/b"}, Settings{}, "http://j:1/a/b 10s"},
		{"its own without a path", map[string]string{"TRACES_ENDPOINT": "http://j:1"}, Settings{}, "http://j:1/ 10s"},
		{"a file", nil, Settings{Endpoint: "https://f", Timeout: time.Minute, Protocol: "http/json", Compression: "gzip"}, "https://f/v1/traces 1m0s json gzip"},
		{"the environment over a file", map[string]string{"ENDPOINT": "https://e", "TIMEOUT": "2500", "PROTOCOL": "http/protobuf", "COMPRESSION": "none"}, Settings{Endpoint: "https://f", Timeout: time.Minute, Protocol: "http/json", Compression: "gzip"}, "https://e/v1/traces 2.5s"},
		{"a signal's own over the general", map[string]string{"TIMEOUT": "1", "TRACES_TIMEOUT": "2", "TRACES_PROTOCOL": "http/json", "PROTOCOL": "http/protobuf"}, Settings{}, "http://localhost:4318/v1/traces 2ms json"},
		{"another signal's", map[string]string{"LOGS_ENDPOINT": "https://l", "LOGS_TIMEOUT": "1"}, Settings{}, "http://localhost:4318/v1/traces 10s"},
		{"headers", map[string]string{"HEADERS": "a=b, authorization = Bearer%20x%3Dy ,"}, Settings{Headers: "c=d"}, "http://localhost:4318/v1/traces 10s map[a:b authorization:Bearer x=y]"},
		{"a signal's headers", map[string]string{"HEADERS": "a=b", "TRACES_HEADERS": "c=d"}, Settings{}, "http://localhost:4318/v1/traces 10s map[c:d]"},
		{"headers that are none", map[string]string{"HEADERS": "secret"}, Settings{}, "headers: not a list of name=value"},
		{"a header that ends the line", map[string]string{"HEADERS": "a=b%0d%0ac: d"}, Settings{}, "headers: not a list of name=value"},
		{"no address", map[string]string{"ENDPOINT": "collector:4318"}, Settings{}, `endpoint "collector:4318": not an address that begins with http:// or https://`},
		{"a password in what is no address", map[string]string{"ENDPOINT": "ftp://me:secret@c"}, Settings{}, `endpoint "ftp://me:xxxxx@c": not an address that begins with http:// or https://`},
		{"gRPC", map[string]string{"PROTOCOL": "grpc"}, Settings{}, `protocol "grpc": only http/protobuf and http/json are spoken`},
		{"seconds", map[string]string{"TIMEOUT": "10s"}, Settings{}, `OTEL_EXPORTER_OTLP_TIMEOUT "10s": not a number of milliseconds`},
		{"an unknown compression", map[string]string{"COMPRESSION": "zstd"}, Settings{}, `compression "zstd": neither gzip nor none`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target, err := Resolve(SignalTraces, func(name string) string { return c.env[strings.TrimPrefix(name, envPrefix)] }, c.file)
			got := fmt.Sprint(target.URL, " ", target.Timeout)
			if target.JSON {
				got += " json"
			}
			if target.Gzip {
				got += " gzip"
			}
			if len(target.Headers) > 0 {
				got += fmt.Sprint(" ", maps.Clone(target.Headers))
			}
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
	if target, _ := Resolve(SignalLogs, func(name string) string { return map[string]string{"OTEL_LOGS_EXPORTER": "none"}[name] }, Settings{}); !target.Off {
		t.Error("a signal that is switched off is sent")
	}
}

func post(t *testing.T, target Target) (Rejected, error) {
	t.Helper()
	target.Timeout = 2 * time.Second
	p, err := NewPoster(target)
	if err != nil {
		t.Fatal(err)
	}
	return p.Post(context.Background(), examples()[0].message)
}

func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	partly, err := proto.Marshal(&coltrace.ExportTraceServiceResponse{PartialSuccess: &coltrace.ExportTracePartialSuccess{RejectedSpans: 5, ErrorMessage: "old"}})
	if err != nil {
		t.Fatal(err)
	}
	soon := time.Now().Add(9 * time.Minute).UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		name       string
		code       int
		kind, body string
		after      string
		want       string
	}{
		{"taken", 200, "application/x-protobuf", "", "", "0"},
		{"taken in part, as protobuf", 200, "application/x-protobuf", string(partly), "", "5 old"},
		{"taken in part, as JSON", 200, "application/json", `{"partialSuccess":{"rejectedSpans":"5","errorMessage":"old"}}`, "", "5 old"},
		{"taken, with an answer that makes no sense", 200, "application/x-protobuf", "\xff\xff\xff", "", "0"},
		{"taken, with JSON that makes no sense", 200, "application/json", "[]", "", "0"},
		{"too many requests", 429, "", "", "7", "later 7s"},
		{"a date", 503, "", "", soon, "later 9m0s"},
		{"a date long past", 503, "", "", "Fri, 02 Jan 2015 15:04:05 GMT", "later 0s"},
		{"a time without end", 503, "", "", "99999999", "later 10m0s"},
		{"a word for a time", 429, "", "", "soon", "later 0s"},
		{"a gateway", 502, "", "", "", "later 0s"},
		{"a gateway that waited", 504, "", "", "", "later 0s"},
		{"too large", 413, "", "", "", "too large"},
		{"refused", 400, "text/plain", "bad\x1b[31m\nmore", "", `refused 400 Bad Request: "bad\x1b[31m"`},
		{"not allowed", 401, "", "", "", "refused 401 Unauthorized"},
		{"moved", 302, "", "", "", "refused 302 Found"},
		{"broken", 500, "", "", "", "refused 500 Internal Server Error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("Location", "http://127.0.0.1:1/")
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.body)
			}))
			defer srv.Close()
			r, err := post(t, Target{URL: srv.URL})
			got := strings.TrimSpace(fmt.Sprint(r.Items, " ", r.Text))
			var later *LaterError
			switch {
			case errors.As(err, &later):
				got = fmt.Sprint("later ", later.After)
				if c.after == soon && later.After > 7*time.Minute && later.After <= 9*time.Minute {
					got = c.want // the machine is busy
				}
			case errors.Is(err, ErrTooLarge):
				got = "too large"
			case err != nil:
				_, status, _ := strings.Cut(err.Error(), " answered ")
				got = "refused " + status
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A server that begins to answer and never ends is given up in time, like one that does
// not answer: what it was sent can be sent again.
func TestAnAnswerThatNeverEnds(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]bool{"no answer": false, "half an answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if begin {
					_, _ = io.WriteString(w, "{")
					_ = http.NewResponseController(w).Flush()
				}
				<-over
			}))
			defer srv.Close()
			defer close(over)
			answered := make(chan error, 1)
			go func() {
				_, err := post(t, Target{URL: srv.URL})
				answered <- err
			}()
			select {
			case err := <-answered:
				var later *LaterError
				if !errors.As(err, &later) {
					t.Errorf("%v", err)
				}
			case <-time.After(30 * time.Second):
				t.Error("it waits on")
			}
		})
	}
}

// A request bears the headers, and is what its headers say.
func TestARequest(t *testing.T) {
	t.Parallel()
	for _, c := range []Target{{}, {JSON: true}, {Gzip: true}} {
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			want := map[string]string{"Authorization": "Bearer x", "Content-Type": "application/x-protobuf", "Content-Encoding": ""}
			if c.JSON {
				want["Content-Type"] = "application/json"
			}
			if c.Gzip {
				want["Content-Encoding"] = "gzip"
			}
			var body io.Reader = r.Body
			if c.Gzip {
				var err error
				if body, err = gzip.NewReader(r.Body); err != nil {
					t.Error(err)
					return
				}
			}
			data, err := io.ReadAll(body)
			whole := Protobuf(examples()[0].message)
			if c.JSON {
				whole, _ = JSON(examples()[0].message)
			}
			if err != nil || !bytes.Equal(data, whole) {
				t.Errorf("%d bytes of %d arrived, %v", len(data), len(whole), err)
			}
			for name, value := range want {
				if got := r.Header.Get(name); got != value {
					t.Errorf("%s: %q, want %q", name, got, value)
				}
			}
		}))
		c.URL, c.Headers = srv.URL, map[string]string{"authorization": "Bearer x"}
		if _, err := post(t, c); err != nil {
			t.Error(err)
		}
		srv.Close()
	}
}

// A server with a certificate of its own, which asks for one in return.
func TestCertificates(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	defer srv.Close()
	dir := t.TempDir()
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil { //realtime: its time is of no matter
			t.Fatal(err)
		}
		return path
	}
	key, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	ca := write("ca.pem", "CERTIFICATE", srv.Certificate().Raw)
	keyFile := write("key.pem", "PRIVATE KEY", key)
	with := func(env map[string]string) error {
		target, err := Resolve(SignalTraces, func(name string) string { return env[strings.TrimPrefix(name, envPrefix)] }, Settings{Endpoint: srv.URL})
		if err != nil {
			return err
		}
		p, err := NewPoster(target)
		if err != nil {
			return err
		}
		_, err = p.Post(t.Context(), examples()[0].message)
		return err
	}
	if err := with(map[string]string{"CERTIFICATE": ca, "TRACES_CLIENT_CERTIFICATE": ca, "CLIENT_KEY": keyFile}); err != nil {
		t.Error(err)
	}
	for name, env := range map[string]map[string]string{
		"an unknown authority":      {"CLIENT_CERTIFICATE": ca, "CLIENT_KEY": keyFile},
		"no certificate of its own": {"CERTIFICATE": ca},
		"a key for a certificate":   {"CERTIFICATE": keyFile},
		"a file that is not there":  {"CERTIFICATE": filepath.Join(dir, "none")},
		"a certificate without key": {"CERTIFICATE": ca, "CLIENT_CERTIFICATE": ca},
	} {
		if with(env) == nil {
			t.Errorf("%s: it was sent", name)
		}
	}
}

func TestAnAddressIsShownWithoutItsPassword(t *testing.T) {
	t.Parallel()
	target, err := Resolve(SignalTraces, func(string) string { return "" }, Settings{Endpoint: "http://me:secret@127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = post(t, target)
	if err == nil || strings.Contains(err.Error()+target.Shown(), "secret") {
		t.Errorf("%v, %s", err, target.Shown())
	}
}
