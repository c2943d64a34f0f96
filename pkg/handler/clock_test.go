package handler

import (
	"fmt"
	"testing"
	"time"

	"stopgate/pkg/gate"
)

// The wall clock is set between two stops, or in a hold: what was promised stays
// promised, nothing is held for ever, and no stop counts as one that it is not.
func TestTheClockIsSet(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-20 * 365 * 24 * time.Hour, -time.Hour, -time.Second, time.Hour, 20 * 365 * 24 * time.Hour} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.check(s.payload(nil), blocked)
			s.clock.set(by)
			s.check(s.payload(fields{"stop_hook_active": true}), verdict{gate.BudgetSpent, "b1"})
			s.clock.set(-by)
			s.check(s.payload(fields{"prompt_id": "3"}), verdict{gate.BudgetSpent, "b1"})
		})
		t.Run(fmt.Sprint("in a hold ", by), func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.after(5*time.Second, func() { s.clock.set(max(by, -5*time.Second)) }) // the hook's own clock never goes back
			s.taskExits(8 * time.Second)
			code, out, stdout, _ := s.run(s.stopPayload(false, "b1"), "--hold", "60s")
			if code != 0 || stdout == "" || !out.Decision.Block || s.snapshot().Charged["b1"] != 1 {
				t.Errorf("exit code %d, %q, %s, charged %v", code, stdout, out.Decision.Code, s.snapshot().Charged)
			}
		})
	}
}

// set moves the clock without anybody having slept.
func (c *planned) set(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}
