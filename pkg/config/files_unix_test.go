//go:build !windows

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Files of somebody else: what lies there under the name can be anything.
func TestWhatIsNoFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		situation string
		lay       func(p *place, path string) error
		project   string // the problem with a project's file, "" for none
		person    string
	}{
		{"a folder", func(_ *place, path string) error { return os.Mkdir(path, 0o700) }, "not a regular file", "not a regular file"},
		{"a pipe that nobody writes to", func(_ *place, path string) error { return syscall.Mkfifo(path, 0o600) }, "not a regular file", "not a regular file"},
		{"a link into nothing", func(_ *place, path string) error { return os.Symlink("nothing", path) }, "", ""},
		{"a link to itself", func(_ *place, path string) error { return os.Symlink(filepath.Base(path), path) }, "too many levels of symbolic links", "too many levels of symbolic links"},
		{"a link within the project", func(p *place, path string) error {
			p.write(filepath.Join(p.root, "a", "real.toml"), "")
			return os.Symlink("a/real.toml", path)
		}, "counts", ""},
		{"a link out of the project", func(p *place, path string) error {
			p.write(filepath.Join(p.home, "outside.toml"), "")
			return os.Symlink(filepath.Join(p.home, "outside.toml"), path)
		}, "path escapes from parent", "counts"},
		{"a link out by dots", func(p *place, path string) error {
			p.write(filepath.Join(p.home, "outside.toml"), "")
			return os.Symlink("../outside.toml", path)
		}, "path escapes from parent", ""},
		{"a device", func(_ *place, path string) error { return os.Symlink("/dev/zero", path) }, "path escapes from parent", "not a regular file"},
		{"too large", func(_ *place, path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("# x\n", MaxFile/4+1)), 0o600)
		}, "larger than 64 kB", "larger than 64 kB"},
		{"as large as may be", func(_ *place, path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("# x\n", MaxFile/4)), 0o600)
		}, "counts", "counts"},
	} {
		p := newPlace(t)
		if err := c.lay(p, p.project); err != nil {
			t.Fatal(err)
		}
		check := func(who, counts string, problems []string, want string) {
			t.Helper()
			got := strings.Join(problems, "; ")
			if counts != "" {
				got = "counts"
			} else if _, text, found := strings.Cut(got, ": "); found {
				got = strings.TrimSuffix(text, " (broken)")
			}
			if got != want {
				t.Errorf("%s as the %s's: %q, want %q", c.situation, who, got, want)
			}
		}
		got, problems := p.load(p.root)
		check("project", got.ProjectPath, problems, c.project)
		if strings.Contains(c.situation, "link within") || strings.Contains(c.situation, "by dots") {
			continue // relative to where it stands
		}
		p = newPlace(t)
		p.mkdir(filepath.Dir(p.person))
		if err := c.lay(p, p.person); err != nil {
			t.Fatal(err)
		}
		got, problems = p.load(p.root)
		check("person", got.PersonPath, problems, c.person)
	}
}
