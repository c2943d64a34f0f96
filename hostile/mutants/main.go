// Command mutants breaks the rules of the code one at a time and runs the tests
// that must notice. It prints which test killed each mutant, and fails where one
// survives. Nothing in the module is changed: a mutant is laid over its file while
// the tests are built. Run it in the module's folder:
//
//	go run ./hostile/mutants
//
// killers.txt names the test that kills each mutant; that one is asked first, and
// the others of the mutant's packages only where it no longer does. -record
// writes the file anew.
package main

import (
	"bytes"
	_ "embed" // the killers
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// mutant is one broken rule: in file, from becomes to, and a test of one of the
// packages must fail.
type mutant struct {
	name     string
	file     string
	from, to string
	packages string // separated by spaces, the likeliest first
}

//go:embed killers.txt
var killersFile string

// killers are lines of a mutant's name, a tab, a package, a space, a test.
const killersPath = "hostile/mutants/killers.txt"

func readKillers() map[string]string {
	out := map[string]string{}
	for _, l := range strings.Split(killersFile, "\n") {
		if name, killer, found := strings.Cut(l, "\t"); found {
			out[name] = killer
		}
	}
	return out
}

func main() {
	record := flag.Bool("record", false, "write down which test killed each mutant")
	only := flag.String("run", "", "only the mutants whose name matches")
	every := flag.Int("every", 1, "only every so many of them, for a quick look")
	check := flag.Bool("check", false, "only see whether each mutant applies and compiles")
	flag.Parse()
	if err := run(*only, *every, *check, *record); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(only string, every int, check, record bool) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "stopgate-mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	killers := readKillers()
	var survived []string
	var unusable error
	tried := 0
	for i, m := range mutants {
		if !match.MatchString(m.name) || i%every != 0 {
			continue
		}
		tried++
		began := time.Now()
		overlay, err := m.overlay(dir)
		if err == nil {
			if text, buildErr := goTool(overlay, "build", "-o", os.DevNull, "./"+filepath.Dir(m.file)); buildErr != nil {
				err = fmt.Errorf("%s: does not compile: %s", m.name, text)
			}
		}
		if err != nil {
			unusable = errors.Join(unusable, err)
			continue
		}
		if check {
			continue
		}
		killer := m.killer(overlay, killers[m.name])
		killers[m.name] = killer
		if killer == "" {
			survived = append(survived, m.name)
			delete(killers, m.name)
			killer = "SURVIVED"
		}
		fmt.Printf("%-64s %-70s %5.1fs\n", m.name, killer, time.Since(began).Seconds())
	}
	fmt.Printf("%d mutants, %d survived\n", tried, len(survived))
	if record {
		unusable = errors.Join(unusable, writeKillers(killers))
	}
	if unusable != nil {
		return unusable
	}
	if len(survived) > 0 {
		return errors.New("survived: " + strings.Join(survived, "; "))
	}
	return nil
}

// overlay writes the mutant and the file that tells the go command of it.
func (m mutant) overlay(dir string) (string, error) {
	path, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := bytes.Count(source, []byte(m.from)); n != 1 {
		return "", fmt.Errorf("%s: %q is %d times in %s", m.name, m.from, n, m.file)
	}
	changed, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	data, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(
		os.WriteFile(changed, bytes.Replace(source, []byte(m.from), []byte(m.to), 1), 0o600),
		os.WriteFile(overlay, data, 0o600))
}

// How a test that fails, one that never ends and one that crashes are named.
var (
	failed  = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	hung    = regexp.MustCompile(`running tests:\s+(\S+)`)
	crashed = regexp.MustCompile(`\.(Test\w+)`)
)

func writeKillers(killers map[string]string) error {
	var b strings.Builder
	for _, m := range mutants {
		if k := killers[m.name]; k != "" {
			fmt.Fprintf(&b, "%s\t%s\n", m.name, k)
		}
	}
	return os.WriteFile(killersPath, []byte(b.String()), 0o644)
}

// killer is the test that fails with the mutant, or "": the known one, or another
// of its packages.
func (m mutant) killer(overlay, known string) string {
	if p, test, found := strings.Cut(known, " "); found {
		top, _, _ := strings.Cut(test, "/")
		if killer := killedBy(overlay, p, "-run=^"+top+"$"); killer != "" {
			return killer
		}
	}
	for _, p := range strings.Fields(m.packages) {
		if killer := killedBy(overlay, p, "-failfast"); killer != "" {
			return killer
		}
	}
	return ""
}

// killedBy runs tests of a package and gives the package and the one that failed,
// or "".
func killedBy(overlay, p, which string) string {
	text, err := goTool(overlay, "test", "-count=1", "-timeout=180s", which, p)
	if err == nil {
		return ""
	}
	name := ""
	for _, f := range failed.FindAllStringSubmatch(text, -1) {
		if len(f[1]) > len(name) && strings.HasPrefix(f[1], name) {
			name = f[1] // the subtest says more
		}
	}
	for _, r := range []*regexp.Regexp{hung, crashed} {
		if m := r.FindStringSubmatch(text); name == "" && m != nil {
			name = m[1]
		}
	}
	return p + " " + name
}

// goTool runs the go command with the overlay, and so do the tests that build
// programs of their own.
func goTool(overlay string, args ...string) (string, error) {
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	out, err := c.CombinedOutput()
	return string(out), err
}
