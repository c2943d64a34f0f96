package hosttest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	// ofHost are the functions that pkg/host alone calls: they open, make and replace
	// files, and find the folders of a person.
	ofHost = []string{
		"Open", "OpenFile", "Create", "WriteFile", "Rename", "CreateTemp", "MkdirAll", "Mkdir", "ReadFile",
		"UserHomeDir", "UserConfigDir", "UserCacheDir",
	}
	// foldersOfPersons are the variables that only pkg/host looks a folder up by.
	foldersOfPersons = []string{
		"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
	}
	// elsewhere is what other files may do themselves, and why.
	elsewhere = map[string]string{
		"pkg/otlp/config.go os.ReadFile":                  "a certificate that a person names may come out of a pipe",
		"pkg/notice/terminal_unix.go os.OpenFile":         "a terminal is a device, opened so that it becomes nobody's own",
		"pkg/notice/terminal_windows.go os.OpenFile":      "a console is a device",
		"pkg/state/state.go os.Mkdir":                     "the folder in the temp folder, whose owner is looked at when it was there",
		"pkg/state/state.go os.MkdirAll":                  "the state folder, in a home that was looked at; a file in its way is an error",
		"pkg/setup/ours.go HOME":                          "the variable in a command of the settings, which is read and not looked up",
		"pkg/status/statustest/statustest.go os.ReadFile": "the files of tests",
	}
)

// Files are opened, made and replaced, and the folders of a person found, in one place.
func TestFilesAndFoldersOfPersonsInOnePlace(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	read, met := 0, map[string]bool{}
	for _, top := range []string{"pkg", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(at string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, at)
			rel = filepath.ToSlash(rel)
			switch {
			case err != nil:
				return err
			case d.IsDir() && (rel == "pkg/host" || d.Name() == "testdata"):
				return filepath.SkipDir
			case d.IsDir() || filepath.Ext(at) != ".go" || strings.HasSuffix(at, "_test.go"):
				return nil
			}
			source, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			read++
			for _, found := range doneItself(t, rel, source) {
				key := rel + " " + found.what
				if met[key] = true; elsewhere[key] == "" {
					t.Errorf("%s:%d: %s: let pkg/host do it", rel, found.line, found.what)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for key := range elsewhere {
		if !met[key] {
			t.Errorf("%s: excused, and not met", key)
		}
	}
	if read < 100 {
		t.Errorf("read %d files", read)
	}
}

// The check finds what it is there for.
func TestAFileThatIsOpenedElsewhereIsFound(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, imports, body, found string }{
		{"opened", `"os"`, `os.Open("x")`, "os.Open"},
		{"under another name of the package", `sys "os"`, `sys.Rename("x", "y")`, "os.Rename"},
		{"handed on as a value", `"os"`, `f(os.ReadFile)`, "os.ReadFile"},
		{"the home", `"os"`, `os.UserHomeDir()`, "os.UserHomeDir"},
		{"the home, by its variable", `"os"`, `os.Getenv("HOME")`, "HOME"},
		{"configuration, by its variable", `"os"`, `env("XDG_CONFIG_HOME")`, "XDG_CONFIG_HOME"},
		{"removed", `"os"`, `os.Remove("x")`, ""},
		{"another package of that name", `"stopgate/pkg/os"`, `os.Open("x")`, ""},
		{"in an embedded folder", `"embed"`, `folder.ReadFile("x")`, ""},
	}
	for _, r := range rows {
		found := ""
		for _, f := range doneItself(t, "x.go", []byte("package x\nimport "+r.imports+"\nfunc x() { "+r.body+" }\n")) {
			found += f.what
		}
		if found != r.found {
			t.Errorf("%s: found %q, want %q", r.name, found, r.found)
		}
	}
}

type done struct {
	what string
	line int
}

// doneItself tells what a file of sources does of that which is pkg/host's.
func doneItself(t *testing.T, name string, source []byte) []done {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{} // what the file calls the package os
	for _, spec := range file.Imports {
		at, err := strconv.Unquote(spec.Path.Value)
		if err != nil || at != "os" && at != "io/ioutil" {
			continue
		}
		called := path.Base(at)
		if spec.Name != nil {
			called = spec.Name.Name
		}
		names[called] = true
	}
	var all []done
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && names[pkg.Name] && slices.Contains(ofHost, n.Sel.Name) {
				all = append(all, done{"os." + n.Sel.Name, set.Position(n.Pos()).Line})
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && slices.Contains(foldersOfPersons, text) {
				all = append(all, done{text, set.Position(n.Pos()).Line})
			}
		}
		return true
	})
	return all
}
