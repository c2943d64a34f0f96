package hosttest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// excuse at the end of a line says why a file that is made there may bear the
// machine's time although the test's clock does not run.
const excuse = "//realtime: "

var (
	// fixed make a time that is written in the test.
	fixed = map[string][]string{"time": {"Date", "Unix", "UnixMilli", "UnixMicro", "Parse", "ParseInLocation"}}
	// writes make a file that bears the machine's time.
	writes = map[string][]string{"os": {"WriteFile", "Create", "OpenFile", "CopyFS", "CreateTemp"}}
)

// A test with a fixed clock sets the times of its files.
func TestFixedClocksSetTheTimesOfTheirFiles(t *testing.T) {
	t.Parallel()
	tests := 0
	err := filepath.WalkDir(filepath.Join("..", "..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return filepath.SkipDir
		}
		files, err := filepath.Glob(filepath.Join(path, "*_test.go"))
		if err != nil {
			return err
		}
		tests += len(files)
		for _, found := range unclocked(t, files...) {
			t.Error(found)
		}
		return nil
	})
	if err != nil || tests < 50 {
		t.Errorf("read %d files of tests, %v", tests, err)
	}
}

// The check finds what it is there for.
func TestAnUnclockedFileIsFound(t *testing.T) {
	t.Parallel()
	const body = `package x
import ("os"; "time"; "testing")
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
type place struct{ now time.Time }
func (p *place) put(t *testing.T) { write(t) }
func write(t *testing.T) { _ = os.WriteFile("x", nil, 0o600) }
func clock() *place { return &place{now: noon} }
`
	rows := []struct {
		name, test string
		found      int
	}{
		{"a date and a file in the test", `func TestX(t *testing.T) { _ = time.Unix(1, 0); _, _ = os.Create("x") }`, 1},
		{"a clock of the package, and a helper that writes", `func TestX(t *testing.T) { clock().put(t) }`, 1},
		{"in a benchmark", `func BenchmarkX(b *testing.B) { _ = noon; write(nil) }`, 1},
		{"a file, no clock", `func TestX(t *testing.T) { write(t) }`, 0},
		{"a clock, no file", `func TestX(t *testing.T) { _ = clock() }`, 0},
		{"one test with a clock, another with a file", `func TestX(t *testing.T) { _ = noon }; func TestY(t *testing.T) { write(t) }`, 0},
		{"the machine's clock", `func TestX(t *testing.T) { _ = time.Now(); write(t) }`, 0},
		{"excused with a reason", "func TestX(t *testing.T) {\n_ = noon\n_, _ = os.Create(\"x\") //realtime: nobody looks at it\n}", 0},
		{"excused without one", "func TestX(t *testing.T) {\n_ = noon\n_, _ = os.Create(\"x\") //realtime:\n}", 1},
	}
	for _, r := range rows {
		path := filepath.Join(t.TempDir(), "x_test.go")
		if err := os.WriteFile(path, []byte(body+r.test+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if found := unclocked(t, path); len(found) != r.found {
			t.Errorf("%s: found %q", r.name, found)
		}
	}
}

// The test that failed everywhere once its date had passed, as it was then.
func TestTheTestOfLeftoverTeamsIsFound(t *testing.T) {
	t.Parallel()
	found := unclocked(t, filepath.Join("testdata", "leftover_teams.go"))
	if len(found) != 1 || !strings.Contains(found[0], "TestLeftoverTeams") || !strings.Contains(found[0], "os.WriteFile") {
		t.Errorf("found %q", found)
	}
}

// declared is a function, a method, a variable or a type of the tests.
type declared struct {
	uses          []string // what it names of the tests' own
	clock, writes string   // where it makes a fixed time, or a file
}

// unclocked reads the tests of one package and tells which reach both a fixed time
// and a file of the machine's time, by whatever they call. Names are taken for
// what they are called: two methods of one name count as one.
func unclocked(t *testing.T, files ...string) []string {
	t.Helper()
	set := token.NewFileSet()
	all := map[string][]declared{}
	for _, path := range files {
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		excused := map[int]bool{}
		for _, group := range file.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, excuse) {
					excused[set.Position(c.Pos()).Line] = true
				}
			}
		}
		for name, node := range declarations(file) {
			all[name] = append(all[name], look(set, node, excused))
		}
	}
	var found []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.ContainsFunc([]string{"Test", "Benchmark", "Fuzz", "Example"}, func(kind string) bool { return strings.HasPrefix(name, kind) }) {
			continue
		}
		if clock, written := reach(all, name); clock != "" && written != "" {
			found = append(found, fmt.Sprintf("%s has a fixed clock (%s), and a file that bears the machine's time (%s): write it with hosttest, or end the line with %q and a reason", name, clock, written, strings.TrimSpace(excuse)))
		}
	}
	return found
}

// declarations are what a file declares, by name.
func declarations(file *ast.File) map[string]ast.Node {
	out := map[string]ast.Node{}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			out[d.Name.Name] = d
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range s.Names {
						out[name.Name] = s
					}
				case *ast.TypeSpec:
					out[s.Name.Name] = s
				}
			}
		}
	}
	return out
}

func look(set *token.FileSet, node ast.Node, excused map[int]bool) declared {
	var d declared
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			d.uses = append(d.uses, n.Name)
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			at := set.Position(n.Pos())
			where := fmt.Sprintf("%s.%s at %s:%d", pkg.Name, n.Sel.Name, filepath.Base(at.Filename), at.Line)
			if slices.Contains(fixed[pkg.Name], n.Sel.Name) {
				d.clock = where
			}
			if slices.Contains(writes[pkg.Name], n.Sel.Name) && !excused[at.Line] {
				d.writes = where
			}
		}
		return true
	})
	return d
}

// reach tells which fixed time and which file a test comes to.
func reach(all map[string][]declared, test string) (clock, written string) {
	seen := map[string]bool{test: true}
	for next := []string{test}; len(next) > 0; next = next[1:] {
		for _, d := range all[next[0]] {
			clock, written = cmp.Or(clock, d.clock), cmp.Or(written, d.writes)
			for _, name := range d.uses {
				if !seen[name] {
					seen[name] = true
					next = append(next, name)
				}
			}
		}
	}
	return clock, written
}
