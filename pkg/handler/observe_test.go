package handler

import (
	"testing"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
)

// Who only watches does not make anybody wait: an observed stop is not held, and
// is recorded as one that would have been blocked.
func TestObservingHoldsNobody(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	code, out, stdout, _ := s.run(s.stopPayload(false, "b1"), "--observe", "--hold", "10m")
	if code != 0 || stdout != "" || out.Held != 0 || out.Decision.Code != gate.OwnTask || s.clock.slept > time.Second {
		t.Errorf("exit code %d, %q, held %v, %s, waited %v", code, stdout, out.Held, out.Decision.Code, s.clock.slept)
	}
	snap, err := ledger.Read(t.Context(), s.state(), testSession, nil)
	if err != nil || len(snap.Stops) != 1 || !snap.Stops[0].Observed || len(snap.Holds) != 0 {
		t.Errorf("recorded %+v, %v", snap.Stops, err)
	}
}
