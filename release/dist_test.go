//go:build release

// These tests look at what .ci/release made in dist/, and use it as people would.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/pe"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"stopgate/pkg/version"
)

// made is a file of dist/, $V standing for the version.
func made(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", "dist", filepath.FromSlash(strings.ReplaceAll(name, "$V", version.Number()))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v: make it with .ci/release", err)
	}
	return file
}

// archives are those of a release, by system and processor.
func archives(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, system := range systems {
		for _, processor := range []string{"amd64", "arm64"} {
			ext := ".tar.gz"
			if system == "windows" {
				ext = ".zip"
			}
			all[system+"/"+processor] = made(t, "stopgate_$V_"+system+"_"+processor+ext)
		}
	}
	return all
}

func sumOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// An archive holds both programs, for its system and linked against nothing, and
// what belongs beside them.
func TestArchives(t *testing.T) {
	for platform, archive := range archives(t) {
		t.Run(platform, func(t *testing.T) {
			system, processor, _ := strings.Cut(platform, "/")
			ext, programs := "", map[string]string{"hook": "stopgate/cmd/hook", "hookctl": "stopgate/cmd/hookctl"}
			if system == "windows" {
				ext = ".exe"
				programs["stopgate"] = "stopgate/cmd/hookctl"
			}
			files, err := unpack(archive)
			if err != nil {
				t.Fatal(err)
			}
			there := map[string]content{}
			for _, f := range files {
				there[f.name] = f
			}
			for name, of := range programs {
				f := there[name+ext]
				info, err := buildinfo.Read(bytes.NewReader(f.data))
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				got := map[string]string{"main": info.Path}
				for _, s := range info.Settings {
					got[s.Key] = s.Value
				}
				for key, want := range map[string]string{"main": of, "GOOS": system, "GOARCH": processor, "CGO_ENABLED": "0", "-trimpath": "true"} {
					if got[key] != want {
						t.Errorf("%s: %s is %q, want %q", name, key, got[key], want)
					}
				}
				if system != "windows" && f.mode.Perm() != 0o755 {
					t.Errorf("%s has the mode %v", name, f.mode)
				}
			}
			most := map[string]int{
				"linux":   5_000_000, // what .ci/run holds it to
				"darwin":  5_050_000, // the same in pages of 16 kB
				"windows": 5_500_000, // tables for unwinding and the resources come on top
			}[system]
			if n := len(there["hook"+ext].data); n > most {
				t.Errorf("the hook has %d bytes", n)
			}
			wanted := []string{"README.md", "LICENSE", "NOTICE.txt", "CHANGELOG.md", "man/hookctl.1", "man/hookctl-install.1", "man/stopgate.1"}
			for _, name := range []string{"hookctl", "stopgate"} {
				for _, shell := range []string{"bash", "zsh", "fish", "ps1"} {
					wanted = append(wanted, "completions/"+name+"."+shell)
				}
			}
			for _, name := range wanted {
				if len(there[name].data) == 0 {
					t.Errorf("%s is not in it", name)
				}
			}
		})
	}
}

// The programs of this machine's archive tell their version, and the commit.
func TestWhatTheProgramsTell(t *testing.T) {
	dir := unpacked(t)
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, stream := range map[string]string{"hookctl": "version", "stopgate": "version", "hook": "--version"} {
		out, err := exec.Command(filepath.Join(dir, name), stream).CombinedOutput()
		want := fmt.Sprintf("%s %s (%.12s) go1.", name, version.Number(), head)
		if err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s says %q, want %q…, %v", name, out, want, err)
		}
	}
}

// unpacked is this machine's archive, unpacked with tar as people do.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "unpacked here")
	out, err := exec.Command("go", "env", "GOARCH").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive := archives(t)["linux/"+strings.TrimSpace(string(out))]
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	return dir
}

