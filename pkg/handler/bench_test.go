package handler

import (
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/state"
)

// BenchmarkStop is a stop that is decided and blocked or out of budget, without
// the cost of starting a process.
func BenchmarkStop(b *testing.B) {
	s := newSession(b)
	payload := s.stopPayload(false, "b1")
	b.ResetTimer()
	for range b.N {
		s.clock.now = s.clock.now.Add(3 * time.Second) // never a doubled event
		if _, out, _, _ := s.run(payload, "--blocks=1000000"); out.Err != nil {
			b.Fatal(out.Err)
		}
	}
}

// BenchmarkEphemeral is an ephemeral event, the most frequent of all.
func BenchmarkEphemeral(b *testing.B) {
	s := newSession(b)
	payload := strings.Replace(s.stopPayload(false, "b1"), `"agent_type":"general-purpose"`, `"agent_type":""`, 1)
	env := func(name string) string {
		if name == state.EnvDir {
			return s.state().Path()
		}
		return ""
	}
	b.ResetTimer()
	for range b.N {
		if code := Main(&host.Host{Stdin: strings.NewReader(payload), Clock: s.clock, Env: env}); code != 0 {
			b.Fatal(code)
		}
	}
}
