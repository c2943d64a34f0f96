package fate

import (
	"testing"
	"time"

	"stopgate/pkg/transcript"
)

func TestTheBetterLaunchCounts(t *testing.T) {
	t.Parallel()
	sure := transcript.Launch{Task: "b1", Owner: "a1", Evidence: transcript.PostToolUse}
	guess := transcript.Launch{Task: "b1", Owner: "a2", Evidence: transcript.Text}
	for _, order := range [][]transcript.Launch{{sure, guess}, {guess, sure}} {
		var a Account
		a.Take(transcript.Batch{Launches: order})
		if got := a.Launches["b1"].Owner; got != "a1" {
			t.Errorf("launched by %s", got)
		}
	}
}

func TestTheLaterEndCounts(t *testing.T) {
	t.Parallel()
	first, second := *told(time.Hour, "completed", nil), *told(time.Minute, "failed", nil)
	for _, order := range [][]transcript.End{{first, second}, {second, first}} {
		var a Account
		if a.Ended("b1") != nil {
			t.Error("ended from the start")
		}
		a.Take(transcript.Batch{Ends: order})
		if got := a.Ended("b1"); got == nil || got.Status != "failed" {
			t.Errorf("ended with %v", got)
		}
	}
}

func TestWhoHeardOfAnEnd(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		news []transcript.Delivery
		want bool
	}{
		"nobody":                          {nil, false},
		"its owner":                       {[]transcript.Delivery{{Task: "b1", To: "a1", At: noon}}, true},
		"the coordinator":                 {[]transcript.Delivery{{Task: "b1", To: transcript.Main, At: noon}}, true},
		"the agent, as the client says":   {[]transcript.Delivery{{Task: "b1", At: noon}}, true},
		"its owner, at no known time":     {[]transcript.Delivery{{Task: "b1", To: "a1"}}, true},
		"a third one":                     {[]transcript.Delivery{{Task: "b1", To: "a9", At: noon}}, false},
		"its owner, of an earlier end":    {[]transcript.Delivery{{Task: "b1", To: "a1", At: ago(time.Hour)}}, false},
		"its owner, of another task":      {[]transcript.Delivery{{Task: "b2", To: "a1", At: noon}}, false},
		"a third one, and then its owner": {[]transcript.Delivery{{Task: "b1", To: "a9", At: noon}, {Task: "b1", To: "a1", At: noon}}, true},
	} {
		for _, newsFirst := range []bool{false, true} {
			var a Account
			batches := []transcript.Batch{{Ends: []transcript.End{*told(time.Minute, "completed", nil)}}, {Deliveries: r.news}}
			if newsFirst {
				batches[0], batches[1] = batches[1], batches[0]
			}
			for _, b := range batches {
				a.Take(b)
				a.Take(b)
			}
			if got := a.Heard("b1", "a1"); got != r.want {
				t.Errorf("%s (news first %v): heard %v", name, newsFirst, got)
			}
		}
	}
}