func TestChecksums(t *testing.T) {
	data, err := os.ReadFile(made(t, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(data)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	want := []string{
		made(t, "stopgate_$V_amd64.deb"), made(t, "stopgate_$V_arm64.deb"),
		made(t, "stopgate-$V-1.x86_64.rpm"), made(t, "stopgate-$V-1.aarch64.rpm"),
	}
	for _, archive := range archives(t) {
		want = append(want, archive, archive+".cdx.json")
	}
	for _, path := range want {
		name := filepath.Base(path)
		if listed[name] != sumOf(t, path) {
			t.Errorf("%s is listed with %q", name, listed[name])
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("%s is listed too", name)
	}
}

// A bill of materials names the programs by their hashes and every module in them
// with its licence.
func TestBillsOfMaterials(t *testing.T) {
	for platform, archive := range archives(t) {
		file, err := os.Open(archive + ".cdx.json")
		if err != nil {
			t.Fatal(err)
		}
		var bom cdx.BOM
		if err := errors.Join(cdx.NewBOMDecoder(file, cdx.BOMFileFormatJSON).Decode(&bom), file.Close()); err != nil {
			t.Fatal(err)
		}
		listed := map[string]cdx.Component{}
		for _, c := range *bom.Components {
			listed[c.BOMRef] = c
		}
		if got := (*bom.Metadata.Component.Hashes)[0].Value; got != sumOf(t, archive) {
			t.Errorf("%s: it is about another archive", platform)
		}
		files, err := unpack(archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			info, err := buildinfo.Read(bytes.NewReader(f.data))
			if err != nil {
				continue
			}
			sum := sha256.Sum256(f.data)
			c := listed["program:"+f.name]
			if c.Hashes == nil || (*c.Hashes)[0].Value != hex.EncodeToString(sum[:]) {
				t.Errorf("%s: %s is listed as %+v", platform, f.name, c)
			}
			for _, d := range append(info.Deps, &debug.Module{Path: std, Version: info.GoVersion}) {
				ref := "pkg:golang/" + d.Path + "@" + strings.TrimPrefix(d.Version, "go")
				if c := listed[ref]; c.PackageURL != ref || c.Licenses == nil || len(*c.Licenses) == 0 {
					t.Errorf("%s: %s is listed as %+v", platform, ref, c)
				}
			}
		}
	}
}

// The manifests for Homebrew, Scoop and winget name the archives by their hashes,
// and put nothing on a PATH but hookctl and stopgate.
func TestManifests(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(made(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	cask := read("homebrew/Casks/stopgate.rb")
	scoop := read("scoop/stopgate.json")
	found, err := filepath.Glob(made(t, "winget/manifests") + "/*/*/stopgate/" + version.Number() + "/*.installer.yaml")
	if err != nil || len(found) != 1 {
		t.Fatalf("winget's manifests: %q, %v", found, err)
	}
	name, err := filepath.Rel(made(t, "."), found[0])
	if err != nil {
		t.Fatal(err)
	}
	winget := read(name)
	for platform, archive := range archives(t) {
		for name, text := range map[string]string{"cask": cask, "scoop": scoop, "winget": winget} {
			has := strings.Contains(text, sumOf(t, archive))
			if want := strings.HasPrefix(platform, "windows/") != (name == "cask"); has != want {
				t.Errorf("%s names the archive for %s: %v, want %v", name, platform, has, want)
			}
		}
	}
	if got := regexp.MustCompile(`(?m)^ *binary .*$`).FindAllString(cask, -1); len(got) != 2 || !strings.Contains(cask, `version "`+version.Number()+`"`) {
		t.Errorf("the cask has the programs %q:\n%s", got, cask)
	}
	var manifest struct {
		Version      string
		Architecture map[string]struct{ Bin []string }
	}
	if err := json.Unmarshal([]byte(scoop), &manifest); err != nil || manifest.Version != version.Number() || len(manifest.Architecture) != 2 {
		t.Errorf("scoop: %v\n%s", err, scoop)
	}
	for name, a := range manifest.Architecture {
		slices.Sort(a.Bin)
		if !slices.Equal(a.Bin, []string{"hookctl.exe", "stopgate.exe"}) {
			t.Errorf("scoop: %s has the programs %q", name, a.Bin)
		}
	}
	if strings.Contains(winget, "RelativeFilePath: hook.exe") || strings.Count(winget, "PortableCommandAlias: stopgate") != 2 || !strings.Contains(winget, "PackageVersion: "+version.Number()) {
		t.Errorf("winget:\n%s", winget)
	}
}

// Windows shows what the programs are, and lets them open long paths.
func TestWindowsResources(t *testing.T) {
	for platform, archive := range archives(t) {
		if !strings.HasPrefix(platform, "windows/") {
			continue
		}
		files, err := unpack(archive)
		if err != nil {
			t.Fatal(err)
		}
		programs := 0
		for _, f := range files {
			if path.Ext(f.name) != ".exe" {
				continue
			}
			programs++
			program, err := pe.NewFile(bytes.NewReader(f.data))
			if err != nil {
				t.Fatal(err)
			}
			section := program.Section(".rsrc")
			if section == nil {
				t.Errorf("%s: %s has no resources", platform, f.name)
				continue
			}
			data, err := section.Data()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"ProductVersion", "ProductName", "stopgate", version.Number()} {
				if !bytes.Contains(data, wide(want)) {
					t.Errorf("%s: %s does not tell %s", platform, f.name, want)
				}
			}
			if !bytes.Contains(data, []byte("longPathAware")) {
				t.Errorf("%s: %s has no manifest for long paths", platform, f.name)
			}
		}
		if programs != 3 {
			t.Errorf("%s: %d programs", platform, programs)
		}
	}
}

func wide(text string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}
