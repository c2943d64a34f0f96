//go:build live

package live

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// stubArg makes the test binary a hook in stopgate's place, by which the client
// alone is tried:
//
//	live.test -stub RECORD STUB
const stubArg = "-stub"

// stub is what such a hook does at the stops of a real agent.
type stub struct {
	// Sleep is how long it runs before it answers.
	Sleep time.Duration
	// Block is the reason that it blocks with, "" to let the agent stop.
	Block string
	// Wake is what it says with exit code 2, "" for nothing.
	Wake string
	// Times is how often it does so for one agent; after that it is silent.
	Times int
	// Only names the scripts at whose stops it does anything, all if nil.
	Only []string
}

// stubs is a Register that puts stubs on SubagentStop; those with a Wake beside
// the stop.
func stubs(list ...stub) func([]entry) []entry {
	return func([]entry) []entry {
		var entries []entry
		for i, s := range list {
			entries = append(entries, entry{Event: "SubagentStop", Name: fmt.Sprintf("stub%d", i), Stub: &s, AsyncRewake: s.Wake != ""})
		}
		return entries
	}
}

func (s stub) text() string {
	b, _ := json.Marshal(s)
	return string(b)
}

func stubbed(record, text string) int {
	var s stub
	var p struct {
		Event      string `json:"hook_event_name"`
		Agent      string `json:"agent_id"`
		Transcript string `json:"agent_transcript_path"`
		Last       string `json:"last_assistant_message"`
	}
	in, _ := io.ReadAll(os.Stdin)
	if json.Unmarshal([]byte(text), &s) != nil || json.Unmarshal(in, &p) != nil {
		return 1
	}
	if base, ok := strings.CutSuffix(p.Transcript, ".jsonl"); p.Event == "SubagentStop" {
		if _, err := os.Stat(base + ".meta.json"); !ok || err != nil {
			return 0 // an ephemeral event
		}
	}
	if s.Only != nil && !slices.Contains(s.Only, speaker(p.Last)) || !s.again(fmt.Sprintf("%s.%t-%s.stub", record, s.Wake != "", p.Agent)) {
		return 0
	}
	time.Sleep(s.Sleep)
	switch {
	case s.Wake != "":
		fmt.Fprintln(os.Stderr, s.Wake)
		return 2
	case s.Block != "":
		_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"decision": "block", "reason": s.Block})
	}
	return 0
}

// again counts this run in a file and tells whether it is within the limit.
func (s stub) again(file string) bool {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	defer f.Close()
	_, _ = f.Write([]byte{'.'})
	info, err := f.Stat()
	return err == nil && info.Size() <= int64(s.Times)
}
