package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stopgate/pkg/host"
)

// BenchmarkScan reads a transcript of ordinary calls and results, in bytes a
// second.
func BenchmarkScan(b *testing.B) {
	var lines strings.Builder
	for i := 0; lines.Len() < 8<<20; i++ {
		tool := []string{"Read", "Bash", "Edit"}[i%3]
		fmt.Fprintf(&lines, `{"agentId":"a1","type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_%d","name":%q,"input":{"file_path":"/src/file%d.go"}}],"stop_reason":"tool_use"},"version":"2.1.332"}`+"\n", i, tool, i)
		fmt.Fprintf(&lines, `{"agentId":"a1","type":"user","message":{"content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]},"version":"2.1.332"}`+"\n", i, strings.Repeat(`func f() string { return \"x\" }\n`, 40))
	}
	path := filepath.Join(b.TempDir(), "agent-a1.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(lines.Len()))
	b.ResetTimer()
	for range b.N {
		batch, err := Scan(b.Context(), host.Files{}, Source{Path: path, Owner: "a1"}, Cursor{})
		if err != nil || batch.Read != int64(lines.Len()) {
			b.Fatal(batch.Read, err)
		}
	}
}
