package cli

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// The status line is a start of hookctl every few seconds: no package of ours makes
// anything of size before it is asked to, as every regular expression is.
func TestNothingIsMadeBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	all := regexp.MustCompile(`init (stopgate/\S+) @.* (\d+) bytes`).FindAllStringSubmatch(string(said), -1)
	if len(all) < 5 {
		t.Fatalf("%d packages of ours are told of: %s", len(all), said)
	}
	const most = 40_000
	for _, m := range all {
		if n, err := strconv.Atoi(m[2]); err != nil || n > most {
			t.Errorf("%s makes %s bytes at the program's start", m[1], m[2])
		}
	}
}
