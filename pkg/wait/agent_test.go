package wait

import (
	"testing"
	"time"

	"stopgate/pkg/fate"
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
