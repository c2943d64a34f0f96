package handler

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/ledger"
)

// The hook hands over to hookctl where a person wants to be told and there may be
// something to tell, after its answer; in every other case it just ends.
func TestWhenTheHookHandsOver(t *testing.T) {
	t.Parallel()
	const wanted = "[notify]\ncommand = [\"/bin/true\"]\n"
	lost := func(s *session) {
		s.gone[77] = true
		s.update(func(tx *ledger.Tx) {
			tx.PutHold(ledger.Hold{AgentID: "a9", Tasks: []string{"b9"}, Since: s.clock.Now(), Until: s.clock.Now().Add(time.Hour), Process: ledger.Process{PID: 77}})
		})
	}
	for _, c := range []struct {
		name, person, project string
		before                func(*session)
		args                  []string
		want                  bool
	}{
		{"the patience is used up", wanted, "", nil, []string{"--hold=1m", "--patience=1m"}, true},
		{"nobody wants to be told", "patience = \"1m\"\n", "", nil, []string{"--hold=1m", "--patience=1m"}, false},
		{"a project wants it", "", wanted, nil, []string{"--hold=1m", "--patience=1m"}, false},
		{"a hold of several", wanted, "", nil, []string{"--hold=1m", "--patience=1h"}, false},
		{"the task has ended in time", wanted, "", func(s *session) { s.taskExits(30 * time.Second) }, []string{"--hold=1m", "--patience=1m"}, false},
		{"another agent's hold was ended from outside", wanted, "", lost, []string{"--hold=1m", "--patience=1h"}, true},
		{"a courier's time is over", wanted, "", (*session).exists, []string{"courier", "--for=30s"}, true},
		{"a courier that wakes the coordinator", wanted, "", func(s *session) { s.exists(); s.taskExits(9 * time.Second) }, []string{"courier"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.env = map[string]string{"HOME": filepath.Join(s.dir, "home"), "APPDATA": filepath.Join(s.dir, "home", ".config"), "CLAUDE_PROJECT_DIR": s.dir}
			s.self = "/opt/stop gate/hook"
			if c.person != "" {
				s.write(filepath.Join(s.dir, "home", ".config", "stopgate", "config.toml"), c.person)
			}
			if c.project != "" {
				s.write(filepath.Join(s.dir, ".stopgate.toml"), c.project)
			}
			if c.before != nil {
				c.before(s)
			}
			h := s.host(s.stopPayload(false, "b1"), c.args)
			var became []string
			h.Become = func(script, arg0, arg1 string) {
				became = []string{script, arg0, arg1}
				if answered := fmt.Sprint(h.Stdout) != ""; answered != (c.args[0] != "courier") {
					t.Error("it hands over before it has answered")
				}
			}
			Run(h)
			if got := len(became) > 0; got != c.want {
				t.Fatalf("handed over: %v, want %v", got, c.want)
			}
			if c.want && (!strings.HasSuffix(became[0], "& exit 0") || became[1] != s.self || became[2] != testSession) {
				t.Errorf("became %q", became)
			}
		})
	}
}
