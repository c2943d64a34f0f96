package transcript

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
)

func TestATeammateThatAgreedToEnd(t *testing.T) {
	t.Parallel()
	const (
		asked  = `{"type":"user","message":{"content":"please shut down"}}`
		agrees = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"SendMessage","input":{"to":"team-lead","message":{"type":"shutdown_response","request_id":"r","approve":true}}}]}}`
		result = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}`
		text   = `{"type":"assistant","message":{"content":[{"type":"text","text":"Goodbye."}]}}`
		works  = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"u","name":"Bash","input":{"command":"x"}}]}}`
		quotes = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"u","name":"Bash","input":{"command":"SendMessage","message":{"type":"shutdown_response","approve":true}}}]}}`
	)
	for name, test := range map[string]struct {
		lines []string
		want  bool
	}{
		"it agreed":                          {[]string{asked, agrees}, true},
		"it agreed and has the result":       {[]string{asked, agrees, result}, true},
		"it agreed and said goodbye":         {[]string{asked, agrees, result, text}, true},
		"it refused":                         {[]string{asked, strings.Replace(agrees, "true", "false", 1)}, false},
		"it was told something since":        {[]string{asked, agrees, result, asked}, false},
		"it went on since":                   {[]string{asked, agrees, result, works}, false},
		"another tool's input reads like it": {[]string{asked, quotes}, false},
		"it did nothing":                     {[]string{asked}, false},
		"garbage":                            {[]string{asked, agrees, "{", "\x00\x00"}, true},
	} {
		path := filepath.Join(t.TempDir(), "agent-a1.jsonl")
		hosttest.Write(t, time.Now(), path, strings.Join(test.lines, "\n")+"\n")
		if got := AgreedToEnd(host.Files{}, path, "a1"); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if AgreedToEnd(host.Files{}, filepath.Join(t.TempDir(), "none"), "a1") {
		t.Error("a missing file agrees")
	}
}
