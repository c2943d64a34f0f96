package replay

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stopgate/pkg/event"
	"stopgate/pkg/gate"
	"stopgate/pkg/handler"
	"stopgate/pkg/transcript"
)

// Every recorded session gets the recorded answers, whatever of the optional
// events is registered and also when every event comes twice.
func TestRecordedSessionsGetTheRightVerdicts(t *testing.T) {
	folders, err := filepath.Glob("testdata/captures/*/*/events.jsonl")
	if err != nil || len(folders) != 27 {
		t.Fatalf("found %d recordings (%v), want 27", len(folders), err)
	}
	variants := []struct {
		name string
		opts Options
	}{
		{"everything registered", Options{}},
		{"without PostToolUse", Options{Without: []string{event.PostToolUse}}},
		{"without SubagentStart", Options{Without: []string{event.SubagentStart}}},
		{"without both", Options{Without: []string{event.PostToolUse, event.SubagentStart}}},
		{"every event twice at once", Options{Doubled: true}},
	}
	for _, folder := range folders {
		dir := filepath.Dir(folder)
		rec, err := Load(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variants {
			name := strings.TrimPrefix(filepath.ToSlash(dir), "testdata/captures/") + "/" + v.name
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				playAndCheck(t, rec, v.opts)
			})
		}
	}
}

func playAndCheck(t *testing.T, rec *Recording, opts Options) {
	play, err := rec.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := rec.Descriptions()
	stops := 0
	err = play.Run(opts, func(s Step) {
		for k, code := range s.ExitCodes {
			if code != 0 {
				t.Errorf("event %d: exit code %d", s.Index, code)
			}
			if err := s.Outcomes[k].Err; err != nil {
				t.Errorf("event %d: %v", s.Index, err)
			}
		}
		want, isStop := rec.Expect(s.Index)
		if !isStop {
			for _, a := range s.Answers {
				if a != "" {
					t.Errorf("event %d (%s) was answered with %q", s.Index, s.Name(), a)
				}
			}
			return
		}
		stops++
		checkStop(t, play, s, want, names)
	})
	if err != nil {
		t.Fatal(err)
	}
	if stops != len(rec.expect) {
		t.Errorf("%d stops were played, want %d", stops, len(rec.expect))
	}
}

func checkStop(t *testing.T, play *Play, s Step, want Expect, names map[string]string) {
	t.Helper()
	// Of a doubled event one is answered and the other let through.
	got := slices.IndexFunc(s.Outcomes, func(o handler.Outcome) bool { return o.Decision.Code != gate.Duplicate })
	if got < 0 {
		t.Fatalf("event %d: no delivery of it was answered", s.Index)
	}
	out := s.Outcomes[got]
	answered := 0
	for _, a := range s.Answers {
		if a != "" {
			answered++
		}
	}
	if len(s.Outcomes) == 2 && want.Verdict != "ephemeral" && s.Outcomes[1-got].Decision.Code != gate.Duplicate {
		t.Errorf("event %d: both deliveries were answered: %s, %s", s.Index, out.Decision.Code, s.Outcomes[1-got].Decision.Code)
	}
	verdict := "allow"
	switch {
	case out.Decision.Code == gate.Ephemeral:
		verdict = "ephemeral"
	case out.Decision.Block:
		verdict = "block"
	}
	if verdict != want.Verdict {
		t.Errorf("event %d: verdict %s (%s), want %s", s.Index, verdict, out.Decision.Code, want.Verdict)
	}
	if wantAnswers := btoi(want.Verdict == "block"); answered != wantAnswers {
		t.Errorf("event %d: %d blocks were printed, want %d", s.Index, answered, wantAnswers)
	}
	if verdict == "ephemeral" {
		return
	}
	var own []string
	for _, task := range out.Facts.Own {
		own = append(own, task.ID)
	}
	slices.Sort(own)
	wanted := slices.Sorted(slices.Values(want.Own)) // other variants of the recording read it too
	if !slices.Equal(own, wanted) {
		t.Errorf("event %d: own tasks %v, want %v", s.Index, own, wanted)
	}
	if out.Facts.Candidates == 0 {
		return // nothing could be own, so nobody's owner was looked for
	}
	for id, owner := range want.Owners {
		launch, known := out.Owners[id]
		if !known && (slices.Contains(want.NoLaunchRecord, id) || id == s.Outcomes[0].Event.AgentID) {
			continue
		}
		if !known && !onDisk(t, play, id) {
			continue // a sibling's launch that its transcript did not hold yet
		}
		who := launch.Owner
		if who != transcript.Main {
			who = names[who]
		}
		if !known || who != owner {
			t.Errorf("event %d: %s belongs to %q (%s), want %q", s.Index, id, who, launch.Evidence, owner)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// onDisk tells whether any transcript of the play names a task so far.
func onDisk(t *testing.T, play *Play, id string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(filepath.Join(play.root, "claude"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".jsonl" {
			return err
		}
		data, err := os.ReadFile(name)
		found = found || strings.Contains(string(data), id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
