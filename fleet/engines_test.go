//go:build fleet

package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// engine is a program out of somebody else's Go module.
type engine struct {
	name, pkg, version string
}

var (
	jaeger          = engine{"jaeger", "github.com/jaegertracing/jaeger/cmd/jaeger", "v1.76.0"}
	victoriaLogs    = engine{"victoria-logs", "github.com/VictoriaMetrics/VictoriaLogs/app/victoria-logs", "v1.52.1"}
	victoriaMetrics = engine{"victoria-metrics", "github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics", "v1.151.0"}
)

// build builds the engine where it is not built yet, in a module of its own: some of
// them replace a module of theirs by itself, which go install refuses.
func (e engine) build(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(cache, "stopgate", "engines", e.name+"-"+e.version)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	began, dir := time.Now(), t.TempDir()
	for _, command := range []string{"mod init engine", "get " + e.pkg + "@" + e.version, "build -trimpath -ldflags -s -o " + program + ".new " + e.pkg} {
		c := exec.Command("go", strings.Fields(command)...)
		c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "CGO_ENABLED=0", "GOTOOLCHAIN=auto")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", command, err, out)
		}
	}
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %s was built in %v", e.name, e.version, time.Since(began).Round(time.Second))
	return program
}

// running is an engine at work.
type running struct {
	t       *testing.T
	name    string
	program string
	args    []string
	env     []string
	ready   string
	cmd     *exec.Cmd
	log     string
}

// start starts a program and waits until it answers.
func start(t *testing.T, name, program, ready string, env []string, args ...string) *running {
	t.Helper()
	r := &running{t: t, name: name, program: program, args: args, env: env, ready: ready, log: filepath.Join(t.TempDir(), name+".log")}
	r.start()
	t.Cleanup(func() {
		r.stop()
		if t.Failed() {
			data, _ := os.ReadFile(r.log)
			t.Logf("%s said: %s", name, data[max(0, len(data)-3000):])
		}
	})
	return r
}

func (r *running) start() {
	r.t.Helper()
	out, err := os.OpenFile(r.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //realtime: its time is of no matter
	if err != nil {
		r.t.Fatal(err)
	}
	defer out.Close()
	r.cmd = exec.Command(r.program, r.args...)
	r.cmd.Stdout, r.cmd.Stderr, r.cmd.Env = out, out, append(os.Environ(), r.env...)
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get(r.ready)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode < 500 {
				return
			}
		}
	}
	data, _ := os.ReadFile(r.log)
	r.t.Fatalf("%s does not answer at %s: %s", r.name, r.ready, data[max(0, len(data)-3000):])
}

// stop ends the program as its service manager does.
func (r *running) stop() {
	if r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = r.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		_ = r.cmd.Process.Kill()
		<-done
	}
	r.cmd = nil
}

// port is an address of this machine at which nobody listens.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// engines are the three at work, with what they keep in a folder that outlives them.
type engines struct {
	jaeger, metrics, logs *running
	// Where they take OTLP, and where they are asked.
	tracesTo, metricsTo, logsTo       string
	tracesFrom, metricsFrom, logsFrom string
}

const jaegerConfig = `
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [jaeger_storage_exporter]
  telemetry:
    metrics: {level: none}
extensions:
  jaeger_query:
    storage: {traces: store}
    http: {endpoint: "%[1]s"}
    grpc: {endpoint: "%[2]s"}
  jaeger_storage:
    backends:
      store:
        badger:
          directories: {keys: "%[3]s/keys", values: "%[3]s/values"}
          ephemeral: false
          ttl: {spans: 8760h}
receivers:
  otlp:
    protocols:
      http: {endpoint: "%[4]s"}
exporters:
  jaeger_storage_exporter: {trace_storage: store}
`

func startEngines(t *testing.T) *engines {
	t.Helper()
	query, grpc, otlp, metrics, logs := port(t), port(t), port(t), port(t), port(t)
	dir := t.TempDir()
	config := filepath.Join(dir, "jaeger.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, jaegerConfig, query, grpc, filepath.Join(dir, "badger"), otlp), 0o600); err != nil { //realtime: its time is of no matter
		t.Fatal(err)
	}
	return &engines{
		jaeger: start(t, "jaeger", jaeger.build(t), "http://"+query+"/api/services", []string{"OTEL_TRACES_SAMPLER=always_off"}, "--config", config),
		metrics: start(t, "victoria-metrics", victoriaMetrics.build(t), "http://"+metrics+"/health", nil,
			"-storageDataPath="+filepath.Join(dir, "metrics"), "-httpListenAddr="+metrics, "-retentionPeriod=10y", "-search.latencyOffset=0s", "-opentelemetry.usePrometheusNaming"),
		logs: start(t, "victoria-logs", victoriaLogs.build(t), "http://"+logs+"/health", nil,
			"-storageDataPath="+filepath.Join(dir, "logs"), "-httpListenAddr="+logs, "-retentionPeriod=10y"),
		tracesTo: "http://" + otlp + "/v1/traces", metricsTo: "http://" + metrics + "/opentelemetry/v1/metrics", logsTo: "http://" + logs + "/insert/opentelemetry/v1/logs",
		tracesFrom: "http://" + query, metricsFrom: "http://" + metrics, logsFrom: "http://" + logs,
	}
}

// get asks an engine.
func get(t *testing.T, url string) []byte {
	t.Helper()
	data, err := tryGet(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func tryGet(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(url + ": " + resp.Status + ": " + string(data))
	}
	return data, err
}

// flush makes what was taken visible to queries.
func (e *engines) flush(t *testing.T) {
	t.Helper()
	get(t, e.metricsFrom+"/internal/force_flush")
	get(t, e.logsFrom+"/internal/force_flush")
}
