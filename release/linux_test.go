//go:build release

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"stopgate/pkg/version"
)

// inPackages is what a package puts in place, for both formats.
var inPackages = []string{
	"/usr/lib/stopgate/hook", "/usr/lib/stopgate/hookctl", "/usr/bin/hookctl", "/usr/bin/stopgate",
	"/usr/share/man/man1/hookctl.1.gz", "/usr/share/man/man1/stopgate.1.gz",
	"/usr/share/bash-completion/completions/stopgate", "/usr/share/fish/vendor_completions.d/stopgate.fish",
	"/usr/share/doc/stopgate/copyright", "/usr/share/doc/stopgate/NOTICE.txt", "/usr/share/doc/stopgate/CHANGELOG.md",
}

// debOf is the package made again around programs of another version.
func debOf(t *testing.T, number string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deb")
	sh(t, "dpkg-deb", "-R", made(t, "stopgate_$V_"+runtime.GOARCH+".deb"), dir)
	control := filepath.Join(dir, "DEBIAN", "control")
	data, err := os.ReadFile(control)
	if err != nil {
		t.Fatal(err)
	}
	data = regexp.MustCompile(`(?m)^Version: .*$`).ReplaceAll(data, []byte("Version: "+number))
	if err := os.WriteFile(control, data, 0o644); err != nil {
		t.Fatal(err)
	}
	from := older(t, number)
	for _, name := range []string{"hook", "hookctl"} {
		sh(t, "cp", filepath.Join(from, name), filepath.Join(dir, "usr/lib/stopgate", name))
	}
	sh(t, "dpkg-deb", "--root-owner-group", "-b", dir, dir+".deb")
	return dir + ".deb"
}

func sh(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// The package from the first installation over an upgrade and a downgrade to its
// removal, while somebody is guarded by what they installed out of it.
func TestDeb(t *testing.T) {
	root := t.TempDir()
	sh(t, "mkdir", "-p", filepath.Join(root, "var/lib/dpkg/info"), filepath.Join(root, "var/lib/dpkg/updates"))
	for _, name := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dpkg := func(args ...string) string {
		t.Helper()
		return sh(t, "dpkg", append([]string{"--root=" + root, "--force-script-chrootless", "--force-not-root", "--log=/dev/null"}, args...)...)
	}
	says := func(want, got string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	old, now := debOf(t, "0.0.9"), made(t, "stopgate_$V_"+runtime.GOARCH+".deb")
	says("stopgate 0.0.9. To guard", dpkg("-i", old))

	p := newPerson(t)
	stopgate := filepath.Join(root, "usr/bin/stopgate")
	p.sees("stopgate 0.0.9", stopgate, "version")
	p.does(stopgate, "install")
	held := p.stops(p.session("11111111-2222-3333-4444-555555555555"))

	says("stopgate 0.0.9 -> "+version.Number(), dpkg("-i", now))
	for _, path := range inPackages {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Error(err)
		}
	}
	held.answers()
	p.stops(p.session("22222222-2222-3333-4444-555555555555")).answers() // by the old one
	p.sees("hook 0.0.9", p.installed("hook"), "--version")
	p.does(stopgate, "install")
	p.sees("hook "+version.Number(), p.installed("hook"), "--version")

	says("stopgate "+version.Number()+" -> 0.0.9", dpkg("-i", old))
	p.does(stopgate, "install")
	p.sees("hook 0.0.9", p.installed("hook"), "--version")
	says("uninstall", dpkg("-r", "stopgate"))
	for _, path := range inPackages {
		if _, err := os.Lstat(filepath.Join(root, path)); err == nil {
			t.Errorf("%s is left over", path)
		}
	}
	p.stops(p.session("33333333-2222-3333-4444-555555555555")).answers()
	p.does(p.installed("hookctl"), "uninstall", "--purge")
	p.traceless()
}

// The package for the other family: what it holds, that it needs nothing, and what
// its scripts say.
func TestRPM(t *testing.T) {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	pkg := made(t, "stopgate-$V-1."+arch+".rpm")
	listed := strings.Fields(sh(t, "rpm", "-qlp", pkg))
	for _, path := range append(inPackages, "/usr/share/zsh/site-functions/_stopgate") {
		if !strings.Contains("\n"+strings.Join(listed, "\n")+"\n", "\n"+path+"\n") {
			t.Errorf("%s is not in it:\n%q", path, listed)
		}
	}
	for line := range strings.Lines(sh(t, "rpm", "-qp", "--requires", pkg)) {
		if !strings.HasPrefix(line, "rpmlib(") && strings.TrimSpace(line) != "/bin/sh" {
			t.Errorf("it needs %s", line)
		}
	}
	root := t.TempDir()
	// A shell and what the scripts call, of one static program.
	sh(t, "mkdir", "-p", filepath.Join(root, "bin"), filepath.Join(root, "dev"))
	sh(t, "touch", filepath.Join(root, "dev/null"))
	sh(t, "cp", "/bin/busybox", filepath.Join(root, "bin/busybox"))
	for _, name := range []string{"sh", "cut", "grep", "head"} {
		sh(t, "ln", "-s", "busybox", filepath.Join(root, "bin", name))
	}
	if out := sh(t, "rpm", "--root", root, "-i", "--nodeps", "--ignorearch", pkg); !strings.Contains(out, "stopgate "+version.Number()+". To guard") {
		t.Errorf("it says %q", out)
	}
	p := newPerson(t)
	p.sees("stopgate "+version.Number(), filepath.Join(root, "usr/bin/stopgate"), "version")
	if out := sh(t, "rpm", "--root", root, "-U", "--force", "--nodeps", "--ignorearch", pkg); !strings.Contains(out, "until they run: stopgate install") {
		t.Errorf("installed again it says %q", out)
	}
	if out := sh(t, "rpm", "--root", root, "-e", "stopgate"); !strings.Contains(out, "uninstall") {
		t.Errorf("its removal says %q", out)
	}
	if _, err := os.Lstat(filepath.Join(root, "usr/bin/stopgate")); err == nil {
		t.Error("its removal leaves programs behind")
	}
}
