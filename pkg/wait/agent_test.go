package wait

import (
	"fmt"
	"testing"
	"time"

	"stopgate/pkg/fate"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/transcript"
)

// A child agent whose only end was told of an earlier life, or of a turn after
// which it waits for its own work, has not ended, even where no transcript of it
// tells more.
func TestAnAgentsEndThatIsNone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *place) transcript.End{
		"of an earlier life": func(p *place) transcript.End {
			return transcript.End{Task: "c1", Status: "completed", At: p.clock.now.Add(-time.Minute)}
		},
		"of a turn": func(p *place) transcript.End {
			return transcript.End{Task: "c1", Status: "completed", At: p.clock.now.Add(time.Second), Parked: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			w := p.wait()
			w.Tasks = []Task{{ID: "c1", Kind: "subagent", Since: p.clock.now}}
			w.Known = []transcript.End{end(p)}
			if res := w.Run(t.Context()); res.Why != Deadline || res.Outcomes[0].Over() {
				t.Errorf("ended by %s: %+v", res.Why, res.Outcomes)
			}
		})
	}
	p := newPlace(t)
	w := p.wait()
	w.Tasks = []Task{{ID: "c1", Kind: "subagent", Since: p.clock.now}}
	w.Known = []transcript.End{{Task: "c1", Status: "completed", At: p.clock.now.Add(time.Second)}}
	if res := w.Run(t.Context()); res.Why != AllEnded || res.Outcomes[0].How != fate.Ended {
		t.Errorf("the real one: %s, %+v", res.Why, res.Outcomes)
	}
}

// A child agent whose own task ends after its told end may be woken for it: then
// that end was not its last.
func TestAnAgentThatIsWokenForItsOwnTask(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, woken := range map[string]bool{"woken": true, "not woken": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			child := transcript.AgentPath(transcript.AgentsDir(p.path("main.jsonl")), "c1")
			hosttest.Write(t, p.clock.now, child, fmt.Sprintf(`{"type":"assistant","agentId":"c1","timestamp":%q,"message":{"content":[{"type":"tool_use","id":"u1","name":"Bash","input":{"command":"x","run_in_background":true}}]}}
{"type":"user","agentId":"c1","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"u1","content":"Command running in background with ID: own. Output is being written to: %s."}]}}
`, p.stamp(0), p.stamp(0), p.path("own.output")))
			p.clock.plans[2*second] = func() { p.tell(p.ended("c1", "completed", "x")) }
			p.clock.plans[10*second] = func() { p.tell(p.ended("own", "completed", "exit code 0")) }
			at := 10*second + grace
			if woken {
				at = 20 * second
				p.clock.plans[11*second] = func() {
					hosttest.Append(t, p.clock.now, child, fmt.Sprintf(`{"type":"assistant","agentId":"c1","timestamp":%q,"message":{"content":[{"type":"text","text":"so"}]}}`+"\n", p.stamp(0)))
				}
				p.clock.plans[at] = func() { p.tell(p.ended("c1", "completed", "x")) }
			}
			w := p.wait()
			w.Tasks = []Task{{ID: "c1", Kind: "subagent", Since: p.clock.now}}
			if r := w.Run(t.Context()); r.Why != AllEnded || p.took() < at || p.took() > at+grace+150*time.Millisecond {
				t.Errorf("ended by %s after %s, want %s: %+v", r.Why, p.took(), at, r.Outcomes)
			}
		})
	}
}
