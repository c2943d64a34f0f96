package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is printed as JSON can be looked at on a terminal: it all goes through the one
// writer that escapes what a terminal takes for a command (status.WriteJSON).
func TestJSONIsWrittenByOneWriter(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	if err != nil || len(paths) < 20 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, "_test.go") && strings.Contains(string(data), "json.NewEncoder(") {
			t.Errorf("%s writes JSON of its own", path)
		}
	}
}
