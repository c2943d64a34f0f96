package setup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// In a container the home folder is a mount, or the settings file alone is, which
// cannot be replaced but only written.
func TestMountsInAContainer(t *testing.T) {
	asRoot(t)
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for name, mounts := range map[string]string{
		"the home folder":   `mount --bind outside home && mkdir home/.claude && cp before.json home/.claude/settings.json`,
		"the settings file": `mkdir home/.claude && touch home/.claude/settings.json && mount --bind before.json home/.claude/settings.json`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, sub := range []string{"outside", "home"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			const before = `{"model": "x"}`
			for _, file := range []string{"before.json", "want.json"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			script := `set -e; cd "$1"; ` + mounts + ` || exit 77
HOME="$1/home" "$2" install
grep -c stopgate/bin/hook home/.claude/settings.json
HOME="$1/home" "$2" uninstall --purge
cmp home/.claude/settings.json want.json
find home -name '*stopgate*'`
			out, err := exec.Command("unshare", "-m", "sh", "-c", script, "sh", dir, p.Hookctl).CombinedOutput()
			if exit := new(exec.ExitError); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 77 || strings.Contains(string(out), "unshare:")) {
				t.Skipf("no mounts here: %v %s", err, out)
			}
			if err != nil || !strings.Contains(string(out), "ok   SubagentStop: holds") || !strings.HasSuffix(string(out), "until they end\n") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
