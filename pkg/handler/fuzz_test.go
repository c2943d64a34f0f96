package handler

import (
	"encoding/json"
	"testing"
	"time"
)

// FuzzRun: whatever comes on stdin, the exit code is 0 and the answer is nothing
// or one whole block.
func FuzzRun(f *testing.F) {
	s := newSession(f)
	f.Add([]byte(s.payload(nil)))
	f.Add([]byte(s.payload(fields{"agent_type": ""})))
	f.Add([]byte(s.payload(fields{"background_tasks": []any{task("a1", "subagent", "running"), task("m1", "monitor", "pending")}, "stop_hook_active": true})))
	f.Add([]byte(s.toolUse(testAgent, "Bash", fields{"backgroundTaskId": "b1"})))
	f.Add([]byte(s.toolUse("", "Agent", fields{"status": "async_launched", "agentId": "a1"})))
	f.Add([]byte(s.event("SubagentStart", fields{"agent_id": testAgent, "agent_type": "x"})))
	f.Add([]byte(s.event("TeammateIdle", fields{"teammate_name": "x", "team_name": "y"})))
	f.Add([]byte(s.event("SessionEnd", nil)))
	f.Add([]byte("\ufeff{}{}"))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		s.t = t
		s.clock.mu.Lock()
		s.clock.now = s.clock.now.Add(time.Minute)
		s.clock.mu.Unlock()
		code, out, stdout, stderr := s.run(string(payload))
		if code != 0 || stderr != "" {
			t.Errorf("exit code %d, stderr %q, %v", code, stderr, out.Err)
		}
		if (stdout != "") != out.Decision.Block {
			t.Errorf("answered %q to %s", stdout, out.Decision.Code)
		}
		var answer map[string]string
		if stdout != "" && (json.Unmarshal([]byte(stdout), &answer) != nil || answer["decision"] != "block" || len(answer) != 2) {
			t.Errorf("answered %q", stdout)
		}
	})
}
