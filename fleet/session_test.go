//go:build fleet

package fleet

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/export"
	"stopgate/pkg/host"
	"stopgate/pkg/otlp"
	"stopgate/pkg/replay"
	"stopgate/pkg/status"
	"stopgate/pkg/telemetry"
	"stopgate/pkg/transcript"
)

// later is a clock some hours after a recording.
type later struct {
	host.SystemClock
	now time.Time
}

func (l later) Now() time.Time { return l.now }

// recorded is what a recording itself says, without what is tested.
type recorded struct {
	session string
	// owners are those of tasks and agents in the end, by the recording's own table;
	// launched and ended the times of tasks that it names.
	owners          map[string]string
	launched, ended map[string]time.Time
	// stops are when agents' stops came, of those that were answered and recorded.
	stops []time.Time
}

var ended = regexp.MustCompile(`<task-id>([a-z0-9]+)</task-id>[\s\S]*<status>completed</status>`)

// read plays a recording and gathers what it says.
func read(t *testing.T, folder string) (*replay.Play, recorded) {
	t.Helper()
	rec, err := replay.Load(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	play, err := rec.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := recorded{owners: map[string]string{}, launched: map[string]time.Time{}, ended: map[string]time.Time{}}
	ids := map[string]string{"main": transcript.Main}
	for id, name := range rec.Descriptions() {
		ids[name] = id
	}
	err = play.Run(replay.Options{}, func(s replay.Step) {
		e := s.Outcomes[0].Event
		r.session = e.SessionID
		if task := e.ToolResponse.Get("backgroundTaskId").Str; task != "" && e.Name == "PostToolUse" {
			r.launched[task] = s.Time
		}
		want, ok := rec.Expect(s.Index)
		if !ok {
			return
		}
		if want.Verdict == "block" || want.Verdict == "allow" {
			r.stops = append(r.stops, s.Time)
		}
		for task, owner := range want.Owners {
			if id := ids[owner]; id != "" {
				r.owners[task] = id
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	mains, err := filepath.Glob(folder + "/claude/projects/*/*.jsonl")
	if err != nil || len(mains) != 1 {
		t.Fatal(mains, err)
	}
	data, err := os.ReadFile(mains[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		m := ended.FindStringSubmatch(gjson.Get(line, "content").Str)
		if at, err := time.Parse(time.RFC3339, gjson.Get(line, "timestamp").Str); m != nil && err == nil && gjson.Get(line, "operation").Str == "enqueue" {
			r.ended[m[1]] = at
		}
	}
	return play, r
}

// Jaeger's own query API shows each recorded session with the parents, the beginnings
// and the durations that the recording tells.
func TestARecordedSessionInJaeger(t *testing.T) {
	folders, err := filepath.Glob(captures + "/*/*")
	if err != nil || len(folders) < 20 {
		t.Fatal(folders, err)
	}
	e := startEngines(t)
	stops, tasks, durations := 0, 0, 0
	for _, folder := range folders {
		play, want := read(t, folder)
		e.send(t, play)
		got, err := e.trace(t, fmt.Sprintf("%x", []byte(telemetry.TraceID(want.session))))
		if err != nil {
			t.Error(folder, err)
			continue
		}
		name := strings.TrimPrefix(folder, captures+"/")
		spans, agents := map[string]span{}, map[string]string{transcript.Main: ""}
		for _, s := range got {
			spans[s.SpanID] = s
			if s.OperationName == "invoke_agent" {
				agents[s.tag("gen_ai.agent.id")] = s.SpanID
			}
			if s.OperationName == "session" {
				agents[transcript.Main] = s.SpanID
			}
		}
		starts := map[int64]int{}
		for _, s := range got {
			id := s.tag("stopgate.task.id")
			if s.OperationName == "invoke_agent" {
				id = s.tag("gen_ai.agent.id")
			}
			if owner := want.owners[id]; owner != "" && (s.OperationName == "task" || s.OperationName == "invoke_agent") {
				tasks++
				if s.parent() != agents[owner] {
					t.Errorf("%s: %s %s hangs under %s, not under %s", name, s.OperationName, id, spans[s.parent()].OperationName, owner)
				}
			}
			if s.OperationName == "stop" {
				starts[s.StartTime]++
			}
			if from := want.launched[id]; s.OperationName == "task" && !from.IsZero() && !want.ended[id].IsZero() {
				durations++
				if s.StartTime != from.UnixMicro() || s.Duration != want.ended[id].Sub(from).Microseconds() {
					t.Errorf("%s: task %s from %d for %d µs, not from %d for %d", name, id, s.StartTime, s.Duration, from.UnixMicro(), want.ended[id].Sub(from).Microseconds())
				}
			}
		}
		recorded := map[int64]int{}
		for _, at := range want.stops {
			recorded[at.UnixMicro()]++
			stops++
		}
		if !maps.Equal(starts, recorded) {
			t.Errorf("%s: stops at %v, not at %v", name, starts, recorded)
		}
	}
	t.Logf("%d recordings: %d stops, %d parents and %d durations were compared", len(folders), stops, tasks, durations)
	if stops < 50 || tasks < 70 || durations < 30 {
		t.Error("too little was compared")
	}
}

// send exports what was played, some hours later.
func (e *engines) send(t *testing.T, play *replay.Play) {
	t.Helper()
	target, err := otlp.Resolve(otlp.SignalTraces, func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": e.tracesTo}[name]
	}, otlp.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	to, err := export.NewHTTP([]otlp.Target{target})
	if err != nil {
		t.Fatal(err)
	}
	clock := later{now: play.Clock().Now().Add(7 * time.Hour)}
	env := func(string) string { return "" }
	x := export.Exporter{
		Host: host.Host{Clock: clock, Env: env, Alive: func(int) bool { return false }}, Dir: play.State, Target: "otlp", To: to, Patience: time.Minute,
		Source: func() status.Source {
			return status.Source{Dir: play.State, Files: play.Files, Now: clock.now, Env: env}
		},
		Resource: export.Resource(env, "0", "linux", "amd64"),
		Teller:   telemetry.Teller{Texts: true}, // teammates' ids as they are
	}
	if _, err := x.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// The collector's configuration stands between: what goes into it comes out in the
// engines.
func TestTheCollector(t *testing.T) {
	machines, want := team(t, 2, 40)
	e := startEngines(t)
	listen := port(t)
	start(t, "collector", jaeger.build(t), "http://"+listen+"/", []string{
		"COLLECTOR_LISTEN=" + listen, "TRACES_ENDPOINT=" + e.tracesTo, "METRICS_ENDPOINT=" + e.metricsTo, "LOGS_ENDPOINT=" + e.logsTo, "OTEL_TRACES_SAMPLER=always_off",
	}, "--config", "../docs/telemetry/collector.yaml")
	if failed := everywhere(t, machines, map[string]string{"ENDPOINT": "http://" + listen, "PROTOCOL": "http/json", "COMPRESSION": "gzip"}); failed > 0 {
		t.Errorf("%d runs failed", failed)
	}
	e.flush(t)
	expected := want.expected()
	for _, p := range panels(t) {
		if p.title != "Sessions" && p.title != "Results saved" && p.title != "Decisions, from the log" {
			continue
		}
		if got := e.ask(t, p); !maps.Equal(got, expected[p.title]) {
			t.Errorf("%s: %v, not %v", p.title, got, expected[p.title])
		}
	}
	got, err := e.trace(t, fmt.Sprintf("%x", []byte(telemetry.TraceID(firstOf(t, machines[0])))))
	if err != nil || len(got) == 0 {
		t.Errorf("%d spans, %v", len(got), err)
	}
}
