package syntax

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "mvdan.cc/sh/v3/syntax" // go.mod pins what is copied
)

var update = flag.Bool("update", false, "copy the files anew")

// header is the first line of each copied file.
const header = "// Code generated from mvdan.cc/sh/v3/syntax by go test -update. DO NOT EDIT.\n\n"

// The parser is that of the pinned module, to the byte: all of its files but those of
// the printer and of what needs the printer.
func TestTheParserIsACopyOfThePinnedModule(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "mvdan.cc/sh/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := strings.TrimSpace(string(out))
	want := map[string][]byte{"LICENSE": read(t, filepath.Join(module, "LICENSE"))}
	for _, name := range []string{"lexer", "nodes", "parser", "parser_arithm", "token_string", "tokens", "tokens_parse", "walk"} {
		want[name+".go"] = append([]byte(header), read(t, filepath.Join(module, "syntax", name+".go"))...)
	}
	for name, text := range want {
		if *update {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(read(t, name), text) {
			t.Errorf("%s is not the pinned module's: go generate ./pkg/command/syntax", name)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if _, copied := want[name]; !copied && name != "doc.go" && name != "copy_test.go" {
			t.Errorf("%s is not of the module", name)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
