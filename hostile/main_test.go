//go:build hostile && linux

package hostile

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	rounds    = flag.Int("rounds", 100, "rounds of the kill loop")
	events    = flag.Int("events", 20_000, "events of the soak")
	processes = flag.Int("processes", 2000, "real processes among the soak's events")
	stride    = flag.Int("stride", 5, "every how many system calls a hold is killed; 1 for all of them")
	combos    = flag.Int("combos", 400, "generated set-ups")
	// slack is added to the three seconds of own work: starting a process and a
	// shell, and a machine on which other work runs too.
	slack = flag.Duration("slack", 3*time.Second, "what a loaded machine may add to the limit")
)

const workLimit = 3 * time.Second

// The built programs, and a folder that every user can look into.
var (
	base, hook, hookctl string
)

func TestMain(m *testing.M) {
	if os.Getenv(envMeasure) != "" {
		os.Exit(measureMain())
	}
	if os.Getenv(envCheck) != "" {
		if err := sound(os.Args[1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	flag.Parse()
	var err error
	if base, err = os.MkdirTemp("", "stopgate-hostile-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(base) }()
	hook, hookctl = filepath.Join(base, "bin", "hook"), filepath.Join(base, "bin", "hookctl")
	if err := errors.Join(os.Chmod(base, 0o755), build(hook, "../cmd/hook"), build(hookctl, "../cmd/hookctl")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if left := running(); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "left running:", left)
		code = 1
	}
	return code
}

// build makes a program as it is installed.
func build(out, src string, more ...string) error {
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", out}, more...)
	c := exec.Command("go", append(args, src)...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", src, err, text)
	}
	return nil
}

// running are the processes of the built programs.
func running() []string {
	var out []string
	links, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is constant
	for _, link := range links {
		if exe, err := os.Readlink(link); err == nil && strings.HasPrefix(exe, filepath.Join(base, "bin")) {
			out = append(out, filepath.Base(filepath.Dir(link))+" "+exe)
		}
	}
	return out
}

// nothingLeft fails the test where a program of ours runs after limit.
func nothingLeft(t *testing.T, limit time.Duration) {
	t.Helper()
	began := time.Now()
	for len(running()) > 0 {
		if time.Since(began) > limit {
			t.Errorf("after %v there still run %v", limit, running())
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// envMeasure makes this program run another one and write what it used to the
// file that the variable names. The peak memory of a child counts from the
// program that started it, so it is taken by a small one.
const envMeasure = "STOPGATE_HOSTILE_MEASURE"

// usage is what a measured process used.
type usage struct {
	MaxRSS int64 // bytes
	CPU    time.Duration
	Exit   int
	Signal string
}

func measureMain() int {
	c := exec.Command(os.Args[1], os.Args[2:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, envMeasure+"=") {
			c.Env = append(c.Env, e)
		}
	}
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	r, _ := c.ProcessState.SysUsage().(*syscall.Rusage)
	u := usage{MaxRSS: r.Maxrss * 1024, CPU: c.ProcessState.UserTime() + c.ProcessState.SystemTime(), Exit: c.ProcessState.ExitCode()}
	data, err := json.Marshal(u)
	if err == nil {
		err = os.WriteFile(os.Getenv(envMeasure), data, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	return u.Exit
}
