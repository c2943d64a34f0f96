package handler

import (
	"os"
	"testing"
	"time"

	"stopgate/pkg/gate"
)

// A block that cannot be charged is not told: a hold whose store is gone at its end
// lets the agent stop, since nobody could bound the next one.
func TestAHoldWhoseStoreIsGoneAtItsEnd(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.after(3*time.Second, func() {
		lock := s.state().LockPath(testSession)
		if err := os.Remove(lock); err != nil {
			t.Error(err)
		}
		if err := os.Mkdir(lock, 0o700); err != nil {
			t.Error(err)
		}
	})
	s.taskExits(5 * time.Second)
	code, out, stdout, _ := s.run(s.stopPayload(false, "b1"), "--hold", "60s")
	if code != 0 || stdout != "" || out.Decision.Code != gate.NoStore || out.Err == nil {
		t.Errorf("exit code %d, %q, %s, %v", code, stdout, out.Decision.Code, out.Err)
	}
}

// A courier brings the agent's own work only: somebody else's task that was listed
// at the stop is somebody else's affair.
func TestACourierAndSomebodyElsesTask(t *testing.T) {
	t.Parallel()
	for owner, want := range map[string]int{"a2": 0, "": 0, testAgent: wakeCode} {
		s := newSession(t)
		s.run(s.toolUse(owner, "Bash", fields{"backgroundTaskId": "b7"}))
		s.after(10*time.Second, func() { s.appendTo(s.main(), s.ended("b7", "completed", "done (exit code 0)")) })
		code, _, _, stderr := s.run(s.stopPayload(false, "b7"), "courier")
		if code != want || (stderr != "") != (want != 0) {
			t.Errorf("a task of %q: exit code %d, %q", owner, code, stderr)
		}
	}
}
