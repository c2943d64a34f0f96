package handler

import (
	"path/filepath"
	"testing"
	"time"

	"stopgate/pkg/gate"
)

// What the project's and the person's files say counts where the entry's own flags
// say nothing, at once and without a new session.
func TestFilesSayHowLongIsWaited(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		project, person string
		args            []string
		want            string
	}{
		"nothing said":                      {"", "", []string{"--hold=1m", "--patience=2m"}, "hold-over, patience-over, budget-spent"},
		"the project's patience":            {"patience = \"1m\"\n", "", []string{"--hold=1m"}, "patience-over, budget-spent"},
		"the project over the person":       {"patience = \"1m\"\n", "patience = \"3m\"\n", []string{"--hold=1m"}, "patience-over, budget-spent"},
		"the flags over both":               {"patience = \"1m\"\n", "patience = \"3m\"\n", []string{"--hold=1m", "--patience=2m"}, "hold-over, patience-over, budget-spent"},
		"the project's command is not ours": {"ignore = [\"^make$\"]\n", "", []string{"--hold=1m"}, "excused"},
		"a broken file is as if absent":     {"patience = [", "", []string{"--hold=1m", "--patience=1m"}, "patience-over, budget-spent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.env = map[string]string{"HOME": filepath.Join(s.dir, "home"), "CLAUDE_PROJECT_DIR": s.dir}
			if test.project != "" {
				s.write(filepath.Join(s.dir, ".stopgate.toml"), test.project)
			}
			if test.person != "" {
				s.write(filepath.Join(s.dir, "home", ".config", "stopgate", "config.toml"), test.person)
			}
			codes := []gate.Code{}
			for active := false; len(codes) < 6; active = true {
				_, out, stdout, _ := s.run(s.stopPayload(active, "b1"), test.args...)
				if codes = append(codes, out.Decision.Code); stdout == "" {
					break
				}
				s.clock.Sleep(t.Context(), 10*time.Second)
			}
			if got := runs(codes); got != test.want {
				t.Errorf("answered by %s, want %s", got, test.want)
			}
		})
	}
}
