package handler

import "testing"

// A background agent lists itself. Nobody need know who launched it for its stop
// to be understood: itself is neither its own task nor one without an owner.
func TestAnAgentThatListsItself(t *testing.T) {
	t.Parallel()
	s := bare(t)
	s.run(s.toolUse("a2", "Bash", fields{"backgroundTaskId": "b2"}))
	list := []fields{task(testAgent, "subagent", "running"), task("b2", "shell", "running")}
	s.check(s.payload(fields{"background_tasks": list}), nothingOwn)
	s.run(s.toolUse(testAgent, "Agent", fields{"status": "async_launched", "agentId": testAgent}))
	s.check(s.payload(fields{"background_tasks": list, "prompt_id": "2"}), nothingOwn)
}
