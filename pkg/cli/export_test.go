package cli

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/state"
)

// asks are the requests that a receiver got, in a line each.
type asks struct {
	mu    sync.Mutex
	lines []string
	url   string
}

// receiver takes OTLP/JSON, compressed or not, and answers with a code.
func receiver(t *testing.T, code int) *asks {
	t.Helper()
	a := &asks{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			plain, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = plain
		}
		data, err := io.ReadAll(body)
		if err != nil || r.Header.Get("Content-Type") == "application/json" && !gjson.ValidBytes(data) {
			t.Errorf("%s: %v, no JSON: %q", r.URL, err, data)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.lines = append(a.lines, strings.TrimSpace(fmt.Sprint(r.URL.Path, " ", r.Header.Get("Content-Type"), " ", r.Header.Get("Content-Encoding"), " ", r.Header.Get("X-Team"))))
		w.WriteHeader(code)
	}))
	t.Cleanup(srv.Close)
	a.url = srv.URL
	return a
}

// machine is the environment of a machine with a recorded session.
func machine(t *testing.T) (env map[string]string, now time.Time) {
	t.Helper()
	home := t.TempDir()
	now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	capture, err := filepath.Abs("../replay/testdata/captures/2.1.332/fg-sdk")
	if err != nil {
		t.Fatal(err)
	}
	if err := seed(now, capture, home, nil); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"HOME": home, state.EnvDir: filepath.Join(home, ".local", "state", "stopgate")}, now
}

// The variables of the exporter specification say where each signal goes and how; what
// was sent is not sent again.
func TestExportByTheVariables(t *testing.T) {
	env, now := machine(t)
	base, logs := receiver(t, 200), receiver(t, 200)
	for name, value := range map[string]string{
		"ENDPOINT": base.url + "/otlp/", "HEADERS": "x-team=a%20b%2Cc", "PROTOCOL": "http/json", "COMPRESSION": "gzip", "TIMEOUT": "5000",
		"LOGS_ENDPOINT": logs.url + "/insert", "LOGS_HEADERS": "X-Team=d", "LOGS_COMPRESSION": "none", "LOGS_PROTOCOL": "http/protobuf",
	} {
		env["OTEL_EXPORTER_OTLP_"+name] = value
	}
	code, stdout, stderr := run(t, env, &steady{now: now}, "export", "--once")
	if code != exitDone || stderr != "" || !strings.HasPrefix(stdout, "sent ") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if want := []string{"/otlp/v1/traces application/json gzip a b,c", "/otlp/v1/metrics application/json gzip a b,c"}; !slices.Equal(base.lines, want) {
		t.Errorf("%q, want %q", base.lines, want)
	}
	if want := []string{"/insert application/x-protobuf  d"}; !slices.Equal(logs.lines, want) {
		t.Errorf("%q, want %q", logs.lines, want)
	}
	if code, stdout, _ = run(t, env, &steady{now: now.Add(time.Hour)}, "export", "--once"); code != exitDone || !strings.HasPrefix(stdout, "sent 0 spans") || len(base.lines)+len(logs.lines) != 3 {
		t.Errorf("exit code %d, %q, %d requests", code, stdout, len(base.lines)+len(logs.lines))
	}
}

// Where it cannot be sent the exit code says so, and why is said without what is secret;
// the next run sends it.
func TestExportToNobody(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		want string
	}{
		"too many requests": {429, "answered 429 Too Many Requests"},
		"unavailable":       {503, "answered 503 Service Unavailable"},
		"full":              {507, "answered 507 Insufficient Storage"},
		"not allowed":       {401, "answered 401 Unauthorized"},
		"moved":             {307, "answered 307 Temporary Redirect"},
		"nobody listens":    {0, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			env, now := machine(t)
			to := &asks{url: "http://me:hush@127.0.0.1:1"}
			if c.code > 0 {
				to = receiver(t, c.code)
			}
			env["OTEL_EXPORTER_OTLP_ENDPOINT"], env["OTEL_EXPORTER_OTLP_HEADERS"] = to.url, "authorization=hush"
			code, stdout, stderr := run(t, env, &steady{now: now}, "export", "--once")
			if code != exitFailed || strings.Contains(stdout, "sent") || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, ": what was not taken waits for the next run") || strings.Contains(stderr, "hush") {
				t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
			}
			there := receiver(t, 200)
			env["OTEL_EXPORTER_OTLP_ENDPOINT"] = there.url
			if code, stdout, stderr := run(t, env, &steady{now: now}, "export", "--once"); code != exitDone || len(there.lines) != 3 || strings.HasPrefix(stdout, "sent 0") {
				t.Errorf("later: exit code %d, %q, %q, %q", code, stdout, stderr, there.lines)
			}
			if _, err := os.Stat(filepath.Join(env[state.EnvDir], "export-otlp.json")); err != nil {
				t.Error(err)
			}
		})
	}
}
