package transcript

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"stopgate/pkg/host"
)

// The fields of a record have no order: one that a serialiser sorted, or wrote
// with spaces, says the same.
func TestFieldsInAnotherOrder(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"assistant","agentId":"a1","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_b","name":"Bash","input":{"command":"make","run_in_background":true}}]}}`,
		`{"type":"user","agentId":"a1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_b","content":"Command running in background with ID: b1. Output is being written to: /t/tasks/b1.output."}]}}`,
	}
	for name, write := range map[string]func(any) ([]byte, error){
		"sorted": json.Marshal,
		"spaced": func(v any) ([]byte, error) {
			data, err := json.MarshalIndent(v, "", " ")
			for i, c := range data {
				if c == '\n' {
					data[i] = ' '
				}
			}
			return data, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "agent-a1.jsonl")
			var text []byte
			for _, line := range lines {
				var v any
				if err := json.Unmarshal([]byte(line), &v); err != nil {
					t.Fatal(err)
				}
				data, err := write(v)
				if err != nil {
					t.Fatal(err)
				}
				text = append(append(text, data...), '\n')
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := Scan(t.Context(), host.Files{}, Source{Path: path, Owner: "a1"}, Cursor{})
			if err != nil || len(b.Launches) != 1 || b.Launches[0].Task != "b1" || b.Launches[0].Evidence != TextAsked || b.Launches[0].Output != "/t/tasks/b1.output" {
				t.Errorf("got %+v, %v", b.Launches, err)
			}
		})
	}
}

// A serialiser may write < and > as escapes.
func TestANotificationWithEscapes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "main.jsonl")
	text, err := json.Marshal(map[string]string{"type": "queue-operation", "operation": "enqueue", "content": "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"})
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := Scan(t.Context(), host.Files{}, Source{Path: path, Owner: Main}, Cursor{})
	if err != nil || len(b.Ends) != 1 || b.Ends[0].Task != "b1" {
		t.Errorf("got %+v, %v", b.Ends, err)
	}
}
